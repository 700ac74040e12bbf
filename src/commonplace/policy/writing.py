"""Who may write where: one table, and nothing else in the program decides it.

A caller decides twice: before the lock, when only the path and the new text are known, and again under the lock with
the frontmatter of the note that is there, which may be sensitive or may lend its own keys to the new text.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from commonplace.model import ActorKind, Verb
from commonplace.policy.attempt import Attempt, Decision
from commonplace.policy.options import Autonomy, SafetyOptions
from commonplace.policy.rules import (
    Limits,
    Rule,
    allow,
    allow_but_standing,
    allow_if_granted,
    allow_if_personal,
    by_autonomy,
    refuse_outside,
    refuse_sensitive,
    stage_beyond_caps,
    stage_what_gains_trust,
)
from commonplace.policy.spaces import Space, space_of

__all__ = ["SENSITIVE", "TABLE", "Decision", "decide", "space_of"]

TABLE: Final[Mapping[Space, Mapping[ActorKind, Rule]]] = {
    "personal": {"person": allow_if_personal, "agent": allow_if_granted, "job": refuse_outside},
    "allowlisted": {"person": allow, "agent": by_autonomy, "job": by_autonomy},
    "agent": {"person": allow, "agent": allow_but_standing, "job": allow_but_standing},
    "memory": {"person": allow, "agent": stage_what_gains_trust, "job": stage_beyond_caps},
}
SENSITIVE: Final[Mapping[ActorKind, Rule]] = {"person": allow, "agent": refuse_sensitive, "job": refuse_sensitive}
"""The table's last row: any note marked sensitive, where the space alone would not refuse."""


def decide(
    *,
    actor: ActorKind,
    verb: Verb,
    path: str,
    options: SafetyOptions,
    autonomy: Autonomy | None = None,
    personal: bool = False,
    granted: bool = False,
    within_caps: bool = True,
    sensitive: bool = False,
    existing: Mapping[str, Any] | None = None,
    incoming: Mapping[str, Any] | None = None,
    moved_from: str | None = None,
) -> Decision:
    """Whether the attempt may go on, and where; `Attempt` tells what the words mean.

    `autonomy` is a template's own, where it differs from the options'.
    `sensitive` says that the note that is there is marked so.
    Of a move each end is decided: the path that is left, and the path that is come to, with `moved_from`.
    """
    attempt = Attempt(actor, verb, path, personal, granted, within_caps, existing or {}, incoming or {}, moved_from)
    space = space_of(path, options)
    limits = Limits(options, autonomy or options.autonomy)
    decision = TABLE[space][actor](attempt, limits)
    if decision.kind != "refuse" and sensitive:
        decision = SENSITIVE[actor](attempt, limits)
    in_digest = actor != "person" and space != "memory" and decision.kind != "refuse"
    return replace(decision, in_digest=in_digest)
