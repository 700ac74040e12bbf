"""Who wrote the lines of notes, from git: a program's line is trusted like its entries, not like the person's word.

Our commits name their actor, so the history says who wrote each structured line: the actor of the commit that first
added it to its note. What a program wrote there stays the program's, also if the person brings it back; a line that the
person changes is the person's. A line keeps its writer when its note is renamed, by us or in an editor. A program's
rename that gives a note another title gives its lines another subject: they are the program's from then on.

The same line about the same subject in another note may be the person's own, or may have come there by a rename that
git does not know of. It is the program's unless the note had it before the program wrote it.

The index remembers up to which commit it follows the history, so that only newer commits are read. Their entries and
notes are indexed before that is recorded (`index_notes.catch_up_commits`): a process may be killed in between.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple, cast

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.line_facts import fact_line_key, line_keys
from commonplace.flows.read import NOTE_ENDING, locate, stat_or_none
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery
from commonplace.model import Note
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import moment_text
from commonplace.model.text import fold_phrase
from commonplace.notes import parse
from commonplace.vault.base import KIND, Capability, CommitChange, HistoricBackend, Revision

ACTOR: Final = "Commonplace-Actor"
"""The trailer that names who made a commit of ours."""

ENTRY_VERBS: Final = frozenset({"remember", "confirm", "forget"})
"""The kinds of commits that change entries alone."""

_PROGRAMS: Final = ("agent", "job")
_LARGEST: Final = 4_000_000  # bytes of a note that is looked at; ours are at most `safety.max_note_bytes`
_READ_AT_ONCE: Final = 400  # files that git reads in one call
_WRITING: Final = 60.0  # seconds that may pass between our write of a file and its commit, with a slow disk or hook
_NONE: Final = frozenset[str]()

SHORTEST_TEXT: Final = 40
"""The characters that a text must have to tell one note from another."""


@dataclass(frozen=True, slots=True)
class LineWriters:
    """The lines that programs wrote: for each path the keys of its lines.

    `removed` are those of the paths that a commit has removed. `first` has for each statement, a subject and a line,
    the commit in which a program wrote it first; `texts` has the same for each text of a note, with its path.
    """

    lines: Mapping[str, frozenset[str]] = field(default_factory=dict)
    removed: frozenset[str] = _NONE
    first: Mapping[str, "FirstWriting"] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, "FirstWriting"]] = field(default_factory=dict)

    def keys_at(self, path: str) -> frozenset[str]:
        """The keys of the lines that programs wrote into the note at that path."""
        return self.lines.get(path, _NONE)

    def keys_of(self, note: Note, stores: Stores) -> frozenset[str]:
        """The keys of the lines that programs wrote into this note, also if a rename of it is in no commit yet."""
        own = self.keys_at(note.path)
        unknown = line_keys(note) - own if self.lines else _NONE
        others = (path for path, keys in self.lines.items() if keys & unknown and path not in self.removed)
        gone = (self.lines[path] for path in others if stat_or_none(path, stores.vault) is None)
        own = own.union(*gone)
        return own | self._came_later(note, unknown - own, stores)

    def wrote_before(self, subject: str, key: str, *, at: str) -> bool:
        """True if a program stated this before the moment `at`, in whatever note."""
        first = self.first.get(_statement(subject, key))
        return first is not None and first.at <= at

    def _came_later(self, note: Note, keys: frozenset[str], stores: Stores) -> frozenset[str]:
        """Those of these lines of the note that a program wrote first, into another note of the same subject or text.

        The person's are those of a file that is older, those that the index knows as theirs in this note or in one that
        is gone, and those that the note had in the program's commit.
        """
        found = {key: first for key in keys if (first := self.first.get(_statement(note.title, key)))}
        path, writing = self.texts.get(_text_hash(note), ("", None)) if keys else ("", None)
        found |= dict.fromkeys((keys & self.keys_at(path)) - found.keys(), writing) if writing else {}
        found = {key: first for key, first in found.items() if first.is_before(note.mtime)}
        for key in _keys_of_person(note, stores) if found else ():
            found.pop(key, None)
        return frozenset(key for key, first in found.items() if key not in _keys_in(first.commit, note, stores))


class FirstWriting(NamedTuple):
    """The commit in which a program wrote something first, and when it was made."""

    commit: str
    at: str

    def is_before(self, mtime: float) -> bool:
        """True unless a file of that mtime was certainly saved before the program wrote; a rename keeps the mtime."""
        return mtime + _WRITING >= datetime.fromisoformat(self.at).timestamp()


def _statement(subject: str, key: str) -> str:
    """A short hash of a line with its subject."""
    return hashlib.sha256(json.dumps([fold_phrase(subject), key]).encode(errors="surrogatepass")).hexdigest()[:16]


def _text_hash(note: Note) -> str:
    """A hash of the note's text without its frontmatter; empty if it is too short to tell one note from another."""
    text = " ".join(note.body.split())
    if len(text) < SHORTEST_TEXT:
        return ""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _keys_of_person(note: Note, stores: Stores) -> frozenset[str]:
    """The keys of the lines about the note's subject that the index knows as the person's in it, or in a note that is
    gone: the person may have renamed it.
    """
    subject = fold_phrase(note.title)
    with stores.index.reader() as reader:
        records = reader.facts(FactQuery(names=(stores.rules.entity(note.title),), origins=("line",), staged=True))
    facts = [each.fact for each in records if each.fact.origins.trust == "read"]
    facts = [each for each in facts if fold_phrase(each.subject) == subject]
    paths = {each.path for each in facts}
    theirs = {path for path in paths if path == note.path or stat_or_none(path, stores.vault) is None}
    return frozenset(fact_line_key(each) for each in facts if each.path in theirs)


