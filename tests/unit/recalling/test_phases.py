"""Phases of work: what each recalls, and how much."""

import pytest

from commonplace.recalling.compose import briefing_skips
from commonplace.recalling.context_options import ContextOptions
from commonplace.recalling.phases import PHASES, Phase, phase_named, phase_of


def test_a_line_names_a_phase_its_characters_and_its_kinds() -> None:
    """In any case, with any space between them."""
    phase = phase_of("  Plan 4000  Decision note ")

    assert phase == Phase("plan", 4000, ("decision", "note"))


@pytest.mark.parametrize(
    "line", ["", "plan", "plan 4000", "plan note decision", "plan -1 note", "plan 4k note", "4000 note"]
)
def test_a_line_that_is_no_phase_is_refused(line: str) -> None:
    """It says what a line should be; settings with such a line are refused too."""
    with pytest.raises(ValueError, match="is no phase: write its name"):
        phase_of(line)
    with pytest.raises(ValueError, match="is no phase"):
        ContextOptions(phases=(line,))


def test_a_phase_is_found_whatever_the_case_of_its_name() -> None:
    """And a person's own lines replace the usual ones."""
    lines = ("plan 100 idea", "garden 900 note")

    assert phase_named("Garden", lines) == Phase("garden", 900, ("note",))
    assert phase_named("work", lines) is None
    assert phase_named("", lines) is None


@pytest.mark.requirement("A-47", "A-55")
def test_each_phase_has_kinds_and_a_budget_of_its_own() -> None:
    """What is recalled for planning is not what is recalled for mending, and each says how much at most."""
    plan, work, review, debug = map(phase_of, PHASES)

    assert [phase.name for phase in (plan, work, review, debug)] == ["plan", "work", "review", "debug"]
    assert len({phase.kinds for phase in (plan, work, review, debug)}) == 4
    assert "fix" in debug.kinds
    assert "fix" not in plan.kinds
    assert all(0 < phase.chars < ContextOptions().budget for phase in (plan, work, review, debug))


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize("phase", ["briefing", "Briefing"])
def test_a_briefing_goes_without_user_memory_facts_and_dated_memories(phase: str) -> None:
    """It is told the news; no other phase goes without a section."""
    assert briefing_skips(phase) == {"user", "facts", "dated"}
    assert briefing_skips("") == briefing_skips("work") == frozenset()
