"""Who may write where: one table (TABLE), and nothing else in the program decides it.

A caller decides twice: before the lock, when only the path and the new text are known, and again under the lock with
the frontmatter of the existing note, which may be sensitive or may add its own keys to the new text. Marks of trust are
`always_load`, for a note loaded before every prompt, and `trust: told`, for the person's own word.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from commonplace.errors import Reason, Refused
from commonplace.model import ActorKind, Verb
from commonplace.model.layout import (
    MEMORY,
    PROBE_NOTE,
    flat_name,
    is_always_loaded,
    is_ambiguous,
    is_below,
    is_in_inbox,
    is_inbox,
    is_profile,
    is_report,
    is_staged,
    is_standing,
    staging_path,
)
from commonplace.model.template import Autonomy
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import truthy

Space = Literal["personal", "allowlisted", "agent", "memory"]

_AGENT: Final = MEMORY.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an actor wants to do to one path.

    `personal` is the person's explicit consent for a personal note, `granted` says that a grant for exactly this path
    was used, `within_caps` that a job stays within what it may write in one run. `spoken` says that the person said so
    in words of their own, which the program passes on.
    `existing` is the frontmatter of the existing note, `incoming` that of the text to be written.
    `moved_from` is set if the note moves to `path` from there.
    """

    actor: ActorKind
    verb: Verb
    path: str
    personal: bool
    granted: bool
    within_caps: bool
    spoken: bool
    existing: Mapping[str, Any]
    incoming: Mapping[str, Any]
    moved_from: str | None

    @property
    def resulting(self) -> Mapping[str, Any]:
        """The frontmatter after the merge: incoming keys win, existing keys stay if they are left out."""
        return {**self.existing, **self.incoming}


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to an attempt. `path` is where it takes place; `reason`, `message` and `hint` are those of a refusal.

    `in_digest` says that the person is informed afterwards.
    """

    kind: Literal["allow", "redirect", "stage", "refuse"]
    path: str
    in_digest: bool = False
    reason: Reason | None = None
    message: str = ""
    hint: str | None = None

    def raise_if_refused(self) -> None:
        """Raise Refused if the attempt is refused."""
        if self.kind == "refuse":
            raise Refused(self.message, path=self.path, reason=self.reason, hint=self.hint)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the person set: the options, and the autonomy of this program."""

    options: SafetyOptions
    autonomy: Autonomy

    @property
    def folders(self) -> str:
        """The allowlist, for a hint."""
        return ", ".join(self.options.path_allowlist)


Rule = Callable[[Attempt, Limits], Decision]


def allow(attempt: Attempt, limits: Limits) -> Decision:
    """Allow it, at that path."""
    return Decision("allow", attempt.path)


def allow_if_personal(attempt: Attempt, limits: Limits) -> Decision:
    """Allow it if the person says explicitly that a personal note is meant."""
    if attempt.personal:
        return allow(attempt, limits)
    hint = (
        f"It is a personal note: programs may write to {limits.folders}, Agent, and every other note changes only when "
        "you say explicitly that you mean it (--personal)."
    )
    return _outside(attempt, hint=hint)


def allow_if_granted(attempt: Attempt, limits: Limits) -> Decision:
    """Allow it if a person gave a grant for this call."""
    if attempt.granted:
        return allow_if_reversible(attempt, limits)
    return _outside(
        attempt, hint=f"Choose one of {limits.folders}, Agent, or ask the person for a grant for this path."
    )


def refuse_outside(attempt: Attempt, limits: Limits) -> Decision:
    """Refuse it; no grant can allow it."""
    return _outside(attempt, hint=f"Choose one of {limits.folders}, Agent.")


def by_autonomy(attempt: Attempt, limits: Limits) -> Decision:
    """With low autonomy only the Inbox is open: writes go there, and the other verbs are refused."""
    if limits.autonomy != "low" or is_in_inbox(attempt.path):
        return allow_if_reversible(attempt, limits)
    if attempt.verb != "write":
        return _refuse(
            attempt,
            f"low autonomy allows no {attempt.verb} outside the Inbox",
            hint="Ask the person to do it, or to raise the autonomy to medium.",
        )
    inbox = inbox_path(attempt.path, limits.options)
    if inbox is None:
        return _outside(attempt, hint="Low autonomy writes to the Inbox: add Inbox to safety.path_allowlist.")
    return Decision("redirect", inbox)


