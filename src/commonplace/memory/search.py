"""The verb search: checks a request, resolves its times, and asks the index."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from commonplace.context.selection import parse_channel
from commonplace.errors import Refused, UsageError
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.sync import index_new_vault
from commonplace.flows.search.complete import complete_last_word
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session, Stores
from commonplace.model import MODES, SEARCH_UNITS, Answer, Filters, Mode, SearchUnit
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.request import SearchRequest, When, takes
from commonplace.questions.time_arguments import parse_time
from commonplace.sources.conversations import ISOLATED


class Search:
    """Search of one vault, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @takes(SearchRequest)
    def __call__(self, request: SearchRequest) -> Answer:
        """The hits for a question, best first; the arguments are those of `SearchRequest`.

        Raises UsageError for an invalid argument, NotFound for a day before the vault's history begins, IndexDamaged.
        """
        return self.run(request)

    def run(self, request: SearchRequest, *, progress: Progress = ignore_progress) -> Answer:
        """The hits for a request, best first. Raises as a call does.

        A vault that was never synced is indexed by words first. `progress` counts the notes that are indexed for that,
        or for a search of the past.
        """
        query, stores = self._query(request), self._session.stores
        if not query.as_of:
            index_new_vault(stores, progress=progress)
        return search(query, stores, audience=self._session.audience, progress=progress)

    def complete(self, text: str, *, limit: int = 4) -> tuple[str, ...]:
        """The words of titles and names that the last word of the text may become, the commonest first.

        None if the text ends in a space, or in a single letter. Raises IndexDamaged.
        """
        return complete_last_word(text, self._session, limit=limit)

    def _query(self, request: SearchRequest) -> SearchQuery:
        """The request, checked, with its times resolved. Raises UsageError."""
        mode, unit = mode_named(request.mode), _unit_named(request.by)
        if request.min_score is not None and not 0 <= request.min_score <= 1:
            raise UsageError(f"min_score must be from 0 to 1, not {request.min_score}", hint="It is a cosine.")
        if request.per_note is not None and request.per_note < 0:
            raise UsageError(f"per_note must be at least 0, not {request.per_note}", hint="0 shows all passages.")
        _check_sources(request.sources, self._session)
        zone = request.zone
        now = _in_zone(request.now or self._session.clock(), zone).astimezone(zone)
        as_of = _window(request.as_of, now=now, zone=zone)[1]
        filters = _filters(request, now=now)
        if as_of and request.now is None:
            now = datetime.fromisoformat(as_of).astimezone(zone) - timedelta(seconds=1)
        return SearchQuery(
            request.question,
            mode,
            k=request.k,
            min_score=request.min_score,
            filters=filters,
            as_of=as_of,
            snippets=request.snippets,
            by=unit,
            now=now,
            per_note=_per_note(request, self._session.stores),
            channel=None if self._session.audience == "person" else parse_channel(request.scope),
        )


def _per_note(request: SearchRequest, stores: Stores) -> int:
    """How many passages of one note are shown, 0 for all: in a search of one note, all unless the caller says."""
    if request.per_note is None:
        return 0 if request.path.endswith(".md") else stores.retrieval.per_note
    return request.per_note


def _filters(request: SearchRequest, *, now: datetime) -> Filters:
    return Filters(
        sources=tuple(request.sources),
        kinds=tuple(request.kinds),
        path=request.path,
        tags=tuple(tag.removeprefix("#") for tag in request.tags),
        topics=tuple(request.topics),
        entities=tuple(name.removeprefix("[[").removesuffix("]]") for name in request.entities),
        since=_window(request.since, now=now, zone=request.zone)[0],
        until=_window(request.until, now=now, zone=request.zone)[1],
        archived=request.include_archive,
    )


def mode_named(name: str) -> Mode:
    """The search mode of that name. Raises UsageError if there is none."""
    for mode in MODES:
        if mode == name:
            return mode
    raise UsageError(f"no mode is called {name!r}", hint=f"Modes: {', '.join(MODES)}.")


def _unit_named(name: str) -> SearchUnit:
    for unit in SEARCH_UNITS:
        if unit == name:
            return unit
    raise UsageError(f"cannot rank by {name!r}", hint=f"Rank by {' or '.join(SEARCH_UNITS)}.")


def _check_sources(names: Sequence[str], session: Session) -> None:
    """Raise UsageError for a source that does not exist or is switched off, Refused for what a program may not see."""
    known = (VAULT, *(source.type for source in session.stores.sources))
    if ISOLATED in names and session.audience != "person":
        raise Refused("only the person may search what is isolated", hint="Leave out the source `isolated`.")
    for name in names:
        if name not in known:
            raise UsageError(f"no source is called {name!r}", hint=f"Sources: {', '.join(known)}.")


def _window(when: When, *, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """The start and the end of the time, as text in UTC; empty for None. Raises UsageError."""
    if when is None:
        return "", ""
    if isinstance(when, str):
        return parse_time(when, now=now, zone=zone)
    at = _in_zone(when, zone)
    return moment_text(at), moment_text(at + timedelta(seconds=1))


def _in_zone(at: datetime, zone: tzinfo) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=zone)