def _keys_in(commit: str, note: Note, stores: Stores) -> frozenset[str]:
    """The keys of the lines that the note had in that commit, if it had the same title; none if git does not say."""
    try:
        content = cast(HistoricBackend, stores.vault).read_at(locate(note.path, stores.vault), commit)
    except (NotFound, Refused, VaultUnavailable):
        return _NONE
    there = _Text.of(content, note.path)
    return there.keys if there.title == fold_phrase(note.title) else _NONE


@dataclass(frozen=True, slots=True)
class NewCommits:
    """The history read up to the commit `head`, empty if there was nothing new, and what programs wrote until then.

    `entries` are the paths of entries that the new commits have changed, `notes` those of notes whose lines have
    another writer now.
    """

    writers: LineWriters
    head: str = ""
    entries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def record(self, stores: Stores) -> None:
        """Store that the index follows the history up to here. Raises IndexDamaged."""
        if self.head:
            stores.index.follow_history(self.head, _as_text(self.writers))


def read_new_commits(stores: Stores) -> NewCommits:
    """What the commits say that the index does not know yet. Raises IndexDamaged.

    In a vault without history all lines are the person's. A history that was rewritten is read from its beginning; if
    git does not answer, what is known counts.
    """
    commit, derived = stores.index.followed_history()
    known = _from_text(derived)
    if Capability.HISTORY not in stores.vault.capabilities:
        return NewCommits(known)
    vault = cast(HistoricBackend, stores.vault)
    try:
        head = vault.head()
        if head is None or head == commit:
            return NewCommits(known)
        return _read_on(head, commit, known, vault)
    except VaultUnavailable as error:
        emit("history_unread", level="warning", said=error.message)
        return NewCommits(known)


def _read_on(head: str, commit: str, known: LineWriters, vault: HistoricBackend) -> NewCommits:
    changes = vault.changes_since(commit) if commit else None
    if changes is None:  # a sync compares the whole vault
        return NewCommits(_Reading(LineWriters(), vault).of(vault.changes_since(None) or ()), head)
    writers = _Reading(known, vault).of(changes)
    paths = {path for change in changes for path in change.revision.paths}
    notes = {path for path in {*known.lines, *writers.lines} if known.keys_at(path) != writers.keys_at(path)}
    return NewCommits(writers, head, tuple(sorted(filter(is_entry_path, paths))), tuple(sorted(notes)))


def forget_writers(paths: Iterable[str], stores: Stores) -> None:
    """Remove these paths, which are erased, from what the index has of the history. Raises IndexDamaged."""
    commit, derived = stores.index.followed_history()
    known, erased = _from_text(derived), {*paths}
    if not erased.isdisjoint(known.lines):
        lines = {path: keys for path, keys in known.lines.items() if path not in erased}
        texts = {text: place for text, place in known.texts.items() if place[0] not in erased}
        stores.index.follow_history(commit, _as_text(replace(known, lines=lines, texts=texts)))


