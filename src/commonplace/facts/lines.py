"""Structured lines as facts: each exists exactly while its line does."""

import json
from collections import Counter
from typing import Final
from uuid import UUID, uuid5

from commonplace.facts.claims import FactRules
from commonplace.facts.entry import is_entry
from commonplace.facts.moments import moment_of
from commonplace.facts.predicates import predicate_key
from commonplace.facts.routes import importance_of
from commonplace.model import Fact, Note, Observation, Origins, Place, Relation

_NAMESPACE: Final = UUID("3d0c53d6-9f0f-5b6a-8a86-2f4d3f8a9c07")


def line_facts(note: Note, *, place: Place, sensitive: bool, rules: FactRules) -> tuple[Fact, ...]:
    """The facts of a note's structured lines, in the order of the lines; none of an entry, which is itself a fact.

    A fact keeps its id while its note keeps its path and its line its words. Of lines that are alike the first keeps
    the first id, and so on. A line does not tell when it was written: its `recorded` is empty.
    """
    if is_entry(note):
        return ()
    seen: Counter[str] = Counter()
    found = []
    lines: list[Observation | Relation] = [*note.observations, *note.relations]
    for line in sorted(lines, key=lambda each: each.line):
        predicate, object, text = _said(line)
        kind = line.kind.casefold() if isinstance(line, Observation) else ""
        named = json.dumps([rules.user, note.path, predicate or kind, object or text])
        found.append(
            Fact(
                id=str(uuid5(_NAMESPACE, f"{named} {seen[named]}")),
                path=note.path,
                line=line.line,
                origin="line",
                text=text,
                kind=kind,
                fact="fact",
                place=place,
                sensitive=sensitive,
                importance=importance_of("fact"),
                topics=tuple(dict.fromkeys(line.topics)),
                subject=note.title,
                predicate=predicate,
                object=object,
                updated=moment_of(note.frontmatter.get("updated")),
                origins=Origins(trust="read"),
                fingerprint=rules.fingerprint(subject=note.title, predicate=predicate, object=object, text=text),
            )
        )
        seen[named] += 1
    return tuple(found)


def _said(line: Observation | Relation) -> tuple[str, str, str]:
    """The line's predicate and object, empty for a statement, and its words as written."""
    if isinstance(line, Observation):
        return "", "", line.text
    return predicate_key(line.predicate), line.object, f"{line.predicate} [[{line.object}]]"
