"""The names in a question: capitalised names, and the known speakers among them.

Speakers talk about themselves in the first person, so a question that names one is rewritten in the first person before
it is compared with what they said.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from commonplace.model.moment import MONTHS, WEEKDAYS
from commonplace.questions.words import STOP_WORDS

_NAME_WORD: Final = re.compile(r"[^\W\d_]\w*(?:['’\-.&](?=\w)\w+)*")
"""A word that begins with a letter, alone or joined to others by signs."""

_WORD: Final = re.compile(r"\w+")
_FINAL_POSSESSIVE: Final = re.compile(r"['’]s$|['’]$", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"['’]s(?!\w)|(?<=s)['’](?= \w)", re.IGNORECASE)
_SENTENCE_ENDS: Final = ".?!:;…\n"
_OPENING_MARKS: Final = " \t\"'“”‘’«»„([*-"
_DATE_WORDS: Final = MONTHS.keys() | WEEKDAYS.keys()
_NOT_NAMES: Final = STOP_WORDS | _DATE_WORDS | {"ok", "okay", "yes", "hi", "hello", "hey", "thanks"}
_COMMAND_VERBS: Final = frozenset({
    "list", "show", "find", "give", "name", "describe", "remind", "compare", "summarize", "summarise", "explain",
    "according", "look", "search", "get", "say", "count", "does", "did", "has", "may",
})  # fmt: skip
_FEWEST_TITLED: Final = 4

_GAPS: Final = frozenset({" ", "-", "'", "’", ". "})
_JOINTS: Final = frozenset("-@/#")
_PRONOUNS: Final = frozenset({"i", "me", "you", "we", "us", "it"})
_ORDINARY_WORDS: Final = STOP_WORDS | _DATE_WORDS | {day[:3] for day in WEEKDAYS}
_DETERMINERS: Final = frozenset({"a", "an", "the", "my", "your", "our", "this", "that", "any", "some"})
_SHORTEST, _LONGEST = 3, 64  # letters of an abbreviated first name
_CACHED_SETS: Final = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A speaker's name in a text: its position, possessive ending included, and whose name it is."""

    start: int
    end: int
    speaker: str
    possessive: bool


def capitalised_names(text: str) -> tuple[str, ...]:
    """The names in order, each once: capitalised words that do not begin a sentence, and runs of such words.

    Empty if capitals tell nothing: the text is all in capitals, or has a capital on every word.
    """
    words = list(_NAME_WORD.finditer(text))
    capitalised = [word for word in words if word.group()[0].isupper()]
    if (len(words) > 1 and text.isupper()) or (len(words) >= _FEWEST_TITLED and len(capitalised) == len(words)):
        return ()
    names: dict[str, bool] = {}
    for run in _name_runs(text, capitalised):
        name = text[run[0].start() : run[-1].start()] + _without_possessive(run[-1].group())
        names[name] = names.get(name, False) or len(run) > 1 or not _starts_sentence(text, run[0].start())
    return tuple(name for name, is_certain in names.items() if is_certain)


def find_speakers(text: str, speakers: frozenset[str]) -> tuple[Mention, ...]:
    """The mentions of known speakers, in order.

    A name needs its capital, unless no word of the text shows one. Names that could mean two speakers, or somebody
    else, are left out.
    """
    return tuple(_mentions(text, _forms_by_first_word(speakers))) if speakers else ()


def in_first_person(text: str, mentions: Sequence[Mention]) -> str:
    """The text as if each speaker it names had asked: "Ada's" becomes "my", "Ada" becomes "I"."""
    return _replace_mentions(text, mentions, name="I", possessive="my")


def without_speakers(text: str, mentions: Sequence[Mention]) -> str:
    """The text without the names of speakers."""
    return _replace_mentions(text, mentions, name=" ", possessive=" ")


def _starts_sentence(text: str, position: int) -> bool:
    """True if a word at this position begins a sentence, which explains its capital."""
    before = text[max(0, position - 8) : position].rstrip(_OPENING_MARKS)
    return before.endswith(tuple(_SENTENCE_ENDS)) or (position <= 8 and not before)


