"""Read notes: a path or a folder -> `locate`, the guard of every verb -> bytes -> notes, their links and Problems.

`is_hidden` says of which notes programs see nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.entry_format import read_entry
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import FactRecord, Note, Problem, ResolvedLink, Stat, VaultCheck
from commonplace.model.layout import is_staged, place_of
from commonplace.model.progress import Progress
from commonplace.notes import LinkResolver, parse
from commonplace.notes.link_resolver import similar_paths
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import Blob, Listing, Locator, Skip, StorageBackend

NOTE_ENDING = ".md"


def read_note(
    path: str | PurePath, vault: StorageBackend, *, skip: Skip, shows: Callable[[Note], bool] = lambda note: True
) -> Note:
    """The note at that path. Raises Refused for a path that cannot be a note of this vault, and NotFound.

    The error suggests notes with similar paths, those that `shows` allows.
    """
    with _suggesting(path, vault, skip, shows):
        return _parsed(vault.read(locate(path, vault)))


def stat_note(
    path: str | PurePath, vault: StorageBackend, *, skip: Skip, shows: Callable[[Note], bool] = lambda note: True
) -> Stat:
    """Size and mtime of the note at that path. Raises as `read_note` does."""
    with _suggesting(path, vault, skip, shows):
        return vault.stat(locate(path, vault))


def list_notes(folder: str, vault: StorageBackend, *, skip: Skip, recursive: bool = True) -> tuple[Stat, ...]:
    """The notes below a folder, sorted by path. Raises NotFound if there is no such folder."""
    return tuple(note_stats(vault.list(folder, recursive=recursive, skip=skip)))


def suggest_folders(missing: NotFound, folder: str, vault: StorageBackend, *, skip: Skip) -> NotFound:
    """The error for a missing folder, which suggests the folders of notes with similar names, if there are any."""
    stats = note_stats(vault.list(skip=skip))
    near = similar_paths(folder.strip("/"), {str(each) for stat in stats for each in PurePath(stat.path).parents[:-1]})
    return NotFound(missing.message, path=folder, hint=f"Did you mean {' or '.join(near)}?") if near else missing


def links_of(path: str | PurePath, vault: StorageBackend, *, skip: Skip) -> tuple[ResolvedLink, ...]:
    """Every link of the note at that path, and its target. Raises as `read_note` does."""
    note = read_note(path, vault, skip=skip)
    files = vault.list(skip=skip)
    by_path = _resolve(note, LinkResolver.of(stat.path for stat in files.files))
    if all(link.path for link in by_path):
        return by_path
    notes = [each for each in read_all(vault, note_stats(files)) if isinstance(each, Note)]
    return _resolve(note, vault_names(files, notes))


def check_vault(vault: StorageBackend, *, skip: Skip, progress: Progress, shows: Callable[[Note], bool]) -> VaultCheck:
    """Read every note once: all Problems, and the links of the notes that `shows` allows, with their targets."""
    files = vault.list(skip=skip)
    stats = note_stats(files)
    notes: list[Note] = []
    problems = list(files.problems)
    for done, note in enumerate(read_all(vault, stats), start=1):
        if isinstance(note, Note):
            notes.append(note)
            problems.extend(note.problems)
        elif note:
            problems.append(note)
        progress("notes", done, len(stats))
    names = vault_names(files, notes)
    links = tuple(link for each in notes if shows(each) for link in _resolve(each, names))
    emit("vault_checked", notes=len(notes), links=len(links), problems=len(problems))
    return VaultCheck(notes=len(notes), links=links, problems=tuple(sorted(problems)))


def locate(path: str | PurePath, vault: StorageBackend) -> Locator:
    """The place of that note: the guard that every verb on a note passes. Raises Refused, UsageError."""
    if not isinstance(path, str | PurePath):
        raise UsageError(f"a note must be named by its path, not {path!r}", hint="Give text such as People/Ada.md.")
    at = vault.resolve(str(path))
    if not at.path.lower().endswith(NOTE_ENDING):
        raise Refused(f"not a note: {path}", path=str(path), reason="not_markdown", hint=f"Notes end in {NOTE_ENDING}.")
    return at


def stat_or_none(path: str, vault: StorageBackend) -> Stat | None:
    """Size and mtime of the note at that path; None if it cannot be read for any reason.

    It may be gone, replaced by a link or a folder, or in a folder without permission.
    """
    try:
        return vault.stat(locate(path, vault))
    except (NotFound, Refused, VaultUnavailable):
        return None


@contextmanager
def _suggesting(
    asked: str | PurePath, vault: StorageBackend, skip: Skip, shows: Callable[[Note], bool]
) -> Iterator[None]:
    """Add to an error raised in the block the notes with the most similar paths, of those that `shows` allows.

    The errors are NotFound, and Refused for a path without the ending of a note.
    """
    try:
        yield
    except NotFound as missing:
        path = vault.resolve(str(asked)).path
        hint = _did_you_mean(path, vault, skip, shows) or "`commonplace note list` lists all notes."
        raise NotFound(f"no such note: {path}", path=path, hint=hint) from missing
    except Refused as refused:
        near = refused.reason == "not_markdown" and _did_you_mean(f"{asked}{NOTE_ENDING}", vault, skip, shows)
        if not near:
            raise
        raise Refused(refused.message, path=str(asked), reason="not_markdown", hint=near) from refused


def _did_you_mean(path: str, vault: StorageBackend, skip: Skip, shows: Callable[[Note], bool]) -> str:
    """A question that names the notes with the most similar paths; empty if there are none."""
    stats = {stat.path: stat for stat in note_stats(vault.list(skip=skip))}
    found = read_all(vault, (stats[each] for each in similar_paths(path, stats)))
    near = [each.path for each in found if isinstance(each, Note) and shows(each)]
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _parsed(blob: Blob) -> Note:
    return parse(blob.content, path=blob.stat.path, mtime=blob.stat.mtime)


def note_stats(files: Listing) -> list[Stat]:
    """The files that are notes."""
    return [stat for stat in files.files if stat.path.lower().endswith(NOTE_ENDING)]


def read_all(vault: StorageBackend, stats: Iterable[Stat]) -> Iterator[Note | Problem | None]:
    """Each note; a Problem if it cannot be read, or None if it vanished meanwhile."""
    for stat in stats:
        try:
            yield _parsed(vault.read(locate(stat.path, vault)))
        except NotFound:
            yield None
        except (Refused, VaultUnavailable) as error:
            yield Problem(stat.path, 0, error.message, "unreadable-file")


def vault_names(files: Listing, notes: Iterable[Note]) -> LinkResolver:
    """Resolves links to these files by name, and to notes by alias too."""
    return LinkResolver.of(
        (stat.path for stat in files.files), {note.path: note.aliases for note in notes if note.aliases}
    )


def _resolve(note: Note, names: LinkResolver) -> tuple[ResolvedLink, ...]:
    meanings = ((link, names.resolution(link, source=note.path)) for link in note.links)
    return tuple(ResolvedLink(note.path, link, meant.path, meant.by, meant.also) for link, meant in meanings)


# ---------------------------------------------------------------- what is hidden from programs


def is_hidden(note: Note, stores: Stores) -> bool:
    """True if programs see nothing of the note: it is marked as sensitive, or another version of the same entry is.

    What an entry said before tells what it says now. The marks are those that the files have now; the index says which
    entries are versions of one another. Raises IndexDamaged.
    """
    if is_sensitive(note, stores.safety):
        return True
    if is_staged(note.path) and (target := note.frontmatter.get("target")):  # a proposal shows lines of its note
        return is_marked(str(target), stores)
    fact, _ = read_entry(note, place=place_of(note.path), sensitive=False, rules=stores.rules)
    if fact is None:
        return False
    with stores.index.reader() as reader:
        others = entry_versions(filter(None, (fact.id, fact.supersedes, fact.superseded_by)), reader)
    paths = {each.fact.path for each in others.values()} - {note.path}
    return any(is_marked(path, stores) for path in sorted(paths))


def entry_versions(ids: Iterable[str], reader: IndexReader, *, staged: bool = False) -> dict[str, FactRecord]:
    """The entries with these ids, all that they replaced and all that replaced them, by id, whichever names the other.

    Entries that wait for review are among them only if `staged` is True.
    """
    versions, seen, frontier = dict[str, FactRecord](), set[str](), {*ids}
    while frontier:
        seen |= frontier
        records = reader.facts(FactQuery(ids=tuple(sorted(frontier)), origins=("entry",), staged=staged))
        versions |= {each.fact.id: each for each in records}
        near = {each for edge in reader.bonds(frontier) if edge.bond == "update" for each in (edge.source, edge.target)}
        near |= {id_ for each in records for id_ in (each.fact.superseded_by, each.fact.supersedes) if id_}
        frontier = near - seen
    return versions


def is_marked(path: str, stores: Stores) -> bool:
    """True if the note at that path is marked as sensitive, or cannot be read; not if there is none."""
    try:
        return is_sensitive(_parsed(stores.vault.read(locate(path, stores.vault))), stores.safety)
    except NotFound:
        return False
    except (Refused, VaultUnavailable):
        return True
