"""The vault's history in the index: which lines its notes had when, and which of the notes may not be told.

`update_past` reads the commits that the index does not know yet, so that a question about the past needs no git. A
mark covers what a note said before it was marked. It follows the note through renames, copies and removal: a note is
taken for another if our commit, git or its text says so, and when in doubt, it is covered. What was erased is left out.
"""

import hashlib
import json
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, cast
from uuid import UUID, uuid5

from commonplace.errors import Conflict, NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.line_facts import fact_line_key, line_facts
from commonplace.flows.ingest.line_writers import SHORTEST_TEXT, LineWriters, read_new_commits
from commonplace.flows.read import NOTE_ENDING, is_hidden, locate
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery, IndexReader, PastCover, PastLine, PastMove, PastStep
from commonplace.model import Fact, Note, Origins
from commonplace.model.layout import is_entry_path, place_of, wordless_path
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import KIND, Capability, CommitChange, HistoricBackend, Revision
from commonplace.vault.paths import normal, skip_filter

MOVED_FROM: Final = "Commonplace-From"
MOVED_TO: Final = "Commonplace-To"
"""The trailers of a commit that moves notes: the paths before, and the paths after."""

_PATH: Final = "Commonplace-Path"
EVERY_COMMIT: Final = 1 << 62
"""A note that is covered up to here is covered in every commit."""

_FORM: Final = 3  # of what is stored; another number reads the history again
_ATTEMPTS: Final = 5  # while other processes read the same commits
_COMMITS_AT_ONCE: Final = 200  # in one transaction
_NOTES_AT_ONCE: Final = 2000
LARGEST_PAST: Final = 4_000_000  # bytes of a note that is read; a larger one counts as sensitive
_SURE: Final = 50  # percent: from here on git itself calls a note renamed
# Every structured line and every commitment matches, and some others do: a bullet, then a box or a word in brackets,
# words and a link, or words and a colon; or a heading for action items.
_STRUCTURED_LINE: Final = re.compile(
    rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])(?:[ \t>]*+(?:[-*+]|\d{1,9}[.)])[ \t]++"
    rb"(?:\[[^\]\r\n]{1,160}\][ \t]|[^\[\r\n]++\[\[)"
    rb"|#{1,6}[ \t]++[^\r\n]*(?i:action|next|commitment|to-?do|follow|task|aufgabe|ma\xc3\x9fnahme|n\xc3\xa4chste))"
)
_FRONTMATTER: Final = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


# ---------------------------------------------------------------- what our own commits say


def moves_of(revision: Revision) -> tuple[tuple[str, str], ...]:
    """The moves that the trailers of a commit name: the path before and the path after of each note.

    A path that was named without its words is the path of that form which the commit removed, or added.
    """
    sources, targets = revision.trailers.get(MOVED_FROM, ""), revision.trailers.get(MOVED_TO, "")
    if not sources or not targets:
        return ()
    removed = {wordless_path(path): path for path, what in revision.paths.items() if what == "removed"}
    present = {wordless_path(path): path for path, what in revision.paths.items() if what != "removed"}
    before, after = {**present, **removed}, {**removed, **present}
    moves = zip(sources.split("\n"), targets.split("\n"), strict=False)
    return tuple((before.get(source, source), after.get(target, target)) for source, target in moves)


def own_paths(revision: Revision) -> tuple[str, ...]:
    """The paths that a commit of ours names as its own; a person may have amended it with others."""
    named = revision.trailers.get(_PATH, "").split("\n")
    return tuple(path for path in revision.paths if named == [""] or path in named or wordless_path(path) in named)


def erased_by(revision: Revision) -> frozenset[str]:
    """The paths of the notes that this commit erased; notes in it that only lost a link to them are not erased."""
    if revision.trailers.get(KIND) != "erase":
        return frozenset()
    return frozenset(path for path in own_paths(revision) if revision.paths[path] == "removed")


# ---------------------------------------------------------------- reading the history


def update_past(stores: Stores, *, progress: Progress = ignore_progress, stop: threading.Event | None = None) -> bool:
    """Make the index know the history up to the newest commit; False if it was stopped, or the vault keeps none.

    `progress` counts commits. Each part that was read is kept if this is interrupted. Raises VaultUnavailable.
    """
    if Capability.HISTORY not in stores.vault.capabilities:
        return False
    reading = _Reading(stores, cast(HistoricBackend, stores.vault), _form_of(stores), progress, stop)
    for _ in range(_ATTEMPTS):
        if reading.is_stopped:
            return False
        with suppress(Conflict):  # another process has read some of it
            if reading.is_done():
                return True
    raise VaultUnavailable(
        "the vault's history changes faster than it can be read", hint="Wait until other programs are done, then retry."
    )


