"""The notes of a project's state: lines are read as written, and one line changes at a time."""

from commonplace.model.project_state import Feature, ProgressEntry, ProjectState
from commonplace.notes.harness_notes import parse_features, parse_progress, state_lines, with_feature, with_progress

FEATURES = "---\nproject: atlas\n---\n# Features\n\n- [x] Parser (reads frontmatter)\n- [ ] Export\n\nMy own words.\n"


def test_a_feature_is_a_task_with_one_of_five_marks_and_an_unknown_mark_is_open() -> None:
    """`[x]` is done, `[/]` doing, `[!]` blocked, `[-]` dropped, `[ ]` and every other mark todo."""
    body = "- [x] A\n* [/] B (half)\n- [!] C\n  - [-] D\n- [ ] E\n- [>] F\n- no task\n"

    assert parse_features(body) == (
        Feature("A", "done"),
        Feature("B", "doing", "half"),
        Feature("C", "blocked"),
        Feature("D", "dropped"),
        Feature("E", "todo"),
        Feature("F", "todo"),
    )


def test_setting_a_feature_changes_its_line_and_no_other_byte() -> None:
    """The name compares without case; the remark stays unless there is a new one; a person's words stay."""
    assert with_feature(FEATURES, Feature("parser", "doing")) == FEATURES.replace(
        "- [x] Parser (reads frontmatter)", "- [/] parser (reads frontmatter)"
    )
    assert with_feature(FEATURES, Feature("Export", "done", "CSV")) == FEATURES.replace(
        "- [ ] Export", "- [x] Export (CSV)"
    )


def test_a_new_feature_comes_after_the_last_one() -> None:
    """It joins the list, also in a note with the line ends of Windows."""
    assert with_feature(FEATURES, Feature("Import", "todo")) == FEATURES.replace(
        "- [ ] Export\n", "- [ ] Export\n- [ ] Import\n"
    )
    assert with_feature("# Features\r\n", Feature("A", "done")) == "# Features\r\n\r\n- [x] A\r\n"


def test_progress_stands_below_its_day_and_reads_back() -> None:
    """A day has one heading; the phase and its end are part of the line."""
    first = ProgressEntry("2026-03-01", "09:12", "the parser works: it reads all", "work", ends_phase=True)
    second = ProgressEntry("2026-03-01", "10:00", "saved in between")
    third = ProgressEntry("2026-03-02", "08:00", "reviewed", "review")

    text = with_progress(with_progress(with_progress("# Progress\n", first), second), third)

    assert text == (
        "# Progress\n\n## 2026-03-01\n\n- 09:12 work (end): the parser works: it reads all\n"
        "- 10:00: saved in between\n\n## 2026-03-02\n\n- 08:00 review: reviewed\n"
    )
    assert parse_progress(text) == (first, second, third)


def test_the_same_progress_from_both_triggers_is_one_line() -> None:
    """An explicit save and the end of the phase that say the same do not double the line."""
    line = ProgressEntry("2026-03-01", "09:12", "done", "work")
    text = with_progress("# Progress\n", line)

    assert with_progress(text, ProgressEntry("2026-03-01", "09:15", "done", "work", ends_phase=True)) == text


def test_where_the_work_stands_fits_three_lines() -> None:
    """The plan with its next open step, the last progress, and the features by what they need."""
    state = ProjectState(
        project="atlas",
        folder="Agent/projects/atlas/_harness",
        plan="# Plan\n\n## Atlas 2\n\n- [x] read\n- [ ] write\n",
        progress=(ProgressEntry("2026-03-01", "09:12", "read works", "work", ends_phase=True),),
        features=(Feature("A", "done"), Feature("B", "doing"), Feature("C", "blocked"), Feature("D", "dropped")),
    )

    assert state_lines(state) == (
        'Plan of atlas: "Atlas 2"; next step: "write"',
        'Last progress (2026-03-01 09:12 UTC, end of work): "read works"',
        "Features: 1 of 3 done; in progress: 'B'; blocked: 'C'",
    )
    assert state_lines(ProjectState(project="atlas", folder="")) == ()
