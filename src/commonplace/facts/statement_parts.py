"""A statement taken apart: whom or what it is about, its verb, what follows it, its names and numbers.

A few rules about word order and a list of verbs, no grammar: enough to tell "the mail server" from "the web server" and
"Sam's brother" from "Sam". A statement in which the rules find no subject is about the user.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from commonplace.facts.change_words import (
    ADDING,
    CHANGING,
    ENDED_BEFORE,
    ENDING,
    FACETS,
    GENERIC,
    HINTING,
    IRREGULAR,
    PHRASES,
    SYNONYMS,
    TURNING,
    VERBS,
)
from commonplace.facts.statement_words import (
    DAYS,
    MONTHS,
    PERSON_WORDS,
    POSSESSIVES,
    stem_of,
    strip_user,
    word_set,
    words_of,
)
from commonplace.facts.triples import strip_links
from commonplace.facts.value_spelling import with_plain_values

RELATIVES: Final = (PERSON_WORDS - POSSESSIVES) | word_set(
    "partner spouse boss colleague friend neighbour neighbor cousin niece nephew grandmother grandfather grandma "
    "grandpa parents child kid flatmate roommate girlfriend boyfriend fiancee"
)
"""Words for people around the user."""

RESTRICTING: Final = word_set("for when whenever if unless except during")
"""Words before the case for which a statement holds."""

PLACING: Final = word_set("in on at for during with under by")
"""Words before where, when or for what a statement holds."""

_DETERMINERS: Final = word_set("the a an my our your his her their its this that these those each every all")
_USER: Final = word_set("i we he she they user it")
_OPENERS: Final = word_set("in on at for since during until from with by under as every after before to")
_AUXILIARIES: Final = word_set("be have do can will should must")
_MODALS: Final = word_set("can will should must")
_ADVERBS: Final = word_set(
    "now no longer not never always usually often still currently also just already only generally really these days"
)
_DENIALS: Final = word_set("not no never cannot")
_PARTICIPLES: Final = word_set("run come become put set cut let shut read")  # like the base form of their verb
_CLAUSE_END: Final = re.compile(
    r"[;!?]\s+"
    r"|(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)\.\s+(?=[A-Z])"
    r"|\s[-\u2013\u2014]+\s"
    r"|,\s+(?=(?:but|so|and|which|while|because|since|(?:he|she|it|they|we|I|there) \w)\b)"
)
_IS_THE: Final = re.compile(r"^[\w.' -]+? (?:is|was)(?: now)? (?:the|our) ")
_AND: Final = re.compile(r",?\s+and\s+")
_MARK: Final = re.compile(r"(?i)^(?:(?:[-*>]|\d+[.)])\s+)?(?:please\s+)?")
_NAME: Final = re.compile(
    r"(?<=[^\W_][,;:]\s)[A-Z][\w'-]*|(?<=[^\W_]\s)[A-Z][\w'-]*|(?<=\b[DM][rs]\.\s)[A-Z][\w'-]*|(?<=\bMrs\.\s)[A-Z][\w'-]*|\w*[a-z][A-Z]\w*"
)
_NO_NAMES: Final = word_set("i mr mrs ms dr prof st")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_PRONOUNS: Final = "i|you|he|she|it|we|they|there|that|who|what|here"
_NAMINGS: Final = (
    (re.compile(r"(?i)\b(i)['\u2019]m\b"), r"\1 am"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]s(?= (?:\w+ed|been|got|had|gone|become)\b)"), r"\1 has"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]s\b"), r"\1 is"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]re\b"), r"\1 are"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]ve\b"), r"\1 have"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]ll\b"), r"\1 will"),
    (re.compile(rf"(?i)\b({_PRONOUNS})['\u2019]d\b"), r"\1 would"),
    (re.compile(r"(?i)\b(?:the )?user['\u2019]s\b(?=\s)"), "my"),
    (re.compile(r"(?i)['\u2019]s name (is|was)\b"), r" \1 called"),
    (re.compile(r"(?i)\bthe name of ([\w' -]+?) (is|was)\b"), r"\1 \2 called"),
)
"""Whose and which: short forms are written out, a thing whose name is told is called so, the user's is "my"."""
_A_NEW_ONE: Final = r"(?:has|have|got) a new ([\w -]+?)[,:] (?=\S+(?: \S+){0,4}$)"
_NEW: Final = (
    (re.compile(rf"(?i)^(?:(?:the )?user |i |we |they |he |she )?{_A_NEW_ONE}"), r"My new \1 is "),
    (re.compile(rf"^([\w ]+?) {_A_NEW_ONE}"), r"\1's new \2 is "),
)
"""Someone has a new one, which is named: the new one is this."""
_MEANINGS: Final = tuple((re.compile(rf"(?i)\b(?:{pattern})\b"), meaning) for pattern, meaning in PHRASES)
_PHRASES: Final = {("take", "place"): "happen", ("get", "up"): "wake", ("be", "based"): "live"}
_SHORTEST_PARTICIPLE: Final = 4  # letters of a word in `ed` that is more than `red`
_SHORTEST_PART: Final = 3  # letters of a part of a compound
_LONGEST_SUBJECT: Final = 8  # words in which the verb is looked for
_LABEL_WORDS: Final = 4  # the most words before a colon that name what a statement is about


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: the roots of its subject, which is the user if there are none, its verb, and the words after it.

    `owner` is the one whose thing the subject is: Sam in "Sam's brother". The verb of "is built" is `be build`. `scope`
    are the words in front of the subject that say where or for what it holds: "In 2023". A denied verb has `not` or the
    like beside it.
    """

    subject: tuple[str, ...]
    owner: str
    is_person: bool
    verb: str
    rest: tuple[str, ...]
    scope: frozenset[str] = frozenset()
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """The parts of a statement.

    `text` is the statement with its values in plain spelling, and with "my" for "the user's". `roots` say what it is
    about, `deeds` are the roots of its verbs, `places` its prepositions with what follows them, `past` is what it says
    is over. `ends`, `turns`, `hints` and `adds` say whether it has a word of that kind: see `change_words`.
    """

    text: str
    words: tuple[str, ...]
    clauses: tuple[Clause, ...]
    roots: frozenset[str]
    deeds: frozenset[str]
    places: frozenset[tuple[str, str]]
    past: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    facets: frozenset[str]
    ends: bool
    turns: bool
    hints: bool
    adds: bool

    @property
    def main(self) -> Clause:
        """The first clause."""
        return self.clauses[0]


@lru_cache(maxsize=1024)  # one candidate is compared with dozens of facts
def parts_of(text: str) -> Statement:
    """The parts of the statement; there is always one clause, even if it is empty."""
    plain = with_plain_values(_MARK.sub("", strip_links(text).strip()))
    for pattern, naming in (*_NAMINGS, *_NEW, *_MEANINGS):
        plain = pattern.sub(naming, plain)
    words, names = words_of(plain), _names(plain)
    joined, clauses = " ".join(words), _clauses(plain) or (_clause(plain),)
    return Statement(
        text=plain,
        words=words,
        clauses=clauses,
        roots=frozenset(root_of(word) for word in _single_words(words) if is_content(word) or bare(word) in names),
        deeds=frozenset(map(root_of, (*filter(verb_of, words), clauses[0].verb.removeprefix("be ")))),
        places=frozenset(_places(words)),
        past=frozenset(_past(words)),
        names=names,
        numbers=numbers_of(words),
        facets=frozenset(name for name, pattern in FACETS.items() if pattern.search(joined)),
        ends=bool(ENDING.search(joined)),
        turns=bool(TURNING.search(joined)),
        hints=bool(HINTING.search(joined)),
        adds=bool(ADDING.search(joined)),
    )


def _single_words(words: Sequence[str]) -> Iterator[str]:
    """The words, with the parts of a compound apart: wind-driven; not those of check-in."""
    for word in words:
        parts = word.split("-")
        yield from parts if all(len(part) >= _SHORTEST_PART and part.isalpha() for part in parts) else [word]


@lru_cache(maxsize=4096)
def is_content(word: str) -> bool:
    """True if the word says what a statement is about."""
    plain = bare(word)
    return plain not in GENERIC and verb_of(plain) not in GENERIC and len(plain) > 1 and not word.endswith("n't")


def bare(word: str) -> str:
    """The word without a possessive ending."""
    return word.removesuffix("'s").rstrip("'")


@lru_cache(maxsize=4096)
def root_of(word: str) -> str:
    """The stem of the word, or of the common word for the same thing."""
    plain = bare(word).replace("-", "")
    return stem_of(SYNONYMS.get(plain, SYNONYMS.get(verb_of(plain), plain)))


def numbers_of(words: Sequence[str]) -> frozenset[str]:
    """Numbers, days and months among the words, which are those of a text with plain values."""
    found = {number for word in words for number in _NUMBER.findall(word)}
    found |= {f"day {DAYS[word]}" for word in words if word in DAYS}
    return frozenset(found | {f"month {MONTHS[word]}" for word in words if word in MONTHS})


@lru_cache(maxsize=4096)
def verb_of(word: str) -> str:
    """The base form of a verb; empty for any other word."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    for ending in ("", "s", "es", "ed", "d", "ing"):
        base = word.removesuffix(ending)
        if word.endswith(ending) and base in VERBS:
            return base
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if word.endswith(ending) and {f"{base}e", base[:-1]} & VERBS:
            return f"{base}e" if f"{base}e" in VERBS else base[:-1]
    return ""


