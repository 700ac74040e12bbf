"""A person's repository is used as it is: nothing of theirs is run, changed, fetched or pushed."""

import os
from pathlib import Path

import pytest

from commonplace.errors import Refused, VaultUnavailable
from commonplace.vault.git.repository import Repository
from tests.integration.vault_git.repositories import (
    adopted,
    created,
    everything,
    git,
    opened,
    put,
    script,
    status,
    write,
)

HOOKS = ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "reference-transaction", "post-index-change")


def use_all(repository: Repository, folder: Path) -> None:
    """Every call there is."""
    commit = put(repository, folder, "a.md", b"two\r\n")
    put(repository, folder, "new.md", b"new\n")
    put(repository, folder, "new.md", None)
    blobs = repository.tracked_blobs(["a.md"])["a.md"]
    assert blobs.head
    repository.blob(blobs.head, path="a.md")
    repository.content_at("a.md", commit)
    repository.contents_at([("a.md", commit), ("none.md", commit)])
    repository.find_mutation("0" * 32)
    repository.revisions(None, ours=True, limit=3)
    repository.revisions("a.md", ours=False, limit=None)
    repository.merge(base=b"a\n", ours=b"b\n", theirs=b"c\n")
    repository.held_by("a.md")
    repository.maintain()


def sign_head(folder: Path) -> None:
    """Make the newest commit look signed: git would run a program to check it."""
    head, _, message = git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----"
    signed = git(
        folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{signature}\n\n{message}"
    ).strip()
    (folder / ".git/refs/heads/main").write_text(f"{signed}\n")


def test_no_program_that_a_repository_names_is_ever_run(tmp_path: Path) -> None:
    """Hooks, signing, fsmonitor, pager, editor, diff drivers, ssh, aliases: no call of ours runs one."""
    folder = adopted(tmp_path / "vault")
    trace = script(tmp_path / "trace", f'echo "$0 $*" >> {tmp_path}/ran; exit 1')
    for hook in HOOKS:
        script(folder / f".git/hooks/{hook}", f"exec {trace} {hook}")
    names = (
        "core.fsmonitor gpg.program core.pager core.editor core.sshCommand core.askPass diff.external diff.x.command"
    )
    for name in (*names.split(), "diff.x.textconv", "merge.x.driver", "credential.helper", "core.gitProxy"):
        git(folder, "config", name, str(trace))
    for name in ("commit.gpgsign", "log.showSignature", "log.follow", "diff.relative"):
        git(folder, "config", name, "true")
    for alias in ("log", "cat-file", "fast-import", "update-index"):
        git(folder, "config", f"alias.{alias}", f"!{trace}")
    write(folder, ".git/info/attributes", b"*.md diff=x merge=x\n")
    sign_head(folder)

    use_all(opened(folder), folder)

    assert not (tmp_path / "ran").exists()
    assert git(folder, "-c", "log.showSignature=false", "log", "-1", "--format=%G?").strip() == "N"


