"""Which of two hits comes first: the better one, and of equals the one that matters more, then the newer one."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from commonplace.recalling.modes import Candidate

PLACES: Final = 4
"""Scores are rounded to so many places, so that they are the same on every machine; then many are equal."""

Entry = TypeVar("Entry")


def best_first(
    entries: Iterable[Entry], *, score: Callable[[Entry], float], candidate: Callable[[Entry], Candidate]
) -> list[Entry]:
    """The entries by score; of equals the more important first, then the one updated last, then by id.

    All of it stands in the notes, so that an index that is built anew gives the same order.
    """

    def worth(entry: Entry) -> tuple[float, float, str]:
        chunk = candidate(entry)
        return round(score(entry), PLACES), chunk.importance, chunk.updated

    by_id = sorted(entries, key=lambda entry: candidate(entry).id)
    return sorted(by_id, key=worth, reverse=True)  # a reversed sort leaves equals as they were: by id
