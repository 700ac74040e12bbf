"""An entry as a Fact, and a Fact as the keys of an entry."""

from dataclasses import replace

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.entry_format import KEY_ORDER, changed_keys, entry_frontmatter, is_entry, read_entry
from commonplace.facts.line_facts import line_facts
from commonplace.model import Candidate, Fact, Note, Origins, Problem
from commonplace.notes import parse

RULES = FactRules()
PATH = "Agent/Memory/preference/2026-03/prefers-typescript-1b8e11.md"
ID = "0199f3c2-7c1e-7d3a-9d55-6a2f0c1b8e11"
OLD = "0199f3c2-0000-7000-8000-000000000001"
OTHER = "0199f3c2-0000-7000-8000-000000000002"
WHOLE = f"""---
id: {ID}
kind: preference
fact: preference
status: superseded
always_load: true
pinned: true
importance: 0.9
topics: [coding, web]
triggers: [choose a language]
project: atlas
project_root: /home/ann/code/atlas
subject: me
predicate: prefers
object: TypeScript over JavaScript
due: 2026-06-01
valid_from: 2026-03-01
valid_until: 2026-09-01T12:00:00+02:00
invalidated: {{at: 2026-08-01T10:00:00Z, was: 2026-12-31}}
recorded: 2026-03-01T09:12:44Z
supersedes: {OLD}
superseded_by: {OTHER}
superseded_at: 2026-09-02T08:00:00Z
reason: the team moved on
archived_at: 2026-09-02T09:00:00Z
deleted_at: 2026-09-03T08:00:00Z
relations: {{extend: [{OTHER}], derive: [], contradict: [{OLD}]}}
derived_from: [{OLD}]
source: {{interface: claude-code, conversation: c-123, trust: said}}
confirmed: [2026-03-01, 2026-07-19]
tags: [work]
slug: prefers-typescript
created: 2026-03-01T09:12:44Z
updated: 2026-09-02T08:00:00Z
mood: sunny
---

Prefers TypeScript over JavaScript.

- [why] fewer surprises
"""
FACT = Fact(
    due="2026-06-01",
    id=ID,
    path=PATH,
    line=38,
    origin="entry",
    text="Prefers TypeScript over JavaScript.\n\n- [why] fewer surprises",
    kind="preference",
    fact="preference",
    status="superseded",
    place="archive",
    sensitive=True,
    always_load=True,
    pinned=True,
    importance=0.9,
    topics=("coding", "web"),
    triggers=("choose a language",),
    project="atlas",
    project_root="/home/ann/code/atlas",
    subject="me",
    predicate="prefers",
    object="TypeScript over JavaScript",
    valid_from="2026-03-01T00:00:00Z",
    valid_until="2026-09-01T10:00:00Z",
    recorded="2026-03-01T09:12:44Z",
    updated="2026-09-02T08:00:00Z",
    supersedes=OLD,
    superseded_by=OTHER,
    superseded_at="2026-09-02T08:00:00Z",
    deleted_at="2026-09-03T08:00:00Z",
    archived_at="2026-09-02T09:00:00Z",
    invalidated_at="2026-08-01T10:00:00Z",
    was_valid_until="2026-12-31T00:00:00Z",
    reason="the team moved on",
    bonds=(("contradict", OLD), ("derive", OLD), ("extend", OTHER)),
    confirmed=("2026-03-01", "2026-07-19"),
    origins=Origins("claude-code", "c-123", "said"),
    fingerprint=RULES.fingerprint(
        Candidate(text="", subject="me", predicate="prefers", object="TypeScript over JavaScript")
    ),
)


def note_of(text: str, path: str = PATH) -> Note:
    return parse(text.encode(), path=path, mtime=0.0)


def with_keys(*lines: str) -> Note:
    return note_of("\n".join(["---", f"id: {ID}", *lines, "---", "Some words."]))


def read(note: Note) -> tuple[Fact, tuple[Problem, ...]]:
    fact, problems = read_entry(note, place="", sensitive=False, rules=RULES)
    assert fact
    return fact, problems


@pytest.mark.requirement("A-15", "V-03")
def test_every_key_of_an_entry_is_a_field_of_its_fact() -> None:
    """Times are moments in UTC, fields of their own beside the object; confirmations are days; the body is the text."""
    fact, problems = read_entry(note_of(WHOLE), place="archive", sensitive=True, rules=RULES)

    assert fact == FACT
    assert problems == ()


@pytest.mark.requirement("A-18")
def test_an_entry_is_one_fact_and_its_lines_are_part_of_it() -> None:
    """One note, one fragment: why it mattered stands in the same text, and is no fact beside it."""
    note = note_of(WHOLE)

    assert len(note.observations) == 1
    assert line_facts(note, place="", sensitive=False, rules=RULES) == ()


