"""Settings of contexts and hooks, and the phases of work."""

import pytest

from commonplace.context.compose import skipped_sections
from commonplace.context.options import DEFAULT_PHASES, ContextOptions, HookOptions, Phase, find_phase, parse_phase


def test_a_line_names_a_phase_its_characters_and_its_kinds() -> None:
    """In any case, with any space between them."""
    phase = parse_phase("  Plan 4000  Decision note ")

    assert phase == Phase("plan", 4000, ("decision", "note"))


@pytest.mark.parametrize(
    "line", ["", "plan", "plan 4000", "plan note decision", "plan -1 note", "plan 4k note", "4000 note"]
)
def test_a_line_that_is_no_phase_is_refused(line: str) -> None:
    """It says what a line should be; settings with such a line are refused too."""
    with pytest.raises(ValueError, match="is not a phase: write its name"):
        parse_phase(line)
    with pytest.raises(ValueError, match="is not a phase"):
        ContextOptions(phases=(line,))


def test_a_phase_is_found_whatever_the_case_of_its_name() -> None:
    """And a person's own lines replace the usual ones."""
    lines = ("plan 100 idea", "garden 900 note")

    assert find_phase("Garden", lines) == Phase("garden", 900, ("note",))
    assert find_phase("work", lines) is None
    assert find_phase("", lines) is None


def test_each_phase_has_kinds_and_a_budget_of_its_own() -> None:
    """What is recalled for planning is not what is recalled for mending, and each says how much at most."""
    phases = [*map(parse_phase, DEFAULT_PHASES)]
    plan, _, _, debug, _ = phases

    assert [phase.name for phase in phases] == ["plan", "work", "review", "debug", "documenter"]
    assert len({phase.kinds for phase in phases}) == 5
    assert "fix" in debug.kinds
    assert "fix" not in plan.kinds
    assert all(0 < phase.chars < ContextOptions().budget for phase in phases)


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize("phase", ["briefing", "Briefing"])
def test_a_briefing_goes_without_user_memory_facts_and_dated_memories(phase: str) -> None:
    """It is told the news; no other phase goes without a section."""
    assert skipped_sections(phase) == {"user", "profile", "facts", "dated", "session"}
    assert skipped_sections("") == skipped_sections("work") == frozenset()


def test_a_host_may_have_its_own_use_of_notes() -> None:
    """The last line about a host counts; another host has none."""
    options = HookOptions(notes=("codex off", "claude-code asked", " Codex  Auto "))

    assert [options.notes_for(host) for host in ("codex", "claude-code", "cursor")] == ["auto", "asked", ""]


@pytest.mark.parametrize("line", ["", "codex", "off", "codex never", "codex off now"])
def test_a_line_without_a_host_and_a_mode_is_refused(line: str) -> None:
    """With what would be right."""
    with pytest.raises(ValueError, match="one of auto, always, asked, off"):
        HookOptions(notes=(line,))
