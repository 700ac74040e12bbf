"""Beginning a daemon without waiting for it, and finding out whether it would have a vault to serve."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonplace.client.launching import begin
from commonplace.client.paths import Unreachable, registry_path
from commonplace.client.places import places
from commonplace.client.vault_asked import vault_header
from commonplace.settings import registry_file


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was started; in its place a program runs that ends at once."""
    words_of: list[list[str]] = []
    real = subprocess.Popen

    def other(words: list[str], **how: object) -> "subprocess.Popen[bytes]":
        words_of.append(words)
        child: subprocess.Popen[bytes] = real([sys.executable, "-c", "pass"], **how)  # type: ignore[call-overload]
        child.wait()
        return child

    monkeypatch.setattr("subprocess.Popen", other)
    return words_of


def test_a_daemon_is_begun_once_however_many_ask(started: list[list[str]]) -> None:
    """Each prompt of a person whose daemon cannot start would else start another one."""
    answers = [begin(), begin()]
    long_ago = time.time() - 60
    os.utime(places().folder / "begun", (long_ago, long_ago))

    assert [*answers, begin()] == [True, False, True]
    assert started == [[sys.executable, "-m", "commonplace", "-q", "serve"]] * 2


def test_a_folder_in_which_nothing_can_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do about it."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "file"))

    with pytest.raises(Unreachable, match="COMMONPLACE_STATE"):
        begin()


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
