"""What a classifier sees of a clause: signs of its grammar and its words, beside the vector of its meaning.

A sentence encoder knows what a clause is about, and little of how it is said; whether something lasts is in the tense,
the person, a quantifier or a date. Each sign is one number, each frequent word or pair of words another.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonplace.extraction.statement import has_name, is_mood, is_vague
from commonplace.model.text import LazyPattern


@dataclass(frozen=True, slots=True)
class ClauseInContext:
    """A clause of the person and where it stands: how many clauses and messages precede it, and the reply before it.

    `marks` are fillers that were left out of it, such as "by the way".
    """

    text: str
    marks: str = ""
    position: int = 0
    turn: int = 0
    before: str = ""


_SIGNS: Final = tuple(
    LazyPattern(pattern)
    for pattern in (
        r"(?i)^(?:i|i'm|i've|im|i'll)\b",
        r"(?i)^(?:we|we're|we've)\b",
        r"(?i)^(?:my|our)\b",
        r"(?i)\b(?:my|our)\b",
        r"(?i)^the\b",
        r"(?i)^(?:it|it's|that|that's|this|they|they're|he|she|he's|she's|there|there's)\b",
        r"^[A-ZÄÖÜÅ][\w-]+ ",
        r".\b[A-ZÄÖÜÅÉ][\w&.-]+",
        r"\d",
        r"(?i)^(?:i|we) (?:\w+ed|was|were|had|did|went|got|took|came|saw|made|found|thought|felt|gave|ran|put|tried)\b",
        r"(?i)^(?:i|we) (?:am|are|have|do|use|live|work|prefer|hate|love|like|need|want|don't|never|always|take|drive"
        r"|play|speak|go|eat|drink|keep|run|pay|own)\b",
        r"(?i)\b(?:want|need|wanna|gotta|have to|has to|trying|let's|let me)\b",
        r"(?i)\b(?:will|'ll|going to|gonna)\b",
        r"(?i)\b(?:i'm|i am|we're|we are|is|are) \w+ing\b",
        r"(?i)\b(?:'ve|have|has|'s) (?:been|\w+ed|got|moved|left|taken|given|become|gone)\b",
        r"(?i)\b(?:always|never|every|usually|each|only|from now on|rule|policy|convention|no longer|any ?more)\b",
        r"(?i)\b(?:since|until|from|starting|as of)\b",
        r"(?i)\bnow\b",
        r"(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar"
        r"|apr|jun|jul|aug|sept?|oct|nov|dec)\b",
        r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"(?i)\b(?:wife|husband|partner|mother|father|mum|mom|dad|sister|brother|son|daughter|kids?|child|children|dog"
        r"|cat|boss|manager|doctor|gp|landlord|colleague|neighbou?r|friend)\b",
        r"(?i)\b(?:not|no|never|without|none)\b|n't\b",
        r"(?i)\b(?:this|that|it|these|those|here|there|them)\b",
        r"(?i)\b(?:because|so that|due to)\b",
        r"(?i)\b(?:changed|switched|moved|left|quit|sold|stopped|cancelled|replaced|instead|new|gone|gave up|dropped"
        r"|ended|over)\b",
        r"(?i)^(?:use|write|put|send|call|keep|make|don't|please|always|never|answer|add|show|give|check|fix|stick|skip"
        r"|leave|remember|note|sign|reply|speak)\b",
        r"(?i)\b(?:booked|signed|decided|settled|confirmed|agreed|fixed|due|deadline|appointment|starts?|expires?"
        r"|runs out)\b",
        r"(?i)\b(?:nice|great|good|bad|fine|tired|annoying|weird|funny|ok|okay|thanks|thx|perfect|cool|ugh|awful"
        r"|lovely)\b",
        r",",
        r"(?i)\band\b",
        r"(?i)^to\b",
        r"(?i)\b(?:just|really|actually|basically|literally)\b",
    )
)
_ASIDE: Final = LazyPattern(r"(?i)by the way|btw|fyi")
_TOKEN: Final = LazyPattern(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[:,]")


def signs_of(clause: ClauseInContext) -> tuple[float, ...]:
    """The signs of the clause, always as many and in the same order."""
    text, words = clause.text, len(clause.text.split())
    return (
        *(1.0 if pattern.search(text) else 0.0 for pattern in _SIGNS),
        min(words, 30) / 15,
        float(words <= 3),
        float(words <= 1),
        float(is_vague(text)),
        float(is_mood(text)),
        float(has_name(text)),
        min(clause.position, 10) / 5,
        min(clause.turn, 12) / 6,
        float(bool(_ASIDE.search(clause.marks))),
        float(clause.position == 0 and clause.before.rstrip().endswith("?")),
    )


def words_of_clause(text: str) -> frozenset[str]:
    """The words of the clause, its pairs of neighbours, and how it begins; every number is the same word."""
    words = ["0" if word.isdigit() else word for word in _TOKEN.findall(text.lower())]
    starts = {f"^{words[0]}", f"^{' '.join(words[:2])}"} if words else set[str]()
    return frozenset((*words, *starts, *(f"{one} {two}" for one, two in pairwise(words))))
