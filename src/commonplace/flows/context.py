"""Context: a prompt -> what memory puts before the model, within a budget of characters and of time.

No model but the encoder is asked. Use is recorded here and nowhere else, on this device.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.about import keep_topics, style_for, topics_meant
from commonplace.flows.fitting import playbook_pieces, recalled_pieces
from commonplace.flows.in_time import Gathered, gather
from commonplace.flows.occasion import Lectern, Occasion, Work, made_ready
from commonplace.flows.prompted import Found, fact_pieces
from commonplace.flows.standing_notes import Standing, marked_pieces, standing_pieces
from commonplace.model import Context, ContextSection, Inferred, LeftOut, Piece, Style
from commonplace.recalling.compose import Composed, compose
from commonplace.recalling.gist import gist_of
from commonplace.recalling.standing import belongs

_SECTIONS_OF: Mapping[str, tuple[ContextSection, ...]] = {
    "notes": ("user", "channel", "dated"),
    "marked": ("user",),
    "facts": ("facts",),
    "recall": ("playbooks", "recalled"),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """What one part of the work brought: what may be put before the prompt, and what is told beside it."""

    found: tuple[Found, ...] = ()
    inferred: Inferred = Inferred(())
    style: Style | None = None
    degraded: tuple[str, ...] = ()


def context_for(occasion: Occasion, lectern: Lectern) -> Context:
    """What belongs before the prompt, with the reason for all that is in it and all that was left out.

    What is not ready in time is left out, and said to be. Raises UsageError for a phase or channel that is none.
    """
    start = time.perf_counter()
    work = made_ready(occasion, lectern)
    gathered = gather(_parts(work), within=occasion.within)
    composed = _composed(gathered, work, nonce=lectern.nonce())
    trouble = () if occasion.peek else _kept(composed, gathered, work=work)
    took_ms = round((time.perf_counter() - start) * 1000, 1)
    context = _told(composed, gathered, work=work, trouble=trouble, took_ms=took_ms)
    emit("memory_context", chars=len(context.text), took_ms=context.took_ms, late=list(context.late))
    return context


def _parts(work: Work) -> dict[str, Callable[[], _Part]]:
    """What is done side by side."""
    parts: dict[str, Callable[[], _Part]] = {
        "notes": partial(_notes, work),
        "marked": partial(_marked, work),
        "facts": partial(_facts, work),
        "recall": partial(_recalled, work),
    }
    if "facts" in work.skips:
        del parts["facts"]
    if not work.occasion.prompt.strip():
        del parts["recall"]
    return parts


def _notes(work: Work) -> _Part:
    return _Part(standing_pieces(Standing(work.channel, work.options.dated_days), work.keeper))


def _marked(work: Work) -> _Part:
    return _Part(_of_this_channel(marked_pieces(work.keeper), work))


def _facts(work: Work) -> _Part:
    """The facts; those about the topics of the conversation are lifted."""
    found = fact_pieces(work.asked(_topics_so_far(work)), work.keeper, work.options)
    return _Part(_of_this_channel(found, work))


def _topics_so_far(work: Work) -> tuple[str, ...]:
    """What the conversation is about, or at its first message what that is about."""
    occasion, keeper = work.occasion, work.keeper
    lock = keeper.desk.history.topic_lock(occasion.conversation) if occasion.conversation else None
    if lock or not occasion.prompt.strip():
        return lock.topics if lock else ()
    return tuple(name for name, _ in topics_meant(gist_of(occasion.prompt), keeper).topics)


def _of_this_channel(found: Iterable[Found], work: Work) -> tuple[Found, ...]:
    """The same; what a note of another channel says is left out."""
    return tuple(
        LeftOut(each.section, "another place", "scope", "another channel's")
        if isinstance(each, Piece) and not belongs(each.document, channel=work.channel)
        else each
        for each in found
    )


def _recalled(work: Work) -> _Part:
    """What the prompt is about, and what fits it."""
    occasion, keeper, options = work.occasion, work.keeper, work.options
    message = gist_of(occasion.prompt)
    inferred = topics_meant(message, keeper, conversation=occasion.conversation)
    topics = inferred.locked or tuple(name for name, _ in inferred.topics)
    style = style_for(message, keeper, topics=topics)
    asked = work.asked(topics)
    found: tuple[Found, ...] = ()
    degraded: tuple[str, ...] = ()
    if options.recall:
        found, answer = recalled_pieces(asked, keeper, options)
        degraded = answer.degraded
    playbooks = playbook_pieces(asked, keeper, options) if options.playbooks else ()
    return _Part((*_speaking(style), *found, *playbooks), inferred, style, degraded)


def _speaking(style: Style | None) -> tuple[Piece, ...]:
    if style is None:
        return ()
    why = "the way to speak that fits the prompt"
    return (Piece(section="user", key=style.path, document=style.path, source=style.path, text=style.text, why=why),)


def _composed(gathered: Gathered[_Part], work: Work, *, nonce: str) -> Composed:
    found = [each for part in gathered.ready.values() for each in part.found]
    heuristic = work.keeper.shelf().heuristic
    composed = compose(
        [each for each in found if isinstance(each, Piece)],
        work.bounds,
        nonce=nonce,
        measure=lambda text: len(heuristic(text)),
        now=work.keeper.now,
        skips=work.skips,
        known=work.occasion.known,
    )
    others = [each for each in found if isinstance(each, LeftOut) and each.section not in work.skips]
    return replace(composed, left_out=(*composed.left_out, *others, *_late(gathered, work)))


def _late(gathered: Gathered[_Part], work: Work) -> tuple[LeftOut, ...]:
    """What is missing of each section that this phase has, because a part was late or failed."""
    said = dict.fromkeys(gathered.late, "not ready in time")
    said |= {name: str(error) for name, error in gathered.failed.items()}
    missing = [LeftOut(section, "", "late", said[name]) for name in said for section in _SECTIONS_OF[name]]
    return tuple(each for each in dict.fromkeys(missing) if each.section not in work.skips)


def _kept(composed: Composed, gathered: Gathered[_Part], *, work: Work) -> tuple[str, ...]:
    """Counts what is put before the prompt as used, and keeps what its conversation is about; tells what failed.

    Nothing is kept before this, so that a part that is late keeps nothing of a prompt that was answered without it.
    """
    keeper = work.keeper
    used = dict.fromkeys(each.piece.fact for each in composed.included if each.piece.fact)
    recalled = gathered.ready.get("recall", _Part())
    try:
        keeper.desk.history.record_use([*used], now=keeper.desk.clock())
        keep_topics(recalled.inferred, keeper, conversation=work.occasion.conversation)
    except CommonplaceError as error:
        return (f"this use was not recorded: {error}",)
    return ()


def _told(
    composed: Composed, gathered: Gathered[_Part], *, work: Work, trouble: tuple[str, ...], took_ms: float
) -> Context:
    bounds, recalled = work.bounds, gathered.ready.get("recall", _Part())
    failures = (f"{name}: {error}" for name, error in gathered.failed.items())
    return Context(
        text=composed.text,
        included=composed.included,
        left_out=composed.left_out,
        budget=bounds.budget,
        token_budget=bounds.tokens,
        tokens=composed.tokens,
        is_over=composed.is_over,
        phase=work.occasion.phase.casefold(),
        topics=recalled.inferred.locked or tuple(name for name, _ in recalled.inferred.topics),
        drifted=recalled.inferred.drifted,
        style=recalled.style.name if recalled.style else "",
        late=gathered.late,
        degraded=(*recalled.degraded, *failures, *trouble),
        took_ms=took_ms,
    )
