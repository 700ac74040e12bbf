"""Rebuilding: a new index from nothing, which takes the place of the old one when it is whole."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from commonplace.events import emit
from commonplace.flows.ingest import Progress, sync
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Synced

KEPT_VECTORS: Final = timedelta(days=90)


def rebuild(shelf: Shelf, *, progress: Progress) -> Synced:
    """Make the index anew, then take in what was written meanwhile. Raises VaultUnavailable.

    Every vector that is still in use has just been asked for: those that were not for long go.
    """
    if shelf.cache.mend():
        emit("vectors_lost", level="warning", said="the kept vectors could not be read: all texts are encoded anew")
    with shelf.index.rebuilding() as fresh:
        synced = sync(replace(shelf, index=fresh), progress=progress)
    sync(shelf)
    shelf.cache.drop_unused(before=(shelf.clock() - KEPT_VECTORS).date())
    return synced
