"""Why a search found nothing, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.model import Mode


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a search that found nothing.

    `documents` are in the index, `passing` of them fit the filters; `synced` is whether the vault was ever read whole.
    `words` are those that were searched; `nearest` is the highest cosine, None where no vector was looked at.
    """

    mode: Mode
    documents: int
    passing: int
    synced: bool
    words: Sequence[str]
    nearest: float | None
    min_score: float


def why_empty(found: Circumstances) -> str:
    """The first thing that explains it: nothing to search, nothing that may be found, nothing asked, nothing near."""
    if not found.documents:
        if found.synced:
            return "The vault has no note to search."
        return "The index is empty: run `commonplace sync` to read the vault."
    if not found.passing:
        return f"None of the {_documents(found.documents)} fits the filters."
    if found.mode == "words":
        return _no_words(found) or f"None of {_quoted(found.words)} stands in {_searched(found)}."
    if found.nearest is None:
        return _without_vectors(found)
    near = (
        f"nothing is near enough in meaning: the best has {found.nearest:.3f}, and min_score is {found.min_score:.2f}"
    )
    if found.mode in ("sense", "vector") or not found.words:
        return f"{near[0].upper()}{near[1:]}."
    return f"None of {_quoted(found.words)} stands in {_searched(found)}, and {near}."


def _without_vectors(found: Circumstances) -> str:
    if found.mode in ("sense", "vector"):
        return f"None of {_searched(found)} has vectors to compare with: search with `--mode words`."
    return _no_words(found) or f"None of {_quoted(found.words)} stands in {_searched(found)}, which have no vectors."


def _no_words(found: Circumstances) -> str | None:
    return None if found.words else "The question has no word that could be searched."


def _searched(found: Circumstances) -> str:
    which = "" if found.passing == found.documents else " that fit the filters"
    return f"the {_documents(found.passing)}{which}"


def _documents(count: int) -> str:
    return f"{count} document" if count == 1 else f"{count} documents"


def _quoted(words: Sequence[str], *, most: int = 5) -> str:
    shown = ", ".join(f"`{word}`" for word in words[:most])
    return f"{shown} and {len(words) - most} more words" if len(words) > most else shown
