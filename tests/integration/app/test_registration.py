"""Making, recognising, moving and removing vaults: nothing is left of a failure, and history follows its vault."""

import errno
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace.app import open_memory
from commonplace.app.registration import (
    Initialised,
    carry_out_init,
    move_vault,
    plan_init,
    recognise_vault,
    remove_vault,
)
from commonplace.app.vaults import all_data_folders, complete_entry, data_folder, folder_numbers
from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.hosts.own_settings import save_setting
from commonplace.settings.load import load_settings
from commonplace.settings.registered_vaults import register_vault, registered_vaults, registry_file


def everything(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*") if "locks" not in path.parts)


def notes_in(folder: Path) -> Path:
    (folder / "Journal").mkdir(parents=True)
    (folder / "Journal/a.md").write_text("apples\n")
    return folder


def init_vault(folder: Path, *, flags: Mapping[str, object]) -> Initialised:
    """What `commonplace init` does if nobody is asked."""
    return carry_out_init(plan_init(folder, flags=flags), then=lambda: None)


def fail() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("folder", ["garden", "new/deep/garden"])
def test_an_interrupted_init_leaves_nothing(tmp_path: Path, home: Path, folder: str) -> None:
    """Neither repository, data folder, entry in the list nor a folder that was not there before."""
    notes_in(tmp_path / "garden")
    before = everything(tmp_path, home / "config", home / "data")

    with pytest.raises(KeyboardInterrupt):
        carry_out_init(plan_init(tmp_path / folder, flags={}), then=fail)
    assert everything(tmp_path, home / "config", home / "data") == before
    assert not registry_file().exists()


def test_a_failed_init_leaves_the_other_vaults_as_they_were(tmp_path: Path) -> None:
    """The list, the default and the data of a vault that was there before."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    before = registry_file().read_bytes()

    with pytest.raises(KeyboardInterrupt):
        carry_out_init(plan_init(notes_in(tmp_path / "two"), flags={}), then=fail)
    assert registry_file().read_bytes() == before
    assert not (tmp_path / "two/.git").exists()


def test_a_list_that_cannot_be_written_leaves_no_repository(tmp_path: Path, home: Path) -> None:
    """The last step fails; the first ones are undone."""
    (home / "config").mkdir()
    (home / "config/commonplace").symlink_to(home / "missing/folder")
    vault = notes_in(tmp_path / "garden")

    with pytest.raises(VaultUnavailable, match="cannot create the folder"):
        init_vault(vault, flags={})
    assert os.listdir(vault) == ["Journal"]
    assert not (home / "data").exists()


def test_a_data_folder_in_the_vault_is_refused_before_anything_happens(tmp_path: Path) -> None:
    """The whole of it was committed, and then this was said."""
    vault = notes_in(tmp_path / "garden")

    with pytest.raises(Refused, match="must not be inside the vault"):
        init_vault(vault, flags={"data": str(vault / "data")})
    assert os.listdir(vault) == ["Journal"]


@pytest.mark.parametrize("spelling", ["", ".", "x/.."])
def test_the_home_folder_is_never_a_vault(home: Path, spelling: str) -> None:
    """However it is written, or linked to."""
    (home / "x").mkdir()
    (home.parent / "link").unlink(missing_ok=True)
    (home.parent / "link").symlink_to(home)
    for folder in (home / spelling, home.parent / "link", home.parent):
        with pytest.raises(Refused, match="home folder: it cannot be a vault"):
            plan_init(folder, flags={})
    with pytest.raises(Refused, match="own files"):
        plan_init(home / "data/commonplace/x", flags={})
    (home / "file").write_text("x")
    with pytest.raises(UsageError, match="not a folder"):
        plan_init(home / "file", flags={})


def test_a_backend_without_git_gets_no_repository(tmp_path: Path) -> None:
    """`vault.backend` decides; the in-memory one has nothing on disk at all."""
    vault = notes_in(tmp_path / "garden")
    done = init_vault(vault, flags={"vault.backend": "device-local"})

    assert (done.plan.git, (vault / ".git").exists()) == ("none", False)
    with pytest.raises(UsageError, match="keeps no vault"):
        init_vault(vault, flags={"vault.backend": "in-memory"})


def test_history_follows_a_vault_that_was_moved(tmp_path: Path) -> None:
    """`init` of the new folder recognises the repository: the same name, data and settings."""
    before = init_vault(notes_in(tmp_path / "one"), flags={})
    with open_memory(tmp_path / "one") as memory:
        memory.notes.write("Inbox/b.md", "written before\n")
    (tmp_path / "one").rename(tmp_path / "two")
    after = init_vault(tmp_path / "two", flags={})

    assert after.plan.moved_from == tmp_path / "one"
    assert (after.plan.name, after.plan.data, after.is_default) == (before.plan.name, before.plan.data, True)
    assert registered_vaults().vaults == (tmp_path / "two",)
    with open_memory(tmp_path / "two") as memory:
        assert [entry.path for entry in memory.notes.log()] == ["Inbox/b.md"]


def test_a_copy_of_a_vault_that_is_still_there_is_a_vault_of_its_own(tmp_path: Path) -> None:
    """So is a new folder in the old place, which gets a name and data of its own."""
    first = init_vault(notes_in(tmp_path / "one"), flags={})
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    copy = init_vault(tmp_path / "copy", flags={})
    move_vault("one", tmp_path / "two", flags={})
    again = init_vault(notes_in(tmp_path / "one"), flags={})

    assert (copy.plan.moved_from, again.plan.moved_from) == (None, None)
    assert len({first.plan.name, copy.plan.name, again.plan.name}) == 3
    assert data_folder(again.plan.settings, tmp_path / "two") == first.plan.data != again.plan.data


def test_a_failed_init_of_a_moved_vault_lets_the_list_be(tmp_path: Path) -> None:
    """It names the old folder still."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    before = registered_vaults()
    (tmp_path / "one").rename(tmp_path / "two")

    with pytest.raises(KeyboardInterrupt):
        carry_out_init(plan_init(tmp_path / "two", flags={}), then=fail)
    assert registered_vaults() == before
    assert (tmp_path / "two/.git").is_dir()


def test_a_vault_is_recognised_only_when_it_is_gone_from_its_place(tmp_path: Path) -> None:
    """A copy is not, another repository is not."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    other = init_vault(notes_in(tmp_path / "other"), flags={})
    remove_vault(registered_vaults().select("other"), keeps_data=True)

    assert recognise_vault(tmp_path / "two") is None
    shutil.rmtree(tmp_path / "one")
    assert recognise_vault(other.plan.root) is None
    assert recognise_vault(tmp_path / "two") == tmp_path / "one"
    assert registered_vaults().default == tmp_path / "two"


def test_move_refuses_what_is_not_that_vault(tmp_path: Path) -> None:
    """Another repository, a folder that is taken, a folder in itself, the home."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    init_vault(notes_in(tmp_path / "two"), flags={})
    (tmp_path / "there").mkdir()
    refusals = {
        "there": "both folders exist",
        "two": "another vault is registered there",
        "one/inner": "into itself",
    }
    for target, message in refusals.items():
        with pytest.raises((Refused, UsageError), match=message):
            move_vault("one", tmp_path / target, flags={})
    with pytest.raises(Refused, match="your home folder"):
        move_vault("one", Path.home(), flags={})
    remove_vault(registered_vaults().select("two"), keeps_data=False)
    shutil.rmtree(tmp_path / "one")
    with pytest.raises(Refused, match="its git history is different"):
        move_vault(str(tmp_path / "one"), tmp_path / "two", flags={})
    assert registered_vaults().vaults == (tmp_path / "one",)


def test_a_vault_that_was_registered_without_its_repository_gets_it(tmp_path: Path) -> None:
    """As those of an earlier version were."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    complete = registered_vaults()
    registry_file().unlink()
    register_vault(tmp_path / "one")
    complete_entry(tmp_path / "one")

    assert registered_vaults().entries[0].repository == complete.entries[0].repository != ""


def test_every_data_folder_is_found(tmp_path: Path, home: Path) -> None:
    """Of vaults that are registered, were removed, have data elsewhere, or were never registered; nothing else."""
    kept = init_vault(notes_in(tmp_path / "kept"), flags={}).plan.data
    removed = init_vault(notes_in(tmp_path / "removed"), flags={}).plan.data
    remove_vault(registered_vaults().select("removed"), keeps_data=True)
    elsewhere = init_vault(notes_in(tmp_path / "far"), flags={"data": str(tmp_path / "data")}).plan.data
    settings = load_settings(flags={"vault.root": str(notes_in(tmp_path / "opened"))}).settings
    with open_memory(tmp_path / "opened") as memory:
        memory.index.sync()
    for other in ("models", "pictures-0123abcd", "daemon"):
        (home / "data/commonplace" / other).mkdir()

    expected = {kept, removed, elsewhere, data_folder(settings, tmp_path / "opened")}
    assert {*all_data_folders(load_settings().settings)} == expected


def with_a_saved_note(vault: Path) -> Path:
    """A vault whose history knows one change."""
    init_vault(notes_in(vault), flags={})
    with open_memory(vault) as memory:
        memory.notes.write("Inbox/b.md", "written before\n")
    return vault


def changes_in(vault: Path) -> list[str]:
    with open_memory(vault) as memory:
        return [str(entry.path) for entry in memory.notes.log()]


def first_commit_rewritten(vault: Path) -> None:
    """What a person does who takes a secret out of the whole history."""
    for words in (["checkout", "-q", "--orphan", "new"], ["commit", "-qm", "new", "--no-gpg-sign"]):
        subprocess.run(["git", "-C", str(vault), "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True)


@pytest.mark.parametrize("is_moved_first", [True, False])
def test_a_vault_that_was_moved_and_removed_gets_its_history_back(tmp_path: Path, is_moved_first: bool) -> None:
    """Whether it moved before it was taken off the list or after; its name was made from the new path, and so lost."""
    first = with_a_saved_note(tmp_path / "one")
    if is_moved_first:
        move_vault("one", tmp_path / "two", flags={})
    remove_vault(registered_vaults().entries[0], keeps_data=True)
    if not is_moved_first:
        first.rename(tmp_path / "two")
    again = init_vault(tmp_path / "two", flags={})

    assert again.plan.name.startswith("one-")
    assert changes_in(tmp_path / "two") == ["Inbox/b.md"]
    assert (registered_vaults().removed, again.plan.moved_from) == ((), None if is_moved_first else first)


def test_settings_come_back_with_a_removed_vault(tmp_path: Path) -> None:
    """The folders for agents were proposed anew, and written over the person's."""
    vault = tmp_path / "one"
    plan = plan_init(notes_in(vault), flags={}, folders=["Recipes"])
    carry_out_init(plan, then=lambda: None)
    save_setting("safety.path_allowlist", plan.folders, vault=vault)
    remove_vault(registered_vaults().entries[0], keeps_data=True)
    vault.rename(tmp_path / "two")
    again = plan_init(tmp_path / "two", flags={})

    assert (again.folders, again.folders_from) == (("Recipes",), "settings")


def test_a_failed_init_of_a_removed_vault_lets_the_list_be(tmp_path: Path) -> None:
    """It is remembered where it was."""
    with_a_saved_note(tmp_path / "one")
    remove_vault(registered_vaults().entries[0], keeps_data=True)
    before = registered_vaults()
    (tmp_path / "one").rename(tmp_path / "two")

    with pytest.raises(KeyboardInterrupt):
        carry_out_init(plan_init(tmp_path / "two", flags={}), then=fail)
    assert registered_vaults() == before


def test_a_copy_of_a_removed_vault_that_is_still_there_gets_data_of_its_own(tmp_path: Path) -> None:
    """And so does another folder in the place of one."""
    vault = with_a_saved_note(tmp_path / "one")
    remove_vault(registered_vaults().entries[0], keeps_data=True)
    shutil.copytree(vault, tmp_path / "copy")
    copy = init_vault(tmp_path / "copy", flags={})
    vault.rename(tmp_path / "two")
    other = init_vault(notes_in(vault), flags={})

    assert changes_in(vault) == []
    assert len({copy.plan.name, other.plan.name, registered_vaults().removed[0].name}) == 3


@pytest.mark.parametrize("names", [[], ["o.md"]])
def test_another_folder_in_the_vaults_place_is_not_opened(tmp_path: Path, names: list[str]) -> None:
    """An empty one is what a disk leaves that is not mounted; every note was taken out of the index."""
    vault = with_a_saved_note(tmp_path / "one")
    vault.rename(tmp_path / "two")
    vault.mkdir()
    for name in names:
        (vault / name).write_text("other\n")

    with pytest.raises(VaultUnavailable, match="another folder is where the vault was") as refused:
        open_memory(vault)
    assert f"`commonplace vault move {vault} NEW_FOLDER`" in str(refused.value.hint)
    assert plan_init(vault, flags={}).is_replaced
    entry, is_moved = move_vault("one", tmp_path / "two", flags={})
    assert (entry.root, is_moved, sorted(os.listdir(vault))) == (tmp_path / "two", False, names)
    assert changes_in(tmp_path / "two") == ["Inbox/b.md"]


def test_another_folder_in_the_place_of_an_open_vault_is_not_indexed(tmp_path: Path) -> None:
    """The daemon has vaults open for days; it took every note of such a vault out of the index."""
    init_vault(notes_in(tmp_path / "one"), flags={})
    with open_memory(tmp_path / "one") as memory:
        memory.index.sync()
        (tmp_path / "one").rename(tmp_path / "two")
        (tmp_path / "one").mkdir()
        with pytest.raises(VaultUnavailable, match="another folder has taken the place of the vault"):
            memory.index.sync()
        assert memory.index.stats().documents["vault"] == 1


def test_a_vault_is_recognised_although_another_folder_is_in_its_place(tmp_path: Path) -> None:
    """By `init`; the other folder is none of the list's business then."""
    vault = with_a_saved_note(tmp_path / "one")
    vault.rename(tmp_path / "two")
    vault.mkdir()

    assert init_vault(tmp_path / "two", flags={}).plan.moved_from == vault
    assert changes_in(tmp_path / "two") == ["Inbox/b.md"]
    assert plan_init(vault, flags={}).is_replaced is False


def test_move_never_moves_another_folder_in_the_vaults_place(tmp_path: Path) -> None:
    """Only the vault itself."""
    vault = with_a_saved_note(tmp_path / "one")
    shutil.rmtree(vault)
    (vault / "photos").mkdir(parents=True)

    with pytest.raises(NotFound, match="is that vault's folder"):
        move_vault("one", tmp_path / "two", flags={})
    assert os.listdir(vault) == ["photos"]


def test_a_rewritten_history_is_still_that_of_the_vault(tmp_path: Path) -> None:
    """The folder is the same; the list learns the new history, by which the vault is recognised elsewhere."""
    vault = with_a_saved_note(tmp_path / "one")
    before = registered_vaults().entries[0].repository
    first_commit_rewritten(vault)
    assert changes_in(vault) == ["Inbox/b.md"]
    complete_entry(vault)
    after = registered_vaults().entries[0].repository
    vault.rename(tmp_path / "two")

    assert before != after
    assert recognise_vault(tmp_path / "two") == vault


def test_a_copy_in_the_vaults_place_is_the_vault(tmp_path: Path) -> None:
    """A backup that was restored: known by its history, and from then on without a call of git."""
    vault = with_a_saved_note(tmp_path / "one")
    shutil.copytree(vault, tmp_path / "backup")
    shutil.rmtree(vault)
    (tmp_path / "backup").rename(vault)

    assert changes_in(vault) == ["Inbox/b.md"]
    assert registered_vaults().entries[0].folder == folder_numbers(vault)


def test_a_rewritten_copy_goes_on_after_a_confirmation(tmp_path: Path) -> None:
    """Neither the folder nor the history is the same: `init` asks, and then it is the vault."""
    vault = with_a_saved_note(tmp_path / "one")
    first_commit_rewritten(vault)
    shutil.copytree(vault, tmp_path / "clone")
    shutil.rmtree(vault)
    (tmp_path / "clone").rename(vault)
    plan = plan_init(vault, flags={})
    before = registered_vaults()
    with pytest.raises(KeyboardInterrupt):
        carry_out_init(plan, then=fail)

    assert (plan.is_replaced, registered_vaults()) == (True, before)
    carry_out_init(plan, then=lambda: None)
    assert changes_in(vault) == ["Inbox/b.md"]


def test_a_vault_that_is_part_of_a_repository_is_found_after_a_rename(tmp_path: Path) -> None:
    """`init` says in which repository it is; `vault move` knows the folder although git does not."""
    outer = notes_in(tmp_path / "outer/N").parent
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all", "--no-gpg-sign"]):
        subprocess.run(["git", "-C", str(outer), "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True)
    plan = init_vault(outer / "N", flags={}).plan
    (outer / "N").rename(outer / "renamed")

    assert (plan.git, plan.outer) == ("adopted", outer)
    assert (plan_init(outer / "new", flags={}).git, plan_init(outer / "new", flags={}).outer) == ("created", outer)
    with pytest.raises(VaultUnavailable, match="cannot be found"):
        open_memory(outer / "N")
    assert move_vault("N", outer / "renamed", flags={})[0].root == outer / "renamed"
    assert changes_in(outer / "renamed") == []


def test_another_disk_is_said_in_plain_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that does it."""
    init_vault(notes_in(tmp_path / "one"), flags={})

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "rename", refuse)  # there is no second disk in a test
    with pytest.raises(VaultUnavailable, match="it is on another disk") as refused:
        move_vault("one", tmp_path / "two", flags={})
    assert f"`mv {tmp_path / 'one'} {tmp_path / 'two'}`" in str(refused.value.hint)


def test_hidden_folders_of_the_home_are_vaults_only_with_notes_and_a_confirmation(home: Path) -> None:
    """Never those in which programs keep their files."""
    for folder in (".config/gh", ".claude/projects", ".tool", ".empty"):
        (home / folder).mkdir(parents=True)
    (home / ".claude/projects/a.md").write_text("text\n")
    (home / ".tool/state.json").write_text("{}\n")
    for folder in (".config", ".config/gh", ".claude", ".tool", ".empty", ".new"):
        with pytest.raises(Refused, match="it cannot be a vault"):
            plan_init(home / folder, flags={})
    assert plan_init(notes_in(home / ".notes"), flags={}).doubts == ("it is in a hidden folder of your home",)
