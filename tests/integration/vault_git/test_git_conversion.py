"""Line endings, encodings and filters: git's own view of a note and ours are the same."""

import subprocess
from pathlib import Path

import pytest

from commonplace.errors import Refused
from tests.integration.vault_git.repositories import adopted, git, opened, put, script, status, write

CRLF = b"one\r\ntwo\r\n"
CASES = {
    "nothing": (b"", {}),
    "auto": (b"* text=auto\n", {}),
    "auto, checked out with CRLF": (b"* text=auto eol=crlf\n", {}),
    "crlf": (b"*.md text eol=crlf\n", {}),
    "old crlf": (b"*.md crlf\n", {"core.eol": "crlf"}),
    "not text": (b"*.md -text\n", {"core.autocrlf": "true"}),
    "autocrlf": (b"", {"core.autocrlf": "true"}),
    "autocrlf, strict": (b"", {"core.autocrlf": "true", "core.safecrlf": "true"}),
    "input, strict": (b"", {"core.autocrlf": "input", "core.safecrlf": "true"}),
    "LFS for pictures": (b"*.png filter=lfs diff=lfs merge=lfs -text\n", {"core.autocrlf": "true"}),
}
ONE_WAY = ("auto", "input, strict")  # git takes the CR out and does not put it back


def vault(tmp_path: Path, attributes: bytes, settings: dict[str, str]) -> Path:
    folder = adopted(tmp_path)
    write(folder, ".gitattributes", attributes)
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "--quiet", "--message=attributes")
    for name, value in settings.items():
        git(folder, "config", name, value)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_note_with_crlf_is_committed_as_git_would_and_comes_back_as_git_would(tmp_path: Path, case: str) -> None:
    """After our commit nothing is dirty, `git add` would store the same, and `blob` gives what a checkout gives."""
    folder = vault(tmp_path, *CASES[case])
    repository = opened(folder)

    commit = put(repository, folder, "Inbox/new.md", CRLF)

    assert status(folder) == ""
    blobs = repository.tracked_blobs(["Inbox/new.md"])["Inbox/new.md"]
    write(folder, "Inbox/same.md", CRLF)
    git(folder, "-c", "core.safecrlf=false", "add", "Inbox/same.md")
    assert git(folder, "rev-parse", ":0:Inbox/same.md").strip() == blobs.head == blobs.staged
    assert blobs.head == repository.blob_id("Inbox/new.md", CRLF)
    (folder / "Inbox/new.md").unlink()
    git(folder, "checkout", "--", "Inbox/new.md")
    checked_out = (folder / "Inbox/new.md").read_bytes()
    assert checked_out == (CRLF.replace(b"\r", b"") if case in ONE_WAY else CRLF)
    assert repository.blob(blobs.head, path="Inbox/new.md") == checked_out
    assert repository.content_at("Inbox/new.md", commit) == checked_out


@pytest.mark.parametrize("settings", [{"core.autocrlf": "true"}, {"core.autocrlf": "input"}, {}])
def test_a_note_that_git_keeps_with_crlf_stays_so(tmp_path: Path, settings: dict[str, str]) -> None:
    """Where git guesses, a file that is in the index with CRLF is not converted: no edit appears from nowhere."""
    folder = vault(tmp_path, b"", {})
    put(opened(folder), folder, "old.md", CRLF)
    for name, value in settings.items():
        git(folder, "config", name, value)
    repository = opened(folder)

    blobs = repository.tracked_blobs(["old.md"])["old.md"]
    assert blobs.head == repository.blob_id("old.md", CRLF)

    put(repository, folder, "old.md", CRLF + b"three\r\n")

    assert git(folder, "diff", "--numstat", "HEAD^", "HEAD") == "1\t0\told.md\n"
    assert status(folder) == ""


def test_an_encoding_is_converted_and_back(tmp_path: Path) -> None:
    """A note that the attributes keep in UTF-16 on disk is UTF-8 in git."""
    folder = vault(tmp_path, b"new.md working-tree-encoding=UTF-16LE\n", {})
    repository = opened(folder)

    commit = put(repository, folder, "new.md", "grüße\n".encode("utf-16-le"))

    assert git(folder, "cat-file", "blob", f"{commit}:new.md") == "grüße\n"
    assert repository.content_at("new.md", commit) == "grüße\n".encode("utf-16-le")
    assert status(folder) == ""


