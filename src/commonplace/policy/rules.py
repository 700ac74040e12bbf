"""The rules that the cells of the policy table name: each answers one attempt."""

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.errors import Reason
from commonplace.policy.attempt import Attempt, Decision
from commonplace.policy.options import Autonomy, SafetyOptions
from commonplace.policy.spaces import (
    inbox_path,
    is_always_loaded,
    is_in_inbox,
    is_profile,
    is_staged,
    is_standing,
    space_of,
    staging_path,
)
from commonplace.policy.trust import has_id, is_trusted


@dataclass(frozen=True, slots=True)
class Limits:
    """What the person set: the options, and how freely this program may write."""

    options: SafetyOptions
    autonomy: Autonomy

    @property
    def folders(self) -> str:
        """The allowlist, for a hint."""
        return ", ".join(self.options.path_allowlist)


Rule = Callable[[Attempt, Limits], Decision]


def allow(attempt: Attempt, limits: Limits) -> Decision:
    """Go on, at that path."""
    return Decision("allow", attempt.path)


def allow_if_personal(attempt: Attempt, limits: Limits) -> Decision:
    """A person says explicitly that a personal note is meant."""
    if attempt.personal:
        return allow(attempt, limits)
    return _outside(attempt, hint=f"Say so with --personal, or choose one of {limits.folders}, Agent.")


def allow_if_granted(attempt: Attempt, limits: Limits) -> Decision:
    """A person gave leave for this one call."""
    if attempt.granted:
        return allow_what_can_be_reverted(attempt, limits)
    return _outside(
        attempt, hint=f"Choose one of {limits.folders}, Agent, or ask the person for a grant for this path."
    )


def refuse_outside(attempt: Attempt, limits: Limits) -> Decision:
    """No leave can be given."""
    return _outside(attempt, hint=f"Choose one of {limits.folders}, Agent.")


def by_autonomy(attempt: Attempt, limits: Limits) -> Decision:
    """With low autonomy only the Inbox is open: a write goes there, and there is no other place for the other verbs."""
    if limits.autonomy != "low" or is_in_inbox(attempt.path):
        return allow_what_can_be_reverted(attempt, limits)
    if attempt.verb != "write":
        return _refuse(
            attempt,
            f"low autonomy leaves no {attempt.verb} outside the Inbox",
            hint="Ask the person to do it, or to raise the autonomy to medium.",
        )
    inbox = inbox_path(attempt.path, limits.options)
    if inbox is None:
        return _outside(attempt, hint="Low autonomy writes to the Inbox: add Inbox to safety.path_allowlist.")
    return Decision("redirect", inbox)


def allow_but_standing(attempt: Attempt, limits: Limits) -> Decision:
    """What stands before prompts as the person's word is theirs to write; a program saves entries."""
    if is_profile(attempt.path):
        return _refuse(
            attempt,
            "a profile is changed by operations only",
            hint="Save what you learned as an entry below Agent/Memory; the profile is made from entries.",
        )
    if is_standing(attempt.path) or is_standing(attempt.moved_from or ""):
        return _refuse(
            attempt,
            "it stands before prompts as the person's own word",
            hint="Save what you learned as an entry below Agent/Memory, or ask the person to write it here.",
        )
    return allow_what_can_be_reverted(attempt, limits)


def stage_what_gains_trust(attempt: Attempt, limits: Limits) -> Decision:
    """What would stand before every prompt, or count as the person's own word, waits for the person's review.

    What does so already stays where it is.
    """
    if _goes_around(attempt):
        return _refuse_way_around(attempt)
    if _removes_trust(attempt):
        return _refuse_trusted(attempt)
    if not _gains_trust(attempt, limits):
        return allow_what_can_be_reverted(attempt, limits)
    if attempt.verb == "move":
        return _refuse(
            attempt,
            "a move may not make a note always loaded or the person's own word",
            hint="Write it as an entry: it is staged, and the person approves it in review.",
        )
    return Decision("stage", staging_path(attempt.path))


def stage_beyond_caps(attempt: Attempt, limits: Limits) -> Decision:
    """A job that has written all it may in one run goes on below `_staging`; a trusted entry stays where it is."""
    if _goes_around(attempt):
        return _refuse_way_around(attempt)
    if _removes_trust(attempt):
        return _refuse_trusted(attempt)
    if attempt.within_caps or attempt.verb not in ("write", "remember") or is_staged(attempt.path):
        return allow_what_can_be_reverted(attempt, limits)
    return Decision("stage", staging_path(attempt.path))


def allow_what_can_be_reverted(attempt: Attempt, limits: Limits) -> Decision:
    """All that a program does can be reverted; erasing cannot."""
    if attempt.verb == "erase":
        return _refuse(attempt, "only a person may erase", hint="Delete it instead, or ask the person to erase it.")
    return allow(attempt, limits)


def refuse_sensitive(attempt: Attempt, limits: Limits) -> Decision:
    """The owner marked the note so that no program touches it."""
    hint = "Leave it to the person, who can change the note or take its mark away."
    return _refuse(attempt, "the note is marked sensitive", hint=hint, reason="sensitive")


def _gains_trust(attempt: Attempt, limits: Limits) -> bool:
    """Whether what comes of it is trusted, or was before: trust taken away and given back by an undo is gained too."""
    marked = is_trusted(attempt.resulting) or is_trusted(attempt.existing)
    if attempt.verb in ("write", "remember"):
        return (marked or is_always_loaded(attempt.path)) and not is_staged(attempt.path)
    if attempt.moved_from is None:
        return False
    source = attempt.moved_from
    had_it = space_of(source, limits.options) == "memory" and not is_staged(source)
    into_folder = is_always_loaded(attempt.path) and not is_always_loaded(source)
    return into_folder or (marked and not had_it and not is_staged(attempt.path))


def _removes_trust(attempt: Attempt) -> bool:
    """Whether a trusted entry would leave its place, to come back by an undo with other words in it."""
    if attempt.verb not in ("move", "delete", "forget") or attempt.moved_from is not None or is_staged(attempt.path):
        return False
    return is_always_loaded(attempt.path) or is_trusted(attempt.resulting)


def _goes_around(attempt: Attempt) -> bool:
    """Whether an entry would be changed as a plain note, past the gate and past what is known, or leave the review."""
    if attempt.verb == "move" and is_staged(attempt.moved_from or "") and not is_staged(attempt.path):
        return True
    return attempt.verb in ("write", "delete", "move") and has_id(attempt.resulting)


def _refuse_way_around(attempt: Attempt) -> Decision:
    return _refuse(
        attempt,
        "an entry is no plain note",
        hint="Save, evolve, confirm or forget it: what is known is changed in no other way.",
    )


def _refuse_trusted(attempt: Attempt) -> Decision:
    return _refuse(
        attempt,
        "the note is always loaded or the person's own word",
        hint="Leave it to the person, or write what should change: it is staged, and the person approves it in review.",
    )


def _outside(attempt: Attempt, *, hint: str) -> Decision:
    return _refuse(attempt, "outside the folders that programs write to", hint=hint, reason="outside_allowlist")


def _refuse(attempt: Attempt, why: str, *, hint: str, reason: Reason = "refused") -> Decision:
    message = f"may not {attempt.verb} {attempt.path}: {why}"
    return Decision("refuse", attempt.path, reason=reason, message=message, hint=hint)
