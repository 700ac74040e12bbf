"""New objects: whole on the disk, and still there when the branch names them, whatever git commands run beside."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault import obsidian
from commonplace.vault.git import index_file, objects
from commonplace.vault.git.commit import Draft, NewCommit
from commonplace.vault.journal import JournalFile
from commonplace.vault.obsidian import ObsidianVault
from tests.integration.vault_git.repositories import US, adopted, git, opened, put, status

MANY = 30


def _write_many(folder: Path, count: int, text: str = "text") -> None:
    vault = ObsidianVault(folder, author=US)
    with vault.transaction() as changes:
        for number in range(count):
            changes.write(vault.resolve(f"many/{number}.md"), f"{text} {number}\n".encode())


def _is_whole(folder: Path) -> bool:
    return not git(folder, "fsck", "--full", "--strict", "--no-dangling") and not status(folder)


@pytest.mark.parametrize("folder_mode", ["040000", "40000"])
def test_a_folder_is_known_by_its_mode_as_a_number(tmp_path: Path, folder_mode: str) -> None:
    """Older tools write a zero before it: its other files stay in the commit."""
    folder = adopted(tmp_path)
    blob = git(folder, "rev-parse", "HEAD:a.md").strip()
    inner = git(folder, "mktree", stdin=f"100644 blob {blob}\tb.md\n").strip()
    body = f"{folder_mode} f\0".encode() + bytes.fromhex(inner)
    (tmp_path / ".git/body").write_bytes(body)
    tree = git(folder, "hash-object", "-t", "tree", "-w", "--literally", ".git/body").strip()
    git(folder, "reset", "--quiet", "--hard", git(folder, "commit-tree", tree, "-m", "old").strip())

    put(opened(folder), folder, "f/new.md", b"new\n")

    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD").split() == ["f/b.md", "f/new.md"]


@pytest.mark.parametrize(
    ("count", "command"),
    [(1, ("prune", "--expire=now")), (MANY, ("prune", "--expire=now")), (MANY, ("repack", "-adq"))],
)
@pytest.mark.parametrize("moment", ["before the locks", "before the move", "after the move"])
def test_what_git_prunes_during_a_write_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, command: tuple[str, ...], moment: str
) -> None:
    """No branch names new objects yet: an acknowledged write has them all the same."""
    folder = adopted(tmp_path)
    name = "publish" if moment == "before the locks" else "_move_branch"
    real, runs = getattr(Draft, name), iter([True])

    def interrupted(self: Draft, *arguments: object) -> object:
        result = real(self, *arguments) if moment == "after the move" else None
        if next(runs, False):
            self._writer.wait()
            git(folder, *command)
            if moment == "after the move":  # prune looked at the branch before it moved
                for loose in (folder / ".git/objects").glob("??/*"):
                    loose.unlink() if loose.stat().st_mtime_ns > _first_write(folder) else None
        return result if moment == "after the move" else real(self, *arguments)

    monkeypatch.setattr(Draft, name, interrupted)
    _write_many(folder, count)

    assert _is_whole(folder)


def _first_write(folder: Path) -> int:
    """When the vault was first written to: `.git/commonplace` was made then."""
    return min(file.stat().st_mtime_ns for file in (folder / ".git/commonplace").glob("vault-*"))


def test_a_write_beside_a_running_gc_is_in_a_pack(tmp_path: Path) -> None:
    """It may have found out what is in use before the branch moved, and removes objects of their own later."""
    folder = adopted(tmp_path)
    git(folder, "gc", "--quiet")
    (folder / ".git/gc.pid").write_text(f"{os.getpid()} {socket.gethostname()}")
    _write_many(folder, 1)
    for loose in (folder / ".git/objects").glob("??/*"):
        loose.unlink()

    assert _is_whole(folder)


def test_a_gc_that_was_killed_is_not_waited_for(tmp_path: Path) -> None:
    """Its file names a process that does not run."""
    folder = adopted(tmp_path)
    (folder / ".git/gc.pid").write_text(f"{2**22 + 1} {socket.gethostname()}")
    _write_many(folder, 1)

    assert not list((folder / ".git/objects/pack").iterdir())


def test_a_pack_is_kept_only_until_the_branch_names_it(tmp_path: Path) -> None:
    """Also one that a killed process left; what a person keeps stays kept."""
    folder = adopted(tmp_path)
    _write_many(folder, MANY)
    packs = folder / ".git/objects/pack"
    after_write = {file.suffix for file in packs.iterdir()}
    owner = f"{folder.stat().st_ino:x}"
    (packs / "pack-1.keep").write_text(f"commonplace {owner}\n")
    (packs / "pack-2.keep").write_text("mine\n")
    _write_many(folder, 1, "again")

    assert after_write == {".pack", ".idx"}
    assert [file.name for file in packs.glob("*.keep")] == ["pack-2.keep"]


def test_an_object_file_without_content_is_written_again(tmp_path: Path) -> None:
    """A power loss leaves them behind a git that does not fsync."""
    folder = adopted(tmp_path)
    blob = git(folder, "hash-object", "--stdin", stdin="new\n").strip()
    place = folder / ".git/objects" / blob[:2] / blob[2:]
    place.parent.mkdir(exist_ok=True)
    place.touch()

    put(opened(folder), folder, "new.md", b"new\n")

    assert _is_whole(folder)


def test_a_tree_that_is_garbage_is_said(tmp_path: Path) -> None:
    """The error names the object and what to do."""
    folder = adopted(tmp_path)
    (tmp_path / ".git/body").write_bytes(b"no tree at all")
    tree = git(folder, "hash-object", "-t", "tree", "-w", "--literally", ".git/body").strip()
    git(folder, "update-ref", "HEAD", git(folder, "commit-tree", tree, "-m", "x", check=False).strip() or "HEAD")
    text = f"tree {tree}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n"
    commit = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text).strip()
    (folder / ".git/refs/heads/main").write_text(f"{commit}\n")

    with pytest.raises(VaultUnavailable, match=f"cannot read the tree {tree}"):
        opened(folder).commit([NewCommit("x", (), {"b.md": b"b\n"})])


def test_a_full_cache_of_trees_does_not_stop_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of the commit that is being made are nowhere else."""
    monkeypatch.setattr(objects, "_MOST_CACHED", 3)
    folder = adopted(tmp_path)
    _write_many(folder, MANY)
    put(opened(folder), folder, "a/b/c/d.md", b"deep\n")

    assert _is_whole(folder)


