"""Facts for people and for programs: what became of one, its chain, its timeline."""

import json
from dataclasses import replace

import pytest

from commonplace.cli.fact_view import brief, chain_lines, day, short, statement, told
from commonplace.cli.timeline import plain_lines, rows_of
from commonplace.facts.validity import TimelineEvent
from commonplace.memory.fact_shapes import chain_shape, fact_shape, snapshot_shape
from commonplace.model import Chain, EntryResult, Fact, FactEdge, FactSnapshot, Origins

OLD = Fact(
    id="0199f3c2-1111-7000-8000-0000000aaaaa",
    path="Agent/Memory/_archive/fact/2024-01/ada-works-at-acme-0aaaaa.md",
    line=0,
    origin="entry",
    text="Ada works at Acme.",
    kind="fact",
    fact="fact",
    status="superseded",
    topics=("work",),
    subject="Ada",
    predicate="works_at",
    object="Acme",
    valid_from="2024-01-01T00:00:00Z",
    valid_until="2026-03-01T00:00:00Z",
    recorded="2024-01-02T09:12:44Z",
    superseded_by="0199f3c2-2222-7000-8000-0000000bbbbb",
    superseded_at="2026-03-02T10:00:00Z",
    confirmed=("2024-06-01", "2025-06-01"),
    origins=Origins("cli", "c-4f1d", "told"),
)
NEW = replace(
    OLD,
    id=OLD.superseded_by,
    path="Agent/Memory/fact/2026-03/ada-works-at-beta-0bbbbb.md",
    text="Ada works at Beta.",
    status="active",
    object="Beta",
    valid_from="2026-03-01T00:00:00Z",
    valid_until="",
    recorded="2026-03-02T10:00:00Z",
    supersedes=OLD.id,
    superseded_by="",
    superseded_at="",
    reason="she said so",
    confirmed=(),
    bonds=(("extend", "0199f3c2-3333-7000-8000-0000000ccccc"),),
)

PAST = replace(NEW, valid_until="2026-03-02T00:00:00Z", invalidated_at="2026-03-02T10:00:00Z")


@pytest.mark.parametrize(
    ("remembered", "said"),
    [
        (EntryResult("insert", NEW, ""), "saved 0bbbbb fact: Ada works at Beta."),
        (
            EntryResult("insert", PAST, "A later one is known."),
            "saved 0bbbbb fact: Ada works at Beta.\n  it is part of the past, until 2026-03-02: A later one is known.",
        ),
        (
            EntryResult("supersede", NEW, "she said so", old=OLD.id, ended=(OLD,)),
            "saved 0bbbbb fact: Ada works at Beta.\n  ended 0aaaaa: Ada works at Acme.\n  she said so",
        ),
        (
            EntryResult("settle", NEW, "Both hold."),
            "settled 0bbbbb: Ada works at Beta.\n  Both hold.",
        ),
        (
            EntryResult("contradict", NEW, "the numbers differ", old=OLD.id),
            "saved 0bbbbb fact: Ada works at Beta.\n  contradicts 0aaaaa: the numbers differ",
        ),
        (
            EntryResult("extend", NEW, "", old=OLD.id),
            "saved 0bbbbb fact: Ada works at Beta.\n  adds to 0aaaaa",
        ),
        (
            EntryResult("derive", NEW, "", old=OLD.id),
            "saved 0bbbbb fact: Ada works at Beta.\n  follows from 0aaaaa",
        ),
        (
            EntryResult("confirm", OLD, "the same words", old=OLD.id),
            "already known, confirmed (2 times): 0aaaaa Ada works at Acme.",
        ),
        (
            EntryResult("confirm", OLD, "the same words", changed=False),
            "already known: 0aaaaa Ada works at Acme.\n  the same words",
        ),
        (
            EntryResult("insert", NEW, "it was read somewhere", staged=True),
            "staged: 0bbbbb fact: Ada works at Beta.\n  it was read somewhere",
        ),
        (EntryResult("forget", OLD, "never true"), "forgot 0aaaaa: Ada works at Acme.\n  never true"),
        (EntryResult("end", OLD, ""), "ends 2026-03-01: 0aaaaa Ada works at Acme."),
    ],
    ids=lambda each: each.action if isinstance(each, EntryResult) else "",
)
def test_what_became_of_a_fact_is_said_in_a_sentence(remembered: EntryResult, said: str) -> None:
    """With the short id, and below it what that did to another fact."""
    assert told(remembered) == said


