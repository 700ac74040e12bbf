"""The verb search."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from commonplace.errors import UsageError
from commonplace.flows.document import VAULT
from commonplace.flows.look_up import Ask
from commonplace.flows.recall import recall
from commonplace.flows.shelf import Shelf
from commonplace.model import BYS, MODES, Actor, Answer, By, Filters, Mode
from commonplace.policy.sinks import Sink
from commonplace.recalling.standing import channel_of
from commonplace.recalling.times import in_utc, moment

When = str | datetime | None


class Search:
    """Search of one vault, for one actor."""

    def __init__(self, shelf: Callable[[], Shelf], actor: Actor) -> None:
        self._shelf = shelf
        self._sink: Sink = "person" if actor.kind == "person" else "prompt"

    def __call__(
        self,
        question: str,
        *,
        k: int | None = None,
        mode: str = "hybrid",
        by: str = "chunk",
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        path: str = "",
        tags: Sequence[str] = (),
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        since: When = None,
        until: When = None,
        as_of: When = None,
        min_score: float | None = None,
        include_archive: bool = False,
        scope: str = "",
        now: datetime | None = None,
        zone: tzinfo = UTC,
        snippets: bool = False,
    ) -> Answer:
        """What the vault says about the question, best first.

        `by` is what is ranked: a passage (`chunk`), or a note or conversation as a whole (`document`), of which the
        best passage is given. Words of time in the question, such as "last week", are counted from `now`, which is the
        day of `as_of` where that is given, in `zone`.
        Times are moments, or text such as `2026-03-01`, `2026-03`, `yesterday`, `7d`, read in `zone`; `until` and
        `as_of` reach to the end of the day or month they name. With `snippets`, each hit shows the part of its text
        that has most of the question's words. `scope` is `channel:TOKEN` in a channel: a program is told what that
        channel holds and no other one, a person everything. Raises UsageError for what cannot be asked,
        NotFound for a day before the vault's history begins, IndexDamaged.
        """
        chosen, ranked = mode_named(mode), _by(by)
        if min_score is not None and not 0 <= min_score <= 1:
            raise UsageError(f"a least score of {min_score} is none", hint="Give one from 0 to 1.")
        shelf = self._shelf()
        _check_sources(sources, shelf)
        is_given = now is not None
        now = _in_zone(now or shelf.clock(), zone).astimezone(zone)
        filters = Filters(
            sources=tuple(sources),
            kinds=tuple(kinds),
            path=path,
            tags=tuple(tag.removeprefix("#") for tag in tags),
            topics=tuple(topics),
            entities=tuple(name.removeprefix("[[").removesuffix("]]") for name in entities),
            since=_window(since, now=now, zone=zone)[0],
            until=_window(until, now=now, zone=zone)[1],
            archived=include_archive,
        )
        past = _window(as_of, now=now, zone=zone)[1]
        if past and not is_given:
            now = datetime.fromisoformat(past).astimezone(zone) - timedelta(seconds=1)
        return recall(
            Ask(
                question,
                chosen,
                k=k,
                min_score=min_score,
                filters=filters,
                as_of=past,
                snippets=snippets,
                by=ranked,
                now=now,
                channel=None if self._sink == "person" else channel_of(scope),
            ),
            shelf,
            sink=self._sink,
        )


def mode_named(name: str) -> Mode:
    """The mode of that name. Raises UsageError when there is none."""
    for mode in MODES:
        if mode == name:
            return mode
    raise UsageError(f"no mode is called {name!r}", hint=f"Modes: {', '.join(MODES)}.")


def _check_sources(names: Sequence[str], shelf: Shelf) -> None:
    """Raises UsageError for a source that is none, or is switched off."""
    known = (VAULT, *(source.type for source in shelf.sources))
    for name in names:
        if name not in known:
            raise UsageError(f"no source is called {name!r}", hint=f"Sources: {', '.join(known)}.")


def _by(name: str) -> By:
    """What is ranked, by that name. Raises UsageError when there is none."""
    for by in BYS:
        if by == name:
            return by
    raise UsageError(f"nothing can be ranked by {name!r}", hint=f"Rank by {' or '.join(BYS)}.")


def _window(when: When, *, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """From when to when, as text in UTC; empty where nothing is said. Raises UsageError."""
    if when is None:
        return "", ""
    if isinstance(when, str):
        return moment(when, now=now, zone=zone)
    at = _in_zone(when, zone)
    return in_utc(at), in_utc(at + timedelta(seconds=1))


def _in_zone(at: datetime, zone: tzinfo) -> datetime:
    """The moment, of that zone where it does not say of which it is."""
    return at if at.tzinfo else at.replace(tzinfo=zone)
