"""What may go into a context: thresholds for passages and playbooks, their titles, and the channel of a prompt."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import Hit

PLAYBOOK_KINDS: Final = ("procedural", "workflow")
"""The kinds of entries that say how something is done."""

# Chosen on 64 messages to a vault of 60 notes, with all-MiniLM-L6-v2, as was `context.min_score`: at 0.3, none of the
# 32 messages that ask for nothing in the vault recalls anything, and 30 of the 32 that do recall their note. A playbook
# that applies may score less, but is near in meaning; those that did not apply were below one of these two.
PLAYBOOK_SCORE: Final = 0.25
PLAYBOOK_COSINE: Final = 0.25

_OFF_TOPIC: Final = 0.1
"""The cosine below which a passage shares only words with a prompt, as many do in a large vault."""

_BESIDE_BEST: Final = 0.6
"""The share of the best score that others must reach: below it they have no more than a word in common."""

_MIN_LETTERS: Final = 20
"""Letters outside links below which a passage only points elsewhere: `Part of [[Plan]]. See [[Budget]].`"""

_FIRST_CJK: Final = "\u2e80"
_CJK_LETTERS: Final = 4  # letters that one character counts for in a script whose characters are words

_LINK: Final = re.compile(r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+|(?<!\S)#[\w/-]+")
_HEADING: Final = re.compile(r"\A#{1,6}[ \t]+([^\n]*?)[ \t#]*(?:\n|\Z)\s*")
_CHANNEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_CHANNEL_PREFIX: Final = "channel:"


def parse_channel(scope: str) -> str:
    """The channel of a scope such as `channel:team` or `team`; empty for the person's own scope.

    Raises UsageError if it is not a valid name of a channel.
    """
    channel = scope.strip().removeprefix(_CHANNEL_PREFIX)
    if channel and not _CHANNEL.fullmatch(channel):
        hint = "Use letters, digits, dots, dashes and underscores, at most 64."
        raise UsageError(f"{channel[:60]!r} is not a valid channel name", hint=hint)
    return channel


def passage_threshold(scores: Iterable[float], *, least: float) -> float:
    """The score that a passage must reach to be shown with the best of these; never below `least`."""
    return max([least, *(_BESIDE_BEST * score for score in scores)])


def is_off_topic(hit: Hit) -> bool:
    """True if a hit is about something else, however many words match."""
    return hit.cosine is not None and hit.cosine < _OFF_TOPIC


def playbook_applies(hit: Hit) -> bool:
    """True if a playbook is about what the prompt asks to do."""
    return hit.score >= PLAYBOOK_SCORE and (hit.cosine is None or hit.cosine >= PLAYBOOK_COSINE)


def holds_only_links(text: str) -> bool:
    """True if a passage only points elsewhere: links, and hardly a word besides them."""
    rest, links = _LINK.subn(" ", text)
    letters = sum(_CJK_LETTERS if sign >= _FIRST_CJK else 1 for sign in rest if sign.isalpha())
    return letters < (_MIN_LETTERS if links else 1)


def passage_title(path: str, headings: Sequence[str]) -> str:
    """The headings above a passage, without those that repeat the name of its note."""
    name = _note_name(path)
    return " > ".join(heading for heading in headings if heading.strip().casefold() not in name)


def strip_own_heading(text: str, *, path: str) -> str:
    """The text of a note without a first heading that only repeats the name of the note."""
    heading = _HEADING.match(text)
    return text[heading.end() :] if heading and heading[1].casefold() == _note_name(path) else text


def _note_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").casefold()
