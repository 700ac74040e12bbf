"""The facts of lines as the notes had them: a commit -> the notes that may have some -> their lines, and no index.

What was erased since is not among them, and what is sensitive today is sensitive in them too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from unicodedata import normalize

from commonplace.facts.claims import FactRules
from commonplace.facts.entities import ME
from commonplace.facts.lines import line_facts
from commonplace.facts.routes import is_entry_path
from commonplace.facts.validity import ends_among
from commonplace.flows.erase import erased_as_of
from commonplace.flows.move import moved_since
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.shelf import Shelf
from commonplace.flows.veil import Veil
from commonplace.flows.write import with_history
from commonplace.index.base import FactQuery
from commonplace.model import Fact, Known
from commonplace.notes import parse
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of
from commonplace.vault.base import Capability

_BATCH: Final = 500  # notes that are read at once
# Every structured line looks like this, and some others do: a bullet, then a word in brackets, or words and a link.
_STRUCTURED: Final = re.compile(
    rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t]*+[-*+][ \t]++(?:\[[^\]\n]{2,160}\][ \t]|[^\[\n]++\[\[)"
)


def lines_then(asked: FactQuery, when: datetime, shelf: Shelf) -> tuple[Known, ...]:
    """The facts of lines that fit, as the notes stood at that moment, by path and line.

    Of the query, `names`, `predicate`, `topics`, `sensitive` and `staged` count. None come where the vault keeps no
    history or none that old. Raises VaultUnavailable when git does not answer.
    """
    if Capability.HISTORY not in shelf.vault.capabilities:
        return ()
    vault = with_history(shelf.vault)
    commit = vault.commit_at(when)
    if commit is None:
        return ()
    revisions = vault.revisions()
    veil = Veil(vault, shelf.safety, moved_since(when, revisions))
    fitting = _Fitting(asked, shelf.rules)
    found = list(_facts(_paths(commit, shelf, erased=erased_as_of(when, revisions)), commit, shelf, fitting))
    ends = ends_among(found, shelf.rules)
    marked = (_marked(fact, veil) for fact in found if fitting.has(fact))
    return tuple(Known(fact, ends.get(fact.id)) for fact in marked if asked.sensitive or not fact.sensitive)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Which facts fit, and which notes may have some of them."""

    asked: FactQuery
    rules: FactRules

    def may_be_in(self, content: bytes, path: str) -> bool:
        """Whether a fact that fits may stand in the note; no only where it is certain, by its bytes alone."""
        if not _STRUCTURED.search(content):
            return False
        # What is escaped in YAML stands in the bytes in another way, and the user has many names.
        if ME in self.asked.names or b"\\" in content or b"''" in content:
            return True
        text = _compared(f"{path}\n{content.decode(errors='replace')}")
        names, topics = self.asked.names, [_compared(topic) for topic in self.asked.topics]
        return all(not words or any(word in text for word in words) for words in (names, topics))

    def has(self, fact: Fact) -> bool:
        """Whether the fact fits."""
        asked, entity = self.asked, self.rules.entity
        return (
            (not asked.names or bool({entity(fact.subject), entity(fact.object)} & {*filter(None, asked.names)}))
            and asked.predicate in ("", fact.predicate)
            and (not asked.topics or bool({*map(_compared, fact.topics)} & {*map(_compared, asked.topics)}))
            and (asked.staged or fact.place != "staging")
        )


def _paths(commit: str, shelf: Shelf, *, erased: frozenset[str]) -> list[str]:
    """The notes of that commit, without entries, which are read from today's index, and without what was erased."""
    every = (stat.path for stat in with_history(shelf.vault).list_at(commit, skip=shelf.ignored).files)
    return [p for p in every if p.lower().endswith(NOTE_ENDING) and p not in erased and not is_entry_path(p)]


def _facts(paths: Sequence[str], commit: str, shelf: Shelf, fitting: _Fitting) -> Iterator[Fact]:
    """Every fact of a line in those notes that may have one that fits: the others say when that one ends."""
    for start in range(0, len(paths), _BATCH):
        some = paths[start : start + _BATCH]
        for path, content in zip(some, with_history(shelf.vault).read_listed_at(commit, some), strict=True):
            if content is not None and fitting.may_be_in(content, path):
                note = parse(content, path=path, mtime=0.0)
                sensitive = is_sensitive(note, shelf.safety)
                yield from line_facts(note, place=place_of(path), sensitive=sensitive, rules=shelf.rules)


def _marked(fact: Fact, veil: Veil) -> Fact:
    return fact if fact.sensitive or not veil.covers(fact.path) else replace(fact, sensitive=True)


def _compared(text: str) -> str:
    """The text as names and topics compare: without regard to case, with one blank between words."""
    return normalize("NFC", " ".join(normalize("NFC", text).split()).casefold())