def allow_unless_standing(attempt: Attempt, limits: Limits) -> Decision:
    """Refuse changes to notes that prompts show as the person's own word.

    A profile changes by validated operations alone, which with low autonomy wait for the person's approval; the others
    by proposals.
    """
    if is_profile(attempt.path) or is_profile(attempt.moved_from or ""):
        return _profile_decision(attempt, limits)
    if attempt.actor == "agent" and (is_report(attempt.path) or is_report(attempt.moved_from or "")):
        return _refuse(
            attempt,
            "only the job that reports to the person writes digests",
            hint="Write it to another folder below Agent.",
        )
    if is_standing(attempt.path) or is_standing(attempt.moved_from or ""):
        return _refuse(
            attempt,
            "prompts show this note as the person's own word",
            hint="Propose the new text (note_propose): it waits for the person's approval (`commonplace review`). "
            "Save what you learned as an entry.",
        )
    return allow_if_reversible(attempt, limits)


def _profile_decision(attempt: Attempt, limits: Limits) -> Decision:
    if attempt.verb in ("curate", "undo") and attempt.moved_from is None:  # a program undoes its own changes alone
        is_low = limits.autonomy == "low"
        return Decision("stage", staging_path(attempt.path)) if is_low else allow(attempt, limits)
    return _refuse(
        attempt,
        "only memory operations change a profile",
        hint="Append, replace or remove one statement (profile_edit), or save what you learned as an entry.",
    )


def stage_if_trust_is_gained(attempt: Attempt, limits: Limits) -> Decision:
    """Stage what would be loaded before every prompt or count as the person's own word; it waits for review.

    A note that already does so stays where it is. What the person said, and an agent passes on, is done.
    """
    if _bypasses_entries(attempt):
        return _refuse_bypass(attempt)
    if attempt.spoken and attempt.verb in ("remember", "forget") and not _is_loaded(attempt):
        return allow_entries_alone(attempt, limits)
    if _removes_trust(attempt):
        return _refuse_trusted(attempt)
    if not _gains_trust(attempt, limits):
        return allow_entries_alone(attempt, limits)
    if attempt.verb == "move":
        return _refuse(
            attempt,
            "a move may not make a note always loaded or the person's own word",
            hint="Write it as an entry: it waits for the person's approval (`commonplace review`).",
        )
    return Decision("stage", staging_path(attempt.path))


def stage_beyond_caps(attempt: Attempt, limits: Limits) -> Decision:
    """Stage what a job writes beyond its caps for one run; a trusted entry stays where it is."""
    if _bypasses_entries(attempt):
        return _refuse_bypass(attempt)
    if _removes_trust(attempt):
        return _refuse_trusted(attempt)
    if attempt.within_caps or attempt.verb not in ("write", "remember") or is_staged(attempt.path):
        return allow_entries_alone(attempt, limits)
    return Decision("stage", staging_path(attempt.path))


def allow_entries_alone(attempt: Attempt, limits: Limits) -> Decision:
    """Refuse a plain note among the entries: it would be recalled like one, and no gate has seen it."""
    is_new = attempt.verb == "write" or (attempt.verb == "move" and attempt.moved_from is not None)
    if is_new and not is_staged(attempt.path) and not has_id(attempt.resulting):
        return _refuse(
            attempt,
            f"only entries live below {MEMORY}",
            hint=f"Save it as an entry, or write the note to one of {limits.folders}.",
        )
    return allow_if_reversible(attempt, limits)


def allow_if_reversible(attempt: Attempt, limits: Limits) -> Decision:
    """Allow everything but erasing: all else that a program does can be reverted."""
    if attempt.verb == "erase":
        return _refuse(attempt, "only a person may erase", hint="Delete it instead, or ask the person to erase it.")
    return allow(attempt, limits)


