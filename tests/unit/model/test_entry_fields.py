"""The table of the fields of an entry: what it says of a field holds wherever entries are read, written and kept."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.facts.claims import FactRules
from commonplace.facts.entry_format import KEY_ORDER, changed_keys, entry_frontmatter, read_entry
from commonplace.index.tables.facts import fact_json, fact_of
from commonplace.memory.fact_shapes import FactShape
from commonplace.model import Candidate, Fact, Origins
from commonplace.model.entry_field import EntryField, entry_field, entry_fields, inherited, made_from, texts_of
from commonplace.notes import parse
from commonplace.notes.yaml_emit import emit_yaml, plain_value

RULES = FactRules()
PATH = "Agent/Memory/fact/2026-03/x-1b8e11.md"
ID, OTHER = "0199f3c2-7c1e-7d3a-9d55-6a2f0c1b8e11", "0199f3c2-0000-7000-8000-000000000001"
SAMPLES: dict[str, Any] = {
    "text": "some words",
    "line": "ada",
    "word": "fact",
    "predicate": "likes",
    "class": "event",
    "status": "archived",
    "trust": "said",
    "flag": True,
    "importance": 0.9,
    "number": 7,
    "names": ("one", "two words"),
    "phrases": "restaurants, dinner at friends",
    "moment": "2026-04-01T09:12:44Z",
    "start": "2026-05-01T00:00:00Z",
    "day": "2026-06-01",
    "days": ("2026-03-01", "2026-07-19"),
    "id": OTHER,
    "bonds": (("contradict", OTHER), ("derive", OTHER), ("extend", OTHER)),
}
"""A value of each kind that a field can read; a field of a new kind needs one."""
NOT_KEYS = {"id", "text", "path", "line", "origin", "place", "sensitive", "fingerprint", "origins"}
"""Fields of a fact that have no key: from where and how it was read, and its origins, which have keys of their own."""


def keyed(owner: type) -> list[EntryField]:
    return [row for row in entry_fields(owner) if row.reads]


def filled(**changes: Any) -> Fact:
    """A fact with a value in every field that has a key."""
    origins = Origins(**{row.name: SAMPLES[row.reads] for row in keyed(Origins)})
    values = {row.name: SAMPLES[row.reads] for row in keyed(Fact)} | changes
    return Fact(id=ID, path=PATH, line=0, origin="entry", text="Some words.", origins=origins, **values)


def written(fact: Fact) -> bytes:
    keys = entry_frontmatter(fact, tags=(), slug="x", created="")
    block = "".join(emit_yaml(key, plain_value(value, path=PATH), inline=True) for key, value in keys.items())
    return f"---\n{block}---\n{fact.text}\n".encode()


def read(content: bytes) -> Fact:
    fact, problems = read_entry(parse(content, path=PATH, mtime=0.0), place="", sensitive=False, rules=RULES)
    assert fact
    assert problems == ()
    return replace(fact, line=0, fingerprint="")


def test_every_field_of_a_fact_has_a_row_that_says_how_it_is_read() -> None:
    """A field without one would be lost when its entry is written; and each key has its place in the frontmatter."""
    assert {each.name for each in fields(Fact)} - NOT_KEYS == {row.name for row in keyed(Fact)}
    assert {each.name for each in fields(Origins)} == {row.name for row in keyed(Origins)}
    keys = {row.path[0] for owner in (Fact, Origins) for row in keyed(owner)} - {"bonds"}
    assert keys | {"id", "relations", "derived_from", "tags", "slug", "created"} == {*KEY_ORDER}


def test_every_field_survives_writing_and_reading() -> None:
    """In the note, and in the row of the index; without a value, its key is not written."""
    fact = filled()
    assert read(written(fact)) == fact
    assert fact_of(fact_json(fact)) == fact
    for row in keyed(Fact):
        empty = replace(fact, **{row.name: getattr(Fact(id="", path="", line=0, origin="entry", text=""), row.name)})
        assert fact_of(fact_json(empty)) == empty
        if row.name not in ("bonds", "was_valid_until", "invalidated_at"):
            assert set(changed_keys(fact, empty)) == {row.path[0]}, row.name


def test_every_field_is_shown() -> None:
    """The shape of a fact declares each of them; its origins are called `source`."""
    names = {each.name for each in fields(Fact)} - {"origins"} | {"source", "link"}
    assert {*FactShape.__annotations__} == names


@pytest.mark.parametrize("row", entry_fields(Candidate), ids=lambda row: row.name)
def test_a_new_version_has_what_the_rule_of_the_field_says(row: EntryField) -> None:
    """What is left empty is taken from the old entry always, if it is given as a new version, or never."""
    old, empty = filled(), Candidate(text="")
    by_version = inherited(Candidate, empty, old, as_version=True)
    by_save = inherited(Fact, empty, old, as_version=False)

    assert (by_version[row.name] == getattr(old, row.name, None)) == (row.inherits != "never")
    if hasattr(old, row.name):
        assert (by_save[row.name] == getattr(old, row.name)) == (row.inherits == "always")
    assert inherited(Candidate, empty, None, as_version=True)[row.name] == getattr(empty, row.name)


def test_what_is_given_is_inherited_from_nobody() -> None:
    """A 0 is given, too; the folder of a project goes with its name."""
    given = Candidate(text="", importance=0.0, project="other", topics=("mine",))
    values = inherited(Candidate, given, filled(), as_version=True)

    assert (values["importance"], values["topics"]) == (0.0, ("mine",))
    assert (values["project"], values["project_root"]) == ("other", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodyFact(Fact):
    """A fact with another field: one line."""

    moods: tuple[str, ...] = entry_field((), "names", inherits="always")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodyCandidate(Candidate):
    """A candidate with another field."""

    moods: tuple[str, ...] = entry_field((), "names", inherits="always")


def test_a_new_field_is_screened_inherited_and_copied_by_its_declaration() -> None:
    """Nobody has to name it a second time."""
    old = made_from(MoodyFact, filled(), moods=("sunny",))
    candidate = made_from(MoodyCandidate, old)

    assert candidate.moods == ("sunny",)
    assert "sunny" in texts_of(candidate)
    values = inherited(MoodyFact, MoodyCandidate(text="", importance=0.5), old, as_version=False)
    assert values["moods"] == ("sunny",)


def test_a_field_is_named_in_few_modules() -> None:
    """Its declaration, the order of keys, the request, the shapes and what uses it; nothing copies it by hand."""
    sources = Path(commonplace.__file__).parent
    naming = (path for path in sources.rglob("*.py") if "project_root" in path.read_text(encoding="utf-8"))
    modules = {path.relative_to(sources).as_posix() for path in naming}
    table = {"model/fact.py", "facts/entry_format.py", "memory/entries.py", "memory/fact_shapes.py"}
    assert modules == table | {"cli/fact_view.py", "facts/consolidation.py"}


def test_only_what_no_caller_words_is_not_screened() -> None:
    """Each exception has its reason: ids, the folder of a repository, the path of a note, the name of a model."""
    rows = [row for owner in (Candidate, Origins) for row in entry_fields(owner) if not row.is_screened]
    assert {row.name for row in rows} == {"bonds", "project_root", "note", "extractor"}
    texts: dict[str, Any] = {
        row.name: f"words of {row.name}" for row in keyed(Origins) if isinstance(SAMPLES[row.reads], str)
    }
    assert {*texts_of(Origins(**texts))} == {*texts.values()} - {texts["note"], texts["extractor"]}
