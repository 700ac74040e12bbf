"""Laws of the notes that programs add lines to: a person's bytes stay, and the same line comes once."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.flows.digest import with_lines
from commonplace.model.project_state import FEATURE_STATUSES, Feature, ProgressEntry
from commonplace.notes.harness_notes import parse_features, parse_progress, with_feature, with_progress

LINE = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=40)
NOTE = st.lists(LINE, max_size=8).map("\n".join)
WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=4).map(" ".join)
REPORT = st.lists(WORDS.map(lambda words: f"- {words}"), min_size=1, max_size=6, unique=True)


@given(NOTE, REPORT)
def test_a_digest_keeps_the_note_and_adds_each_line_once(note: str, lines: list[str]) -> None:
    """Whatever a person wrote in it; adding the same again changes nothing."""
    after = with_lines(note, ["### Changed", *lines], head="06:00", day="2026-03-01")

    assert after.startswith(note.rstrip("\n"))
    assert {*lines} <= {line.strip() for line in after.splitlines()}
    assert with_lines(after, ["### Changed", *lines], head="07:00", day="2026-03-01") == after


@given(NOTE, st.lists(st.tuples(WORDS, st.sampled_from(FEATURE_STATUSES)), min_size=1, max_size=5))
def test_features_read_back_as_they_were_set_and_other_lines_stay(note: str, changes: list[tuple[str, str]]) -> None:
    """The last status of each feature counts; every line of the note that is no feature is still there, in order."""
    text, others = note, [line for line in note.splitlines() if not parse_features(line) and line.strip()]
    for name, status in changes:
        text = with_feature(text, Feature(name, status))  # type: ignore[arg-type]
    found = {each.name: each.status for each in parse_features(text)}

    assert {name: found[name] for name, _ in changes} == dict(changes)
    kept = iter(text.splitlines())
    assert all(line in kept for line in others)


@given(NOTE, st.lists(st.tuples(st.sampled_from(["2026-03-01", "2026-03-02"]), WORDS), max_size=5))
def test_progress_reads_back_in_order_and_only_ever_adds(note: str, lines: list[tuple[str, str]]) -> None:
    """Each line comes after all that was there; one that repeats the last is not added."""
    text, expected = note, [(each.day, each.text) for each in parse_progress(note)]
    for day, words in sorted(lines):
        before = text
        text = with_progress(text, ProgressEntry(day, "09:00", words))
        assert text.startswith(before.rstrip("\r\n"))
        expected += [] if expected and expected[-1] == (day, words) else [(day, words)]

    assert [(each.day, each.text) for each in parse_progress(text)] == expected