def refuse_ambiguous(attempt: Attempt, limits: Limits) -> Decision:
    """Refuse a path that some disk reads as another one."""
    return _refuse(
        attempt,
        "some disks read this path as another one",
        hint="Leave out blanks and dots at the end of a name, `:`, invisible characters, and short names with `~`.",
    )


def refuse_sensitive(attempt: Attempt, limits: Limits) -> Decision:
    """Refuse it: the owner marked the note so that no program touches it."""
    hint = "Leave it to the person, who can change the note or remove its mark."
    return _refuse(attempt, "the note is marked sensitive", hint=hint, reason="sensitive")


TABLE: Final[Mapping[Space, Mapping[ActorKind, Rule]]] = {
    "personal": {"person": allow_if_personal, "agent": allow_if_granted, "job": refuse_outside},
    "allowlisted": {"person": allow, "agent": by_autonomy, "job": by_autonomy},
    "agent": {"person": allow, "agent": allow_unless_standing, "job": allow_unless_standing},
    "memory": {"person": allow, "agent": stage_if_trust_is_gained, "job": stage_beyond_caps},
}
SENSITIVE: Final[Mapping[ActorKind, Rule]] = {"person": allow, "agent": refuse_sensitive, "job": refuse_sensitive}
"""The table's last row: any note marked sensitive, unless the space alone refuses it."""


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
    spoken: bool = False,
    sensitive: bool = False,
    existing: Mapping[str, Any] | None = None,
    incoming: Mapping[str, Any] | None = None,
    moved_from: str | None = None,
) -> Decision:
    """Whether the attempt is allowed, and where it takes place; `Attempt` explains the arguments.

    `autonomy` is a template's own, if it differs from the options'. `sensitive` says that the existing note is marked
    so. Decide both ends of a move: the path that the note leaves, and with `moved_from` the path it comes to.
    """
    marks = (existing or {}, incoming or {})
    attempt = Attempt(actor, verb, path, personal, granted, within_caps, spoken, *marks, moved_from)
    space = space_of(path, options)
    limits = Limits(options, autonomy or options.autonomy)
    rule = refuse_ambiguous if actor != "person" and is_ambiguous(path) else TABLE[space][actor]
    decision = rule(attempt, limits)
    if decision.kind != "refuse" and sensitive:
        decision = SENSITIVE[actor](attempt, limits)
    is_probe = actor == "job" and path == PROBE_NOTE  # gone before anybody could read of it
    in_digest = actor != "person" and space != "memory" and decision.kind != "refuse" and not is_probe
    return replace(decision, in_digest=in_digest)


def space_of(path: str, options: SafetyOptions) -> Space:
    """The space that the path is in; personal for a path that no rule covers or that could lead elsewhere."""
    if is_below(path, MEMORY):
        return "memory"
    if is_below(path, _AGENT):
        return "agent"
    is_plain = not is_ambiguous(path.rpartition("/")[0])
    if is_plain and any(is_below(path, folder) for folder in options.path_allowlist):
        return "allowlisted"
    return "personal"


def inbox_path(path: str, options: SafetyOptions) -> str | None:
    """Where in the Inbox a note for that path goes; None if the Inbox is not on the allowlist."""
    inbox = next((folder for folder in options.path_allowlist if is_inbox(folder)), None)
    return f"{inbox.strip('/')}/{flat_name(path)}" if inbox else None


def _gains_trust(attempt: Attempt, limits: Limits) -> bool:
    """True if the note would become or already is trusted: restoring trust by an undo counts as gaining it."""
    marked = is_trusted(attempt.resulting) or is_trusted(attempt.existing)
    if attempt.verb in ("write", "remember"):
        return (marked or is_always_loaded(attempt.path)) and not is_staged(attempt.path)
    if attempt.moved_from is None:
        return False
    source = attempt.moved_from
    had_it = space_of(source, limits.options) == "memory" and not is_staged(source)
    into_folder = is_always_loaded(attempt.path) and not is_always_loaded(source)
    return into_folder or (marked and not had_it and not is_staged(attempt.path))