def forget_erased(stores: Stores) -> None:
    """Make the index forget the lines of a note that was just erased, if it has read the history."""
    with stores.index.reader() as reader:
        has_past = reader.past_commit() is not None
    if has_past:
        update_past(stores)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The history on its way into the index; `form` is that of what is stored."""

    stores: Stores
    vault: HistoricBackend
    form: str
    progress: Progress
    stop: threading.Event | None

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def is_done(self) -> bool:
        """True if the index knows the newest commit; else it is made to, or forgets what counts no longer."""
        head = self.vault.head()
        with self.stores.index.reader() as reader:
            newest, form = reader.past_commit(), reader.past_form()
        if newest and (head is None or form != self.form):
            self.stores.index.cut_past(0)
        elif head and (newest is None or newest.id != head):
            self._read_on(newest.id if newest else "", head)
        else:
            return True
        return False

    def _read_on(self, newest: str, head: str) -> None:
        """Add the commits after the newest that is known; if the history was rewritten, forget what is gone."""
        changes = self._changes(newest, head)
        if changes is None:
            with self.stores.index.reader() as reader:
                common = reader.past_commit(among=self.vault.line_of(head))
            self.stores.index.cut_past(common.number if common else 0)
            return
        done = 0
        for group in _groups(changes):
            if self.is_stopped:
                return
            steps = list(_steps(group, self.vault, self.stores))
            self.stores.index.add_past(steps, form=self.form, after=newest)
            complete = [step.id for step in steps if step.is_complete]
            newest, done = [newest, *complete][-1], done + len(complete)
            self.progress("commits", done, len(changes))
        emit("past_updated", commits=done)

    def _changes(self, newest: str, head: str) -> tuple[CommitChange, ...] | None:
        """What the commits after the newest changed; None if that one is not on the branch's first-parent line."""
        if not newest:
            return self.vault.changes(after=None, until=head)
        try:
            changes = self.vault.changes(after=newest, until=head)
        except VaultUnavailable:  # there is no such commit any more
            return None
        return changes if self.vault.line_of(head, limit=len(changes) + 1)[len(changes) :] == (newest,) else None


def _groups(changes: Iterable[CommitChange]) -> Iterator[list[tuple[CommitChange, bool]]]:
    """The changes, or parts of large ones, in groups that are added together; each with whether it is the last part."""
    group, notes = list[tuple[CommitChange, bool]](), 0
    for part, is_last in (each for change in changes for each in _parts(change)):
        group.append((part, is_last))
        notes += len(part.blobs)
        if len(group) >= _COMMITS_AT_ONCE or notes >= _NOTES_AT_ONCE:
            yield group
            group, notes = [], 0
    if group:
        yield group


def _parts(change: CommitChange) -> Iterator[tuple[CommitChange, bool]]:
    blobs = [*change.blobs.items()]
    for start in range(0, max(len(blobs), 1), _NOTES_AT_ONCE):
        end = start + _NOTES_AT_ONCE
        yield replace(change, blobs=dict(blobs[start:end])), end >= len(blobs)


def _steps(group: Sequence[tuple[CommitChange, bool]], vault: HistoricBackend, stores: Stores) -> Iterator[PastStep]:
    files = [[(path, blob) for path, blob in change.blobs.items() if _is_note(path)] for change, _ in group]
    contents = vault.read_blobs([blob for some in files for _, blob in some], largest=LARGEST_PAST)
    for (change, is_complete), some in zip(group, files, strict=True):
        notes = zip((path for path, _ in some), islice(contents, len(some)), strict=True)
        yield replace(_step(change, notes, stores), is_complete=is_complete)


def _step(change: CommitChange, notes: Iterable[tuple[str, bytes | None]], stores: Stores) -> PastStep:
    bodies, facts, marked = dict[str, str](), dict[str, tuple[Fact, ...]](), set[str]()
    for path, content in notes:
        bodies[path] = "" if content is None else _text_hash(content)
        note = _parsed(content, path, stores.safety) if content else None
        if content is None or (note and is_sensitive(note, stores.safety)):
            marked.add(path)
        if not is_entry_path(path):
            facts[path] = _facts_of(note, stores, sensitive=path in marked) if note else ()
    revision = change.revision
    return PastStep(
        id=revision.commit,
        at=moment_text(revision.when),
        notes=bodies,
        facts=facts,
        marked=frozenset(marked),
        removed=tuple(path for path, what in revision.paths.items() if what == "removed" and _is_note(path)),
        moves=tuple(_moves(change)),
        erased=erased_by(revision),
    )


def _moves(change: CommitChange) -> Iterator[PastMove]:
    named = moves_of(change.revision)
    yield from (PastMove(source, target, is_sure=True) for source, target in named)
    for source, target, likeness in change.renames:
        if (source, target) not in named and _is_note(source) and _is_note(target):
            yield PastMove(source, target, is_sure=likeness >= _SURE)


