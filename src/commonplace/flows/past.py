"""The vault as it stood: the newest commit not later than a moment -> an index of its own, built once and kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.errors import NotFound, ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import document_of
from commonplace.flows.encode import Encoding, encode_parts
from commonplace.flows.ingest import BATCH
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.shelf import Shelf
from commonplace.flows.write import with_history
from commonplace.model import Document, Stat
from commonplace.notes import parse
from commonplace.recalling.times import in_utc


@dataclass(frozen=True, slots=True)
class Past:
    """A shelf whose index holds the vault as it stood in a commit; `begins` is where history begins."""

    shelf: Shelf
    commit: str
    begins: str


def shelf_at(when: datetime, shelf: Shelf) -> Past:
    """The shelf as of that moment, its index built if it is not there. Raises NotFound before history begins."""
    vault = with_history(shelf.vault)
    begins = vault.history_begins()
    commit = vault.commit_at(when)
    if commit is None:
        said = f"it begins {in_utc(begins)}" if begins else "it has no commit yet"
        raise NotFound(f"the vault's history does not reach back to {in_utc(when)}: {said}", hint="Give a later day.")
    past = replace(shelf, index=shelf.past(commit))
    with past.index.reading() as reading:
        is_whole = reading.counts().synced is not None
    if not is_whole:
        _fill(past, commit)
    return Past(past, commit, in_utc(begins) if begins else "")


def _fill(past: Shelf, commit: str) -> None:
    """Put every note of the commit into the index; what an attempt that was killed left there stays.

    While the encoder fails, notes are found by their words; the next search tries again.
    """
    is_whole = True
    vault = with_history(past.vault)
    listing = vault.list_at(commit, skip=past.ignored)
    stats = [stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING)]
    now = past.clock().timestamp()
    for at in range(0, len(stats), BATCH):
        documents = list(_documents(stats[at : at + BATCH], past, commit))
        encoding = _encoded(documents, past)
        is_whole = is_whole and (encoding is not None or not past.cut.version)
        for document in documents:
            if encoding:
                past.index.upsert(document, encoding.of(document), now=now)
            else:
                past.index.upsert(replace(document, version=""), (), now=now)
    past.index.settle()
    if is_whole:
        past.index.mark_synced(in_utc(past.clock()))
    emit("past_index_built", commit=commit, notes=len(stats))


def _encoded(documents: Sequence[Document], past: Shelf) -> Encoding | None:
    try:
        return encode_parts(documents, past) if past.cut.version else None
    except ProviderFailed as failure:
        emit("encoder_failed", level="warning", said=str(failure))
        return None


def _documents(stats: Sequence[Stat], past: Shelf, commit: str) -> Iterator[Document]:
    vault = with_history(past.vault)
    contents = vault.read_listed_at(commit, [stat.path for stat in stats])
    for stat, content in zip(stats, contents, strict=True):
        if content is not None:
            note = parse(content, path=stat.path, mtime=stat.mtime)
            yield document_of(note, past.cut, user=past.user, safety=past.safety)
