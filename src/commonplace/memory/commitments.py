"""The verbs on commitments: list, close."""

from collections.abc import Sequence
from typing import get_args

from commonplace.errors import UsageError
from commonplace.facts.commitments import Commitment, CommitmentState
from commonplace.flows.ingest.sync import index_new_vault
from commonplace.flows.memory.commitments import ClosedCommitment, close_commitment, list_commitments
from commonplace.flows.stores import Session

COMMITMENT_STATES: tuple[CommitmentState, ...] = get_args(CommitmentState)


class Commitments:
    """Who has to do what by when, as notes and conversations say it, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, who: str = "", states: Sequence[str] = ()) -> tuple[Commitment, ...]:
        """The commitments of someone, or of all; the nearest deadline first.

        `who` is a name or an alias, or `me`. `states` are `open`, `overdue` and `closed`; none means all. Raises
        UsageError for another state.
        """
        if unknown := [each for each in states if each not in COMMITMENT_STATES]:
            raise UsageError(f"{unknown[0]!r} is not a state", hint=f"Give one of: {', '.join(COMMITMENT_STATES)}.")
        index_new_vault(self._session.stores)
        return list_commitments(self._session, who=who.strip(), states=states)

    def close(self, id: str, *, dry_run: bool = False) -> ClosedCommitment:
        """Close a commitment: its line is ticked in the note, or its entry ends. One that is closed stays as it is.

        Raises NotFound, Conflict, Refused, and UsageError for another fact.
        """
        return close_commitment(id, self._session, dry_run=dry_run)


__all__ = ["COMMITMENT_STATES", "ClosedCommitment", "Commitment", "Commitments"]