def _parsed(content: bytes, path: str, safety: SafetyOptions) -> Note | None:
    """The note; None if its bytes alone make certain that it has no mark and no structured line."""
    if not (_STRUCTURED_LINE.search(content) or _may_be_marked(content, safety)):
        return None
    return parse(content, path=path, mtime=0.0)


def _may_be_marked(content: bytes, safety: SafetyOptions) -> bool:
    """False only if no key of a mark is in the note; an escaped one might be."""
    keys = ("sensitive", "memory", "donna", safety.sensitive_frontmatter_key, safety.local_only_frontmatter_key)
    low = content.lower() if content.isascii() else content.decode(errors="replace").casefold().encode()
    is_plain = all(key.isascii() for key in keys) and b"\\" not in content and b"\0" not in content
    return not is_plain or any(key.lower().encode() in low for key in keys)


def _facts_of(note: Note, stores: Stores, *, sensitive: bool) -> tuple[Fact, ...]:
    return line_facts(note, place=place_of(note.path), sensitive=sensitive, rules=stores.rules)


def _text_hash(content: bytes) -> str:
    """A hash of the note's text without its frontmatter; empty if it is too short to tell one note from another."""
    text = b" ".join(_FRONTMATTER.sub(b"", content, count=1).split())
    return hashlib.sha256(text).hexdigest()[:32] if len(text) >= SHORTEST_TEXT else ""


def _is_note(path: str) -> bool:
    """True if it is a note, under a name that the vault can have."""
    if not path.lower().endswith(NOTE_ENDING):
        return False
    try:
        return normal(path) == path
    except Refused:
        return False


def _form_of(stores: Stores) -> str:
    """A hash of the settings on which the stored lines and marks depend."""
    rules, safety = stores.rules, stores.safety
    predicates = [sorted(each) for each in (rules.predicates.single, rules.predicates.temporary)]
    keys = (safety.sensitive_frontmatter_key, safety.local_only_frontmatter_key)
    return hashlib.sha256(json.dumps([_FORM, rules.user, predicates, keys]).encode()).hexdigest()[:16]


# ---------------------------------------------------------------- what may be told


def covered_until(paths: Collection[str], reader: IndexReader, stores: Stores) -> Mapping[str, int]:
    """For each note, the number of the commit up to which what it said is sensitive; 0 if nothing is.

    EVERY_COMMIT for a note that is marked or ignored today, under whatever name, or of which this is not certain.
    """
    if not paths:
        return {}
    families = {path: {path, *reader.past_successors(path)} for path in paths}
    covers = reader.past_covers({each for family in families.values() for each in family})
    hidden = {each: _is_hidden(each, cover, stores) for each, cover in covers.items()}
    return {
        path: EVERY_COMMIT if any(hidden[each] for each in family) else covers[path].marked
        for path, family in families.items()
    }


def _is_hidden(path: str, cover: PastCover, stores: Stores) -> bool:
    """True if the note at that path is sensitive or ignored now, cannot be read, or is gone and git does not know it.

    A name that begins with a dot hides nothing: programs put there what a person deletes.
    """
    if not path.startswith(".") and skip_filter(stores.unindexed)(path):
        return True
    try:
        blob = stores.vault.read(locate(path, stores.vault))
    except NotFound:
        return cover.stands
    except (Refused, VaultUnavailable):
        return True
    has_versions = is_entry_path(path) and b"supersede" in blob.content
    if not (has_versions or _may_be_marked(blob.content, stores.safety)):
        return False
    return is_hidden(parse(blob.content, path=path, mtime=blob.stat.mtime), stores)


def past_line_facts(query: FactQuery, reader: IndexReader, stores: Stores) -> tuple[PastLine, ...]:
    """The lines that match and that notes have or had; each is marked if what its note said then is sensitive.

    Only `names`, `predicate`, `topics`, `claims`, `sensitive` and `staged` of the query count. A line that a program
    wrote is trusted like what programs save. One that is gone has an id of its own: it may come back.
    """
    lines, is_ignored = reader.past_lines(query), skip_filter(stores.unindexed)
    lines = tuple(each for each in lines if not is_ignored(each.fact.path))
    until = covered_until({each.fact.path for each in lines}, reader, stores)
    writers = read_new_commits(stores).writers
    told = (_told(each, writers, is_covered=each.first <= until[each.fact.path]) for each in lines)
    return tuple(each for each in told if query.sensitive or not each.fact.sensitive)


def _told(line: PastLine, writers: LineWriters, *, is_covered: bool) -> PastLine:
    fact = line.fact
    id_ = str(uuid5(UUID(fact.id), line.first_at)) if line.last_at else fact.id
    key = fact_line_key(fact)
    is_program = key in writers.keys_at(fact.path) or writers.wrote_before(fact.subject, key, at=line.first_at)
    origins = Origins(trust="said") if is_program else fact.origins
    return line._replace(fact=replace(fact, id=id_, origins=origins, sensitive=fact.sensitive or is_covered))
