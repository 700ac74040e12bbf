"""Laws of entries: what is written is read back the same, and nothing that a person writes breaks the reading."""

from dataclasses import replace
from functools import reduce
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.facts.claims import FactRules
from commonplace.facts.entry_format import KEY_ORDER, changed_keys, entry_frontmatter, read_entry
from commonplace.facts.entry_paths import LONGEST_SLUG, entry_path, slug_of
from commonplace.facts.line_facts import line_facts, typed_links
from commonplace.facts.lint import lint_entry, lint_facts, safe_fixes
from commonplace.facts.triples import predicate_key
from commonplace.model import FACT_CLASSES, KINDS, STATUSES, TRUSTS, Fact, FactRecord, Note, Origins
from commonplace.model.moment import read_moment
from commonplace.notes import parse, remove_key, set_key
from tests.run_length import rounds

RULES = FactRules()
IDS = st.integers(0, 2**128 - 1).map(lambda number: str(UUID(int=number)))
MOMENTS = st.datetimes().map(lambda at: read_moment(at.isoformat())) | st.dates().map(lambda day: read_moment(f"{day}"))
MAYBE_MOMENTS = st.just("") | MOMENTS
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map(str.strip)
NAMES = TEXTS.map(lambda text: text.lstrip("#").strip()).filter(bool)
BONDS = st.sets(st.tuples(st.sampled_from(["extend", "derive", "contradict"]), IDS), max_size=4)
PIECES = ("- [fact] tall\n", "- knows [[Bob]] #x\n", "works at ", "[[Ada]]", ", ", "\n", "not ", "`", "x")
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS | st.sampled_from(["2026-03-01", "soon", "active", "1", "[[Ada]]", "told"]) | IDS,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["at", "was", "trust", "extend", "x"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    """A fact as our own code makes it."""
    id, kind, always_load = draw(IDS), draw(st.sampled_from(["", *KINDS])), draw(st.booleans())
    subject, predicate, object = draw(st.tuples(NAMES, NAMES.map(predicate_key), NAMES) | st.just(("", "", "")))
    recorded = draw(MOMENTS)
    whole = Fact(
        id=id,
        path=entry_path(kind, id=id, slug="x", recorded=recorded, always_load=always_load),
        line=0,
        origin="entry",
        text=draw(NAMES),
        kind=kind,
        fact=draw(st.sampled_from(FACT_CLASSES)),
        status=draw(st.sampled_from(STATUSES)),
        always_load=always_load,
        importance=draw(st.floats(0, 1)),
        topics=tuple(dict.fromkeys(draw(st.lists(NAMES, max_size=3)))),
        project=draw(TEXTS),
        project_root=draw(TEXTS),
        subject=subject if predicate else "",
        predicate=predicate,
        object=object if predicate else "",
        valid_from=draw(MAYBE_MOMENTS),
        valid_until=draw(MAYBE_MOMENTS),
        recorded=recorded,
        updated=draw(MOMENTS),
        supersedes=draw(st.just("") | IDS),
        superseded_by=draw(st.just("") | IDS),
        superseded_at=draw(MAYBE_MOMENTS),
        deleted_at=draw(MAYBE_MOMENTS),
        invalidated_at=draw(MAYBE_MOMENTS),
        was_valid_until=draw(MAYBE_MOMENTS),
        reason=draw(TEXTS),
        bonds=tuple(sorted(draw(BONDS))),  # type: ignore[arg-type]
        confirmed=tuple(sorted(draw(st.sets(st.dates().map(str), max_size=3)))),
        origins=Origins(
            draw(TEXTS),
            draw(TEXTS),
            draw(st.sampled_from(TRUSTS)),
            extractor=draw(TEXTS),
            note=draw(TEXTS),
            turn=draw(st.integers(0, 10**6)),
            quote=draw(TEXTS),
        ),
    )
    return replace(whole, fingerprint=RULES.fingerprint(whole))


def written(fact: Fact, keys: dict[str, Any]) -> bytes:
    return reduce(
        lambda raw, each: set_key(raw, *each, path=fact.path), keys.items(), f"---\n---\n{fact.text}\n".encode()
    )


def read(raw: bytes, fact: Fact) -> Fact | None:
    """The fact that the note is, but for the line of its text."""
    found, problems = read_entry(note_of(raw, fact.path), place=fact.place, sensitive=fact.sensitive, rules=RULES)
    assert problems == ()
    return found and replace(found, line=fact.line)


def note_of(raw: bytes, path: str) -> Note:
    return parse(raw, path=path, mtime=0.0)


@settings(max_examples=rounds(50, long=1000))
@given(fact=facts(), tags=st.lists(NAMES, max_size=2))
def test_an_entry_that_is_written_is_read_back_the_same(fact: Fact, tags: list[str]) -> None:
    """Every field survives YAML, whatever its words, and its keys stand in their order."""
    keys = entry_frontmatter(fact, tags=tags, slug="x", created=fact.recorded)
    raw = written(fact, keys)

    assert read(raw, fact) == fact
    assert [*note_of(raw, fact.path).frontmatter] == [key for key in KEY_ORDER if key in keys]


@settings(max_examples=rounds(25, long=1000))
@given(old=facts(), new=facts())
def test_changes_lead_from_one_fact_to_the_other(old: Fact, new: Fact) -> None:
    """Nothing more is changed than what differs: keys of a person stay."""
    new = replace(new, id=old.id, path=old.path, always_load=old.always_load, text=old.text, kind=old.kind)
    mark = RULES.fingerprint(new)
    raw = written(old, {**entry_frontmatter(old, tags=["t"], slug="x", created=old.recorded), "mood": "sunny"})
    for key, value in changed_keys(old, new).items():
        given_up = value is None
        raw = remove_key(raw, key, path=old.path) if given_up else set_key(raw, key, value, path=old.path)

    assert read(raw, new) == replace(new, fingerprint=mark)
    assert note_of(raw, old.path).frontmatter["mood"] == "sunny"


@given(fact=facts(), odd=st.dictionaries(st.sampled_from(KEY_ORDER[1:]), ODD, max_size=6))
def test_no_key_that_a_person_writes_breaks_an_entry(fact: Fact, odd: dict[str, Any]) -> None:
    """It is still a fact with every field in its range; each Problem has a line of the note."""
    note = note_of(written(fact, {"id": fact.id, **odd}), fact.path)
    found, problems = read_entry(note, place="", sensitive=False, rules=RULES)
    assert found
    known = [FactRecord(found, None)]
    told = (*problems, *lint_entry(note, found), *lint_facts(known, twins=(), contests=()))

    assert (found.id, found.text) == (fact.id, fact.text)
    assert 0 <= found.importance <= 1
    assert found.status in STATUSES
    assert found.fact in FACT_CLASSES
    assert all(1 <= each.line <= note.text.count("\n") + 1 and each.path == fact.path for each in told)
    told_elsewhere = {"slug", "status", "recorded", "kind"}
    assert all({*each.keys} <= told_elsewhere for each in safe_fixes([(note, found)]))


@given(text=st.text())
def test_a_slug_is_short_plain_and_its_own_slug(text: str) -> None:
    """So that a slug read from a file's name stays as it is."""
    slug = slug_of(text)

    assert 0 < len(slug) <= LONGEST_SLUG
    assert slug.isascii()
    assert slug.replace("-", "").isalnum()
    assert slug_of(slug) == slug


@given(parts=st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_note_has_line_facts_and_typed_links(parts: list[str]) -> None:
    """One fact for each structured line, each with an id of its own; as many links as the note has."""
    note = note_of("".join(parts).encode(), "People/Ada.md")
    found = line_facts(note, place="", sensitive=False, rules=RULES)
    links = typed_links(note)

    assert len({each.id for each in found}) == len(note.observations) + len(note.relations)
    assert tuple(replace(link, relation="") for link in links) == note.links