def test_the_keys_of_a_fact_stand_in_their_order() -> None:
    """Everything that the note said is written again, days as days."""
    keys = entry_frontmatter(FACT, tags=("work",), slug="prefers-typescript", created="2026-03-01T09:12:44Z")

    assert tuple(keys) == KEY_ORDER
    assert keys["valid_from"] == "2026-03-01"
    assert keys["valid_until"] == "2026-09-01T10:00:00Z"
    assert keys["invalidated"] == {"at": "2026-08-01T10:00:00Z", "was": "2026-12-31"}
    assert keys["relations"] == {"extend": [OTHER], "contradict": [OLD]}
    assert keys["derived_from"] == [OLD]
    assert keys["source"] == {"interface": "claude-code", "conversation": "c-123", "trust": "said"}


def test_keys_without_a_value_are_left_out() -> None:
    """A plain statement has few keys."""
    plain = Fact(id=ID, path=PATH, line=3, origin="entry", text="x", recorded="2026-03-01T00:00:00Z")
    keys = entry_frontmatter(plain, tags=(), slug="x", created=plain.recorded)

    assert keys == {
        "id": ID,
        "status": "active",
        "importance": 0.5,
        "recorded": "2026-03-01T00:00:00Z",
        "source": {"trust": "told"},
        "slug": "x",
        "created": "2026-03-01T00:00:00Z",
    }


def test_changes_are_the_keys_that_differ() -> None:
    """What is no longer said is None: the key goes."""
    new = replace(FACT, status="active", superseded_by="", valid_until="2026-10-01T00:00:00Z", text="other words")

    assert changed_keys(FACT, new) == {"status": "active", "valid_until": "2026-10-01", "superseded_by": None}
    assert changed_keys(FACT, FACT) == {}


@pytest.mark.parametrize(
    ("path", "id", "is_one"),
    [
        (PATH, ID, True),
        (PATH, ID.upper(), True),
        (PATH, "c-123", False),
        (PATH, "12", False),
        ("People/Ada.md", ID, False),
        ("Agent/Memory/_index.md", ID, False),
    ],
)
def test_an_entry_stands_among_entries_and_has_an_id(path: str, id: str, *, is_one: bool) -> None:
    """Any other note is a plain one, and is no fact."""
    note = note_of(f"---\nid: {id}\n---\nWords.", path=path)

    assert is_entry(note) == is_one
    assert (read_entry(note, place="", sensitive=False, rules=RULES)[0] is not None) == is_one


def test_an_id_that_is_none_is_a_problem_of_a_note_among_entries() -> None:
    """Elsewhere a person may call a key `id` as they like."""
    among = read_entry(note_of("---\nkind: fix\nid: c-1\n---\nx"), place="", sensitive=False, rules=RULES)
    elsewhere = read_entry(note_of("---\nid: c-1\n---\nx", path="People/A.md"), place="", sensitive=False, rules=RULES)

    assert [(each.line, each.code) for each in among[1]] == [(3, "entry-key")]
    assert elsewhere == (None, ())


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("status: done", "status", "active"),
        ("status: Deleted", "status", "deleted"),
        ("fact: rumour", "fact", ""),
        ("importance: 7", "importance", 1.0),
        ("importance: -0.5", "importance", 0.0),
        ("importance: high", "importance", 0.5),
        ("importance: true", "importance", 0.5),
        (f"importance: {'9' * 600}", "importance", 1.0),
        ("always_load: perhaps", "always_load", False),
        ("always_load: yes", "always_load", True),
        ("valid_from: soon", "valid_from", ""),
        ("valid_from: 0001-01-01T00:00:00+14:00", "valid_from", ""),
        ("valid_until: 2026", "valid_until", ""),
        ("recorded: [2026-03-01]", "recorded", "2025-10-17T20:00:33Z"),
        ("confirmed: [2026-07-01, often, 2026-03-01, 2026-07-01T23:00:00Z]", "confirmed", ("2026-03-01", "2026-07-01")),
        ("confirmed: 2026-07-01", "confirmed", ("2026-07-01",)),
        ("topics: web, coding", "topics", ("web", "coding")),
        ("topics: ['#web', 5, {a: b}]", "topics", ("web", "5")),
        ("kind: [fix]", "kind", ""),
        ("kind: Fix", "kind", "fix"),
        ("supersedes: the old one", "supersedes", ""),
        ("relations: none", "bonds", ()),
        (f"relations: {{extend: [{OLD}, x], replace: [{OLD}]}}", "bonds", (("extend", OLD),)),
        (f"derived_from: {OLD}", "bonds", (("derive", OLD),)),
        ("invalidated: yes", "invalidated_at", ""),
        ("source: me", "origins", Origins(trust="read")),
        ("source: {trust: oracle}", "origins", Origins(trust="imported")),
        ("source: {interface: 7}", "origins", Origins(interface="7", trust="read")),
        ("predicate: knows", "predicate", ""),
        ("object: Ada", "object", ""),
        ("subject: [[Ada]]", "subject", "[[Ada]]"),
        ("subject: {a: b}", "subject", ""),
    ],
)
def test_a_key_edited_by_hand_never_breaks_the_entry(line: str, field: str, value: object) -> None:
    """What is odd falls back to what is usual; what a person plainly means is taken so."""
    fact, _ = read(with_keys(line))

    assert getattr(fact, field) == value


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("status: done", "entry-key"),
        ("fact: rumour", "entry-key"),
        ("importance: 7", "entry-key"),
        ("importance: high", "entry-key"),
        ("always_load: perhaps", "entry-key"),
        ("valid_from: soon", "entry-date"),
        ("updated: 12", "entry-date"),
        ("confirmed: [often]", "entry-date"),
        ("invalidated: {at: then}", "entry-date"),
        ("topics: [{a: b}]", "entry-key"),
        ("supersedes: the old one", "entry-key"),
        ("relations: none", "entry-key"),
        ("relations: {extend: [x]}", "entry-key"),
        (f"relations: {{replace: [{OLD}]}}", "entry-key"),
        ("source: me", "entry-key"),
        ("source: {trust: oracle}", "entry-key"),
        ("predicate: knows", "entry-key"),
        ("object: Ada", "entry-key"),
        ("reason: {a: b}", "entry-key"),
    ],
)
def test_each_oddity_is_a_problem_with_its_line(line: str, code: str) -> None:
    """It is told once, where the key stands."""
    _, problems = read(with_keys("mood: sunny", line))

    assert [(each.path, each.line, each.code) for each in problems] == [(PATH, 4, code)]


