"""Reading: a path or a folder -> the guard -> bytes from the vault -> notes, their links and their Problems."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.model import Check, Note, Problem, ResolvedLink, Stat
from commonplace.notes import Names, parse
from commonplace.notes.nearest import nearest_paths
from commonplace.vault.base import Blob, Listing, Locator, Skip, StorageBackend

NOTE_ENDING = ".md"

Progress = Callable[[int, int], None]
"""Called with how many notes are done and how many there are."""


def read_note(path: str | PurePath, vault: StorageBackend, *, skip: Skip) -> Note:
    """The note at that path. Raises Refused for a path that is no note of this vault, NotFound when none is there."""
    at = locate(path, vault)
    with _suggesting(at.path, vault, skip):
        return _parsed(vault.read(at))


def stat_note(path: str | PurePath, vault: StorageBackend, *, skip: Skip) -> Stat:
    """Size and time of the note at that path. Raises as `read_note` does."""
    at = locate(path, vault)
    with _suggesting(at.path, vault, skip):
        return vault.stat(at)


def list_notes(folder: str, vault: StorageBackend, *, skip: Skip, recursive: bool = True) -> tuple[Stat, ...]:
    """The notes below a folder, in order of their paths. Raises NotFound when there is no such folder."""
    return tuple(notes_in(vault.list(folder, recursive=recursive, skip=skip)))


def links_of(path: str | PurePath, vault: StorageBackend, *, skip: Skip) -> tuple[ResolvedLink, ...]:
    """Every link of the note at that path, and where it leads. Raises as `read_note` does."""
    note = read_note(path, vault, skip=skip)
    files = vault.list(skip=skip)
    by_path = _resolve(note, Names.of(stat.path for stat in files.files))
    if all(link.path for link in by_path):
        return by_path
    notes = [each for each in read_all(vault, notes_in(files)) if isinstance(each, Note)]
    return _resolve(note, names_in(files, notes))


def check_vault(vault: StorageBackend, *, skip: Skip, progress: Progress, tells: Callable[[Note], bool]) -> Check:
    """Every note read once: its Problems, and where each of its links leads, of those notes that may be told."""
    files = vault.list(skip=skip)
    stats = notes_in(files)
    notes: list[Note] = []
    problems = list(files.passed_over)
    for done, found in enumerate(read_all(vault, stats), start=1):
        if isinstance(found, Note):
            notes.append(found)
            problems.extend(found.problems)
        elif found:
            problems.append(found)
        progress(done, len(stats))
    names = names_in(files, notes)
    links = tuple(link for note in notes if tells(note) for link in _resolve(note, names))
    emit("vault_checked", notes=len(notes), links=len(links), problems=len(problems))
    return Check(notes=len(notes), links=links, problems=tuple(sorted(problems)))


def locate(path: str | PurePath, vault: StorageBackend) -> Locator:
    """Where that note is: the one guard that every verb on a note passes. Raises Refused."""
    if not isinstance(path, str | PurePath):
        raise UsageError(f"a note is named by its path, not by {path!r}", hint="Give text such as People/Ada.md.")
    at = vault.resolve(str(path))
    if not at.path.lower().endswith(NOTE_ENDING):
        raise Refused(f"not a note: {path}", path=str(path), reason="not_markdown", hint=f"Notes end in {NOTE_ENDING}.")
    return at


def standing(path: str, vault: StorageBackend) -> Stat | None:
    """Size and time of the note at that path; None where there is nothing that could be read as one, for whatever
    reason: it is gone, a link or a folder is in its place, or the way to it is barred."""
    try:
        return vault.stat(locate(path, vault))
    except (NotFound, Refused, VaultUnavailable):
        return None


@contextmanager
def _suggesting(path: str, vault: StorageBackend, skip: Skip) -> Iterator[None]:
    """When the block does not find the note, name those whose paths come nearest."""
    try:
        yield
    except NotFound as missing:
        near = nearest_paths(path, [stat.path for stat in notes_in(vault.list(skip=skip))])
        hint = f"Did you mean {' or '.join(near)}?" if near else "`commonplace note list` shows every note."
        raise NotFound(f"no such note: {path}", path=path, hint=hint) from missing


def _parsed(blob: Blob) -> Note:
    return parse(blob.content, path=blob.stat.path, mtime=blob.stat.mtime)


def notes_in(files: Listing) -> list[Stat]:
    """Those of the files that are notes."""
    return [stat for stat in files.files if stat.path.lower().endswith(NOTE_ENDING)]


def read_all(vault: StorageBackend, stats: Iterable[Stat]) -> Iterator[Note | Problem | None]:
    """Each note, or the Problem that kept it from being read; None for one that vanished meanwhile."""
    for stat in stats:
        try:
            yield _parsed(vault.read(locate(stat.path, vault)))
        except NotFound:
            yield None
        except (Refused, VaultUnavailable) as error:
            yield Problem(stat.path, 0, error.message, "unreadable-file")


def names_in(files: Listing, notes: Iterable[Note]) -> Names:
    """By what the files are called, and the notes among them by their aliases, too."""
    return Names.of((stat.path for stat in files.files), {note.path: note.aliases for note in notes if note.aliases})


def _resolve(note: Note, names: Names) -> tuple[ResolvedLink, ...]:
    meanings = ((link, names.meaning(link, source=note.path)) for link in note.links)
    return tuple(ResolvedLink(note.path, link, meant.path, meant.by, meant.also) for link, meant in meanings)
