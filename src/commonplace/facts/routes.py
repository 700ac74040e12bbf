"""Where an entry's file stands, by its kind, and what is usual for that kind."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import FactClass

MEMORY: Final = "Agent/Memory"
ALWAYS_LOAD: Final = "_always-load"
ARCHIVE: Final = "_archive"
_INBOX: Final = "_inbox"
_INCUBATOR: Final = "_idea-incubator"
_BARE: Final = "_meta"  # a folder of ours that holds no entries
_GENERATED: Final = "_index.md"
_DIGITS: Final = 6
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)

KINDS: Final = (
    "preference",
    "workflow",
    "fix",
    "domain-reference",
    "idea",
    "skill-pointer",
    "insight",
    "crystallized",
    "procedural",
    "fact",
    "event",
    "identity",
    "feedback",
    "decision",
)
"""The usual kinds. The set is open: a person may name more in the settings."""

_CLASSES: Final[Mapping[str, FactClass]] = {
    "preference": "preference",
    "feedback": "preference",
    "fact": "fact",
    "decision": "fact",
    "event": "event",
    "identity": "identity",
}
_IMPORTANCE: Final[Mapping[FactClass, float]] = {"identity": 0.8, "preference": 0.7, "fact": 0.5, "event": 0.4}
_USUAL_IMPORTANCE: Final = 0.5


def checked_kind(kind: str) -> str:
    """The kind, if it can name a folder. Raises UsageError for one that cannot."""
    if not _KIND.fullmatch(kind):
        hint = "Use small letters, digits and dashes, such as domain-reference; 40 characters at most."
        raise UsageError(f"{kind[:60]!r} cannot be the kind of an entry", hint=hint)
    return kind


def class_of(kind: str) -> FactClass:
    """The fact class that is usual for a kind; empty for the kinds of long notes, and for none."""
    return _CLASSES.get(kind, "")


def importance_of(fact: FactClass) -> float:
    """How important a fact of that class is, unless somebody says otherwise."""
    return _IMPORTANCE.get(fact, _USUAL_IMPORTANCE)


def path_for(kind: str, *, id: str, slug: str, recorded: str, always_load: bool) -> str:
    """Where a new entry is written: by its kind and the month in which it is recorded.

    One that is always loaded stands with its like, one without a kind in the inbox, an idea in the incubator.
    Raises UsageError for a kind that cannot name a folder.
    """
    folder = _folder(kind)
    where = ALWAYS_LOAD if always_load else f"{folder}/{recorded[:7]}"
    return f"{MEMORY}/{where}/{file_name(id, slug=slug)}"


def file_name(id: str, *, slug: str) -> str:
    """The name of an entry's file. An id begins with its time, so its last digits are those that differ."""
    return f"{slug}-{digits_of(id)}.md"


def digits_of(id: str) -> str:
    """The digits of an id that stand in the name of its entry's file."""
    return id.replace("-", "")[-_DIGITS:]


def archive_path(path: str) -> str:
    """Where an entry goes when it is put away; the path itself for one that is there already.

    Raises UsageError for a path that is no entry's.
    """
    if not is_entry_path(path):
        hint = f"Only notes under {MEMORY} are put into its archive."
        raise UsageError("this note is no entry", path=path, hint=hint)
    agent, memory, rest = path.split("/", 2)
    if _compared(rest.partition("/")[0]) == ARCHIVE:
        return path
    return f"{agent}/{memory}/{ARCHIVE}/{rest}"


def is_entry_path(path: str) -> bool:
    """Whether a note at that path can be an entry; case does not count, as on many disks."""
    return path.endswith(".md") and bool(folder_of(path)) and _compared(path.rpartition("/")[2]) != _GENERATED


def folder_of(path: str) -> str:
    """The folder under the entries in which a note stands, such as `preference` or `_inbox`; `.` right below them.

    Empty for a note that is not among the entries.
    """
    *folders, name = path.split("/")
    top = [_compared(folder) for folder in folders[:3]]
    if not name or "/".join(top[:2]) != _compared(MEMORY) or top[2:3] == [_BARE]:
        return ""
    return top[2] if len(top) > 2 else "."


def kind_in(told: str, *, path: str, tags: Iterable[str]) -> str:
    """The kind of a note: as its properties tell, else by its folder among the entries, else by a tag there.

    Empty where none of the three says it.
    """
    folder = folder_of(path)
    if told or not folder:
        return told
    if _KIND.fullmatch(folder):
        return folder
    return next((name for tag in tags if (name := tag.casefold()) in KINDS), "")


def _folder(kind: str) -> str:
    if not kind:
        return _INBOX
    return _INCUBATOR if kind == "idea" else checked_kind(kind)


def _compared(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
