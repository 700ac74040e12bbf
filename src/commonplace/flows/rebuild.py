"""Rebuilding: a new index from nothing, which takes the place of the old one when it is whole."""

from dataclasses import replace

from commonplace.flows.ingest import Progress, sync
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Synced


def rebuild(shelf: Shelf, *, progress: Progress) -> Synced:
    """Make the index anew, then take in what was written meanwhile. Raises VaultUnavailable."""
    with shelf.index.rebuilding() as fresh:
        synced = sync(replace(shelf, index=fresh), progress=progress)
    sync(shelf)
    return synced