def _names(plain: str) -> frozenset[str]:
    """The words with a capital inside the text or inside the word; not days and months."""
    inner = frozenset(bare(name.casefold()) for name in _NAME.findall(plain))
    return inner - DAYS.keys() - MONTHS.keys() - _NO_NAMES


def _places(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each preposition of place or purpose, but not the first word, with the root of what comes after it."""
    for place, word in enumerate(words):
        if place and word in PLACING | RESTRICTING:
            yield from [(word, root_of(each)) for each in words[place + 1 : place + 4] if is_content(each)][:1]


def _past(words: Sequence[str]) -> Iterator[str]:
    """The roots of what the statement itself says is over: the words after `sold`, `no more`, `switched from`."""
    for place, word in enumerate(words):
        is_negation = word == "not" or word.endswith("n't")
        is_denied = is_negation and ("more" in words[place:] or "anymore" in words[place:])
        is_no_more = word == "more" and words[max(0, place - 1)] == "no"
        is_origin = word == "from" and bool(CHANGING & set(words[:place]))
        if is_denied or is_no_more or is_origin or word in ENDED_BEFORE:
            yield from _things(words[place + 1 : place + 5])


def _things(words: Sequence[str]) -> list[str]:
    """The roots of the first two verbs and things; of a thing of two words the second: the trip in "Berlin trip"."""
    found = [
        root_of(word)
        for word, following in pairwise((*words, ""))
        if is_content(word) and (verb_of(word) or not is_content(following))
    ]
    return found[:2]


def _clauses(plain: str) -> tuple[Clause, ...]:
    """The clauses in order; one that begins with a verb is about the same as the one before it."""
    found: list[Clause] = []
    for part in filter(str.strip, _CLAUSE_END.split(plain)):
        for place, piece in enumerate(_and_parts(part)):
            clause = _clause(piece)
            if place and not clause.subject:
                last = found[-1]
                clause = replace(clause, subject=last.subject, owner=last.owner, is_person=last.is_person)
            found.append(clause)
    return (*found, *_role_clauses(plain, found))


def _role_clauses(plain: str, clauses: Sequence[Clause]) -> Iterator[Clause]:
    """For "Olga is the treasurer" also that the treasurer is Olga: a role has one holder, a relative or friend not."""
    main = clauses[0] if clauses else None
    is_named = main is not None and main.is_person and main.verb == "be" and bool(main.subject)
    if main and is_named and _IS_THE.search(plain) and RELATIVES.isdisjoint(main.rest):
        role = tuple(root_of(word) for word in main.rest if is_content(word))
        yield Clause(role, "", is_person=False, verb="be", rest=main.subject)


def _and_parts(part: str) -> list[str]:
    """The part, divided where `and` is followed by a verb."""
    first, *pieces = _AND.split(part)
    joined = [first]
    for piece in pieces:
        word = next(iter(words_of(piece)), "")
        if verb_of(word) and (word in IRREGULAR or word.endswith(("s", "ed"))):
            joined.append(piece)
        else:
            joined[-1] += f" and {piece}"
    return joined


def _clause(text: str) -> Clause:
    label, colon, value = text.partition(": ")
    named = words_of(label) if colon else ()
    subject = tuple(root_of(word) for word in named if is_content(word))
    if subject and len(label.split()) <= _LABEL_WORDS:  # "From now on: ..." names nothing
        return Clause(subject, _owner(named), is_person=False, verb="be", rest=_without_small_words(words_of(value)))
    written = [word for word in text.split() if words_of(word)]
    words = [words_of(word)[0] for word in written]
    start = _subject_place(words)
    place = _verb_place(words, start)
    if place is None:
        return Clause((), "", is_person=True, verb="", rest=_without_small_words(words))
    verb, rest = _predicate(words, place)
    if verb.startswith("be ") and not rest:  # a state: "is paid" is like "is open"
        verb, rest = "be", (words[-1],)
    before = words[start:place]
    owner = _owner(before)
    subject = tuple(root_of(word) for word in before if is_content(word) and word not in _ADVERBS)
    is_named = not owner and _is_name(written[start], before, verb=words[place])
    is_person = not subject or is_named or not RELATIVES.isdisjoint(before)
    is_passive = verb.startswith("be ") and verb != "be call"
    scope = frozenset(words[1:start]) - _DETERMINERS if words[0] in PLACING else frozenset()
    is_denied = any(word in _DENIALS or word.endswith("n't") for word in words[start : place + 2])
    is_person = is_person and not is_passive
    return Clause(subject, owner, is_person=is_person, verb=verb, rest=rest, scope=scope, is_denied=is_denied)


def _owner(words: Sequence[str]) -> str:
    """The one whose thing the words name; empty if it is nobody's."""
    return next((bare(word) for word in words if word.endswith("'s") and len(words) > 1), "")


def _is_name(written: str, subject: Sequence[str], *, verb: str) -> bool:
    """True if the subject looks like a name: one word with a capital, no article, plural or abbreviation."""
    ending = ("s", "ing") if not verb.endswith("s") else "ing"  # Jonas works, invoices work
    is_plural = verb in ("are", "were") or (bool(subject) and subject[-1].endswith(ending))
    has_article = bool(subject) and subject[0] in _DETERMINERS
    return written[:1].isupper() and not written.isupper() and not is_plural and not has_article


def _subject_place(words: Sequence[str]) -> int:
    """Where the subject begins: after `the user`, and after words such as `Since October` or `As of version 5`."""
    own = len(words) - len(strip_user(tuple(words)))
    if own or len(words) < _LABEL_WORDS or words[0] not in _OPENERS:
        return own
    places = range(2, min(len(words), _LONGEST_SUBJECT))
    return next((place for place in places if words[place] in _DETERMINERS | _USER), 2)


def _verb_place(words: Sequence[str], start: int) -> int | None:
    places = range(start, min(len(words), start + _LONGEST_SUBJECT))
    known = (place for place in places if verb_of(words[place]) and _is_verb(words, place, start))
    found = next(known, None)
    return (
        found if found is not None else next((place for place in places if _looks_like_verb(words, place, start)), None)
    )


def _is_verb(words: Sequence[str], place: int, start: int) -> bool:
    """True if the word, which may be a noun as well, is the verb of the clause that begins at `start`."""
    word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
    if word in IRREGULAR:
        return True
    if IRREGULAR.get(following) == "be" or (verb_of(following) and _is_finite(following, after_first=place == start)):
        return False  # the noun before a verb: `the tests take`, `Reports go`
    if place == start:
        return True
    return words[place - 1] not in _DETERMINERS and (word not in VERBS or _takes_base_form(_head(words[start:place])))


def _head(subject: Sequence[str]) -> str:
    """The word with which a verb agrees: the last one, or the last one before `of`, as in "the tests of the parser"."""
    return subject[subject.index("of") - 1] if "of" in subject[1:] else subject[-1]


def _looks_like_verb(words: Sequence[str], place: int, start: int) -> bool:
    """True if the word may be a verb that the list lacks: in `s`, first or after `the` and a noun, or there in `ed`."""
    word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
    if word.endswith("ed") and words[start] in _DETERMINERS and place > start + 1:
        return True
    if not following or not word.endswith("s") or word.endswith(("ss", "us", "is", "'s")):
        return False
    return not following.endswith("s") if place == start else words[start] in _DETERMINERS and place > start + 1


def _is_finite(word: str, *, after_first: bool) -> bool:
    """True if the word may follow a noun as its verb: `go` in "Reports go", but not `answers` in "prefers answers"."""
    return word == verb_of(word) if after_first else word.endswith("s")


def _takes_base_form(word: str) -> bool:
    """True if a verb in its base form may follow: after a plural, a pronoun, an adverb or another verb."""
    is_plural = word.endswith("s") and not word.endswith("'s")
    return (
        is_plural
        or word in _USER | _ADVERBS | {"people", "children", "and"}
        or (bool(verb_of(word)) and not word.endswith("ing"))
    )


def _predicate(words: Sequence[str], place: int) -> tuple[str, tuple[str, ...]]:
    """The verb that carries the meaning, and the words after it: `will take` is take, `is built with` is `be build`."""
    verb, place = verb_of(words[place]) or stem_of(words[place]), place + 1
    while place < len(words) and words[place] in _ADVERBS:
        place += 1
    word = words[place] if place < len(words) else ""
    base = verb_of(word)
    rest = _without_small_words(words[place + 1 :])
    is_participle = word in IRREGULAR or word in _PARTICIPLES or word.endswith(("ed", "ing"))
    if verb in _AUXILIARIES and base and (is_participle or verb not in ("be", "have")):
        if base == "be":
            return _predicate(words, place)
        passive = "call" if base == "name" else base
        return (f"be {passive}" if verb == "be" and not word.endswith("ing") else base), rest
    if verb in _MODALS and word and not base and word not in PLACING:
        return stem_of(word), rest
    if phrase := _PHRASES.get((verb, word)):
        return phrase, rest
    if verb == "be" and word.endswith("ed") and len(word) > _SHORTEST_PARTICIPLE:
        return f"be {stem_of(word)}", rest
    return verb, _without_small_words(words[place:])


def _without_small_words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _DETERMINERS and word not in _ADVERBS)
