"""What a message is about: topics by their middles, what its conversation is about, and the style that fits it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonplace.errors import NotFound
from commonplace.facts.styles import FOLDER, choose, style_of
from commonplace.facts.topics import infer, settle_lock
from commonplace.flows.keeper import Keeper
from commonplace.flows.read import list_notes, read_note
from commonplace.flows.shelf import Shelf
from commonplace.flows.wordings import vectors_of
from commonplace.model import Inferred, Style, Topic
from commonplace.policy.sensitivity import is_sensitive

if TYPE_CHECKING:
    from commonplace.index.base import Floats


def topics_known(keeper: Keeper) -> tuple[Topic, ...]:
    """Every topic, those with most documents first."""
    with keeper.shelf().index.reading() as reading:
        return tuple(sorted(reading.topics(), key=lambda each: (-each.documents, each.name)))


def infer_topics(message: str, keeper: Keeper, *, conversation: str = "") -> Inferred:
    """What the message is about. For a conversation, what that is about is kept, and it is told when it drifts.

    Without an encoder nothing can be inferred: then there are no topics.
    """
    shelf = keeper.shelf()
    nearest = _near_topics(message, shelf)
    if not conversation:
        return Inferred(nearest)
    history = keeper.desk.history
    lock, drifted = settle_lock(history.topic_lock(conversation), nearest, conversation=conversation, at=keeper.now)
    if lock.topics:
        history.lock_topics(lock)
    return Inferred(nearest, lock.topics, drifted)


def styles_known(keeper: Keeper) -> tuple[Style, ...]:
    """Every style of the vault, those that the actor may not see left out."""
    desk = keeper.desk
    try:
        stats = list_notes(FOLDER.rstrip("/"), desk.vault, skip=desk.ignored)
    except NotFound:
        return ()
    notes = [read_note(stat.path, desk.vault, skip=desk.ignored) for stat in stats]
    shown = [note for note in notes if keeper.tells_all or not is_sensitive(note, desk.safety)]
    return tuple(style for style in map(style_of, shown) if style)


def style_for(message: str, keeper: Keeper) -> Style | None:
    """The style that fits the message best; None where there is none."""
    styles = styles_known(keeper)
    if not styles:
        return None
    topics = [name for name, _ in infer_topics(message, keeper).topics]
    return choose(styles, message=message, topics=topics, near=_near_styles(message, styles, keeper.shelf()))


def _near_topics(message: str, shelf: Shelf) -> tuple[tuple[str, float], ...]:
    with shelf.index.reading() as reading:
        versions = dict(reading.versions())
    found: dict[str, float] = {}
    for version, vector in _unit_vectors(message, versions, shelf).items():
        with shelf.index.reading() as reading:
            centroids = reading.centroids(version)
        for topic, cosine in infer(vector, centroids):
            found[topic] = max(cosine, found.get(topic, -1.0))
    return tuple(
        sorted(((topic, round(cosine, 4)) for topic, cosine in found.items()), key=lambda each: (-each[1], each[0]))
    )


def _near_styles(message: str, styles: tuple[Style, ...], shelf: Shelf) -> Mapping[str, float]:
    encoder = shelf.encoders.current
    if encoder is None:
        return {}
    asked, *described = encoder.encode([message, *(f"{style.name}. {style.text}"[:1000] for style in styles)])
    return {style.name: float(vector @ asked) for style, vector in zip(styles, described, strict=True)}


def _unit_vectors(text: str, versions: Mapping[str, int], shelf: Shelf) -> "dict[str, Floats]":
    import numpy as np

    fixed, _ = vectors_of(text, versions, shelf)
    units = {version: vector.astype(np.float32) for version, vector in fixed.items()}
    return {version: vector / (float(np.linalg.norm(vector)) or 1.0) for version, vector in units.items()}