@pytest.mark.parametrize(("count", "times"), [(1, "1 time"), (3, "3 times")])
def test_confirmations_are_counted(count: int, times: str) -> None:
    """The number of days on which the fact was confirmed."""
    remembered = EntryResult("confirm", replace(OLD, confirmed=("2024-06-01",) * count), "")

    assert f"({times})" in told(remembered)


def test_a_long_text_is_one_line() -> None:
    """Cut with a mark; a short id is the end of the id, as the file is named."""
    assert brief("a\n  b\tc") == "a b c"
    assert (len(brief("word " * 50)), brief("word " * 50)[-1]) == (100, "…")
    assert OLD.path.endswith(f"-{short(OLD.id)}.md")


def test_a_triple_in_a_line_is_said_whole() -> None:
    """Its words alone do not name its subject; an entry's do."""
    line = replace(OLD, origin="line", text="works_at [[Acme]]")

    assert (statement(line), statement(OLD)) == ("Ada works_at Acme", "Ada works at Acme.")


def test_a_day_is_a_day_and_a_moment_a_moment() -> None:
    """Midnight is how a day is kept."""
    assert [day("2026-03-01T00:00:00Z"), day("2026-03-01T09:12:44Z"), day("")] == ["2026-03-01", "2026-03-01 09:12", ""]


def _link(path: str) -> str:
    return f"open:{path}"


def test_a_fact_is_a_flat_object_for_programs() -> None:
    """All its fields; where it comes from is its source, and its bonds are named."""
    fact: dict[str, object] = dict(fact_shape(NEW, _link))

    source = {"interface": "cli", "conversation": "c-4f1d", "trust": "told"}
    assert fact["source"] == {**source, "extractor": "", "note": "", "turn": 0, "quote": "", "author": ""}
    assert fact["bonds"] == [{"bond": "extend", "target": "0199f3c2-3333-7000-8000-0000000ccccc"}]
    assert (fact["id"], fact["object"], fact["topics"]) == (NEW.id, "Beta", ("work",))
    assert "origins" not in fact
    assert fact["link"] == f"open:{NEW.path}"


def test_importance_as_aged_stands_beside_the_one_at_first() -> None:
    """Neither hides the other."""
    held = snapshot_shape(FactSnapshot(OLD, "superseded", OLD.valid_until, NEW.id, 0.25, 3, "2026-11-15"), _link)

    assert (held["importance"], held["importance_now"]) == (0.5, 0.25)
    assert (held["uses"], held["last_used"]) == (3, "2026-11-15")
    assert (held["state"], held["until"], held["ended_by"]) == ("superseded", OLD.valid_until, NEW.id)


CHAIN = Chain(
    NEW,
    (
        FactSnapshot(OLD, "superseded", OLD.valid_until, NEW.id, 0.25),
        FactSnapshot(NEW, "current", "", "", 0.5, 3, "2026-11-15"),
    ),
    (FactEdge(NEW.id, "update", OLD.id), FactEdge(NEW.id, "extend", "0199f3c2-3333-7000-8000-0000000ccccc")),
)