def test_nothing_is_fetched_or_pushed(tmp_path: Path) -> None:
    """A remote that is behind and one that cannot be reached stay as they were."""
    folder = adopted(tmp_path / "vault")
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), "remote.git")
    git(folder, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(folder, "remote", "add", "gone", "ssh://127.0.0.1:1/x")
    git(folder, "fetch", "--quiet", "origin")
    before = git(tmp_path / "remote.git", "for-each-ref"), git(folder, "for-each-ref", "refs/remotes")
    repository = opened(folder)

    use_all(repository, folder)

    assert (git(tmp_path / "remote.git", "for-each-ref"), git(folder, "for-each-ref", "refs/remotes")) == before
    assert repository.held_by("a.md") == (2, ("gone", "origin"))


def test_settings_of_the_repository_stay_as_they_are(tmp_path: Path) -> None:
    """Adopting, through `create` too, changes no configuration and makes no baseline."""
    folder = adopted(tmp_path)
    write(folder, "untracked.md")
    before = (folder / ".git/config").read_bytes(), git(folder, "rev-parse", "HEAD")

    created(folder)

    assert ((folder / ".git/config").read_bytes(), git(folder, "rev-parse", "HEAD")) == before
    assert not (folder / ".git/info/attributes").exists()
    assert status(folder) == "?? untracked.md\n"


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize("split", ["true", "false"])
def test_all_else_that_is_staged_or_edited_stays_exactly_as_it_was(tmp_path: Path, version: str, split: str) -> None:
    """Staged changes, deletes, intents to add, flags, edits, untracked and ignored files: only our path differs."""
    folder = adopted(tmp_path)
    git(folder, "config", "index.version", version)
    git(folder, "config", "core.splitIndex", split)
    for name in ("edited", "staged", "both", "gone", "assumed", "mode"):
        write(folder, f"{name}.md", b"old\n")
    write(folder, ".gitignore", b"ignored*\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=more")
    for name in ("staged", "both"):
        write(folder, f"{name}.md", b"staged\n")
    git(folder, "add", "staged.md", "both.md")
    for name in ("edited", "both", "untracked", "intended", "ignored"):
        write(folder, f"{name}.md", b"edited\n")
    git(folder, "add", "--intent-to-add", "intended.md")
    git(folder, "rm", "--quiet", "--cached", "gone.md")
    git(folder, "update-index", "--assume-unchanged", "assumed.md")
    git(folder, "update-index", "--chmod=+x", "mode.md")
    before = everything(folder, but="a.md")

    put(opened(folder), folder, "a.md", b"two\n")

    assert everything(folder, but="a.md") == before
    assert "a.md" not in status(folder)
    assert git(folder, "show", "--name-only", "--format=", "HEAD") == "a.md\n"


def test_a_sparse_index_still_works(tmp_path: Path) -> None:
    """A sparse checkout with a sparse index is written to, and what is left out stays out."""
    folder = adopted(tmp_path)
    for number in range(3):
        write(folder, f"d{number}/n.md")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=more")
    git(folder, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(folder, "sparse-checkout", "set", "d0")
    before = git(folder, "ls-files", "--sparse", "-t")

    put(opened(folder), folder, "d0/n.md", b"two\n")

    assert git(folder, "ls-files", "--sparse", "-t") == before
    assert not (folder / "d1").exists()
    assert status(folder) == ""


def test_an_intent_to_add_counts_as_not_staged(tmp_path: Path) -> None:
    """Git notes an intent as an empty file: there is nothing in it to keep."""
    folder = adopted(tmp_path)
    write(folder, "new.md", b"new\n")
    git(folder, "add", "--intent-to-add", "new.md")

    blobs = opened(folder).tracked_blobs(["new.md", "a.md", "none.md"])

    assert (blobs["new.md"].head, blobs["new.md"].staged) == (None, None)
    assert blobs["a.md"].head == blobs["a.md"].staged == git(folder, "rev-parse", "HEAD:a.md").strip()
    assert (blobs["none.md"].head, blobs["none.md"].staged) == (None, None)


def test_what_is_staged_is_told_anew_when_the_index_changed(tmp_path: Path) -> None:
    """An answer that was remembered is not given after another program staged something."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    old = repository.tracked_blobs(["a.md"])["a.md"].staged
    write(folder, "a.md", b"staged\n")
    git(folder, "add", "a.md")

    assert repository.tracked_blobs(["a.md"])["a.md"].staged == repository.blob_id("a.md", b"staged\n") != old


def test_an_ignored_path_is_refused_unless_it_is_tracked(tmp_path: Path) -> None:
    """What a person told git to forget gets no history; what they committed all the same, keeps it."""
    folder = adopted(tmp_path)
    write(folder, ".gitignore", b"secret/\nkept.md\n")
    write(folder, "kept.md")
    git(folder, "add", "--force", "kept.md", ".gitignore")
    repository = opened(folder)

    repository.refuse_unwritable(["kept.md", "free.md"])
    with pytest.raises(Refused, match=r"secret/note\.md") as caught:
        repository.refuse_unwritable(["free.md", "secret/note.md"])

    assert (caught.value.reason, caught.value.path) == ("ignored", "secret/note.md")


def test_a_path_in_a_repository_inside_the_vault_is_refused(tmp_path: Path) -> None:
    """A nested repository or submodule is not turned into a folder of ours."""
    folder = adopted(tmp_path)
    adopted(folder / "inner")

    with pytest.raises(Refused, match="'inner' is a repository of its own"):
        opened(folder).refuse_unwritable(["inner/deep/note.md"])

    git(folder, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    (folder / "inner/.git").rename(tmp_path / "away")
    with pytest.raises(Refused, match="repository of its own"):
        opened(folder).refuse_unwritable(["inner/deep/note.md"])


def test_variables_of_a_callers_git_do_not_divert_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started from a hook of another repository, we still write to the vault's own."""
    folder, other = adopted(tmp_path / "vault"), adopted(tmp_path / "other")
    before = git(other, "rev-parse", "HEAD"), (other / ".git/index").read_bytes()
    with monkeypatch.context() as patch:
        for name, value in {
            "GIT_DIR": str(other / ".git"),
            "GIT_WORK_TREE": str(other),
            "GIT_INDEX_FILE": str(other / ".git/index"),
            "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
            "GIT_PREFIX": "x/",
            "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
            "GIT_NAMESPACE": "elsewhere",
        }.items():
            patch.setenv(name, value)
        commit = put(opened(folder), folder, "a.md", b"two\n")

    assert git(folder, "rev-parse", "HEAD").strip() == commit
    assert (git(other, "rev-parse", "HEAD"), (other / ".git/index").read_bytes()) == before
    assert status(folder) == ""


def test_a_leftover_of_a_partial_clone_is_not_fetched(tmp_path: Path) -> None:
    """An object that only the remote has is missing, not downloaded."""
    origin = adopted(tmp_path / "origin")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{origin}", "vault")
    folder = tmp_path / "vault"
    trace = script(tmp_path / "trace", f"touch {tmp_path}/ran; exit 1")
    git(folder, "config", "remote.origin.uploadpack", str(trace))

    blobs = opened(folder).tracked_blobs(["a.md"])["a.md"]
    with pytest.raises(VaultUnavailable, match="git cat-file failed"):
        opened(folder).blob(blobs.head or "", path="a.md")

    assert blobs.head == git(folder, "rev-parse", "HEAD:a.md").strip()
    assert not (tmp_path / "ran").exists()
    assert os.listdir(folder) == [".git"]


def test_an_ignore_file_that_a_sparse_checkout_leaves_out_counts(tmp_path: Path) -> None:
    """Git reads it from the index, so that its rules hold for us, too."""
    folder = adopted(tmp_path)
    write(folder, "f/.gitignore", b"*.tmp\n")
    write(folder, "f/b.md")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=rules")
    git(folder, "sparse-checkout", "set", "--no-cone", "/a.md", "/f/b.md")
    assert not (folder / "f/.gitignore").exists()

    with pytest.raises(Refused, match="ignores"):
        opened(folder).refuse_unwritable(["f/x.tmp"])

    opened(folder).refuse_unwritable(["f/x.md"])


def test_no_file_in_the_repository_takes_the_place_of_a_missing_index(tmp_path: Path) -> None:
    """Questions that need no index do not read one that a repository brings along."""
    folder = adopted(tmp_path)
    (folder / ".git/commonplace").mkdir()
    (folder / ".git/commonplace/no-index").write_bytes(b"garbage")

    opened(folder).refuse_unwritable(["b.md"])


def test_a_staged_mode_stays_staged(tmp_path: Path) -> None:
    """A person who made a file executable and did not commit that still has it staged after our write."""
    folder = adopted(tmp_path)
    git(folder, "update-index", "--chmod=+x", "a.md")
    (folder / "a.md").chmod(0o755)

    put(opened(folder), folder, "a.md", b"two\n")

    assert status(folder) == "M  a.md\n"
    assert git(folder, "diff", "--cached", "--summary") == " mode change 100644 => 100755 a.md\n"
