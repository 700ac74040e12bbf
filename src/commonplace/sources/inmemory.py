"""A source in a dictionary; for tests, and for callers that hold what they want remembered."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from commonplace.sources.base import Sourced


class InMemorySource:
    """Things that were put here, until they are removed."""

    def __init__(self, type: str) -> None:
        self.type = type
        self._things: dict[str, Sourced] = {}

    def put(self, *things: Sourced) -> None:
        """Add these, or let them take the place of those with the same ids."""
        self._things.update({thing.source_id: thing for thing in things})

    def remove(self, source_id: str) -> None:
        """Drop it, if it is there."""
        self._things.pop(source_id, None)

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """What is there now, of these or of all: source id -> a hash of all that it says."""
        wanted = self._things if source_ids is None else {*source_ids} & {*self._things}
        return {source_id: stamp_of(self._things[source_id]) for source_id in wanted}

    def read(self, source_id: str) -> Sourced | None:
        """The thing as it is now; None when it is gone."""
        return self._things.get(source_id)


def stamp_of(thing: Sourced) -> str:
    """The sha256 of all that the thing says."""
    text = json.dumps(asdict(thing), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
