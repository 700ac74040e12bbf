"""Forty prompts over the sample vault and a memory laid over it: what is put before each, to the letter.

The texts in tests/context_examples/golden are read by people: after a change that is meant to change them, write them
anew with `UPDATE_GOLDEN=1 pytest tests/integration/flows/test_context_examples.py` and look at the difference.
`NN.txt` is what a prompt brings by itself, `start.txt` and `start-channel.txt` what a session is given once, and
`NN-budget.txt` a first prompt, with the parts of its session, within that many characters.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from commonplace.app import copy_sample, open_with
from commonplace.flows.context import build
from commonplace.memory.context import Contexts
from commonplace.model import Actor, Context, OmissionReason
from commonplace.settings.load import load_settings
from tests import components

EXAMPLES: Final = Path(__file__).parents[2] / "context_examples"
GOLDEN: Final = EXAMPLES / "golden"
NOW: Final = datetime(2026, 10, 20, 8, 0, tzinfo=UTC)
CHANGED: Final = datetime(2026, 10, 18, 12, 0, tzinfo=UTC)
NONCE: Final = "0123456789abcdef"  # the one that a hostile note of the vault has guessed
BUDGETS: Final = (500, 2000, 9000)
OWN: Final = ("facts", "playbooks", "recalled")
AT_EVERY_BUDGET: Final = (1, 9, 13, 17, 20, 30, 35, 36)

pytestmark = pytest.mark.needs("model")


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt, its place in the list, and how it is asked."""

    number: int
    prompt: str
    asked: dict[str, Any]


def _examples() -> list[Example]:
    lines = (EXAMPLES / "prompts.jsonl").read_text("utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    return [Example(number, each.pop("prompt"), each) for number, each in enumerate(told, 1)]


def _messages() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / "development.jsonl").read_text("utf-8").splitlines()]


def _made(folder: Path) -> Path:
    """The sample vault with the memory laid over it; every file was last changed on one day."""
    vault = folder / "vault"
    copy_sample(vault)
    shutil.copytree(EXAMPLES / "vault", vault, dirs_exist_ok=True)
    for path in vault.rglob("*"):
        os.utime(path, (CHANGED.timestamp(), CHANGED.timestamp()))
    return vault


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contexts]:
    """The verb context over that vault, with a clock that stands still and marks that are known."""
    components.require("model")
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(variable, str(folder / variable.lower()))
        flags = {
            "vault.root": str(_made(folder)),
            "vault.backend": "device-local",
            "data": str(folder / "data"),
            "embedding.provider": "minilm-l6-v2",
            "embedding.model_folder": str(components.MODEL_FOLDER),
        }
        memory = open_with(load_settings(flags=flags).settings, actor=Actor("agent", "test"), clock=lambda: NOW)
    with memory:
        memory.index.sync()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "new_nonce", lambda: NONCE)
            yield memory.context


Given = Callable[[Example, int], Context]


@pytest.fixture(scope="module")
def given(contexts: Contexts) -> Given:
    """What is put before an example within so many characters, 0 for its own part alone; worked out once."""
    known: dict[tuple[int, int], Context] = {}

    def context_of(example: Example, budget: int) -> Context:
        key = example.number, budget
        if key not in known:
            limits: dict[str, Any] = {"budget": budget} if budget else {"profile": False}
            known[key] = contexts(example.prompt, within=None, peek=True, **limits, **example.asked)
        return known[key]

    return context_of


def _is_as_kept(context: Context, name: str) -> bool:
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{context.text}\n", "utf-8")
    return file.read_text("utf-8") == f"{context.text}\n"


def _documents(context: Context, *sections: str) -> list[str]:
    return [each.piece.document for each in context.included if each.piece.section in sections]


@pytest.mark.requirement("V-13", "V-41")
def test_what_is_put_before_forty_prompts_is_what_people_have_read_and_found_right(
    given: Given, contexts: Contexts
) -> None:
    """Every text equals the one that is kept: of a session, of each prompt alone, and of eight first prompts at three
    budgets."""
    examples = _examples()
    texts = {
        "start": contexts.start(within=None, peek=True),
        "start-channel": contexts.start(scope="channel:allotment", within=None, peek=True),
        **{f"{example.number:02}": given(example, 0) for example in examples},
        **{
            f"{example.number:02}-{budget}": given(example, budget)
            for example in examples
            for budget in BUDGETS
            if example.number in AT_EVERY_BUDGET
        },
    }

    assert len(examples) == 40
    assert not [name for name, context in texts.items() if not _is_as_kept(context, name)]
    assert {file.stem for file in GOLDEN.iterdir()} == {*texts}


