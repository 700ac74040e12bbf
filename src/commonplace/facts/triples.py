"""The parts of a triple: names of entities, predicates with their rules, and the triple as a sentence."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from commonplace.model.moment import moment_text, parse_moment
from commonplace.model.text import fold_phrase, fold_stored

if TYPE_CHECKING:
    from commonplace.facts.options import FactsOptions

ME: Final = "me"
"""The entity that is the user, whatever name a text uses."""

SINGLE: Final = frozenset({"name", "works_at", "lives_in", "has_role", "has_status"})
TEMPORARY: Final = frozenset({"staying_in", "visiting"})
EXPIRING: Final = frozenset({"interested_in", "completed", "acquired", "disposed_of", "traveled_to"})
EPHEMERAL: Final = EXPIRING | {"decided"}
"""Predicates of events; `decided` is one of them, but it does not expire."""

_OWN_NAMES: Final = frozenset({"i", "me", "myself"})
_LINK: Final = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_AROUND: Final = " \t\r\n\"'`*_\u2018\u2019\u201c\u201d\u00ab\u00bb\u201e"
_AFTER: Final = _AROUND + ".,;:!"
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAP: Final = re.compile(r"[\W_]+")
_ENDS: Final = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Predicates:
    """Which predicates follow which rule; any other may have several values, none of which expires."""

    single: frozenset[str] = SINGLE
    temporary: frozenset[str] = TEMPORARY
    expiring: frozenset[str] = EXPIRING
    expiring_days: int = 90

    def is_single(self, predicate: str) -> bool:
        """True if a new value ends the old one."""
        return predicate_key(predicate) in self.single

    def is_temporary(self, predicate: str) -> bool:
        """True if it holds for a while alongside other values, and may recur."""
        return predicate_key(predicate) in self.temporary

    def is_expiring(self, predicate: str) -> bool:
        """True if it ends by itself after `expiring_days`."""
        return predicate_key(predicate) in self.expiring

    def default_until(self, predicate: str, begins: str) -> str:
        """The end of a fact that states none; empty if it does not expire."""
        if not self.is_expiring(predicate):
            return ""
        try:
            ends = parse_moment(begins) + timedelta(days=self.expiring_days)
        except OverflowError:
            return ""
        return moment_text(ends)


def predicates_of(options: "FactsOptions") -> Predicates:
    """The built-in predicates and those in the options; the options win over a built-in rule."""
    single, temporary = predicate_keys(options.single_valued), predicate_keys(options.temporary)
    return Predicates(
        single=(SINGLE - temporary) | single,
        temporary=(TEMPORARY - single) | temporary,
        expiring=EXPIRING | predicate_keys(options.expiring),
        expiring_days=options.expiring_days,
    )


@lru_cache(maxsize=1024)
def predicate_key(predicate: str) -> str:
    """The normalized predicate, as it is compared and written: `works_at` for "Works at"; empty for none."""
    separated = _HUMP.sub("_", normalize("NFKC", predicate.strip()))
    return _GAP.sub("_", normalize("NFKC", separated.casefold())).strip("_")


def predicate_keys(predicates: Iterable[str]) -> frozenset[str]:
    """These predicates, normalized, without empty ones."""
    return frozenset(filter(None, map(predicate_key, predicates)))


@lru_cache(maxsize=16_384)  # an answer about a hub compares the names of thousands of facts, with the same few again
def entity_key(name: str, *, user: str = ME) -> str:
    """The normalized name of an entity: the same for every spelling, `me` for the user; empty for no name."""
    bare = strip_links(normalize("NFC", name)).strip()
    if bare.endswith(".md"):
        bare = _without_folders(bare)
    bare = bare.lstrip(_AROUND).rstrip(_AFTER) or bare
    key = fold_phrase(bare)
    is_user = key in _OWN_NAMES or (key and key == fold_stored(user.strip()))
    return ME if is_user else key


def strip_links(text: str) -> str:
    """The text with each wikilink replaced by the name of its note: no brackets, folders, heading or alias."""
    return _LINK.sub(lambda link: _without_folders(link[1].partition("|")[0].partition("#")[0].strip()), text)


def triple_sentence(subject: str, predicate: str, object: str, *, user: str = ME) -> str:
    """The triple as one short sentence, without a subject if it is the user. Wikilinks stay as they are."""
    verb = predicate_key(predicate).replace("_", " ")
    name = "" if entity_key(subject, user=user) == ME else subject.strip()
    words = " ".join(part for part in (name, verb, object.strip()) if part)
    sentence = words[:1].upper() + words[1:]
    return sentence if sentence.endswith(_ENDS) else f"{sentence}."


def _without_folders(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
