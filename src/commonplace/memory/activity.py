"""The verbs on what happened: read the digest of what programs did since the person last looked, show a day."""

from datetime import UTC, tzinfo

from commonplace.flows.day import Happening as Happening
from commonplace.flows.day import day_of
from commonplace.flows.digest import READ_STATE, digest_start, gather_digest, note_announcement, state_values
from commonplace.flows.stores import Session
from commonplace.model.digest import Digest
from commonplace.model.request import When
from commonplace.model.upkeep import JobState
from commonplace.questions.time_arguments import day_named, start_of


class Digests:
    """What programs did to one vault, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, *, since: When = None, advance: bool = True, zone: tzinfo = UTC) -> Digest:
        """What was learned, changed, archived, proposed, refused and spent since the person last read a digest.

        `since` names another beginning, as in a search. Without `advance`, and with another beginning, the next one
        begins where this one did. A program does not see the words of entries, and advances nothing. Raises UsageError
        for a time that cannot be read, IndexDamaged and VaultUnavailable.
        """
        here = self._session.at(self._session.clock())
        if since is not None:
            return gather_digest(here, since=start_of(since, now=here.clock(), zone=zone))
        history = here.stores.history
        state = history.job_states().get(READ_STATE)
        begin, seen = digest_start(state.values if state else {})
        digest = gather_digest(here, since=begin, seen=seen)
        if advance and here.actor.kind == "person":
            history.save_job_state(JobState(job=READ_STATE, values=state_values(digest, seen=seen)))
            note_announcement(here)
        return digest


class Days:
    """The days of one vault, for the person."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def show(self, day: str = "today", *, zone: tzinfo = UTC) -> tuple[Happening, ...]:
        """What happened on that day, such as 2026-03-01 or `yesterday`, in order, by the clock of the zone.

        Conversations, what was learned, writes through Commonplace, other edits, and meetings. Raises UsageError for a
        day that cannot be read, Refused unless a person asks, IndexDamaged.
        """
        return day_of(day_named(day, now=self._session.clock(), zone=zone), zone, self._session)
