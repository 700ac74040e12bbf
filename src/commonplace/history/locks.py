"""What of a conversation's topics can be kept, the same for every history."""

import re
from typing import Final

from commonplace.errors import UsageError
from commonplace.history.arrivals import storable
from commonplace.model import TopicLock

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def storable_lock(lock: TopicLock) -> TopicLock:
    """The lock as UTF-8 can say it. Raises UsageError for one without a conversation, or with no moment in UTC."""
    if not lock.conversation.strip():
        raise UsageError("topics are locked for a conversation, and none is named", hint="Name the conversation.")
    if not _MOMENT.fullmatch(lock.at):
        raise UsageError(f"{lock.at!r} is no moment in UTC", hint="Give it as 2026-03-01T09:12:44Z.")
    return TopicLock(storable(lock.conversation), tuple(map(storable, lock.topics)), lock.at)
