"""The cues of an entry: what it is `about` and `when` it matters, as whoever saved it says.

A cue brings an entry before a prompt, or beside a new statement, that shares no word with it. It says nothing that is
true or false, it decides nothing, and a long one buys no place: what goes beyond LONGEST_CUE does not count.
"""

from typing import Final

from commonplace.errors import UsageError
from commonplace.facts.entry_paths import PLAYBOOK_KINDS
from commonplace.model import Fact
from commonplace.model.request import LONGEST_CUE

CUES: Final = ("about", "when")
"""The fields that are cues."""

_SAYS: Final = {
    "about": 'Name in 2 to 6 words the question that it answers, such as "how she commutes".',
    "when": 'Name a few situations in which it matters, such as "restaurants, menus, dinner at friends".',
}


def checked_cue(text: str, name: str) -> str:
    """The cue on one line. Raises UsageError if it is too long."""
    cue = " ".join(text.split())
    if len(cue) > LONGEST_CUE:
        raise UsageError(f"`{name}` has {len(cue)} characters; it may have {LONGEST_CUE}", hint=_SAYS[name])
    return cue


def phrases_of(when: str) -> tuple[str, ...]:
    """The phrases of a `when`: between semicolons if it has one, else between commas."""
    sign = ";" if ";" in when else ","
    return tuple(dict.fromkeys(phrase for each in when.split(sign) if (phrase := each.strip())))


def joined_phrases(phrases: tuple[str, ...]) -> str:
    """The phrases as one `when`, from which `phrases_of` reads them again."""
    return ("; " if any("," in each for each in phrases) else ", ").join(phrases)


def counted_cue(cue: str) -> str:
    """What of a cue counts: its beginning, up to the end of a word."""
    if len(cue) <= LONGEST_CUE:
        return cue
    return cue[:LONGEST_CUE].rpartition(" ")[0].rstrip(" ,;") or cue[:LONGEST_CUE]


def text_about(text: str, about: str) -> str:
    """A statement with what it is about before it: by this text its meaning is compared with that of others."""
    return f"{counted_cue(about)}: {text}" if about else text


def is_playbook(fact: Fact) -> bool:
    """True for steps that are recalled for the tasks in their `when`."""
    return fact.kind in PLAYBOOK_KINDS and bool(fact.when) and "\n" in fact.text.strip()
