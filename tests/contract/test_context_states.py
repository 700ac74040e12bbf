"""Both histories keep what a conversation's model has been given by the same contract."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.history.base import MOST_STATES, STATE_DAYS, ContextState, History, NewThread
from commonplace.model import Message
from tests.contract.twins import HISTORIES

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
STATE = ContextState("codex:s-1", frozenset({"m-1", "m-2"}), ("Paint the boat.", "ok, do it"), "Which crête?")


def test_a_state_is_kept_until_it_is_replaced(history: History) -> None:
    """One for each conversation, with the prompts in order: the last that was saved, also an empty one."""
    other = ContextState("codex:s-2", prompts=("tea",))
    history.save_context_state(STATE, now=NOW)
    history.save_context_state(other, now=NOW)

    assert (history.context_state("codex:s-1"), history.context_state("codex:s-2")) == (STATE, other)
    history.save_context_state(ContextState("codex:s-1"), now=NOW)
    assert history.context_state("codex:s-1") == ContextState("codex:s-1")
    assert history.context_state("codex:s-2") == other


def test_an_unknown_conversation_has_an_empty_state(history: History) -> None:
    """So that whoever asks needs no case of its own."""
    assert history.context_state("codex:s-1") == ContextState("codex:s-1", frozenset(), (), "")
    assert history.context_state("") == ContextState("")


def test_a_state_outlives_what_is_open(history: History) -> None:
    """`close` releases files; the next call opens them again."""
    history.save_context_state(STATE, now=NOW)
    history.close()

    assert history.context_state("codex:s-1") == STATE


def test_a_state_of_no_conversation_is_refused(history: History) -> None:
    """It could not be found again."""
    with pytest.raises(UsageError) as refused:
        history.save_context_state(ContextState(" ", prompts=("tea",)), now=NOW)

    assert refused.value.hint


def test_a_state_without_a_zone_is_refused(history: History) -> None:
    """Its age could not be told."""
    with pytest.raises(UsageError, match="has no zone"):
        history.save_context_state(STATE, now=datetime(2026, 3, 1))

    assert history.context_state("codex:s-1") == ContextState("codex:s-1")


def test_text_that_is_no_text_is_kept_as_question_marks(history: History) -> None:
    """Half a pair of surrogates, as a host may cut a prompt."""
    history.save_context_state(ContextState("c\ud800", frozenset({"m\ud800"}), ("p\ud800",), "q\ud800"), now=NOW)

    assert history.context_state("c\ud800") == ContextState("c?", frozenset({"m?"}), ("p?",), "q?")


def test_a_state_that_nobody_touched_for_a_month_goes(history: History) -> None:
    """With the next one that is saved, of whatever conversation; a touched one stays."""
    old, touched = ContextState("old", frozenset("a")), ContextState("touched", frozenset("b"))
    history.save_context_state(old, now=NOW)
    history.save_context_state(touched, now=NOW)
    history.save_context_state(touched, now=NOW + timedelta(days=1))
    history.save_context_state(STATE, now=NOW + timedelta(days=STATE_DAYS))
    assert history.context_state("old") == old

    history.save_context_state(STATE, now=NOW + timedelta(days=STATE_DAYS, seconds=1))
    assert history.context_state("old") == ContextState("old")
    assert history.context_state("touched") == touched


def test_the_oldest_of_too_many_states_go(history: History) -> None:
    """In the order in which they were last saved, also within one second."""
    for number in range(MOST_STATES):
        history.save_context_state(ContextState(f"c-{number}", missed="x"), now=NOW)
    history.save_context_state(ContextState("c-0", missed="y"), now=NOW)
    history.save_context_state(STATE, now=NOW)

    kept = [number for number in range(MOST_STATES) if history.context_state(f"c-{number}").missed]
    assert kept == [0, *range(2, MOST_STATES)]
    assert history.context_state("codex:s-1") == STATE


@pytest.mark.parametrize("name", ["id", "s-1", "codex:s-1"])
def test_a_forgotten_conversation_takes_its_state_along(history: History, name: str) -> None:
    """By whichever of its names it was saved, also that of hooks; those of others stay."""
    id_ = history.record_conversation(NewThread("codex", "s-1"), [Message("user", "My boat.")], now=NOW).id
    own = ContextState(id_ if name == "id" else name, prompts=("My boat.",))
    other = ContextState("claude-code:s-1", prompts=("tea",))
    history.save_context_state(own, now=NOW)
    history.save_context_state(other, now=NOW)
    history.forget_conversation(id_)

    assert history.context_state(own.conversation) == ContextState(own.conversation)
    assert history.context_state("claude-code:s-1") == other


def test_an_erased_note_takes_all_states_along(history: History) -> None:
    """A mark may be of its text: whoever knows the text could check whether it was once in a note."""
    history.save_context_state(STATE, now=NOW)
    history.forget_path("Diary/2026.md")

    assert history.context_state("codex:s-1") == ContextState("codex:s-1")


@settings(max_examples=30)
@given(saved=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2 * STATE_DAYS)), max_size=8))
def test_all_twins_keep_the_same_states(tmp_path_factory: pytest.TempPathFactory, saved: list[tuple[str, int]]) -> None:
    """Saved in any order of days, as by a clock that is set back."""
    told = []
    for make in HISTORIES.values():
        twin = make(tmp_path_factory.mktemp("twin"))
        for conversation, day in saved:
            twin.save_context_state(ContextState(conversation, missed=str(day)), now=NOW + timedelta(days=day))
        told.append([twin.context_state(conversation) for conversation in "abcd"])
        twin.close()

    assert all(each == told[0] for each in told)
