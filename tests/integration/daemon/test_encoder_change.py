"""The daemon takes up settings that the person changed, without a restart; another encoder encodes everything again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.daemon.vaults import Vaults
from commonplace.errors import Refused
from commonplace.hosts.own_settings import save_setting
from commonplace.model import Caller
from commonplace.settings.registered_vaults import register_vault
from tests.polling import wait_for

CALLER = Caller("test", frozenset({"read"}))


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered vault with one note; the encoder is the one in the settings file."""
    monkeypatch.delenv("COMMONPLACE_EMBEDDING__PROVIDER")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("# a\napple\n")
    register_vault(tmp_path / "vault")
    save_setting("embedding.provider", "hashing")
    return tmp_path / "vault"


@pytest.fixture
def vaults(vault: Path) -> Iterator[Vaults]:
    served = Vaults(flags={"vault.backend": "device-local"})
    yield served
    served.close()


def versions(vaults: Vaults) -> dict[str, int]:
    return dict(vaults.memory_for(CALLER).index.stats().vectors)


def test_another_encoder_is_used_and_everything_is_encoded_again(vaults: Vaults) -> None:
    """In the background, by the vault's own watcher."""
    vaults.open_all()
    wait_for(lambda: [*versions(vaults)] == ["hashing-384"])
    save_setting("retrieval.default_k", 3)
    vaults.open_all()
    before = vaults.memory_for(CALLER).index
    save_setting("embedding.dim", 64)
    vaults.open_all()

    wait_for(lambda: [*versions(vaults)] == ["hashing-64"])
    assert before.stats().documents == {"vault": 1}  # a request that began before goes on


def test_a_setting_for_one_vault_is_taken_up_by_the_running_daemon(vaults: Vaults, vault: Path) -> None:
    """Folders that are closed to agents are closed at once."""
    vaults.open_all()
    agent = Caller("test", frozenset({"write"}))
    vaults.memory_for(agent).notes.write("Inbox/a.md", "a\n")
    save_setting("safety.path_allowlist", ("Daily",), vault=vault)
    vaults.open_all()

    with pytest.raises(Refused, match="outside the folders"):
        vaults.memory_for(agent).notes.write("Inbox/b.md", "b\n")


def test_settings_that_cannot_be_read_change_nothing(vaults: Vaults, vault: Path, home: Path) -> None:
    """The vault is served with those it has; the error is an event, and `status` has it at the next start."""
    vaults.open_all()
    (home / "config/commonplace/settings.toml").write_text("embedding = [")

    assert vaults.open_all() == "1 of 1 vaults are open"
    assert vaults.status()[0]["open"] is True
