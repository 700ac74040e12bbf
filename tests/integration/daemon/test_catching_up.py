"""The daemon's first sync: agents are answered by words while the vectors follow, and `status` says how far it is."""

from pathlib import Path

import pytest

from commonplace.daemon.vaults import Vaults
from commonplace.flows.ingest import sync as sync_module
from commonplace.flows.stores import Stores
from commonplace.memory import Memory
from commonplace.model import Caller
from commonplace.settings.registered_vaults import register_vault
from tests.polling import wait_for

CALLER = Caller("test", frozenset({"read"}))


def _stores(memory: Memory) -> Stores:
    return memory._session.stores


def test_agents_are_answered_by_words_until_everything_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here another process encodes: the daemon waits for it, and does what is left."""
    monkeypatch.setattr(sync_module, "AT_ONCE", 0)
    monkeypatch.setattr(sync_module, "_POLL_S", 0.01)
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("# a\napple\n")
    register_vault(tmp_path / "vault")
    vaults = Vaults(flags={"vault.backend": "device-local"})
    memory = vaults.memory_for(CALLER)
    try:
        with _stores(memory).encode_lock():
            wait_for(lambda: vaults.status()[0]["catching_up"])
            during, early = vaults.status()[0], memory.search("apple")
        wait_for(lambda: not vaults.status()[0]["catching_up"])
        wait_for(lambda: memory.search("apple").mode == "hybrid")  # the last text is counted, then it is in the index
        after = memory.search("apple")
    finally:
        vaults.close()

    assert (during["catching_up"], during["seconds_left"]) == ("encoded 0 of 1 texts; found by words until then", None)
    assert (early.mode, [hit.path for hit in early]) == ("words", ["a.md"])
    assert early.degraded == (
        "search by meaning: 1 of 1 passages are not encoded yet and are found by words only "
        "(catching up, newest notes first)",
    )
    assert (after.mode, after.degraded) == ("hybrid", ())
