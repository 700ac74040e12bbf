"""The gate at the door of memory: what is kept, what waits for a person, what is turned away."""

import json
import time
from itertools import product
from pathlib import Path

import pytest

from commonplace.model import TRUSTS, ActorKind, Trust
from commonplace.screening.gate import GateResult, gate

STAGED = ("read", "imported")
EXAMPLES = Path(__file__).parents[2] / "gate_examples/development.jsonl"
ACTORS: tuple[ActorKind, ...] = ("person", "agent", "job")


def gated(text: str, *, trust: Trust = "told", always_load: bool = False, actor: ActorKind = "agent") -> GateResult:
    """What the gate says, with the usual trusts staged."""
    return gate(text, trust=trust, always_load=always_load, actor=actor, staged_trusts=STAGED)


@pytest.mark.parametrize("actor", ACTORS)
def test_a_secret_is_refused_whoever_brings_it(actor: ActorKind) -> None:
    """The sentence names the kind and the line, and not one piece of the secret."""
    said = gated("Mira likes tea.\nHer password is Fjord!2031", actor=actor)

    assert (said.verdict, said.reason) == ("refuse", "secret")
    assert said.message == "This contains a secret: password in line 2."


@pytest.mark.parametrize("actor", ACTORS)
def test_junk_is_refused_whoever_brings_it(actor: ActorKind) -> None:
    """One gate stands before the store for every actor: junk is kept out at the door, with a reason."""
    said = gated("Sure, I can help with that!", actor=actor)

    assert (said.verdict, said.reason) == ("refuse", "junk")
    assert said.message == "This is not worth keeping: it is a stock phrase of assistants."


def test_a_secret_counts_before_junk() -> None:
    """What is both is told as the worse."""
    assert gated('{"status": "ok", "password": "S0mmer!2031"}').reason == "secret"


@pytest.mark.parametrize(("actor", "trust"), list(product(ACTORS, TRUSTS)))
def test_what_a_program_took_from_elsewhere_waits_for_a_person(actor: ActorKind, trust: Trust) -> None:
    """A source of a staged trust is staged unless a person saves it."""
    said = gated("Mira is vegetarian.", actor=actor, trust=trust)

    assert (said.verdict == "stage") == (actor != "person" and trust in STAGED)
    assert (said.reason == "trust") == (said.verdict == "stage")


@pytest.mark.parametrize("actor", ACTORS)
def test_what_a_program_wants_before_every_prompt_waits_for_a_person(actor: ActorKind) -> None:
    """Only a person may say at once that something is always loaded."""
    said = gated("Mira is vegetarian.", actor=actor, always_load=True)

    assert said.verdict == ("allow" if actor == "person" else "stage")
    assert said.reason == ("" if actor == "person" else "always-load")


@pytest.mark.requirement("V-04")
def test_short_statements_pass_and_what_is_no_statement_does_not() -> None:
    """One short claim is what the store is for: it is allowed, and a text without any claim is not."""
    assert gated("Vegetarian.") == GateResult("allow")
    assert gated("...").verdict == "refuse"


@pytest.mark.parametrize(("label", "least"), [("keep", 0.98), ("secret", 0.97), ("junk", 0.98)])
def test_the_examples_to_develop_with_are_told_apart(label: str, least: float) -> None:
    """Of each label at least this share is told rightly; `bench/gate.py` measures the blind half."""
    lines = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    texts = [line["text"] for line in lines if line["label"] == label]
    right = sum((gated(text).reason or "keep") == label for text in texts)

    assert len(texts) >= 50
    assert right / len(texts) >= least


def test_the_time_of_the_gate_grows_with_the_text_and_no_faster() -> None:
    """Four times the text takes about four times as long, and would take sixteen if something were quadratic."""
    sentence = "Deploys go out on Tuesdays, never on Fridays; the password policy asks for 14 characters. "
    gated("warm 0123456789abcdef0123")

    assert quickest((sentence * 92)[:8000]) < 8 * quickest((sentence * 23)[:2000])


def quickest(text: str) -> float:
    """The best of several runs, as the machine may be busy."""
    times = []
    for _ in range(15):
        begun = time.process_time()
        gated(text)
        times.append(time.process_time() - begun)
    return min(times)
