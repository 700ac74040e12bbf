"""What we read, write and remove below `.git`: no link is followed, no pipe is waited for, only our own is removed."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.path_state import exclude_line
from commonplace.vault.git.repository import Repository
from tests.integration.vault_git.repositories import adopted, created, git, opened, put, status, write


@pytest.fixture(autouse=True)
def _never_for_ever() -> Iterator[None]:
    """Waiting for a pipe ends as a failure, not as a test that hangs."""
    signal.alarm(60)
    yield
    signal.alarm(0)


def _owner(folder: Path) -> str:
    return f"{folder.stat().st_ino:x}"


def _work_folder(folder: Path) -> Path:
    place = folder / ".git" / "commonplace"
    place.mkdir(exist_ok=True)
    return place


def _precious(tmp_path: Path, name: str = "precious") -> Path:
    return write(tmp_path, f"home/{name}", b"mine\n")


def _new_repository(tmp_path: Path) -> tuple[Path, Repository]:
    folder = adopted(tmp_path / "vault")
    return folder, opened(folder)


def test_a_linked_exclude_file_is_not_written_through(tmp_path: Path) -> None:
    """A repository whose `info/exclude` is a link to a person's file leaves that file alone."""
    folder, repository = _new_repository(tmp_path)
    precious, exclude = _precious(tmp_path), folder / ".git/info/exclude"
    exclude.unlink()
    exclude.symlink_to(precious)

    for write_lines in (repository.paths.exclude_temporary_files, lambda: repository.paths.exclude("$(x)/_index.md")):
        with pytest.raises(VaultUnavailable, match="symbolic link"):
            write_lines()

    assert precious.read_bytes() == b"mine\n"
    assert exclude.is_symlink()


def test_a_linked_exclude_file_with_our_lines_is_enough(tmp_path: Path) -> None:
    """A person who keeps the file elsewhere and has added our lines is not refused."""
    folder, repository = _new_repository(tmp_path)
    kept = write(tmp_path, "home/exclude", b".commonplace-*.tmp\n.commonplace-*.part\n")
    (folder / ".git/info/exclude").unlink()
    (folder / ".git/info/exclude").symlink_to(kept)

    repository.paths.exclude_temporary_files()


def test_a_linked_info_folder_is_not_written_into(tmp_path: Path) -> None:
    """A repository whose `info` is a link to a person's folder leaves that folder alone."""
    folder, repository = _new_repository(tmp_path)
    (tmp_path / "home").mkdir()
    (folder / ".git/info").rename(folder / ".git/old-info")
    (folder / ".git/info").symlink_to(tmp_path / "home")

    with pytest.raises(VaultUnavailable, match="symbolic link"):
        repository.paths.exclude_temporary_files()

    assert os.listdir(tmp_path / "home") == []


def test_another_name_of_the_exclude_file_keeps_its_content(tmp_path: Path) -> None:
    """The file is replaced, so that a hard link to it elsewhere, such as a backup's, does not change."""
    folder, repository = _new_repository(tmp_path)
    exclude = folder / ".git/info/exclude"
    exclude.write_bytes(b"mine")
    exclude.chmod(0o640)
    os.link(exclude, tmp_path / "backup")

    repository.paths.exclude_temporary_files()

    assert (tmp_path / "backup").read_bytes() == b"mine"
    assert exclude.read_bytes() == b"mine\n.commonplace-*.tmp\n.commonplace-*.part\n"
    assert exclude.stat().st_mode & 0o777 == 0o640
    assert os.listdir(exclude.parent) == ["exclude"]


