"""Where the notes stand that are put before prompts as they are: user memory, channels, dated memories, playbooks."""

import re
from collections.abc import Iterable
from typing import Final

from commonplace.errors import UsageError

USER: Final = "Agent/USER.md"
ALWAYS_LOAD: Final = "Agent/_always-load"
DATED: Final = "Agent/memories"
CHANNELS: Final = "Agent/channels"
STYLES: Final = "Agent/styles"
PLAYBOOK_KINDS: Final = ("procedural", "workflow")
"""The kinds of entries that tell how something is done."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_DATED: Final = re.compile(r"(?:.*/)?(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_PREFIX: Final = "channel:"


def channel_of(scope: str) -> str:
    """The token of a scope such as `channel:team`, or of a bare token; empty for the person's own scope.

    Raises UsageError for what cannot be a token.
    """
    token = scope.strip().removeprefix(_PREFIX)
    if token and not _TOKEN.fullmatch(token):
        hint = "A channel is named by letters, digits, dots, dashes and underscores, 64 at most."
        raise UsageError(f"{token[:60]!r} cannot name a channel", hint=hint)
    return token


def channel_folder(token: str) -> str:
    """The folder of a channel."""
    return f"{CHANNELS}/{token}"


def newest_dated(paths: Iterable[str], *, today: str, most: int) -> tuple[str, ...]:
    """Those of the paths that are named for a day, none of them after today; newest first, at most so many."""
    dated = [(match[1], path) for path in paths if (match := _DATED.fullmatch(path)) and match[1] <= today]
    return tuple(path for _, path in sorted(dated, reverse=True)[:most])


def belongs(path: str, *, channel: str) -> bool:
    """Whether a note may be recalled here: no other channel's, and none that describes a way to speak."""
    return not path.startswith(f"{STYLES}/") and in_channel(path, channel=channel)


def in_channel(path: str, *, channel: str) -> bool:
    """Whether a note is the person's own or that channel's: what another channel holds is not said here."""
    return not path.startswith(f"{CHANNELS}/") or bool(channel and path.startswith(f"{channel_folder(channel)}/"))
