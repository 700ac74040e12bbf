"""What a message is about: topics by their middles, what its conversation is about, and the style that fits it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.encoders.base import ONE
from commonplace.errors import NotFound, ProviderFailed
from commonplace.facts.styles import FOLDER, choose, style_of
from commonplace.facts.topics import infer, settle_lock
from commonplace.flows.encode import encode_question, encode_texts, text_hash
from commonplace.flows.keeper import Keeper
from commonplace.flows.read import list_notes, read_note
from commonplace.flows.shelf import Shelf
from commonplace.flows.wordings import vectors_of
from commonplace.model import Inferred, Style, Topic, TopicLock
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
    inferred = topics_meant(message, keeper, conversation=conversation)
    keep_topics(inferred, keeper, conversation=conversation)
    return inferred


def topics_meant(message: str, keeper: Keeper, *, conversation: str = "") -> Inferred:
    """The same, and nothing is kept of it."""
    nearest = _near_topics(message, keeper.shelf())
    if not conversation:
        return Inferred(nearest)
    kept = keeper.desk.history.topic_lock(conversation)
    lock, drifted = settle_lock(kept, nearest, conversation=conversation, at=keeper.now)
    return Inferred(nearest, lock.topics, drifted)


def keep_topics(inferred: Inferred, keeper: Keeper, *, conversation: str) -> None:
    """Let the conversation be about what was inferred, if it is about something else so far."""
    history, topics = keeper.desk.history, inferred.locked
    if not topics:
        return
    kept = history.topic_lock(conversation)
    if kept is None or kept.topics != topics:
        history.lock_topics(TopicLock(conversation, topics, keeper.now))


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


def style_for(message: str, keeper: Keeper, *, topics: Sequence[str]) -> Style | None:
    """The style that fits a message on these topics best; None where there is none."""
    styles = styles_known(keeper)
    if not styles:
        return None
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
    """How near each style is to the message, by the encoder there is; what describes a style is encoded once."""
    encoder = shelf.encoders.current
    if encoder is None or not (encoder.is_ready or shelf.is_patient):
        return {}
    texts = {style.name: f"{style.name}. {style.text}"[:1000] for style in styles}
    try:
        known, _ = encode_texts(texts.values(), shelf)
        asked = encode_question(message, encoder, shelf).astype(float)
    except ProviderFailed:  # words choose alone; a search by the same encoder says that it failed
        return {}
    return {name: float(known[text_hash(text)] @ asked) / ONE**2 for name, text in texts.items()}


def _unit_vectors(text: str, versions: Mapping[str, int], shelf: Shelf) -> "dict[str, Floats]":
    import numpy as np

    fixed, _ = vectors_of(text, versions, shelf)
    units = {version: vector.astype(np.float32) for version, vector in fixed.items()}
    return {version: vector / (float(np.linalg.norm(vector)) or 1.0) for version, vector in units.items()}