@pytest.mark.parametrize("name", ["info/exclude", "commonplace/vault", "commonplace/state", "packed-refs"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    """A pipe where a file belongs is refused or replaced at once."""
    folder, repository = _new_repository(tmp_path)
    _work_folder(folder)
    place = folder / ".git" / (f"{name}-{_owner(folder)}" if name.startswith("commonplace") else name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)

    if name == "info/exclude":
        with pytest.raises(VaultUnavailable, match="no file"):
            repository.paths.exclude_temporary_files()
    else:
        assert repository.id == opened(folder).id
        repository.claim(tmp_path)
        assert repository.head()


@pytest.mark.parametrize("path", ["[a]/b*?.md", "blanks  ", "back\\slash.md", "line\nbreak\r.md", "#x.md", "!x.md"])
def test_a_line_excludes_exactly_its_file(tmp_path: Path, path: str) -> None:
    """A pattern is one line, whatever is in a name, and git matches the file by it."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    write(folder, path)
    write(folder, "break\r.md")

    line = exclude_line(repository._location, path)
    (folder / ".git/info/exclude").write_bytes(line + b"\n")

    assert not {b"\n", b"\r"} & {line[at : at + 1] for at in range(len(line))}
    assert status(folder) == '?? "break\\r.md"\n'


def test_a_linked_state_file_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    """The notes of which state folder is in use, and which vault this is, never go through a link."""
    folder, repository = _new_repository(tmp_path)
    precious, place = _precious(tmp_path), _work_folder(folder)
    for name in ("state", "vault"):
        (place / f"{name}-{_owner(folder)}").symlink_to(precious)

    repository.claim(tmp_path / "state")
    vault = repository.id

    assert precious.read_bytes() == b"mine\n"
    assert vault != "mine"
    assert opened(folder).id == vault
    assert not any(each.is_symlink() for each in place.iterdir())


def test_a_linked_work_folder_is_refused(tmp_path: Path) -> None:
    """Nothing is written or removed where a link in the place of our folder leads."""
    folder, repository = _new_repository(tmp_path)
    left = write(tmp_path, f"home/{_owner(folder)}-x.index")
    (folder / ".git/commonplace").symlink_to(left.parent)

    for use in (repository.remove_own_locks, lambda: repository.claim(tmp_path), lambda: repository.id):
        with pytest.raises(VaultUnavailable, match="symbolic link"):
            use()

    assert [each.name for each in left.parent.iterdir()] == [left.name]


@pytest.mark.parametrize("branch", ["../../home/Cargo", "refs/heads/../../../home/Cargo", "refs/heads/away/Cargo"])
def test_no_lock_outside_the_repository_is_removed(tmp_path: Path, branch: str) -> None:
    """Leftovers that name a person's lock file as a branch's, by a path or by a linked folder, are not believed."""
    folder, repository = _new_repository(tmp_path)
    precious, place = _precious(tmp_path, "Cargo.lock"), _work_folder(folder)
    (folder / ".git/refs/heads/away").symlink_to(precious.parent)
    (place / f"{_owner(folder)}-x.head").write_text(f"commonplace {branch}\n")
    os.link(precious, place / f"{_owner(folder)}-x.branch")
    (place / f"{_owner(folder)}-y.head").write_text(f"commonplace {branch}\n")
    (place / f"{_owner(folder)}-y.branch").symlink_to(precious)

    assert repository.remove_own_locks() == ()

    assert precious.read_bytes() == b"mine\n"
    assert list(place.iterdir()) == []


def test_a_persons_lock_with_the_bytes_of_the_index_stays(tmp_path: Path) -> None:
    """A leftover that became the index says nothing about the lock of a git that has just begun."""
    folder, repository = _new_repository(tmp_path)
    index, lock = folder / ".git/index", folder / ".git/index.lock"
    os.link(index, _work_folder(folder) / f"{_owner(folder)}-x.index")
    lock.write_bytes(index.read_bytes())

    assert repository.remove_own_locks() == ()

    assert lock.exists()


@pytest.mark.parametrize("is_published", [True, False])
def test_where_there_are_no_hard_links_an_unused_copy_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_published: bool
) -> None:
    """There the lock is a copy of our file; when the index has those bytes already, the lock is another program's."""
    folder, repository = _new_repository(tmp_path)
    index, lock = folder / ".git/index", folder / ".git/index.lock"
    content = index.read_bytes() if is_published else b"the next index"
    (_work_folder(folder) / f"{_owner(folder)}-x.index").write_bytes(content)
    lock.write_bytes(content)
    monkeypatch.setattr(os, "link", _no_hard_links)

    assert repository.remove_own_locks() == (() if is_published else ("index.lock",))

    assert lock.exists() == is_published


def _no_hard_links(*arguments: object, **keywords: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_logs_are_not_written_through_a_link(tmp_path: Path) -> None:
    """A linked folder of logs gets no line, and the commit is made."""
    folder, repository = _new_repository(tmp_path)
    precious = _precious(tmp_path, "main")
    for each in (folder / ".git/logs/refs/heads").iterdir():
        each.unlink()
    (folder / ".git/logs/refs/heads").rmdir()
    (folder / ".git/logs/refs/heads").symlink_to(precious.parent)

    commit = put(repository, folder, "b.md", b"two\n")

    assert git(folder, "rev-parse", "HEAD").strip() == commit
    assert precious.read_bytes() == b"mine\n"


def test_missing_logs_are_begun_as_git_does(tmp_path: Path) -> None:
    """What a reset drops is in the reflog, also where nothing was logged before, unless git is told to keep no logs."""
    folder, repository = _new_repository(tmp_path)
    git(folder, "config", "core.logAllRefUpdates", "false")
    for log in ("HEAD", "refs/heads/main"):
        (folder / ".git/logs" / log).unlink()
    put(repository, folder, "b.md", b"two\n")
    assert git(folder, "reflog") == ""

    git(folder, "config", "--unset", "core.logAllRefUpdates")
    commit = put(repository, folder, "b.md", b"three\n")

    for name in ("HEAD", "main"):
        assert git(folder, "reflog", "--no-abbrev", "--format=%H", name) == f"{commit}\n"


def test_empty_folders_in_the_place_of_a_branch_and_its_log_are_removed(tmp_path: Path) -> None:
    """They are left of branches whose names began with this one's; git removes them, too."""
    folder, repository = _new_repository(tmp_path)
    git(folder, "pack-refs", "--all")
    (folder / ".git/logs/refs/heads/main").unlink()
    for place in ("refs/heads/main/x/y", "logs/refs/heads/main/x"):
        (folder / ".git" / place).mkdir(parents=True)

    commit = put(repository, folder, "b.md", b"two\n")

    assert git(folder, "rev-parse", "main").strip() == commit
    assert git(folder, "reflog", "--no-abbrev", "--format=%H", "main") == f"{commit}\n"


def test_a_branch_that_a_link_leads_to_is_moved_by_git(tmp_path: Path) -> None:
    """A script of git's used to make working trees whose `refs` is a link; they still work."""
    folder, _ = _new_repository(tmp_path)
    (folder / ".git/refs").rename(folder / ".git/real-refs")
    (folder / ".git/refs").symlink_to("real-refs")

    commit = put(opened(folder), folder, "b.md", b"two\n")

    assert git(folder, "rev-parse", "main").strip() == commit
    assert (folder / ".git/refs").is_symlink()


def test_a_group_keeps_reading_the_branch(tmp_path: Path) -> None:
    """In a repository that git shares with a group, the branch and new logs have the group's permissions."""
    folder = adopted(tmp_path / "vault", "--shared=group")
    before = os.umask(0o077)
    try:
        put(opened(folder), folder, "b.md", b"two\n")
        git(folder, "switch", "--quiet", "--create=side")
        put(opened(folder), folder, "b.md", b"three\n")
    finally:
        os.umask(before)

    for name in ("refs/heads/main", "refs/heads/side", "logs/refs/heads/main"):
        assert (folder / ".git" / name).stat().st_mode & 0o060 == 0o060, name


def test_a_template_with_links_is_not_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's template for new repositories can bring a link; the new repository gets a copy with our lines."""
    precious = _precious(tmp_path)
    (tmp_path / "template/info").mkdir(parents=True)
    (tmp_path / "template/info/exclude").symlink_to(precious)
    configuration = write(tmp_path, "home/gitconfig", f"[init]\n\ttemplateDir = {tmp_path}/template\n".encode())
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    folder = write(tmp_path, "vault/a.md").parent

    created(folder)

    assert precious.read_bytes() == b"mine\n"
    assert (folder / ".git/info/exclude").read_bytes().endswith(b"\n.commonplace-*.tmp\n.commonplace-*.part\n")
    assert not (folder / ".git/info/exclude").is_symlink()


def test_a_line_break_in_the_way_to_the_vault_is_refused(tmp_path: Path) -> None:
    """Git's answers about such a repository cannot be told apart, and would lead us to another folder."""
    folder = adopted(tmp_path / "a\nb")

    with pytest.raises(VaultUnavailable, match="line break"):
        opened(folder)

    assert not (tmp_path / "a").exists()


def test_objects_are_not_written_into_a_linked_folder(tmp_path: Path) -> None:
    """A repository whose folders of objects are links to a person's folder leaves that folder alone."""
    folder, repository = _new_repository(tmp_path)
    (tmp_path / "home").mkdir()
    for number in range(256):
        if not (place := folder / f".git/objects/{number:02x}").exists():
            place.symlink_to(tmp_path / "home")

    with pytest.raises(VaultUnavailable, match="symbolic link"):
        put(repository, folder, "b.md", b"two\n")

    assert os.listdir(tmp_path / "home") == []


def test_a_pipe_in_the_place_of_the_index_is_an_error(tmp_path: Path) -> None:
    """It is refused as a damaged index is."""
    folder, repository = _new_repository(tmp_path)
    (folder / ".git/index").unlink()
    os.mkfifo(folder / ".git/index")

    with pytest.raises(VaultUnavailable, match="damaged"):
        repository.tracked_blobs(["a.md"])


def test_pipes_among_the_objects_do_not_stop_a_write(tmp_path: Path) -> None:
    """One has the name of the new note's object, and one that of a mark which keeps a pack."""
    folder, repository = _new_repository(tmp_path)
    blob = repository.blob_id("b.md", b"two\n")
    (folder / ".git/objects" / blob[:2]).mkdir(exist_ok=True)
    os.mkfifo(folder / ".git/objects" / blob[:2] / blob[2:])
    os.mkfifo(folder / ".git/objects/pack/pack-x.keep")

    repository.remove_own_locks()
    commit = put(repository, folder, "b.md", b"two\n")

    assert git(folder, "cat-file", "blob", f"{commit}:b.md") == "two\n"
