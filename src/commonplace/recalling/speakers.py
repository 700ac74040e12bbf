"""The known speakers that a question names. They spoke in the first person, so the question is put in it, too."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from commonplace.recalling.names import starts_sentence
from commonplace.recalling.spans import MONTHS, WEEKDAYS
from commonplace.recalling.stop_words import STOP_WORDS

_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s(?!\w)|(?<=s)['’](?= \w)", re.IGNORECASE)
_GAPS = frozenset({" ", "-", "'", "’", ". "})
_JOINTS = frozenset("-@/#")
_PRONOUNS = frozenset({"i", "me", "you", "we", "us", "it"})
_OTHER_WORDS = STOP_WORDS | MONTHS.keys() | WEEKDAYS.keys() | {day[:3] for day in WEEKDAYS}
_DETERMINERS = frozenset({"a", "an", "the", "my", "your", "our", "this", "that", "any", "some"})
_SHORTEST, _LONGEST = 3, 64
_SETS_REMEMBERED = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A speaker's name in a text: where it stands with its possessive ending, if it has one, and whose it is."""

    start: int
    end: int
    speaker: str
    possessive: bool


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to name a speaker, in folded words; a short one is the beginning of a first name."""

    words: tuple[str, ...]
    speaker: str
    short: bool


@dataclass(frozen=True, slots=True)
class _Forms:
    """The forms that begin with one word, by their words, and how many words they have, most first."""

    by_words: Mapping[tuple[str, ...], _Form]
    lengths: Sequence[int]

    def at(self, folded: Sequence[str], first: int) -> Iterator[_Form]:
        """Those that stand there, the longest first."""
        for length in self.lengths:
            if form := self.by_words.get(tuple(folded[first : first + length])):
                yield form


_NO_FORMS = _Forms({}, ())


@dataclass(frozen=True, slots=True)
class _Place:
    """A stretch of words in a text. `capitals_tell`: names of that text are known by their capitals."""

    text: str
    words: Sequence[re.Match[str]]
    first: int
    count: int
    capitals_tell: bool

    def is_one_name(self) -> bool:
        """Whether its words are written as one, and not as a part of something longer."""
        run = self.words[self.first : self.first + self.count]
        gaps = (self.text[one.end() : two.start()] for one, two in pairwise(run))
        start, end = run[0].start(), run[-1].end()
        joined = self.text[max(0, start - 1) : start] in _JOINTS or (
            self.text[end : end + 1] in _JOINTS and self.text[end + 1 : end + 2].isalnum()
        )
        return not joined and all(gap in _GAPS for gap in gaps)

    def is_capital(self, place: int) -> bool:
        """Whether a word has a capital of its own, so that it can belong to a name."""
        if not 0 <= place < len(self.words):
            return False
        word = self.words[place]
        return word.group()[0].isupper() and word.group().casefold() not in _OTHER_WORDS

    def goes_on(self, known: Mapping[str, object]) -> bool:
        """Whether the next word makes it the name of somebody else."""
        last = self.first + self.count - 1
        beside = self.is_capital(last + 1) and self.text[self.words[last].end() : self.words[last + 1].start()] == " "
        return beside and self.words[last + 1].group().casefold() not in known


def find_speakers(text: str, speakers: frozenset[str]) -> tuple[Mention, ...]:
    """Where known speakers are named, in order.

    A name needs its capital, unless no word shows one; what could be two speakers, or somebody else, is left out.
    """
    return tuple(_mentions(text, _forms(speakers))) if speakers else ()


def in_first_person(text: str, mentions: Sequence[Mention]) -> str:
    """The text as if each speaker named had asked: "Ada's" becomes "my", "Ada" becomes "I"; all else stays as it is."""
    return _rewritten(text, mentions, name="I", possessive="my")


def without(text: str, mentions: Sequence[Mention]) -> str:
    """The text without the names of speakers."""
    return _rewritten(text, mentions, name=" ", possessive=" ")


def _rewritten(text: str, mentions: Sequence[Mention], *, name: str, possessive: str) -> str:
    pieces, done = [], 0
    for each in mentions:
        pieces += [text[done : each.start], possessive if each.possessive else name]
        done = each.end
    return "".join((*pieces, text[done:]))


def _mentions(text: str, forms: Mapping[str, _Forms]) -> Iterator[Mention]:
    words = list(_WORD.finditer(text))
    folded = [word.group().casefold() for word in words]
    tell = not text.isupper() and any(word.group()[0].isupper() and word.group() != "I" for word in words[1:])
    done = 0
    for first, word in enumerate(folded):
        if words[first].start() < done:
            continue
        for form in forms.get(word, _NO_FORMS).at(folded, first):
            count = len(form.words)
            if _is_meant(_Place(text, words, first, count, tell), form, forms):
                end = words[first + count - 1].end()
                ending = _POSSESSIVE.match(text, end)
                done = ending.end() if ending else end
                yield Mention(words[first].start(), done, form.speaker, possessive=bool(ending))
                break


def _is_meant(place: _Place, form: _Form, known: Mapping[str, object]) -> bool:
    """Whether these words are the speaker: "Will" may also begin a question, and "San" be San Francisco."""
    start = place.words[place.first].start()
    capital = place.words[place.first].group()[0].isupper()
    if not place.is_one_name():
        return False
    if form.short:
        beside = place.is_capital(place.first - 1) and not starts_sentence(
            place.text, place.words[place.first - 1].start()
        )
        return (
            capital and place.capitals_tell and not (beside or place.goes_on({}) or starts_sentence(place.text, start))
        )
    if not place.capitals_tell:
        before = place.words[place.first - 1].group().casefold() if place.first else ""
        return len(form.words) > 1 or (form.words[0] not in _OTHER_WORDS and before not in _DETERMINERS)
    if not capital or place.goes_on(known):
        return False
    return form.words[0] not in _OTHER_WORDS or not starts_sentence(place.text, start)


@lru_cache(maxsize=_SETS_REMEMBERED)
def _forms(speakers: frozenset[str]) -> Mapping[str, _Forms]:
    """How all these may be named, by the first word; what could be two of them is left out."""
    whole: dict[tuple[str, ...], str] = {}
    first: defaultdict[str, list[str]] = defaultdict(list)
    short: defaultdict[str, list[str]] = defaultdict(list)
    for speaker in sorted(speakers):
        words = tuple(_WORD.findall(speaker.casefold()))
        if not words or words[0] in _PRONOUNS:
            continue
        whole.setdefault(words, speaker)
        first[words[0]].append(speaker)
        for length in range(_SHORTEST, min(len(words[0]), _LONGEST)):
            short[words[0][:length]].append(speaker)
    forms = [_Form(words, speaker, short=False) for words, speaker in whole.items()]
    for word, called in first.items():
        if len(called) == 1 and (word,) not in whole:
            forms.append(_Form((word,), called[0], short=False))
    for word, called in short.items():
        if len(called) == 1 and word not in first and word not in _OTHER_WORDS:
            forms.append(_Form((word,), called[0], short=True))
    return _by_first_word(forms)


def _by_first_word(forms: Iterable[_Form]) -> Mapping[str, _Forms]:
    """The forms so that a text costs its words times the lengths of names, however many the speakers are."""
    found: defaultdict[str, dict[tuple[str, ...], _Form]] = defaultdict(dict)
    for form in forms:
        found[form.words[0]][form.words] = form
    return {word: _Forms(named, sorted({len(each) for each in named}, reverse=True)) for word, named in found.items()}
