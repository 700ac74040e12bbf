"""The daemon learns by itself: from each vault it serves, within the limits, and until it is told to stop."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.daemon.vaults import Vaults
from commonplace.hosts.own_settings import save_setting
from commonplace.memory import Memory
from commonplace.model import Actor, Caller, Message
from commonplace.settings.registered_vaults import register_vault

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[Vaults]:
    (tmp_path / "vault").mkdir()
    register_vault(tmp_path / "vault")
    served = Vaults(flags={"vault.backend": "device-local"})
    served.open_all()
    yield served
    served.close()


def person(vaults: Vaults) -> Memory:
    return vaults.memory_for(Caller("test", frozenset({"read"}))).acting(Actor("person", "test"))


def record(vaults: Vaults, text: str, name: str) -> None:
    person(vaults).conversations.record([Message("user", text, at=AT)], interface="chatgpt", source_id=name)


@pytest.mark.requirement("I-15")
def test_the_daemon_reads_conversations_and_says_what_it_learned(vaults: Vaults) -> None:
    """Its report is for `status`; with nothing to do it says that."""
    record(vaults, "I live in Utrecht.", "1")

    assert vaults.learn() == "vault: 1 source read, 1 fact stored, 0 left"
    assert vaults.learn() == "nothing to learn"
    assert [each.fact.text for each in person(vaults).facts.about()] == ["Lives in Utrecht."]


def test_a_stopping_daemon_begins_no_other_conversation(vaults: Vaults) -> None:
    """What is left is read after the next start."""
    record(vaults, "I live in Utrecht.", "1")
    vaults.end_learning()
    vaults.learn()

    assert person(vaults).learning.status().due == 1


@pytest.mark.requirement("I-16")
def test_learning_can_be_switched_off(vaults: Vaults) -> None:
    """The daemon takes the setting up without a restart; the person's own command still learns."""
    record(vaults, "I live in Utrecht.", "1")
    save_setting("learn.enabled", False)
    vaults.open_all()

    assert "switched off" in vaults.learn()
    assert person(vaults).learning.status().due == 1
    assert len(person(vaults).learning.run().results) == 1
