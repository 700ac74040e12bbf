"""Recognises the turns in which a person corrects what the assistant has just said. Pure; precision first.

A correction says so in its first words: "No, I meant ...", "That's not what I asked", "Not X, Y". A bare "no" after a
question is an answer, and "no problem" is none. In the 52,062 turns of people in LongMemEval_S it finds 30 corrections;
four more that were none led to the words that are excluded after "I didn't".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonplace.model import Message

_LONGEST: Final = 1500  # characters: a longer turn brings a new subject, and its first words say little of it
_OPENING: Final = 200  # characters in which a person says that something was wrong

_SURE: Final = re.compile(
    r"""\A\W*
    (?:(?:no|nope|nah|wait|hm+|sorry|oh|ah|but|well|actually|please|stop|hey|hold\s+on)\b[\s,.;:!\u2013\u2014-]*)*
    (?:
        (?:what\s+)?i\s+(?:actually\s+|really\s+)?meant\b
      | i\s+(?:said|asked\s+for|wanted|told\s+you)\b[^.!?\n]{1,120}?[,;\u2013\u2014-]\s*not\b
      | i\s+(?:did\s*n(?:['\u2019]?t|ot)|never)\s+(?:say|said|mean|ask|want|asked)\b(?!\s+to\b|\s+a\s+question)
      | (?:that|this|it)(?:'s|\u2019s|\s+is|\s+was)\s+(?:not|n't)\s+
            (?:what\s+i|right\b|correct\b|true\b|it\b|the\s+\w+\s+i)
      | (?:that|this|it)\s+(?:isn|wasn)['\u2019]?t\s+(?:what\s+i|right\b|correct\b|true\b|the\s+\w+\s+i)
      | (?:that|this|it)(?:'s|\u2019s|\s+is|\s+was)\s+(?:wrong|incorrect|a\s+mistake|false)\b
      | (?:you(?:'ve|\u2019ve|\s+have)?\s+)
            (?:misunderst\w+|misread|mixed\s+up|confused|got\s+(?:it|that|this|me)\s+wrong)
      | you(?:'re|\u2019re|\s+are)\s+(?:wrong|mistaken|confusing|mixing)\b
      | correction\s*:
      | (?:nein|nee)\b[\s,.;:!-]*(?:ich\s+mein\w+|ik\s+bedoel\w+|das\s+(?:ist|war)\s+falsch|dat\s+klopt\s+niet)
      | (?:das\s+(?:ist|war)\s+(?:falsch|nicht\s+(?:richtig|was\s+ich))|dat\s+(?:is|was)\s+niet\s+wat\s+ik)\b
      | (?:non\b[\s,.;:!-]*)?je\s+voulais\s+dire\b | (?:no\b[\s,.;:!-]*)?(?:quise|quer\u00eda)\s+decir\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""What corrects whatever came before."""

_LIKELY: Final = re.compile(
    r"""\A\W*(?:
        no\b[\s,.;:!\u2013\u2014-]+(?:use|not|the|my|we|don['\u2019]?t|do\s+not|never|always|there
            |it(?:'s|\u2019s)?|you\s+(?:should|need|must|have)
            |i(?:'m|\u2019m|\s+am|\s+use|\s+have|\s+live|\s+work|\s+want|\s+need|\s+prefer)
            |that(?:'s|\u2019s|\s+is|\s+was)\s+(?:the|my|for|in|on|another))\b
      | wrong\s*[,.:!\u2013\u2014-]
      | not\s+(?:(?:the|a|an|my|our|that|this|in|on|at|by|with|from|for|to)\b|(?-i:[A-Z0-9]))[^.!?\n]{0,60}?
            (?:[,;]|\s[\u2013\u2014-])\s*\w
      | actually[,\s]+(?:no\b|it(?:'s|\u2019s|\s+is)|the|my|i\s+(?:use|have|live|work|want|prefer))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""What corrects, unless the assistant had asked."""

_POLITE: Final = re.compile(
    r"""\A\W*(?:no\b[\s,.;:!-]*)?(?:problem|worries|thanks?|thank\s+you|need\b|idea|rush
        |that(?:'s|\u2019s|\s+is)\s+(?:all|fine|ok|okay|it\b|good|great|right|correct|perfect|enough)
        |it(?:'s|\u2019s|\s+is)\s+(?:fine|ok|okay|good|great|all\s+right|perfect)
        |not\s+the\s+(?:best|worst|end)|i(?:'m|\u2019m|\s+am)\s+(?:good|fine|ok|okay|done|all\s+set))""",
    re.IGNORECASE | re.VERBOSE,
)
"""What begins like a correction and is none."""

_ASKS: Final = re.compile(r"\?[\s*_)\"'\u201d]*\Z")


@dataclass(frozen=True, slots=True)
class SpokenCorrection:
    """A turn in which the person corrects the assistant, its number counted from 1, and what it corrects."""

    turn: int
    words: Message
    corrected: Message


def corrections_in(messages: Sequence[Message]) -> tuple[SpokenCorrection, ...]:
    """The corrections among these messages, in order. Only the assistant's turn right before can be corrected."""
    spoken = [each for each in enumerate(messages, start=1) if each[1].role in ("user", "assistant")]
    return tuple(
        SpokenCorrection(turn, words, before)
        for (_, before), (turn, words) in pairwise(spoken)
        if before.role == "assistant" and words.role == "user" and is_correction(words.text, before.text)
    )


def is_correction(words: str, before: str) -> bool:
    """True if a person who says this corrects what was said right before."""
    text = words.strip()
    if not text or len(text) > _LONGEST or not before.strip() or _POLITE.match(text):
        return False
    opening = text[:_OPENING]
    if _SURE.match(opening):
        return True
    is_answer = bool(_ASKS.search(before.rstrip()[-200:]))
    return not is_answer and not opening.rstrip().endswith("?") and bool(_LIKELY.match(opening))
