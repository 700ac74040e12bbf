"""Proposals: changes of a note that wait for the person."""

from dataclasses import dataclass
from typing import Literal

ProposalAction = Literal["propose", "approve", "edit", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change of a note that waits for the person: other text (`difference`), or another place (`move_to`).

    `id` is `p-` and some digits; the staged note at `path` holds the proposal. `base` is the version of the note at
    `target` that it was made from, or `absent` for a new note. `by` is the job or agent that proposes it. `about`
    is a word for its kind, if nothing of the kind is to be proposed for the note again after it was rejected.
    `text` is what the note says that would move, shortened if it is long: a person decides about words, not paths.
    """

    id: str
    path: str
    target: str
    by: str
    why: str
    base: str
    made: str = ""
    difference: str = ""
    move_to: str = ""
    fingerprint: str = ""
    about: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalResult:
    """What became of a proposal. `changed` is False if it waits already, or was rejected before (`remarks` says so)."""

    action: ProposalAction
    proposal: Proposal
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    changed: bool = True
    difference: str | None = None
