"""Which folders may become a vault, and where agents may write in it."""

import pytest

from commonplace.errors import UsageError
from commonplace.policy.new_vault import (
    checked_folders,
    doubts_about,
    is_hidden_in_home,
    propose_folders,
    refusal_reason,
)
from commonplace.policy.options import SafetyOptions

HOMES = ("/home/ada",)


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/home/ada", "is your home folder"),
        ("/home", "holds your home folder"),
        ("/", "is the root of the file system"),
        ("/etc", "belongs to the system"),
        ("/usr/share/doc", "belongs to the system"),
        ("/System/Library", "belongs to the system"),
        ("/var/log", "belongs to the system"),
        ("/tmp", "is shared by everyone on this machine"),
        ("/Volumes", "is shared by everyone on this machine"),
        ("/var", "is shared by everyone on this machine"),
        ("/home/ada/.ssh", "is where programs keep your keys and their own files"),
        ("/home/ada/.ssh/keys", "is where programs keep your keys and their own files"),
        ("/home/ada/.config", "is where programs keep your keys and their own files"),
        ("/home/ada/.local/share/x", "is where programs keep your keys and their own files"),
        ("/home/ada/.claude/projects", "is where programs keep your keys and their own files"),
    ],
)
def test_a_home_and_the_folders_of_the_system_are_never_a_vault(folder: str, reason: str) -> None:
    """Whatever the person says."""
    assert refusal_reason(folder, HOMES) == reason


@pytest.mark.parametrize(
    "folder", ["/home/ada/Notes", "/home/ada/Documents", "/tmp/notes", "/Volumes/disk/Notes", "/etcetera", "/srv/notes"]
)
def test_other_folders_may_be_a_vault(folder: str) -> None:
    """A name that only begins like a system folder's is another one."""
    assert refusal_reason(folder, HOMES) == ""


def test_hidden_folders_of_a_home_are_known() -> None:
    """At any depth; a hidden folder elsewhere is not one of them."""
    assert is_hidden_in_home("/home/ada/.notes", HOMES)
    assert is_hidden_in_home("/home/ada/.notes/garden", HOMES)
    assert not is_hidden_in_home("/home/ada/Notes/.garden", HOMES)
    assert not is_hidden_in_home("/srv/.notes", HOMES)
    assert not is_hidden_in_home("/.notes", ("/",))


@pytest.mark.parametrize("place", ["/var/lib/ada", "/root", "/usr/home/ada"])
def test_a_home_may_be_anywhere(place: str) -> None:
    """What is in it is the person's."""
    assert refusal_reason(f"{place}/notes", (place,)) == ""
    assert refusal_reason(place, (place,)) == "is your home folder"


def doubts(folder: str = "/home/ada/x", *, names: tuple[str, ...] = (), notes: int = 0, files: int = 0) -> str:
    return "; ".join(doubts_about(folder, HOMES, names=names, notes=notes, files=files, size=files * 10))


def test_what_does_not_look_like_a_vault_is_said() -> None:
    """The source of a program, a shelf of the home, files without a note among them."""
    assert "source of a program (package.json)" in doubts(names=("package.json", "src"), notes=5, files=50)
    assert "Documents usually holds more than notes" in doubts("/home/ada/Documents", notes=5, files=8)
    assert doubts(files=11) == "none of its 11 files is a note"
    assert doubts(files=2) == "none of its 2 files is a note"
    assert doubts(files=1) == "its only file is no note"
    assert doubts(notes=3, files=4000) == "only 3 of its 4,000 files are notes"
    assert doubts_about("/x", HOMES, names=(), notes=5, files=5, size=3_000_000_000) == (
        "the first commit would hold 3.0 GB",
    )


def test_new_folders_and_gardens_raise_no_doubt() -> None:
    """Nor does a garden with many pictures, or one that a note-taking program has settings in."""
    assert doubts() == ""
    assert doubts(notes=1, files=3) == ""
    assert doubts(notes=700, files=4000) == ""
    assert doubts("/home/ada/Documents", names=(".obsidian", "package.json"), files=40) == ""


@pytest.mark.parametrize(
    ("names", "proposed"),
    [
        (["01 Inbox", "02 Projects", "99 Archive"], ("01 Inbox", "02 Projects")),
        (["daily", "Journal", "meetings", "Recipes"], ("Inbox", "daily", "Journal", "meetings")),
        (["00-inbox", "Daily Notes", "People", "Areas"], ("00-inbox", "Daily Notes", "People")),
        (["📥 Inbox", "_templates"], ("📥 Inbox",)),
        (["Recipes", "Travel"], ("Inbox",)),
        (["INBOX", "inbox-archive"], ("INBOX",)),
    ],
)
def test_the_vaults_own_folders_are_proposed(names: list[str], proposed: tuple[str, ...]) -> None:
    """As they are spelled there, whatever their case, numbers and signs; with an Inbox if there is none."""
    assert propose_folders(names) == proposed


@pytest.mark.parametrize("names", [[], [".obsidian", ".git"], ["Agent", "Templates"]])
def test_a_vault_without_folders_of_its_own_gets_the_default_ones(names: list[str]) -> None:
    """Their names are as good as any."""
    assert propose_folders(names) == SafetyOptions().path_allowlist


@pytest.mark.parametrize("folder", ["..", "/etc", "a/../b", ".obsidian", "", "a\x1b[2J", "x/.git"])
def test_only_folders_inside_the_vault_can_be_named(folder: str) -> None:
    """No way out, nothing hidden, no control characters."""
    with pytest.raises(UsageError, match="is not a folder inside the vault"):
        checked_folders(["Inbox", folder])


def test_named_folders_are_taken_once_without_slashes() -> None:
    """As a person types them."""
    assert checked_folders(["Inbox/", "Areas/Work", "Inbox"]) == ("Inbox", "Areas/Work")
    with pytest.raises(UsageError, match="no folder was named"):
        checked_folders([])
