"""The figures of the benchmarks of memory, on texts and judgements made up by hand."""

from dataclasses import replace

import pytest
from bench import page
from bench.memory_context import Judgement, figures_of
from bench.memory_crowd import crowd
from bench.memory_tables import tables
from bench.memory_vault import Needles
from bench.sessions import PromptCount
from bench.sessions import figures_of as day_figures
from bench.sessions import tables as day_tables
from bench.sessions_days import own_day

TEXTS = {
    "a": "The heating in the workshop is turned on at six on Wednesday.",
    "aold": "The heating in the workshop is turned on at six on Friday.",
    "b": "Paints in oil.",
}
NEEDED = Judgement(
    person="p",
    id="p-1",
    type="superseded",
    gold=("a",),
    ok=(),
    session=("a", "b"),
    own=(),
    own_chars=0,
    alone=("a", "b"),
    alone_chars=120,
    old_there=(),
    harmful_own=(),
)
IDLE = replace(NEEDED, id="p-2", type="none", gold=(), alone=(), alone_chars=0)


def test_a_text_is_there_where_it_differs_from_the_one_it_replaced() -> None:
    """Case, marks and line ends make no difference; a beginning that both have does not count for either."""
    needles = Needles(TEXTS)

    assert needles.found("- the heating in the\n  workshop is turned on at six on *Wednesday* [id]") == {"a"}
    assert needles.found("The heating in the workshop is turned on at six on") == frozenset()
    assert needles.found(f"{TEXTS['aold']} {TEXTS['b']}") == {"aold", "b"}


def test_what_memory_keeps_in_other_words_is_found_in_these_words() -> None:
    """An agent's introduction may have been taken off."""
    needles = Needles({"c": "The user said that mornings are for drawing."}, {"c": "Mornings are for drawing."})

    assert needles.found("- Mornings are for drawing.") == {"c"}


def test_needed_entries_are_counted_in_the_session_and_in_the_own_part() -> None:
    """Old values count against a change, and a prompt without need only when its own part is empty."""
    worse = replace(NEEDED, session=("a", "aold"), old_there=("aold",), alone=())
    told = figures_of([NEEDED, worse, IDLE, replace(IDLE, alone_chars=7)])

    assert told["session"] == [2, 2]
    assert told["alone"] == [1, 2]
    assert told["changed"] == [1, 2]
    assert told["old_there"] == [1, 4]
    assert told["empty_alone"] == [1, 2]
    assert told["right_alone"] == [1, 2]


def test_a_table_says_what_was_counted_of_how_many_and_whether_that_is_enough() -> None:
    """Each row has the share beside the target."""
    saves = {"p": {"entries": 1, "refused": {}, "missing": [], "still_current": []}}
    context = {**figures_of([NEEDED, IDLE]), "start_chars": {"p": 10}, "saves": saves, "prompts": []}
    lines = list(tables({"context": context}, verbose=False))

    assert "| old value absent and new one there | 0/16 | 1/1 | 1.00 | 0.94 met |" in lines


def test_a_crowd_is_always_the_same_and_grows_at_its_end() -> None:
    """No statement comes twice."""
    some = crowd(300)

    assert crowd(40) == some[:40]
    assert len({text for _, text, _ in some}) == 300


def test_a_day_counts_all_characters_and_what_came_too_late() -> None:
    """The start belongs to the characters, not to the prompts."""
    start = PromptCount("", 100, 40, ("b",), (), (), 9.0, 5.0, "")
    idle = PromptCount("hello", 0, 0, (), (), (), 9.0, 5.0, "")
    missed = PromptCount("when?", 60, 20, ("b",), ("a", "b"), ("a",), 9.0, 5.0, "it took too long")
    told = day_figures([start, idle, missed])

    assert (told["chars"], told["right_chars"], told["start_chars"]) == (160, 60, 100)
    assert (told["needed"], told["idle_empty"], told["skipped"]) == ([1, 2], [1, 1], 1)
    times = {"n": 2, "p50": 9.0, "p95": 9.0, "computed_p50": 5.0, "load": 1.0}
    shown = {"days_from": "here", "days": {"P": told}, "hook_ms": times}
    assert "| share that is right | 3 % | 38% | 50% MISSED |" in list(day_tables(shown, verbose=False))


def test_our_own_day_names_only_memories_that_it_has() -> None:
    """Twelve prompts and fifteen memories, as in the issue."""
    day = own_day()
    ids = {each.id for each in day.entries}

    assert (len(day.prompts), len(ids)) == (12, 15)
    assert all({*prompt.gold, *prompt.ok} <= ids for prompt in day.prompts)


def test_the_page_has_both_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """How they are measured stands there before there are figures, too."""
    monkeypatch.setattr(page, "kept", lambda name: [])
    written = page.written()

    assert "## Memory that reaches the prompt" in written
    assert "## A working day through the hooks" in written
