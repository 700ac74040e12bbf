"""The verb on digests: read what programs did since the person last looked."""

from datetime import UTC, datetime, tzinfo

from commonplace.flows.digest import READ_STATE, digest_start, gather_digest, note_announcement, state_values
from commonplace.flows.stores import Session
from commonplace.model.digest import Digest
from commonplace.model.request import When
from commonplace.model.upkeep import JobState
from commonplace.questions.time_arguments import parse_time


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
            start = parse_time(since, now=here.clock(), zone=zone)[0] if isinstance(since, str) else since
            return gather_digest(here, since=datetime.fromisoformat(start) if isinstance(start, str) else start)
        history = here.stores.history
        state = history.job_states().get(READ_STATE)
        begin, seen = digest_start(state.values if state else {})
        digest = gather_digest(here, since=begin, seen=seen)
        if advance and here.actor.kind == "person":
            history.save_job_state(JobState(job=READ_STATE, values=state_values(digest, seen=seen)))
            note_announcement(here)
        return digest
