"""What a question asks for, by rules alone: its words, names, phrases and times, and what kind of answer it wants.

The rules are for English; of a question in another language they say less, and nothing wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from commonplace.recalling.asks import asks_many, asks_reply
from commonplace.recalling.names import names_in
from commonplace.recalling.speakers import Mention, find_speakers, in_first_person, without
from commonplace.recalling.stop_words import STOP_WORDS
from commonplace.recalling.when import Window, windows_in
from commonplace.recalling.words import QueryWords, query_words

READ: Final = 2000
"""How many characters of a question the rules look at."""

_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»"
    r"|(?<!\w)'(?! )((?:[^'\n]|(?<=\w)'(?=\w)){2,200})(?<! )'(?!\w)|(?<!\w)‘((?:[^‘’\n]|(?<=\w)’(?=\w)){2,200})’(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was understood.

    `words` are those to search for, without the names of speakers while any other word remains; `sense` is the text to
    encode, with the names of speakers turned to the first person.
    `speakers` are the known speakers that it names, as the index spells them; `names` its capitalised names and
    `phrases` what it quotes, both in order; `windows` the times that it speaks of.
    `asks_reply`: it is about what an assistant said before. `asks_many`: the answer lies in more than one place.
    `names` and `asks_many` are told to whoever asks why; ranking by them was tried and changed nothing.
    """

    text: str
    words: QueryWords
    sense: str
    speakers: tuple[str, ...]
    names: tuple[str, ...]
    phrases: tuple[str, ...]
    windows: tuple[Window, ...]
    asks_reply: bool
    asks_many: bool


def understand(text: str, *, now: datetime, speakers: frozenset[str] = frozenset()) -> Question:
    """The question as the rules understand it; what is ambiguous is left out.

    `now` says in its own zone what "yesterday" is; `speakers` are the names that the index knows. Any text will do.
    """
    head = text[:READ]
    mentions = find_speakers(head, speakers)
    unquoted = _QUOTED.sub(" … ", head)
    return Question(
        text=text,
        words=_words(text, mentions),
        sense=in_first_person(text, mentions),
        speakers=tuple(dict.fromkeys(each.speaker for each in mentions)),
        names=names_in(head),
        phrases=_phrases(head),
        windows=windows_in(unquoted, now=now),
        asks_reply=asks_reply(unquoted),
        asks_many=asks_many(unquoted),
    )


def _words(text: str, mentions: tuple[Mention, ...]) -> QueryWords:
    """The words to search for: people do not say their own names, so others would be found by them."""
    others = query_words(without(text, mentions))
    return others if not mentions or not STOP_WORDS.issuperset(others.spelled) else query_words(text)


def _phrases(text: str) -> tuple[str, ...]:
    quoted = ("".join(found).strip() for found in _QUOTED.findall(text))
    return tuple(dict.fromkeys(phrase for phrase in quoted if phrase))


def quoted_in(text: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """Those of the phrases that stand in the text, whatever their case and the spaces in them."""
    said = " ".join(text.casefold().split())
    return tuple(phrase for phrase in phrases if " ".join(phrase.casefold().split()) in said)