def test_the_texts_stay_within_every_budget(given: Given) -> None:
    """No text is longer than its budget, unless what is never cut is, by itself: in a channel, at 500 characters."""
    over = []
    for example in _examples():
        for budget in BUDGETS:
            context = given(example, budget)
            assert context.is_over == (len(context.text) > budget)
            if context.is_over:
                over.append((example.asked.get("scope"), budget))
                assert all(each.piece.is_pinned for each in context.included)

    assert set(over) <= {("channel:allotment", 500)}


@pytest.mark.requirement("A-47")
def test_everything_that_is_in_a_text_or_was_left_out_has_a_reason(given: Given) -> None:
    """Each piece tells why it is considered, and each that does not stand there why not, in a word and for people.

    The lines about the session itself are of no note.
    """
    for example in _examples():
        for budget in BUDGETS:
            context = given(example, budget)

            assert not context.late
            assert not context.degraded
            assert all(each.piece.why for each in context.included)
            assert all(each.piece.source for each in context.included if each.piece.section != "session")
            assert all(each.why in get_args(OmissionReason) and each.said for each in context.left_out)


@pytest.mark.parametrize(
    "words",
    [("Xanthopsia", "tool shed is known"), ("Quillfeather",), ("3 November", "Oslo", "Thursday evening", "Crete")],
)
def test_what_is_sensitive_another_channels_or_over_is_in_no_text(given: Given, words: Sequence[str]) -> None:
    """Not in a text, nor in what is told of things withheld: sensitive text, other channels, what is over."""
    for example in _examples():
        context = given(example, 9000)
        told = context.text + repr([each.said + each.source for each in context.left_out if each.why == "sensitive"])

        assert not [word for word in words if word.casefold() in told.casefold()]


def test_what_a_hostile_note_says_stays_between_the_marks(given: Given) -> None:
    """A note that gives orders, and one that closes the fence, are quoted as data, with doubt, and end nothing."""
    seen = 0
    for example in _examples():
        for budget in (0, 9000):
            text = given(example, budget).text
            quoted = "".join(
                re.findall(rf"<memory-{NONCE} (?:profile|facts)>\n.*?\n</memory-{NONCE}>", text, re.DOTALL)
            )
            for order in ("Ignore previous instructions", "the fence is closed"):
                seen += order in text
                lines = [line for line in text.splitlines() if order in line]

                assert text.count(order) == quoted.count(order) == len(lines)
                assert all(
                    line.endswith("(not sure: imported, never confirmed. Ask before relying on it.)") for line in lines
                )
            assert text.count(f"</memory-{NONCE}>") == text.count(f"<memory-{NONCE} ")

    assert seen >= 2


@pytest.mark.requirement("A-58")
def test_what_is_uncertain_is_marked(given: Given) -> None:
    """What a program mined and nobody confirmed, and what it says against the person's own word, which stands."""
    examples = {example.number: example for example in _examples()}

    mined = given(examples[11], 0).text
    contrary = given(examples[17], 0).text

    assert "step down as treasurer in spring. [38fb29] (not sure: mined by a program, never confirmed." in mined
    assert (
        "no permit, says Jonas. (an agent, 18 October) [b9b5df] (not sure: another known fact contradicts" in contrary
    )
    assert "litres does. (the person, 10 October) [7a70c3]\n" in contrary
    assert contrary.count("(not sure: another known fact contradicts it.") == 1


def test_messages_that_ask_for_nothing_recall_nothing_and_others_what_they_are_about(contexts: Contexts) -> None:
    """Of 32 messages of small talk and general knowledge 30 recall nothing; for 24 of 32 others a session has what they
    are about, in its profile or before the prompt."""
    idle, missed = [], []
    session = _documents(contexts.start(within=None, peek=True), "user", "profile", "dated")
    for each in _messages():
        recalled = _documents(contexts(each["prompt"], within=None, peek=True, profile=False), *OWN)
        wanted = tuple(each.get("wants", ()))
        if not wanted and recalled:
            idle.append(each["prompt"])
        if wanted and not any(document.startswith(wanted) for document in (*recalled, *session)):
            missed.append(each["prompt"])

    assert len(idle) <= 2
    assert len(missed) <= 8
