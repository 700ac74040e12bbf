"""The list of vaults: names that stay, an older form of the file, and processes that take turns."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError, VaultUnavailable
from commonplace.settings.registered_vaults import (
    RegisteredVault,
    RegisteredVaults,
    change_registry,
    name_from_path,
    register_vault,
    registered_vaults,
    registry_file,
)


def test_the_list_of_an_earlier_version_is_read_and_kept(tmp_path: Path) -> None:
    """It had only folders; their data folders keep their names."""
    old, new = tmp_path / "old", tmp_path / "new"
    registry_file().parent.mkdir(parents=True)
    registry_file().write_text(json.dumps({"default": str(old), "vaults": [str(old)]}))
    register_vault(new, repository="abc:")

    assert registered_vaults() == RegisteredVaults(
        (RegisteredVault(old, name_from_path(old)), RegisteredVault(new, name_from_path(new), "abc:")), default=old
    )


def test_a_name_belongs_to_one_vault(tmp_path: Path) -> None:
    """A new vault where another one was before it moved does not get that vault's history."""
    place = tmp_path / "Notes"
    moved = register_vault(place)
    change_registry(lambda present: RegisteredVaults((RegisteredVault(tmp_path / "Elsewhere", moved.name),), None))

    assert registered_vaults().name_for(place) == f"{moved.name}-2"
    assert register_vault(place).name == f"{moved.name}-2"
    assert registered_vaults().name_of(tmp_path / "Elsewhere") == moved.name
    assert registered_vaults().name_of(tmp_path / "unknown") is None


def test_a_removed_vault_gets_its_name_back(tmp_path: Path) -> None:
    """And so its index and its history."""
    first = register_vault(tmp_path / "Notes")
    change_registry(lambda present: RegisteredVaults((), None, removed=present.entries))
    again = register_vault(tmp_path / "Notes", name=first.name)

    assert (again.name, registered_vaults().removed) == (first.name, ())


@pytest.mark.parametrize("name", ["..", "a/b", "", "a\0b"])
def test_a_name_that_leads_elsewhere_is_not_read(name: str) -> None:
    """The name becomes part of a path that may be deleted."""
    registry_file().parent.mkdir(parents=True)
    registry_file().write_text(json.dumps({"default": None, "vaults": [{"root": "/x", "name": name}]}))

    with pytest.raises(UsageError, match="cannot read the list of vaults"):
        registered_vaults()


def test_a_vault_is_selected_by_folder_by_its_name_and_by_the_folders_name(tmp_path: Path) -> None:
    """Two of the same folder name must be told apart."""
    one, two = register_vault(tmp_path / "a/Notes"), register_vault(tmp_path / "b/Notes")
    registered = registered_vaults()

    assert registered.select(str(one.root)) == one
    assert registered.select(two.name) == two
    with pytest.raises(UsageError, match="several vaults are called 'Notes'"):
        registered.select("Notes")
    with pytest.raises(NotFound, match="no vault is registered as 'Other'"):
        registered.select("Other")


def test_processes_that_register_at_the_same_time_lose_no_vault(tmp_path: Path) -> None:
    """Each reads and writes the list under a lock."""
    program = (
        "import sys; from pathlib import Path; from commonplace.settings.registered_vaults import register_vault\n"
        "for number in range(10): register_vault(Path(sys.argv[1]) / f'{sys.argv[2]}-{number}')"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(number)]) for number in range(3)]

    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(registered_vaults().entries) == 30


def test_a_list_that_cannot_be_written_is_said(home: Path) -> None:
    """With the file; nothing is left next to it."""
    (home / "config").mkdir()
    (home / "config/commonplace").symlink_to(home / "missing/folder")

    with pytest.raises(VaultUnavailable, match="cannot write the list of vaults"):
        register_vault(home / "vault")


def test_an_empty_list_is_no_file(tmp_path: Path) -> None:
    """Hooks take the file as a sign that there is a vault."""
    register_vault(tmp_path)
    change_registry(lambda present: RegisteredVaults())

    assert not registry_file().exists()