class _Reading:
    """The history read on from a known state, commit by commit."""

    def __init__(self, known: LineWriters, vault: HistoricBackend) -> None:
        self._vault = vault
        self._lines = dict(known.lines)
        self._removed = set(known.removed)
        self._first, self._texts = dict(known.first), dict(known.texts)

    def of(self, changes: Sequence[CommitChange]) -> LineWriters:
        """The state after these commits, which come oldest first."""
        relevant = [(change, paths) for change in changes if (paths := self._relevant(change))]
        for start in range(0, len(relevant), _READ_AT_ONCE):
            some = relevant[start : start + _READ_AT_ONCE]
            contents = self._contents(some)
            for change, paths in some:
                self._apply(change, paths, contents)
        return LineWriters(self._lines, frozenset(self._removed & self._lines.keys()), self._first, self._texts)

    def _relevant(self, change: CommitChange) -> list[str]:
        """The notes of a commit that it must be read for; those of a program are followed from then on."""
        revision = change.revision
        if revision.trailers.get(KIND) in ENTRY_VERBS:
            return []
        notes = [path for path in revision.paths if path.lower().endswith(NOTE_ENDING)]
        removes_known = any(revision.paths[path] == "removed" and path in self._lines for path in notes)
        if is_by_program(revision) or removes_known:
            for path in notes:
                self._lines.setdefault(path, _NONE)
            return notes
        return [path for path in notes if path in self._lines]

    def _contents(self, relevant: Iterable[tuple[CommitChange, list[str]]]) -> Mapping[str, bytes]:
        """The bytes of the notes before and after these commits, by the ids of their blobs."""
        ids = {
            blob
            for change, paths in relevant
            for blobs in (change.before, change.blobs)
            for path, blob in blobs.items()
            if path in paths
        }
        ordered = sorted(ids)
        contents = self._vault.read_blobs(ordered, largest=_LARGEST) if ordered else ()
        return {blob: content for blob, content in zip(ordered, contents, strict=True) if content is not None}

    def _apply(self, change: CommitChange, paths: list[str], contents: Mapping[str, bytes]) -> None:
        revision, is_program = change.revision, is_by_program(change.revision)
        before, after = (
            {path: _Text.of(contents.get(blobs.get(path, "")), path) for path in paths}
            for blobs in (change.before, change.blobs)
        )
        gone = [path for path in paths if revision.paths[path] == "removed"]
        carried = _NONE.union(*(self._lines.get(path, _NONE) for path in gone))
        for path in paths:
            if path in gone:
                self._removed.add(path)
                continue
            self._removed.discard(path)
            old, new, own = before[path], after[path], self._lines.get(path, _NONE)
            if is_program:
                sources = [before[each] for each in gone if before[each].title == new.title]
                kept = _NONE.union(*(each.keys - carried for each in sources))
                kept |= (old.keys - own) if old.title == new.title else _NONE
                self._lines[path] = own | (new.keys - kept)
                self._remember_copy(path, old)
                self._remember(path, new, new.keys - kept, revision)
            else:
                self._lines[path] = own | ((new.keys - old.keys) & carried)

    def _remember_copy(self, path: str, old: "_Text") -> None:
        """Keep that a note has the text which a program wrote into another: it may be that note, renamed."""
        source, writing = self._texts.get(old.hash, (path, None))
        if writing and source != path:
            for key in old.keys & self._lines.get(source, _NONE):
                self._first.setdefault(_statement(old.title, key), writing)

    def _remember(self, path: str, new: "_Text", keys: frozenset[str], revision: Revision) -> None:
        """Keep which statements the program made, and in which text."""
        writing = FirstWriting(revision.commit, moment_text(revision.when))
        for key in keys:
            self._first.setdefault(_statement(new.title, key), writing)
        if keys and new.hash:
            self._texts.setdefault(new.hash, (path, writing))


@dataclass(frozen=True, slots=True)
class _Text:
    """What counts of one version of a note: the keys of its lines, its folded title, and a hash of its text."""

    keys: frozenset[str] = _NONE
    title: str = ""
    hash: str = ""

    @classmethod
    def of(cls, content: bytes | None, path: str) -> "_Text":
        if content is None:
            return cls()
        note = parse(content, path=path, mtime=0.0)
        return cls(line_keys(note), fold_phrase(note.title), _text_hash(note))


def is_by_program(revision: Revision) -> bool:
    """True if an agent or a job made the commit, through Commonplace."""
    return KIND in revision.trailers and revision.trailers.get(ACTOR) in _PROGRAMS


def _as_text(writers: LineWriters) -> str:
    lines = {path: sorted(keys) for path, keys in sorted(writers.lines.items()) if keys}
    texts = {text: place for text, place in sorted(writers.texts.items()) if place[0] in lines}
    writings = {*writers.first.values(), *(writing for _, writing in texts.values())}
    commits = {writing: number for number, writing in enumerate(sorted(writings))}
    stored = {
        "lines": lines,
        "removed": sorted(writers.removed & lines.keys()),
        "commits": [*commits],
        "first": {statement: commits[writing] for statement, writing in sorted(writers.first.items())},
        "texts": {text: (path, commits[writing]) for text, (path, writing) in texts.items()},
    }
    return json.dumps(stored)


@lru_cache(maxsize=8)
def _from_text(text: str) -> LineWriters:
    if not text:
        return LineWriters()
    stored = json.loads(text)
    writings = [FirstWriting(*each) for each in stored["commits"]]
    return LineWriters(
        {path: frozenset(keys) for path, keys in stored["lines"].items()},
        frozenset(stored["removed"]),
        {statement: writings[number] for statement, number in stored["first"].items()},
        {text: (path, writings[number]) for text, (path, number) in stored["texts"].items()},
    )
