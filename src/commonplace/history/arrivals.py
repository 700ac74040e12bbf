"""What a conversation's messages are known by, so that a message which comes twice is kept once."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

from commonplace.errors import Refused, UsageError
from commonplace.history.base import utc_second
from commonplace.history.conversations import NewThread
from commonplace.model import ROLES, TRUSTS, Message, Trust

_LAST_TURN = 2**62  # no conversation is as long, and a database counts no further
_LONGEST_NAME = 200  # characters; what is longer is no name
_DIGITS = 12  # of an id: one in a hundred thousand that any two of 75 000 conversations share theirs


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message as it is to be kept, with its time, and what it is known by within its thread."""

    identity: str
    message: Message
    at: datetime


def arrivals_of(messages: Sequence[Message], *, now: datetime) -> tuple[Arrival, ...]:
    """The messages in order, each known by its id or by what it says. Raises UsageError for what is no message."""
    if not messages:
        raise UsageError("a conversation without messages", hint="Give at least one message.")
    alike: Counter[str] = Counter()
    found: list[Arrival] = []
    at = utc_second(now)
    for each in messages:
        message = _checked(each)
        at = message.at or at
        said = _hash("said", message.role, message.author, _moment(message.at), message.text)
        identity = _hash("id", message.source_id) if message.source_id else _hash(said, alike[said])
        alike[said] += 1
        found.append(Arrival(identity, message, at))
    return tuple(found)


def known_thread(thread: NewThread, arrivals: Sequence[Arrival]) -> NewThread:
    """The thread with an id of its own: where it has none, one made from its messages. Raises UsageError."""
    if thread.trust not in TRUSTS:
        raise UsageError(f"no trust is called {thread.trust!r}", hint=f"Trust: {', '.join(get_args(Trust))}.")
    if not thread.interface.strip():
        raise UsageError("the conversation's interface has no name", hint="Name the program in which it was held.")
    source_id = storable(thread.source_id) or _hash(*(each.identity for each in arrivals))
    title = " ".join(storable(thread.title).split())
    return replace(thread, interface=storable(thread.interface), source_id=source_id, title=title)


def check_trust(thread: NewThread, known: Trust, *, title: str, adds: bool) -> None:
    """Raises Refused when something new is worth less than what is kept under the same id: it would pass for it.

    New is a message, where it `adds` one, and another title than the one that is kept; what is known may come again.
    """
    is_new = adds or thread.title not in ("", title)
    if is_new and TRUSTS.index(thread.trust) > TRUSTS.index(known):
        message = f"the conversation is {known}, and what is {thread.trust} may not be added to it"
        raise Refused(message, hint="Record it under another id.")


def thread_id(thread: NewThread) -> str:
    """The id of a thread, the same on every machine and for every user."""
    return f"c-{_hash(thread.interface, thread.source_id)[:_DIGITS]}"


def grown(digest: str, arrival: Arrival) -> str:
    """The digest of a thread with one message more; that of a thread without messages is empty."""
    message = arrival.message
    return _hash(digest, arrival.identity, message.role, message.author, _moment(arrival.at), message.text)


def stamp_of(digest: str, *, title: str, trust: Trust) -> str:
    """A hash of all that the conversation says, and of what is said about it."""
    return _hash(digest, title, trust)


def checked_turns(first: int, last: int | None) -> tuple[int, int | None]:
    """The numbers of the turns. Raises UsageError for a first one below 1."""
    if first < 1:
        raise UsageError(f"there is no turn {first}", hint="Turns are numbered from 1.")
    return min(first, _LAST_TURN), None if last is None else min(last, _LAST_TURN)


def storable(text: str) -> str:
    """The text as UTF-8 can say it: a half of a surrogate pair is a question mark."""
    return text.encode(errors="replace").decode()


def _checked(message: Message) -> Message:
    if message.role not in ROLES:
        raise UsageError(f"no role is called {message.role!r}", hint=f"Roles: {', '.join(ROLES)}.")
    return replace(
        message,
        text=storable(message.text),
        author=" ".join(storable(message.author).split())[:_LONGEST_NAME].rstrip(),
        at=utc_second(message.at) if message.at else None,
        source_id=storable(message.source_id),
    )


def _moment(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _hash(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()