@pytest.mark.parametrize("at", ["", "sub/"])
def test_attributes_hold_below_a_subfolder_too(tmp_path: Path, at: str) -> None:
    """A vault in a larger repository keeps the rules that are written above it and inside it."""
    top = vault(tmp_path, b"*.md text eol=crlf\n", {})
    folder = top / at
    write(folder, "deep/.gitattributes", b"raw.md -text\n")
    repository = opened(folder)

    put(repository, folder, "deep/x.md", CRLF)
    put(repository, folder, "deep/raw.md", CRLF)

    assert git(top, "cat-file", "-s", f"HEAD:{at}deep/x.md") == "8\n"
    assert git(top, "cat-file", "-s", f"HEAD:{at}deep/raw.md") == "10\n"
    assert status(top) == f"?? {at}deep/.gitattributes\n"


def test_attributes_are_read_anew_when_a_person_changes_them(tmp_path: Path) -> None:
    """What was remembered of a path is not used after its attribute file changed."""
    folder = vault(tmp_path, b"", {})
    repository = opened(folder)
    plain = repository.blob_id("x.md", CRLF)

    write(folder, ".gitattributes", b"*.md text\n")

    assert repository.blob_id("x.md", CRLF) != plain


def filtered(tmp_path: Path) -> Path:
    """A vault whose notes pass through a filter that turns letters around and leaves a trace."""
    folder = vault(tmp_path / "vault", b"*.md filter=x\na.md -filter\n", {})
    rot = script(tmp_path / "rot", f"echo ran >> {tmp_path}/ran; exec tr a-z n-za-m")
    for way in ("clean", "smudge"):
        git(folder, "config", f"filter.x.{way}", str(rot))
    git(folder, "config", "filter.x.required", "true")
    return folder


def test_a_filtered_path_is_refused_and_the_filter_not_run(tmp_path: Path) -> None:
    """Unfiltered bytes in git could show what the filter hides: the setting that lets it run is named."""
    folder = filtered(tmp_path)
    repository = opened(folder)
    git(folder, "config", "filter.y.clean", "false")

    repository.refuse_unwritable(["a.md", "picture.png"])
    with pytest.raises(Refused, match=r"filter 'x': new\.md") as caught:
        repository.refuse_unwritable(["a.md", "new.md"])
    plain = git(folder, "hash-object", "--no-filters", "--stdin", stdin="secret\r\n").strip()

    assert (caught.value.reason, caught.value.path) == ("refused", "new.md")
    assert "vault.git_filters" in (caught.value.hint or "")
    assert repository.blob_id("new.md", b"secret\r\n") == plain
    assert not (tmp_path / "ran").exists()


def test_a_filter_that_is_let_run_is_run(tmp_path: Path) -> None:
    """With filters on, git holds the filtered bytes, the disk ours, and nothing is dirty."""
    folder = filtered(tmp_path)
    repository = opened(folder, filters=True)

    commit = put(repository, folder, "new.md", b"secret\n")

    assert git(folder, "cat-file", "blob", f"{commit}:new.md") == "frperg\n"
    assert repository.content_at("new.md", commit) == b"secret\n"
    assert status(folder) == ""


def test_a_filter_is_not_run_to_read_what_is_there(tmp_path: Path) -> None:
    """With filters off, a filtered blob is shown as git holds it."""
    folder = filtered(tmp_path)
    commit = put(opened(folder, filters=True), folder, "new.md", b"secret\n")
    (tmp_path / "ran").unlink()

    content = opened(folder).content_at("new.md", commit)

    assert content == b"frperg\n"
    assert not (tmp_path / "ran").exists()


def test_a_process_filter_is_not_run_either(tmp_path: Path) -> None:
    """The long-running kind (LFS) is off like the others."""
    folder = filtered(tmp_path)
    git(folder, "config", "filter.x.process", str(script(tmp_path / "process", f"touch {tmp_path}/ran; exit 1")))
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=folder, input=b"x\n", capture_output=True, check=True
    )
    repository = opened(folder)

    repository.blob_id("new.md", CRLF)

    assert repository.blob(blob.stdout.decode().strip(), path="new.md") == b"x\n"
    assert not (tmp_path / "ran").exists()


def test_a_bare_autocrlf_means_true(tmp_path: Path) -> None:
    """A key without a value is true to git, so that the CR is taken out as `git add` does."""
    folder = adopted(tmp_path)
    with (folder / ".git/config").open("a") as configuration:
        configuration.write("[core]\n\tautocrlf\n")

    commit = put(opened(folder), folder, "b.md", CRLF)

    assert git(folder, "rev-parse", f"{commit}:b.md") == git(folder, "hash-object", "--path=b.md", "b.md")
    assert status(folder) == ""