def _is_loaded(attempt: Attempt) -> bool:
    """True if the note is, or would be, loaded before every prompt."""
    marks = ((key, value) for keys in (attempt.existing, attempt.incoming) for key, value in _pairs(keys))
    is_marked = any(str(key).strip().casefold() == ALWAYS_LOAD and truthy(value) for key, value in marks)
    return is_marked or is_always_loaded(attempt.path)


def _removes_trust(attempt: Attempt) -> bool:
    """True if a trusted entry would leave its place, from where an undo could restore it with other text."""
    if attempt.verb not in ("move", "delete", "forget") or attempt.moved_from is not None or is_staged(attempt.path):
        return False
    return is_always_loaded(attempt.path) or is_trusted(attempt.resulting)


def _bypasses_entries(attempt: Attempt) -> bool:
    """True if an entry would be changed as a plain note, bypassing gate and integration, or would leave review.

    A proposal is made by its own verb alone, which says truly who proposes.
    """
    if attempt.verb == "move" and is_staged(attempt.moved_from or "") and not is_staged(attempt.path):
        return True
    if is_staged(attempt.path) and any(str(key).strip().casefold() == PROPOSAL for key in attempt.resulting):
        return attempt.verb in ("write", "delete", "move")
    return attempt.verb in ("write", "delete", "move") and has_id(attempt.resulting)


def _refuse_bypass(attempt: Attempt) -> Decision:
    return _refuse(
        attempt,
        "an entry or a proposal cannot be changed as a plain note",
        hint="Save, evolve, confirm or forget an entry instead; a proposal is the person's to decide.",
    )


def _refuse_trusted(attempt: Attempt) -> Decision:
    return _refuse(
        attempt,
        "the note is always loaded or the person's own word",
        hint="Leave it to the person, or save what should change: it waits for their approval (`commonplace review`).",
    )


def _outside(attempt: Attempt, *, hint: str) -> Decision:
    return _refuse(attempt, "outside the folders that programs may write to", hint=hint, reason="outside_allowlist")


def _refuse(attempt: Attempt, why: str, *, hint: str, reason: Reason = "refused") -> Decision:
    message = f"may not {attempt.verb} {attempt.path}: {why}"
    return Decision("refuse", attempt.path, reason=reason, message=message, hint=hint)


ALWAYS_LOAD: Final = "always_load"
TRUST: Final = "trust"
TOLD: Final = "told"
ID: Final = "id"
PROPOSAL: Final = "proposal"
"""The key of a staged note that proposes a change of another note."""

_HEAD: Final = 4000  # characters searched at the top of a note
_MARK: Final = re.compile(
    r"""(?: ^ | [{,\[?] | -[ \t] ) [ \t]*+ ["']?+ [ \t]*+
    (?: always_load [ \t]*+ ["']?+ \s*+ :
      | trust [ \t]*+ ["']?+ \s*+ : [\s"'\[{>|+-]*+ told\b )""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def is_trusted(frontmatter: Mapping[str, Any]) -> bool:
    """True if the frontmatter has a mark at any depth; case and surrounding spaces do not count."""
    for key, value in _pairs(frontmatter):
        name = str(key).strip().casefold()
        if (name == ALWAYS_LOAD and truthy(value)) or (name == TRUST and _says_told(value)):
            return True
    return False


def has_id(frontmatter: Mapping[str, Any]) -> bool:
    """True if the note has an id, as entries do."""
    return any(str(key).strip().casefold() == ID and value not in (None, "") for key, value in frontmatter.items())


def looks_trusted(text: str) -> bool:
    """True if the top of the text looks like a mark: for a note whose frontmatter cannot be read."""
    return _MARK.search(text, 0, _HEAD) is not None


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    """Every key with its value, in all nested lists and mappings."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            yield from each.items()
            pending += each.values()
        elif isinstance(each, list | tuple):
            pending += each


def _says_told(value: object) -> bool:
    """True if the value is `told`, or a list or mapping that contains it."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            pending += each.values()
        elif isinstance(each, list | tuple):
            pending += each
        elif str(each).strip().casefold() == TOLD:
            return True
    return False
