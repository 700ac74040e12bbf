"""Where the daemon's files are, and that nobody else can put theirs there."""

import os
import stat
from pathlib import Path

import pytest
from platformdirs import user_state_path

from commonplace.client.paths import (
    DaemonFiles,
    Unreachable,
    check_private,
    daemon_files,
    registry_path,
    state_path,
    vault_header,
)
from commonplace.settings.registered_vaults import registry_file


def test_the_state_folder_is_the_systems_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client finds, without the library that the rest asks, the folder that it names."""
    with_variable = state_path(), str(user_state_path("commonplace"))
    monkeypatch.delenv("XDG_STATE_HOME")

    assert with_variable[0] == with_variable[1]
    assert state_path() == str(user_state_path("commonplace"))


def test_a_variable_names_another_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`$COMMONPLACE_STATE` goes before the system's own, and everything of the daemon is below it."""
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "s"))
    found = daemon_files()

    assert found.folder == tmp_path / "s" / "daemon"
    assert {found.lock.parent, found.state.parent, found.log.parent, found.tokens.parent} == {found.folder}


def test_a_socket_whose_path_is_too_long_lies_in_a_short_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system cuts such paths off at about 104 bytes; two state folders never share one."""
    found = []
    for name in ("a" * 90, "b" * 90):
        monkeypatch.setenv("COMMONPLACE_STATE", f"/home/me/{name}")
        found.append(daemon_files().socket)

    assert all(len(os.fsencode(path)) <= 100 for path in found)
    assert found[0] != found[1]
    assert found[0].parent.name.startswith(f"commonplace-{os.getuid()}-")


def test_the_folders_are_made_for_the_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the umask says."""
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    before = os.umask(0)
    try:
        daemon_files().make_folders()
        daemon_files().make_folders()
    finally:
        os.umask(before)

    assert stat.S_IMODE(daemon_files().folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    """Someone else could have put their socket there and play the daemon."""
    open_to_all, link = tmp_path / "open", tmp_path / "link"
    open_to_all.mkdir(mode=0o755)
    os.chmod(open_to_all, 0o755)
    link.symlink_to(open_to_all)

    with pytest.raises(Unreachable, match="open to other users"):
        check_private(open_to_all)
    with pytest.raises(Unreachable, match="not a folder"):
        check_private(link)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short folder lies where everyone may make one."""
    folder = tmp_path / "taken"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    found = DaemonFiles(
        folder, lock=folder / "l", state=folder / "s", log=folder / "g", tokens=folder / "t", socket=folder / "k"
    )

    with pytest.raises(Unreachable, match="belongs to another user"):
        found.make_folders()


def test_the_list_of_vaults_is_found_where_the_settings_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library that the rest asks for it."""
    with_variable = registry_path(), str(registry_file())
    monkeypatch.delenv("XDG_CONFIG_HOME")

    assert with_variable[0] == with_variable[1]
    assert registry_path() == str(registry_file())


@pytest.mark.requirement("A-60")
def test_a_vault_is_asked_for_by_name_then_by_variable_else_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder plays no part; what a header cannot hold is encoded."""
    monkeypatch.chdir(tmp_path)
    none = vault_header()
    monkeypatch.setenv("MEMORY_VAULT_PATH", "/old")
    old = vault_header()
    monkeypatch.setenv("COMMONPLACE_VAULT", "~/N\xf6tes")
    new = vault_header()

    assert none == {}
    assert old == {"Commonplace-Vault": "/old"}
    assert new == {"Commonplace-Vault": f"{os.environ['HOME']}/N%C3%B6tes"}
    assert vault_header("/named") == {"Commonplace-Vault": "/named"}
