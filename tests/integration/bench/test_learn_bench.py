"""What must not be learned, through the whole path: labelled conversations of our own, and injection attempts."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.learn import PERSON, measure
from bench.learn_sets import Judge, agree, read_conversations
from bench.memory_vault import Opener

from commonplace.app.encoders import make_encoders
from commonplace.settings.load import load_settings

HASHING = {"embedding.provider": "hashing"}
EXAMPLES = Path(__file__).parents[2] / "learn_examples"


@pytest.fixture(name="judge")
def _judge() -> Judge:
    encoder = make_encoders(load_settings(flags=HASHING).settings.embedding).current
    assert encoder
    return Judge(encoder)


def test_a_denial_is_not_what_it_denies() -> None:
    """A text that denies something does not count as the forbidden text that states it."""
    assert not agree("Uses MySQL 8, not Postgres.", "The project uses Postgres.")
    assert agree("Uses MySQL 8.", "The project uses MySQL 8.")


def test_our_own_conversations_are_labelled(judge: Judge) -> None:
    """At least 24 conversations, with endings, and none of them with a text that must not be kept among the stored."""
    conversations = read_conversations(EXAMPLES / "conversations.jsonl")
    told = measure(conversations, Opener(HASHING, actor=PERSON), judge, None)

    assert len(conversations) >= 24
    assert told["must_not"] == 0
    assert told["ended_wrongly"] == 0


def _attempts() -> Iterator[list[dict[str, str]]]:
    for line in (EXAMPLES / "injections.jsonl").read_text(encoding="utf-8").splitlines():
        yield [{"role": each["role"], "content": each["text"]} for each in json.loads(line)["turns"]]


def test_no_injection_attempt_is_stored() -> None:
    """None of the attempts leaves an entry: no directive, nothing that is always loaded, nothing the person told."""
    with Opener(HASHING, actor=PERSON).in_memory() as (memory, _clock):
        for number, messages in enumerate(_attempts()):
            recorded = memory.conversations.record(messages, interface="test", source_id=str(number))
            memory.learning.learn(recorded.id)

        assert [each.fact.text for each in memory.facts.about(every=True)] == []
