"""Doubt: why something known should not be relied on without asking."""

from typing import Final

from commonplace.model import Held, Trust

_UNPROVEN: Final[dict[Trust, str]] = {
    "read": "read in a note",
    "mined": "mined by a program",
    "imported": "imported",
}


def doubt_of(held: Held, *, below: float, is_contested: bool) -> str:
    """Why an agent should ask before it relies on this fact; empty where there is no reason to.

    `below` is the importance, aged, under which an entry has faded; `is_contested` says that something else that holds
    speaks against it. A line of a note is the person's own, and stands for as long as they leave it there.
    """
    fact = held.fact
    if is_contested:
        return "something else that is known speaks against it"
    if fact.origin == "entry" and fact.origins.trust in _UNPROVEN and not fact.confirmed:
        return f"{_UNPROVEN[fact.origins.trust]}, never confirmed"
    if fact.origin == "entry" and held.importance < below:
        return f"not confirmed since {(fact.confirmed[-1] if fact.confirmed else fact.begins)[:10] or 'long ago'}"
    return ""
