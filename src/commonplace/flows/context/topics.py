"""What a message is about: its nearest topics, the topics its conversation is locked to, and the style that fits it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.encoders.base import FIXED_POINT_ONE
from commonplace.errors import NotFound, ProviderFailed
from commonplace.facts.relevance import choose_style, infer_topics, style_of, update_lock
from commonplace.flows.encode import encode_query, encode_texts, query_vectors, text_hash
from commonplace.flows.read import is_hidden, list_notes, read_note
from commonplace.flows.stores import Session, Stores
from commonplace.model import InferredTopics, Style, Topic, TopicLock
from commonplace.model.layout import STYLES

if TYPE_CHECKING:
    from commonplace.index.base import Floats

_STYLE_CHARS = 1000  # characters of a style that are encoded


def list_topics(session: Session) -> tuple[Topic, ...]:
    """Every topic, those with most documents first."""
    with session.stores.index.reader() as reader:
        return tuple(sorted(reader.topics(), key=lambda each: (-each.documents, each.name)))


def infer_and_lock_topics(message: str, session: Session, *, conversation: str = "") -> InferredTopics:
    """The topics of the message; a conversation is locked to them, and `drifted` says when it leaves its lock.

    Without an encoder there are no topics.
    """
    inferred = match_topics(message, session, conversation=conversation)
    lock_topics(inferred, session, conversation=conversation)
    return inferred


def match_topics(message: str, session: Session, *, conversation: str = "") -> InferredTopics:
    """The topics of the message; does not change the conversation's topic lock."""
    nearest = _nearest_topics(message, session.stores)
    if not conversation:
        return InferredTopics(nearest)
    current = session.stores.history.topic_lock(conversation)
    lock, drifted = update_lock(current, nearest, conversation=conversation, at=session.now)
    return InferredTopics(nearest, lock.topics, drifted)


def lock_topics(inferred: InferredTopics, session: Session, *, conversation: str) -> None:
    """Lock the conversation to the inferred topics, unless it is locked to them already."""
    history, topics = session.stores.history, inferred.locked
    if not topics:
        return
    lock = history.topic_lock(conversation)
    if lock is None or lock.topics != topics:
        history.lock_topics(TopicLock(conversation, topics, session.now))


def list_styles(session: Session) -> tuple[Style, ...]:
    """Every style of the vault that the actor may see."""
    stores = session.stores
    try:
        stats = list_notes(STYLES, stores.vault, skip=stores.ignored)
    except NotFound:
        return ()
    notes = [read_note(stat.path, stores.vault, skip=stores.ignored) for stat in stats]
    visible = [note for note in notes if session.sees_sensitive or not is_hidden(note, stores)]
    return tuple(style for style in map(style_of, visible) if style)


def style_for(message: str, session: Session, *, topics: Sequence[str]) -> Style | None:
    """The style that fits a message on these topics best, or None."""
    styles = list_styles(session)
    if not styles:
        return None
    return choose_style(styles, message=message, topics=topics, near=_style_cosines(message, styles, session.stores))


def _nearest_topics(message: str, stores: Stores) -> tuple[tuple[str, float], ...]:
    """The nearest topics with their cosines, nearest first; worked out once for a request."""
    cache = stores.query_cache
    if cache is None:
        return _topics_near(message, stores)
    if message not in cache.topics:
        cache.topics[message] = _topics_near(message, stores)
    return cache.topics[message]


def _topics_near(message: str, stores: Stores) -> tuple[tuple[str, float], ...]:
    with stores.index.reader() as reader:
        versions = dict(reader.versions())
    cosines: dict[str, float] = {}
    for version, vector in _unit_vectors(message, versions, stores).items():
        with stores.index.reader() as reader:
            centroids = reader.centroids(version)
        for topic, cosine in infer_topics(vector, centroids):
            cosines[topic] = max(cosine, cosines.get(topic, -1.0))
    rounded = ((topic, round(cosine, 4)) for topic, cosine in cosines.items())
    return tuple(sorted(rounded, key=lambda each: (-each[1], each[0])))


def _style_cosines(message: str, styles: tuple[Style, ...], stores: Stores) -> Mapping[str, float]:
    """The cosine of each style and the message by the current encoder; each style's text is encoded once."""
    encoder = stores.encoders.current
    if encoder is None or not (encoder.is_ready or stores.waits_for_encoder):
        return {}
    texts = {style.name: f"{style.name}. {style.text}"[:_STYLE_CHARS] for style in styles}
    try:
        vectors, _ = encode_texts(texts.values(), stores)
        query = encode_query(message, encoder, stores).astype(float)
    except ProviderFailed:  # words alone choose; a search by the same encoder reports the failure
        return {}
    return {name: float(vectors[text_hash(text)] @ query) / FIXED_POINT_ONE**2 for name, text in texts.items()}


def _unit_vectors(text: str, versions: Mapping[str, int], stores: Stores) -> "dict[str, Floats]":
    import numpy as np

    vectors, _ = query_vectors(text, versions, stores)
    units = {version: vector.astype(np.float32) for version, vector in vectors.items()}
    return {version: vector / (float(np.linalg.norm(vector)) or 1.0) for version, vector in units.items()}
