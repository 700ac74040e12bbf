"""Import: files of other programs -> recognised by shape -> conversations, notes and entries -> stored -> indexed.

Every item is stored by itself, in one step: an import that was killed is simply run again, and finds what it has stored
already. Conversations go to the history without their secrets, as those of agents do; what other memories held goes to
`import_memories`. Nothing is overwritten, and what cannot be imported is named in the report with the reason.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.conversations import (
    Window,
    is_within,
    record_conversation,
    redacted_messages,
    without_secret_names,
)
from commonplace.flows.import_memories import Stored, StoredOutcome, store_entry, store_notes
from commonplace.flows.ingest.sync import index_source_words, unencoded_notes
from commonplace.flows.project import project_at
from commonplace.flows.stores import Session
from commonplace.history.base import NewThread
from commonplace.model import Message, Thread, Trust
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.conversations import THREAD_TYPES
from commonplace.sources.imports import plain
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedEntry,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportSkip,
)
from commonplace.sources.imports.files import CountedFiles, open_files
from commonplace.sources.imports.registry import ImportPart, readable_shapes, recognise

MOST_LISTED: Final = 200
"""Problems and skips that a report lists one by one; it counts all of them."""
_NOTES_AT_ONCE: Final = 100  # notes in one commit: a vault of 8,000 notes makes 80 commits and not 8,000
_FEW: Final = 3  # names that a sentence gives
_LOOKED_AT: Final = 50  # files of something that nobody recognises, in which damage is looked for
_BEGINNING: Final = 1024 * 1024  # bytes, as much as readers look at

PausesOf = Callable[[str, Sequence[str]], Sequence[Window]]
"""The periods in which a session, by its id and working folders, was not to be recorded."""


@dataclass(frozen=True, slots=True)
class RecognisedFiles:
    """Files, and the parts of them that readers recognised."""

    files: ImportFiles
    parts: Sequence[ImportPart]

    @property
    def size(self) -> int:
        """The bytes that will be read."""
        return sum(self.files.size(path) for part in self.parts for path in part.paths)


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file or folder that was named, or that is in a named one, and what it was recognised as."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or would do if it is a `dry_run`.

    Counts are by outcome. `messages` are those that
    were added, `cut` those of them that were too long. `unshown` messages are on branches that their program does not
    show, and were left out. `problems` and `skips` list the first ones; `problem_count` and `skip_count` count all of
    them. `differences` are what a dry run would change in notes that are in the vault already. `unencoded` texts can be
    found by their words alone until the next sync.
    """

    sources: tuple[ImportSource, ...]
    conversations: dict[str, int]
    notes: dict[str, int]
    entries: dict[str, int]
    messages: int = 0
    known_messages: int = 0
    unshown: int = 0
    cut: int = 0
    problems: tuple[ImportProblem, ...] = ()
    problem_count: int = 0
    skips: tuple[ImportSkip, ...] = ()
    skip_count: int = 0
    differences: tuple[str, ...] = ()
    unencoded: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def has_changes(self) -> bool:
        """True if anything was stored, or would be."""
        stored = ("saved", "updated", "staged")
        return any(counts.get(each) for counts in (self.conversations, self.notes, self.entries) for each in stored)


@dataclass(slots=True)
class _Tally:
    """What has been counted so far."""

    conversations: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    known_messages: int = 0
    unshown: int = 0
    cut: int = 0
    problems: list[ImportProblem] = field(default_factory=list)
    problem_count: int = 0
    skips: list[ImportSkip] = field(default_factory=list)
    skip_count: int = 0
    differences: list[str] = field(default_factory=list)

    def add_problem(self, problem: ImportProblem) -> None:
        self.problem_count += 1
        if len(self.problems) < MOST_LISTED:
            self.problems.append(problem)

    def add_skip(self, skip: ImportSkip) -> None:
        self.skip_count += 1
        if len(self.skips) < MOST_LISTED:
            self.skips.append(skip)