def test_a_chain_is_shown_version_by_version() -> None:
    """Oldest first: state, validity, words, source, confirmations, what replaced it, path; then other bonds."""
    assert list(chain_lines(CHAIN)) == [
        f"1. {OLD.id}  superseded  2024-01-01 to 2026-03-01",
        "   Ada works at Acme.",
        "   Ada | works_at | Acme",
        "   fact, #work",
        "   recorded 2024-01-02 09:12, cli, conversation c-4f1d, told",
        "   confirmed 2024-06-01, 2025-06-01",
        "   importance 0.25 now, initially 0.50; never recalled",
        "   replaced by 0bbbbb on 2026-03-02 10:00",
        f"   {OLD.path}",
        "",
        f"2. {NEW.id}  current  since 2026-03-01",
        "   Ada works at Beta.",
        "   Ada | works_at | Beta",
        "   fact, #work",
        "   recorded 2026-03-02 10:00, cli, conversation c-4f1d, told",
        "   importance 0.50 now, initially 0.50; recalled 3 times, last 2026-11-15",
        "   replaces 0aaaaa: she said so",
        f"   {NEW.path}",
        "",
        "relations",
        "   0bbbbb adds to 0ccccc",
    ]


def test_a_chain_tells_how_a_version_ended() -> None:
    """By a person's word, by being forgotten, or by another fact that claims the same."""
    ended = replace(
        OLD,
        superseded_by="",
        superseded_at="",
        invalidated_at="2026-03-02T10:00:00Z",
        was_valid_until="2027-01-01T00:00:00Z",
    )
    forgotten = replace(NEW, supersedes="", deleted_at="2026-04-01T00:00:00Z", reason="another Ada")
    held = (
        FactSnapshot(ended, "ended", ended.valid_until, NEW.id, 0.1),
        FactSnapshot(forgotten, "deleted", "", "", 0.1),
    )
    lines = [line.strip() for line in chain_lines(Chain(NEW, held, ()))]

    assert f"ended by {short(NEW.id)}, which makes the same claim" in lines
    assert "its end was set on 2026-03-02 10:00; it was 2027-01-01 before" in lines
    assert "forgotten on 2026-04-01: another Ada" in lines


def test_a_line_was_recorded_nobody_knows_when() -> None:
    """It names its place in the note instead."""
    line = replace(NEW, origin="line", recorded="", path="People/Ada.md", line=3)
    lines = [each.strip() for each in chain_lines(Chain(line, (FactSnapshot(line, "current", "", "", 0.5, 1),), ()))]

    assert "recorded at an unknown time, cli, conversation c-4f1d, told" in lines
    assert "importance 0.50 now, initially 0.50; recalled 1 time" in lines
    assert "People/Ada.md:3" in lines


def test_a_chain_is_json_with_versions_and_edges() -> None:
    """Edges are objects, not rows."""
    values = json.loads(json.dumps(chain_shape(CHAIN, _link)))

    assert [each["id"] for each in values["versions"]] == [OLD.id, NEW.id]
    assert values["edges"][0] == {"source": NEW.id, "bond": "update", "target": OLD.id}
    assert values["fact"]["id"] == NEW.id


MOMENTS = (
    TimelineEvent(OLD.begins, "began", OLD),
    TimelineEvent("2024-06-01T00:00:00Z", "confirmed", OLD),
    TimelineEvent(NEW.begins, "replaced", OLD, NEW.id),
    TimelineEvent(NEW.begins, "began", NEW),
)


def test_a_timeline_has_a_row_for_each_fact() -> None:
    """When it began, was confirmed and ended, and what replaced it."""
    first, second = rows_of(MOMENTS)

    assert first.span == (OLD.begins, NEW.begins, ("2024-06-01T00:00:00Z",))
    assert (first.fate, second.fate, second.span.until) == ("replaced by 0bbbbb", "", "")
    assert (first.holds("2026-01-01T00:00:00Z"), first.holds(NEW.begins), second.holds(NEW.begins)) == (
        True,
        False,
        True,
    )


def test_a_timeline_is_a_line_for_each_moment_where_nobody_looks() -> None:
    """Oldest first, in columns."""
    assert list(plain_lines(MOMENTS)) == [
        "2024-01-01        began               0aaaaa  Ada works at Acme.",
        "2024-06-01        confirmed           0aaaaa  Ada works at Acme.",
        "2026-03-01        replaced by 0bbbbb  0aaaaa  Ada works at Acme.",
        "2026-03-01        began               0bbbbb  Ada works at Beta.",
    ]