def test_a_folder_that_gc_removes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git gc` removes empty folders of objects at any moment."""
    folder = adopted(tmp_path)
    real, seen = os.rename, set[str]()

    def rename(source: Path, target: Path, **named: int) -> None:
        parent = Path(target).parent
        if len(parent.name) == 2 and parent.name not in seen and not list(parent.iterdir()):
            seen.add(parent.name)
            parent.rmdir()
        real(source, target, **named)

    monkeypatch.setattr(os, "rename", rename)
    put(opened(folder), folder, "new.md", b"new\n")

    assert seen
    assert _is_whole(folder)


def test_a_repository_of_a_group_stays_readable_for_it(tmp_path: Path) -> None:
    """Whatever the umask of the process is."""
    folder = adopted(tmp_path, "--shared=group")
    before = os.umask(0o077)
    try:
        _write_many(folder, 1)
        _write_many(folder, MANY, "more")
    finally:
        os.umask(before)
    files = [file for file in (folder / ".git/objects").rglob("*") if file.is_file()]

    assert files
    assert all(file.stat().st_mode & 0o040 for file in files)


@pytest.mark.parametrize("count", [1, MANY])
def test_objects_may_be_on_another_disk(tmp_path: Path, on_disk: Path, count: int) -> None:
    """Git follows a link there, and so do we."""
    if tmp_path.stat().st_dev == on_disk.stat().st_dev:
        pytest.skip("needs a second disk")
    folder = adopted(tmp_path)
    shutil.move(folder / ".git/objects", on_disk / "objects")
    (folder / ".git/objects").symlink_to(on_disk / "objects")
    _write_many(folder, count)

    assert _is_whole(folder)


def test_where_there_are_no_links_the_index_keeps_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By it git knows which files to compare: an edit in the same tick would be invisible otherwise."""
    folder = adopted(tmp_path)
    (folder / "a.md").write_bytes(b"two\n")
    then = (folder / ".git/index").stat().st_mtime_ns
    os.utime(folder / "a.md", ns=(then, then))
    before = status(folder)

    def link(*arguments: object, **named: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    os.utime(folder / ".git/index", ns=(then, then))
    put(opened(folder), folder, "new.md", b"new\n")
    after = (folder / ".git/index").stat().st_mtime_ns

    assert before == status(folder) == " M a.md\n"
    assert after == then


def test_the_index_is_parsed_once_for_many_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100,000 notes it takes 100 ms: our own index is known when we have put it in place."""
    folder = adopted(tmp_path)
    vault = ObsidianVault(folder, author=US)
    real, parsed = index_file.parse_index, list[int]()

    def parse(data: bytes, object_format: str) -> index_file.ParsedIndex | None:
        parsed.append(len(data))
        return real(data, object_format)

    monkeypatch.setattr(index_file, "parse_index", parse)
    for number in range(4):
        with vault.transaction() as changes:
            changes.write(vault.resolve(f"{number}.md"), b"text\n")
        vault.derive(vault.resolve("many/_index.md"), f"{number}\n".encode())

    assert len(parsed) == 1
    assert status(folder) == ""


@pytest.mark.parametrize("same_disk", [True, False])
def test_the_branch_is_flushed_before_a_journal_on_another_disk_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_disk: bool
) -> None:
    """After a power loss there would be neither the commit nor a journal to make it from."""
    folder = adopted(tmp_path)
    flushed: list[str] = []
    monkeypatch.setattr(JournalFile, "is_on_disk_of", lambda self, folder: same_disk)
    monkeypatch.setattr("commonplace.vault.git.repository.flush_folder", lambda path: flushed.append(Path(path).name))
    _write_many(folder, 1)

    assert sorted(flushed) == ([] if same_disk else [".git", "heads"])


def test_references_in_another_place_are_refused(tmp_path: Path) -> None:
    """Git 2.54 can keep branches elsewhere: a commit on the files here would be in no branch."""
    folder = adopted(tmp_path)
    with (folder / ".git/config").open("a") as config:
        config.write("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = files:///elsewhere\n")

    with pytest.raises(VaultUnavailable):
        opened(folder).refuse_unwritable(["b.md"])


def test_maintenance_is_due_by_files_and_not_by_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bulk write makes a pack, and git reads many packs slowly."""
    folder, runs = adopted(tmp_path), list[int]()
    monkeypatch.setattr(obsidian, "MAINTAIN_EVERY", 50)
    monkeypatch.setattr(ObsidianVault, "maintain", lambda self: runs.append(1))
    for text in ("one", "two", "three", "four"):
        _write_many(folder, MANY, text)

    assert len(runs) == 2