@dataclass(frozen=True, slots=True)
class _Import:
    """One run: for whom, how, and what was counted. `previewed` are messages that a dry run has counted as new."""

    session: Session
    tally: _Tally
    review: bool
    dry_run: bool
    longest: int
    pauses_of: PausesOf
    previewed: set[int] = field(default_factory=set)


def import_files(
    named: Sequence[ImportFiles | str | os.PathLike[str]],
    session: Session,
    *,
    kind: str = "",
    review: bool = False,
    dry_run: bool = False,
    longest: int,
    pauses_of: PausesOf = lambda session_id, folders: (),
    progress: Progress = ignore_progress,
) -> ImportReport:
    """Import these files, folders and zips; only as files of `kind`, if one is named. A person must ask: Refused.

    With `review`, what the files say is not taken for the person's own words: conversations are marked as imported, and
    entries wait for approval. Messages longer than `longest` are cut. A `dry_run` stores nothing and returns the same
    report. `progress` counts the bytes that are read, then what is indexed. Raises UsageError before anything is stored
    if some of the files are not recognised.
    """
    if session.actor.kind != "person":
        raise Refused("only a person may import files", hint="Ask the owner of the vault to run `commonplace import`.")
    start, tally = time.perf_counter(), _Tally()
    recognised = [each for name in named for each in _recognised(name, kind, tally)]
    run = _Import(session, tally, review, dry_run, longest, pauses_of)
    total, done = sum(each.size for each in recognised), 0
    for each in recognised:
        for read in _import_one(each, run):
            progress("bytes", done + read, total)
        done += each.size
    unencoded = 0 if dry_run else _index(session, progress)
    report = _report(recognised, tally, dry_run=dry_run, unencoded=unencoded, seconds=time.perf_counter() - start)
    if not dry_run:
        emit("files_imported", sources=len(report.sources), messages=report.messages, problems=report.problem_count)
    return report


def recognised_kind(files: ImportFiles) -> str:
    """The kind of the files, the first one if there are several; empty if nobody recognises them."""
    parts = recognise(files)
    return parts[0].reader.kind if parts else ""


def _recognised(named: ImportFiles | str | os.PathLike[str], kind: str, tally: _Tally) -> Iterator[RecognisedFiles]:
    """The files with their readers, and the zips in a folder; of a folder that nobody knows, what is directly in it.

    Raises UsageError if there is nothing to import.
    """
    files = open_files(named) if isinstance(named, str | os.PathLike) else named
    parts = recognise(files, kind=kind)
    inside = [*_recognised_within(Path(files.name), kind, tally, only_zips=bool(parts))]
    if not parts and not inside:
        _raise_damage(files)
        wanted = f"not what {kind!r} reads" if kind else "not recognised as an export or a folder that can be imported"
        raise UsageError(wanted, path=files.name, hint=f"What can be imported: {readable_shapes()}.")
    if parts:
        yield RecognisedFiles(files, parts)
    yield from inside


def _raise_damage(files: ImportFiles) -> None:
    """Raise UsageError if the files cannot be read at all, which would keep every reader from recognising them."""
    for path in islice(files.paths(), _LOOKED_AT):
        with files.open(path) as stream:
            stream.read(_BEGINNING)


