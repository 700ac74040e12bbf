"""The benchmark of learning, on a real library: what it counts."""

import pytest
from bench.learn import PERSON, RecordedModel, learn_one, measure
from bench.learn_sets import Judge, LabelledConversation, LabelledFact
from bench.memory_vault import Opener

from commonplace.app.encoders import make_encoders
from commonplace.errors import ProviderFailed
from commonplace.settings.load import load_settings

HASHING = {"embedding.provider": "hashing"}
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
