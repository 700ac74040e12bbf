"""The vault as it stood: the newest commit not later than a moment -> an index of its own, built once and kept.

What was erased since is not in it, and what is sensitive today is sensitive in it too.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from commonplace.errors import NotFound, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.document import VAULT, document_of
from commonplace.flows.erase import erased_as_of
from commonplace.flows.fill import FilesGone, Filling
from commonplace.flows.ingest import BATCH
from commonplace.flows.move import moved_since
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.shelf import Shelf
from commonplace.flows.veil import Veil, as_sensitive
from commonplace.flows.write import with_history
from commonplace.model import Document, Stat
from commonplace.notes import parse
from commonplace.recalling.times import in_utc

_ATTEMPTS: Final = 3  # to build an index that others take away while it is built


@dataclass(frozen=True, slots=True)
class Past:
    """A shelf whose index holds the vault as it stood in a commit; `begins` is where history begins."""

    shelf: Shelf
    commit: str
    begins: str


def shelf_at(when: datetime, shelf: Shelf) -> Past:
    """The shelf as of that moment, its index built if it is not there.

    Raises NotFound before history begins, and VaultUnavailable when the index cannot be built.
    """
    vault = with_history(shelf.vault)
    begins = vault.history_begins()
    commit = vault.commit_at(when)
    if commit is None:
        said = f"it begins {in_utc(begins)}" if begins else "it has no commit yet"
        raise NotFound(f"the vault's history does not reach back to {in_utc(when)}: {said}", hint="Give a later day.")
    past = replace(shelf, index=shelf.past(commit))
    _make_whole(_Building(past, commit, when))
    revisions = vault.revisions()
    for path in erased_as_of(when, revisions):  # on another machine perhaps, after this index was built
        if past.index.stamp(VAULT, path):
            past.index.erase(VAULT, path)
    veil = Veil(vault, shelf.safety, moved_since(when, revisions))
    return Past(replace(past, index=veil.over(past.index)), commit, in_utc(begins) if begins else "")


@dataclass(frozen=True, slots=True)
class _Building:
    """An index to be built, and what it depends on."""

    past: Shelf
    commit: str
    when: datetime


def _make_whole(building: _Building) -> None:
    for _ in range(_ATTEMPTS):
        with suppress(FilesGone):
            if _is_whole(building.past) or not _fill(building):
                return
    if not _is_whole(building.past):
        raise VaultUnavailable(
            "the index of that day was removed each time while it was built", hint="Wait a while and try again."
        )


def _is_whole(past: Shelf) -> bool:
    with past.index.reading() as reading:
        return reading.synced() is not None


def _fill(building: _Building) -> bool:
    """Put every note of the commit into a new index, which counts when it is complete; whether it has all vectors.

    While the encoder fails, notes are found by their words; the next search builds it again.
    """
    past, vault = building.past, with_history(building.past.vault)
    listing = vault.list_at(building.commit, skip=past.ignored)
    revisions = vault.revisions()
    erased = erased_as_of(building.when, revisions)
    veil = Veil(vault, past.safety, moved_since(building.when, revisions))
    stats = [stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING) and stat.path not in erased]
    with past.index.rebuilding() as fresh:
        filling = Filling(fresh, past)
        for at in range(0, len(stats), BATCH):
            filling.put(list(_documents(stats[at : at + BATCH], building, veil)))
        filling.finish()
    emit("past_index_built", commit=building.commit, notes=filling.documents)
    return not filling.has_failed


def _documents(stats: Sequence[Stat], building: _Building, veil: Veil) -> Iterator[Document]:
    """The notes as documents; one that is sensitive today is marked, and goes to no encoder elsewhere."""
    past = building.past
    contents = with_history(past.vault).read_listed_at(building.commit, [stat.path for stat in stats])
    for stat, content in zip(stats, contents, strict=True):
        if content is not None:
            note = parse(content, path=stat.path, mtime=stat.mtime)
            document = document_of(note, past.cut, rules=past.rules, safety=past.safety)
            if not document.sensitive and veil.covers(stat.path):
                document = as_sensitive(document, is_remote=past.cut.is_remote)
            yield document