def _recognised_within(folder: Path, kind: str, tally: _Tally, *, only_zips: bool) -> Iterator[RecognisedFiles]:
    """The files and folders in a folder that are recognised; a loose text file is not taken for a conversation."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink() or (only_zips and path.suffix.lower() != ".zip"):
            continue
        try:
            files = open_files(path)
            parts = recognise(files, kind=kind)
        except UsageError as error:
            tally.add_problem(ImportProblem(str(path), error.message))
            continue
        if parts and (kind or parts[0].reader is not plain.READER):
            yield RecognisedFiles(files, parts)
        else:
            tally.add_skip(ImportSkip(str(path), "not recognised as something that can be imported"))


def _import_one(recognised: RecognisedFiles, run: _Import) -> Iterator[int]:
    """Store what is in these files, one item after the other; yields how many bytes have been read after each."""
    files, counted = recognised.files, CountedFiles(recognised.files)
    for skip in (*files.skips(), *_other_files(recognised)):
        run.tally.add_skip(skip)
    inside = _path_in_vault(files.name, run.session.stores.vault_folder)
    for part in recognised.parts:
        notes = list[ImportedNote]()
        for item in part.reader.read(counted, part.paths):
            if isinstance(item, ImportedNote):
                notes.append(item)
            else:
                _store(item, part.reader.kind, inside, run)
            if len(notes) == _NOTES_AT_ONCE:
                _store_notes(notes, part.reader.kind, inside, run)
                notes = []
            yield min(counted.done, recognised.size)
        _store_notes(notes, part.reader.kind, inside, run)


def _other_files(recognised: RecognisedFiles) -> Iterator[ImportSkip]:
    """One skip for the files beside those that are read, such as pictures and settings of the account."""
    taken = {path for part in recognised.parts for path in part.paths}
    others = [path for path in recognised.files.paths() if path not in taken and not path.lower().endswith(".zip")]
    if others:
        names = ", ".join(others[:_FEW]) + (", ..." if len(others) > _FEW else "")
        what = "1 other file is" if len(others) == 1 else f"{len(others):,} other files are"
        yield ImportSkip(recognised.files.name, f"{what} not read: {names}")


def _path_in_vault(name: str, vault: str) -> str | None:
    """The path of what was named below the root of the vault; None if it lies elsewhere."""
    if not vault or not os.path.exists(name):
        return None
    real, root = os.path.realpath(name), os.path.realpath(vault)
    return os.path.relpath(real, root) if os.path.commonpath([real, root]) == root else None


def _store(item: ImportItem, kind: str, inside: str | None, run: _Import) -> None:
    """Store one item that is no note, and count it; one that cannot be stored is a problem."""
    tally = run.tally
    try:
        match item:
            case ImportedConversation():
                tally.conversations[_store_conversation(item, run)] += 1
            case ImportedEntry():
                stored = store_entry(
                    item, run.session, kind=kind, review=run.review, inside=inside, dry_run=run.dry_run
                )
                tally.entries[_counted(stored, item.where, tally)] += 1
            case ImportProblem():
                tally.add_problem(item)
            case ImportSkip():
                tally.add_skip(item)
    except (Refused, UsageError, Conflict) as error:
        tally.add_problem(ImportProblem(item.where, error.message))


def _store_notes(notes: Sequence[ImportedNote], kind: str, inside: str | None, run: _Import) -> None:
    """Store these notes in one commit, and count them."""
    try:
        for note, stored in zip(
            notes, store_notes(notes, run.session, kind=kind, inside=inside, dry_run=run.dry_run), strict=True
        ):
            run.tally.notes[_counted(stored, note.where, run.tally)] += 1
    except Conflict as error:
        run.tally.add_problem(ImportProblem(f"{notes[0].where} and {len(notes) - 1} more", error.message))


def _counted(stored: Stored, where: str, tally: _Tally) -> StoredOutcome:
    """The outcome; what was refused, or would be changed in a note of the vault, is listed."""
    if stored.outcome == "refused":
        tally.add_skip(ImportSkip(where, stored.reason))
    if stored.difference:
        tally.differences.append(stored.difference)
    return stored.outcome


def _store_conversation(item: ImportedConversation, run: _Import) -> StoredOutcome:
    """Record what is new in a conversation. What is known is not looked at again, since redacting takes its time."""
    history = run.session.stores.history
    thread = without_secret_names(_thread(item, run))[0]
    messages = _wanted(item, run)
    if not messages:
        run.tally.add_skip(ImportSkip(item.where, "recording was paused, or its project opted out"))
        return "refused"
    as_stored = _as_stored(messages, run)
    id_ = history.thread_id_of(thread, () if thread.source_id else as_stored)
    if history.forgotten([id_]):
        run.tally.add_skip(ImportSkip(item.where, "you erased this conversation"))
        return "refused"
    new = _new_messages(thread, as_stored, run)
    outcome = _record(thread, messages, new, run, stored=history.conversation(id_))
    run.tally.messages += len(new)
    run.tally.known_messages += len(messages) - len(new)
    run.tally.unshown += item.unshown
    run.tally.cut += sum(len(each.text) > run.longest for each in new)
    return outcome


def _thread(item: ImportedConversation, run: _Import) -> NewThread:
    vault = run.session.stores.vault_folder
    project = next((each for folder in item.folders if (each := project_at(folder, vault=vault))), None)
    trust: Trust = "said" if item.captured else "imported" if run.review else "told"
    return NewThread(
        item.interface,
        item.source_id,
        item.title,
        trust,
        project=project.name if project else "",
        captured=item.captured,
        memory=item.memory,
    )


def _wanted(item: ImportedConversation, run: _Import) -> tuple[Message, ...]:
    """The messages, without those of a session that were said while its recording was paused."""
    pauses = run.pauses_of(item.source_id, item.folders) if item.captured else ()
    return tuple(each for each in item.messages if not is_within(each, pauses))


def _as_stored(messages: Sequence[Message], run: _Import) -> Sequence[Message]:
    """The messages by which history knows them: one without an id is known by its words, which it has redacted."""
    return messages if _have_ids(messages) else redacted_messages(messages, longest=run.longest)


def _have_ids(messages: Sequence[Message]) -> bool:
    return all(each.source_id for each in messages)


def _new_messages(thread: NewThread, messages: Sequence[Message], run: _Import) -> Sequence[Message]:
    """The messages that are not recorded yet, nor counted as new by this dry run."""
    new = run.session.stores.history.unrecorded(thread, messages)
    return [each for each in new if _key(thread, each) not in run.previewed] if run.dry_run else new


def _record(
    thread: NewThread, messages: Sequence[Message], new: Sequence[Message], run: _Import, *, stored: Thread | None
) -> StoredOutcome:
    """Record the new messages, or a new title; the outcome says whether the conversation was known."""
    is_known = stored is not None or len(new) < len(messages)
    has_new_name = stored is not None and (thread.title or stored.title) != stored.title
    if run.dry_run:
        run.previewed.update(_key(thread, each) for each in new)
    elif new or has_new_name:
        # Without ids, a conversation and its messages are known by all that is said in it.
        record = new if new and thread.source_id and _have_ids(messages) else messages
        record_conversation(thread, record, run.session, longest=run.longest, is_imported=True)
    if not new and not has_new_name:
        return "known"
    return "updated" if is_known else "saved"


def _key(thread: NewThread, message: Message) -> int:
    """What tells a message of a dry run from others."""
    said = message.source_id or (message.role, message.author, message.at, message.text)
    return hash((thread.interface, thread.source_id, said))


def _index(session: Session, progress: Progress) -> int:
    """Index the conversations by their words, those of an import that was killed too; returns how many texts wait."""
    stores, waiting = session.stores, 0
    try:
        for source in stores.sources:
            if source.type in THREAD_TYPES:
                waiting += index_source_words(source, stores, progress=progress)
        waiting += unencoded_notes(stores)
    except CommonplaceError as error:  # they are stored already: the next sync mends the index
        emit("ingest_failed", level="warning", said=str(error))
    return waiting


def _report(
    recognised: Iterable[RecognisedFiles], tally: _Tally, *, dry_run: bool, unencoded: int, seconds: float
) -> ImportReport:
    return ImportReport(
        sources=tuple(ImportSource(each.files.name, part.reader.kind) for each in recognised for part in each.parts),
        conversations={**tally.conversations},
        notes={**tally.notes},
        entries={**tally.entries},
        messages=tally.messages,
        known_messages=tally.known_messages,
        unshown=tally.unshown,
        cut=tally.cut,
        problems=tuple(tally.problems),
        problem_count=tally.problem_count,
        skips=tuple(tally.skips),
        skip_count=tally.skip_count,
        differences=tuple(tally.differences),
        unencoded=unencoded,
        seconds=seconds,
        dry_run=dry_run,
    )
