"""The benchmark of learning, on a real library; and the labelled injection attempts through the whole path."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.learn import PERSON, RecordedModel, learn_one, measure
from bench.learn_sets import Judge, LabelledConversation, LabelledFact, agree, read_conversations
from bench.memory_vault import Opener

from commonplace.app.encoders import make_encoders
from commonplace.errors import ProviderFailed
from commonplace.settings.load import load_settings

HASHING = {"embedding.provider": "hashing"}
EXAMPLES = Path(__file__).parents[2] / "learn_examples"
CHOIR = LabelledConversation(
    id="c1",
    day="2026-11-13",
    turns=(("user", "I stopped rowing in May. I hate olives"), ("assistant", "Noted."), ("user", "I own two boats")),
    known={"k1": "Goes rowing on Sundays.", "k2": "Has a cat."},
    gold=(LabelledFact("Hates olives."), LabelledFact("Sings in a choir."), LabelledFact("Stopped rowing.", ends="k1")),
    must_not=(LabelledFact("Owns two boats.", why="for the test"),),
)


@pytest.fixture(name="judge")
def _judge() -> Judge:
    encoder = make_encoders(load_settings(flags=HASHING).settings.embedding).current
    assert encoder
    return Judge(encoder)


def test_what_was_learned_is_compared_with_the_labels(judge: Judge) -> None:
    """Right, forbidden and missed texts are told apart, and so are known texts that ended and that did not."""
    with Opener(HASHING, actor=PERSON).in_memory() as (memory, clock):
        outcome = learn_one(CHOIR, memory, clock, judge, None)

    assert ("Hates olives.", "Hates olives.") in outcome.right
    assert outcome.must_not == [("Owns two boats.", "Owns two boats.")]
    assert outcome.missed == ["Sings in a choir."]
    assert outcome.ended == ["Goes rowing on Sundays."]
    assert outcome.ended_wrongly == []


def test_recorded_answers_stand_in_for_a_model(judge: Judge) -> None:
    """The same conversation with a model's answer of an earlier run; one without a recorded answer fails."""
    answer = {"facts": [{"text": "Hates olives.", "quote": "I hate olives", "message": 1, "kind": "preference"}]}
    told = measure([CHOIR], Opener(HASHING, actor=PERSON), judge, RecordedModel({"c1": answer}))

    assert told["precision"] == [1, 1]
    assert told["recall"] == [1, 3]
    with pytest.raises(ProviderFailed):
        measure([CHOIR], Opener(HASHING, actor=PERSON), judge, RecordedModel({}))


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