def _name_runs(text: str, words: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Runs of adjacent names, such as New York. A possessive ends a run; a command verb at the start is skipped."""
    run: list[re.Match[str]] = []
    for match in words:
        word = match.group()
        if not _is_name(word) or (word.lower() in _COMMAND_VERBS and _starts_sentence(text, match.start())):
            continue
        if run and (
            text[run[-1].end() : match.start()] != " " or _without_possessive(run[-1].group()) != run[-1].group()
        ):
            yield run
            run = []
        run.append(match)
    if run:
        yield run


def _is_name(word: str) -> bool:
    """True if a capitalised word can be a name: IT can, It cannot."""
    bare = _without_possessive(word)
    return len(bare) > 1 and (bare.isupper() or re.split("['’]", bare)[0].lower() not in _NOT_NAMES)


def _without_possessive(word: str) -> str:
    return _FINAL_POSSESSIVE.sub("", word)


def _replace_mentions(text: str, mentions: Sequence[Mention], *, name: str, possessive: str) -> str:
    pieces, done = [], 0
    for mention in mentions:
        pieces += [text[done : mention.start], possessive if mention.possessive else name]
        done = mention.end
    return "".join((*pieces, text[done:]))


@dataclass(frozen=True, slots=True)
class _NameForm:
    """One way to name a speaker, as case-folded words; a short form is the beginning of a first name."""

    words: tuple[str, ...]
    speaker: str
    short: bool


@dataclass(frozen=True, slots=True)
class _FormsOfWord:
    """The forms that begin with one word, by their words, and their distinct lengths, longest first."""

    by_words: Mapping[tuple[str, ...], _NameForm]
    lengths: Sequence[int]

    def at(self, folded: Sequence[str], first: int) -> Iterator[_NameForm]:
        """The forms that match at this position, longest first."""
        for length in self.lengths:
            if form := self.by_words.get(tuple(folded[first : first + length])):
                yield form


_NO_FORMS: Final = _FormsOfWord({}, ())


@dataclass(frozen=True, slots=True)
class _WordRun:
    """Consecutive words of a text. `capitals_tell`: the text's capitals distinguish names from other words."""

    text: str
    words: Sequence[re.Match[str]]
    first: int
    count: int
    capitals_tell: bool

    def is_one_name(self) -> bool:
        """True if its words are written together, and not as a part of something longer."""
        run = self.words[self.first : self.first + self.count]
        gaps = (self.text[one.end() : two.start()] for one, two in pairwise(run))
        start, end = run[0].start(), run[-1].end()
        is_joined = self.text[max(0, start - 1) : start] in _JOINTS or (
            self.text[end : end + 1] in _JOINTS and self.text[end + 1 : end + 2].isalnum()
        )
        return not is_joined and all(gap in _GAPS for gap in gaps)

    def is_capital(self, position: int) -> bool:
        """True if the word there is capitalised and not an ordinary word, so that it can belong to a name."""
        if not 0 <= position < len(self.words):
            return False
        word = self.words[position]
        return word.group()[0].isupper() and word.group().casefold() not in _ORDINARY_WORDS

    def goes_on(self, first_words: Mapping[str, object]) -> bool:
        """True if the next word makes it somebody else's name, and does not begin the name of a speaker."""
        last = self.first + self.count - 1
        is_next = self.is_capital(last + 1) and self.text[self.words[last].end() : self.words[last + 1].start()] == " "
        return is_next and self.words[last + 1].group().casefold() not in first_words


def _mentions(text: str, forms: Mapping[str, _FormsOfWord]) -> Iterator[Mention]:
    words = list(_WORD.finditer(text))
    folded = [word.group().casefold() for word in words]
    capitals_tell = not text.isupper() and any(word.group()[0].isupper() and word.group() != "I" for word in words[1:])
    done = 0
    for first, word in enumerate(folded):
        if words[first].start() < done:
            continue
        for form in forms.get(word, _NO_FORMS).at(folded, first):
            count = len(form.words)
            if _is_mention(_WordRun(text, words, first, count, capitals_tell), form, forms):
                end = words[first + count - 1].end()
                possessive = _POSSESSIVE.match(text, end)
                done = possessive.end() if possessive else end
                yield Mention(words[first].start(), done, form.speaker, possessive=bool(possessive))
                break


def _is_mention(run: _WordRun, form: _NameForm, first_words: Mapping[str, object]) -> bool:
    """True if these words mean the speaker: "Will" may also begin a question, and "San" be San Francisco."""
    start = run.words[run.first].start()
    capital = run.words[run.first].group()[0].isupper()
    if not run.is_one_name():
        return False
    if form.short:
        follows_name = run.is_capital(run.first - 1) and not _starts_sentence(
            run.text, run.words[run.first - 1].start()
        )
        return (
            capital and run.capitals_tell and not (follows_name or run.goes_on({}) or _starts_sentence(run.text, start))
        )
    if not run.capitals_tell:
        before = run.words[run.first - 1].group().casefold() if run.first else ""
        return len(form.words) > 1 or (form.words[0] not in _ORDINARY_WORDS and before not in _DETERMINERS)
    if not capital or run.goes_on(first_words):
        return False
    return form.words[0] not in _ORDINARY_WORDS or not _starts_sentence(run.text, start)


@lru_cache(maxsize=_CACHED_SETS)
def _forms_by_first_word(speakers: frozenset[str]) -> Mapping[str, _FormsOfWord]:
    """All unambiguous forms of these speakers' names, by their first word."""
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
    forms = [_NameForm(words, speaker, short=False) for words, speaker in whole.items()]
    for word, owners in first.items():
        if len(owners) == 1 and (word,) not in whole:
            forms.append(_NameForm((word,), owners[0], short=False))
    for word, owners in short.items():
        if len(owners) == 1 and word not in first and word not in _ORDINARY_WORDS:
            forms.append(_NameForm((word,), owners[0], short=True))
    return _group_by_first_word(forms)


def _group_by_first_word(forms: Iterable[_NameForm]) -> Mapping[str, _FormsOfWord]:
    """The forms grouped so that the cost of a text does not depend on the number of speakers."""
    groups: defaultdict[str, dict[tuple[str, ...], _NameForm]] = defaultdict(dict)
    for form in forms:
        groups[form.words[0]][form.words] = form
    return {
        word: _FormsOfWord(group, sorted({len(each) for each in group}, reverse=True)) for word, group in groups.items()
    }