def test_a_bare_entry_has_what_is_usual() -> None:
    """Its id tells when it was recorded; its source is a note that somebody wrote."""
    fact, problems = read(with_keys())

    assert problems == ()
    assert (fact.status, fact.importance, fact.kind, fact.text) == ("active", 0.5, "", "Some words.")
    assert fact.recorded == fact.updated == "2025-10-17T20:00:33Z"
    assert fact.origins == Origins(trust="read")
    assert fact.fingerprint == RULES.fingerprint(Candidate(text="some words"))


def test_an_id_without_a_time_says_nothing_of_when() -> None:
    """No time is better than that of a file, which differs from one copy of a vault to another."""
    note = note_of("---\nid: 12345678-1234-4234-8234-123456789abc\n---\nWords.")

    assert read(note)[0].recorded == ""


def test_the_folder_alone_loads_an_entry_always() -> None:
    """As policy judges it: what stands there is before every prompt."""
    note = note_of(f"---\nid: {ID}\n---\nWords.", path="Agent/Memory/_always-load/words-1b8e11.md")

    assert read(note)[0].always_load


def test_a_predicate_is_read_as_it_compares() -> None:
    """A person may write it with blanks and capitals."""
    fact, problems = read(with_keys("subject: Ada", "predicate: Works at", "object: '[[Acme]]'"))

    assert (fact.predicate, fact.object, problems) == ("works_at", "[[Acme]]", ())


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("valid_until: 2026-05-01\nvalid_until: 2026-04-01\n", "valid_until", "2026-04-01T00:00:00Z"),
        ("valid_until: 2026-04-01\nvalid_until: '2026-05-01'\n", "valid_until", "2026-04-01T00:00:00Z"),
        ("invalidated: {at: 2026-06-02T08:00:00Z}\ninvalidated: {at: 2026-06-01T08:00:00Z, was: 2026-09-01}\n",
         "was_valid_until", "2026-09-01T00:00:00Z"),
        ("updated: 2026-06-01T08:00:00Z\nupdated: 2026-05-01T08:00:00Z\n", "updated", "2026-06-01T08:00:00Z"),
        ("status: deleted\nstatus: active\n", "status", "deleted"),
        ("status: active\nstatus: superseded\n", "status", "superseded"),
        ("confirmed: [2026-04-01]\nconfirmed: [2026-03-02, 2026-04-01]\n", "confirmed", ("2026-03-02", "2026-04-01")),
    ],
)  # fmt: skip
def test_a_key_that_a_merge_left_twice_is_settled_by_a_rule(lines: str, field: str, value: object) -> None:
    """The same on every device, in whatever order the lines stand; the note has a Problem that says so."""
    text = f"---\nid: {ID}\nkind: fact\nrecorded: 2026-03-01T09:00:00Z\n{lines}---\nText.\n"
    note = parse(text.encode(), path=PATH, mtime=0.0)

    fact, _ = read_entry(note, place="", sensitive=False, rules=RULES)

    assert fact is not None
    assert getattr(fact, field) == value
    assert [problem.code for problem in note.problems] == ["duplicate-key"]


def test_a_time_of_recording_that_is_yet_to_come_counts_as_unknown() -> None:
    """The entry is not hidden until then; the Problem says why."""
    text = f"---\nid: {ID}\nkind: fact\nrecorded: 2027-03-01T09:00:00Z\n---\nText.\n"
    note = parse(text.encode(), path=PATH, mtime=0.0)

    fact, problems = read_entry(note, place="", sensitive=False, rules=RULES, latest="2026-03-01T09:00:00Z")

    assert fact is not None
    assert (fact.recorded, fact.updated, fact.begins) == ("", "", "")
    assert [problem.code for problem in problems] == ["entry-future"]
