"""Where entries are written: kinds, the folder and file name of each, and what a kind implies."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import KINDS, Fact, FactClass
from commonplace.model.layout import (
    ALWAYS_LOAD_FOLDER,
    ARCHIVE_FOLDER,
    IDEAS_FOLDER,
    INBOX_FOLDER,
    MEMORY,
    folder_of,
    is_entry_path,
)
from commonplace.model.text import fold_name

PLAYBOOK_KINDS: Final = ("procedural", "workflow")
"""The kinds of entries that say how something is done."""

LONGEST_SLUG: Final = 48

_CLASSES: Final[Mapping[str, FactClass]] = {
    "preference": "preference",
    "feedback": "preference",
    "constraint": "preference",  # what must be respected counts at least as much as what is liked
    "fact": "fact",
    "decision": "fact",
    "event": "event",
    "identity": "identity",
}
_IMPORTANCE: Final[Mapping[FactClass, float]] = {"identity": 0.8, "preference": 0.7, "fact": 0.5, "event": 0.4}
_DEFAULT_IMPORTANCE: Final = 0.5
_ID_DIGITS: Final = 6
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
_EMPTY_SLUG: Final = "entry"
_WORD: Final = re.compile(r"[a-z0-9]+")
_APOSTROPHES: Final = dict.fromkeys(map(ord, "'\u2019\u02bc`"))
_SPELLED: Final = str.maketrans(  # letters that Unicode does not decompose into a letter and an accent
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)


def checked_kind(kind: str, *, known: Iterable[str] = ()) -> str:
    """The kind. Raises UsageError if it is neither built in nor one of the `known` ones, or cannot name a folder."""
    kinds = dict.fromkeys((*KINDS, *known))
    if kind not in kinds:
        hint = f"Use one of: {', '.join(kinds)}. Your own kinds go into the setting facts.kinds."
        raise UsageError(f"{kind[:60]!r} is not a kind of entry", hint=hint)
    return _folder_name(kind)


def fact_class_of(kind: str) -> FactClass:
    """The fact class of a kind; empty for kinds of long notes and for no kind."""
    return _CLASSES.get(kind, "")


def default_importance(fact: FactClass) -> float:
    """The importance of a fact of that class if the entry states none."""
    return _IMPORTANCE.get(fact, _DEFAULT_IMPORTANCE)


def entry_path(kind: str, *, id: str, slug: str, recorded: str, always_load: bool) -> str:
    """The path of a new entry: by its kind and the month in which it is recorded.

    Always-loaded entries share one folder, an entry without a kind goes to the inbox, an idea to the incubator. Raises
    UsageError if the kind cannot name a folder.
    """
    folder = _kind_folder(kind)
    where = ALWAYS_LOAD_FOLDER if always_load else f"{folder}/{recorded[:7]}"
    return f"{MEMORY}/{where}/{file_name(id, slug=slug)}"


def entry_slug(fact: Fact) -> str:
    """The slug of an entry: the first words of its text; for a sensitive one, its kind, which tells nothing of it."""
    if not fact.sensitive:
        return slug_of(fact.text)
    return fact.kind if _KIND.fullmatch(fact.kind) else _EMPTY_SLUG


def file_name(id: str, *, slug: str) -> str:
    """The file name of an entry: the slug and the last digits of the id, whose first digits are only a timestamp."""
    return f"{slug}-{id_digits(id)}.md"


def id_digits(id: str) -> str:
    """The digits of an id that its entry's file name ends in."""
    return id.replace("-", "")[-_ID_DIGITS:]


def word_digits(fact: Fact) -> str:
    """Hex digits that change with the words of an entry: those of its sentence, and those of its triple."""
    words = (fact.text, fact.subject, fact.predicate, fact.object)
    return sha256("\0".join(" ".join(each.split()) for each in words).encode()).hexdigest()


def archive_path(path: str) -> str:
    """Where an entry goes when it is archived; the same path if it is already archived.

    Raises UsageError if the path is not an entry's.
    """
    if not is_entry_path(path):
        hint = f"Only notes under {MEMORY} can be archived."
        raise UsageError("this note is not an entry", path=path, hint=hint)
    agent, memory, rest = path.split("/", 2)
    if fold_name(rest.partition("/")[0]) == ARCHIVE_FOLDER:
        return path
    return f"{agent}/{memory}/{ARCHIVE_FOLDER}/{rest}"


def note_kind(stated: str, *, path: str, tags: Iterable[str]) -> str:
    """The kind of a note: as its properties state it, else by its folder among the entries, else by a tag there.

    Empty if none of the three names a kind.
    """
    folder = folder_of(path)
    if stated or not folder:
        return stated
    if _KIND.fullmatch(folder):
        return folder
    return next((name for tag in tags if (name := tag.casefold()) in KINDS), "")


def slug_of(text: str) -> str:
    """The first words of the first line that has any, in ASCII with dashes; `entry` if there are none.

    It ends at the end of a word, unless the first word alone is too long. A slug is the slug of itself.
    """
    for line in text.splitlines():
        words = _WORD.findall(_ascii_folded(line))
        if words:
            return _joined(words)
    return _EMPTY_SLUG


def _kind_folder(kind: str) -> str:
    if not kind:
        return INBOX_FOLDER
    return IDEAS_FOLDER if kind == "idea" else _folder_name(kind)


def _folder_name(kind: str) -> str:
    """The kind. Raises UsageError if it cannot name a folder."""
    if not _KIND.fullmatch(kind):
        hint = "Use lower-case letters, digits and dashes, such as domain-reference; at most 40 characters."
        raise UsageError(f"{kind[:60]!r} is not a valid kind of entry", hint=hint)
    return kind


def _ascii_folded(text: str) -> str:
    """The text in lower case, without accents and apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold().translate(_SPELLED))
    return "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()


def _joined(words: list[str]) -> str:
    slug = words[0][:LONGEST_SLUG]
    for word in words[1:]:
        if len(slug) + 1 + len(word) > LONGEST_SLUG:
            break
        slug = f"{slug}-{word}"
    return slug
