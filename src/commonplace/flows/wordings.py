"""A question made ready for the index: its vectors by each encoder that the index holds vectors of."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from commonplace.errors import ProviderFailed
from commonplace.flows.encode import encode_question
from commonplace.flows.shelf import Shelf

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_LOADING: Final = "the encoder is being loaded, and this question did not wait for it; ask again in a moment"


def vectors_of(text: str, versions: Mapping[str, int], shelf: Shelf) -> "tuple[dict[str, Fixed], list[str]]":
    """The vector of a text by each of these versions that can be asked; and what the encoders said that failed."""
    vectors: dict[str, Fixed] = {}
    failures = []
    for version in versions if shelf.encoders.current else ():
        encoder = shelf.encoders.for_version(version) if version else None
        if encoder is None:
            continue
        if not (encoder.is_ready or shelf.is_patient) and shelf.encoders.warm():
            failures.append(_LOADING)
            continue
        try:
            vectors[version] = encode_question(text, encoder, shelf)
        except ProviderFailed as failure:
            failures.append(str(failure))
    return vectors, failures


def missing_sense(
    versions: Mapping[str, int], vectors: "Mapping[str, Fixed]", shelf: Shelf, *, failures: Sequence[str]
) -> list[str]:
    """What the search does without by meaning, in words for people."""
    current, said = shelf.encoders.current, [f"sense: {failure}" for failure in failures]
    if current is None:
        said.append(f"sense: {shelf.encoders.missing}")
    unseen = sum(number for version, number in versions.items() if version not in vectors)
    if current and unseen and not said:
        said.append(f"sense: {unseen} chunks have no vectors yet (run `commonplace sync`)")
    if len(vectors) > 1:
        two = "vectors of two encoders are ranked side by side until all are made anew (run `commonplace sync`)"
        said.append(f"sense: {two}")
    return said
