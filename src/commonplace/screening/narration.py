"""Take a statement out of the words around it: "User mentioned that the dog is Rex." becomes "The dog is Rex.".

Agents tell who said a thing, or label it; memory holds the thing. Only a single line is changed, and only where what
remains is a statement of its own with the same subject: "User mentioned that she is vegan." becomes "The user is
vegan."; what could be changed only by guessing stays. "The user prefers tea." is not narration, and stays too.
"""

import re
from typing import Final

from commonplace.model.text import LazyPattern

_LAYERS: Final = 4  # "- Note: In this conversation, the user said that ..."
_BULLET: Final = LazyPattern(r"[-*•–—▪‣·]\s+(?!\[)(?=\S)")
_LABEL: Final = LazyPattern(
    r"(?i)\*{0,2}(?:(?:please |side ?|quick )?note(?: to self)?|n\.?b\.?|fyi|for (?:the record|future reference)"
    r"|noted|remember(?:ed)?|heads[- ]up|reminder"
    r"|(?:new |key |fun |user )?fact|(?:new|user) (?:info(?:rmation)?|memory)|til|about the user|notiz|merke|nota"
    r"|remarque|summary of (?:the |this )?(?:session|conversation|chat))\s?(?::\*{0,2}|\s[–—-])\s+(?=\S)"
    r"|(?:fyi|for the record|for future reference),?\s+"
    r"|(?:in|during|from|based on) (?:this|the|our|today['’]s|a previous|the (?:last|previous)) "
    r"(?:conversation|session|chat|discussion)[,:]\s+"
    r"|(?:according to|per) (?:the )?user[,:]\s+"
)
"""What stands before a statement and says nothing about it; `Preference:` and `Update:` say something."""

_ASIDE: Final = LazyPattern(
    r"(?i)(?:as (?:(?:already|previously|just|i|we|you|they|the user|he|she|has been|was|is|can|may|might|have) ){0,3}"
    r"(?:discussed|mentioned|noted|said|stated|agreed|established|explained|described|requested|told|know|see|remember"
    r"|recall)(?: (?:earlier|before|above|previously|yesterday|today|last time|last week|in [\w ]{1,30}))?"
    r"|(?:as far as|from what|based on what|to the best of) (?:i|we|my knowledge)\b['’\w ]{0,20}"
    r"|to (?:be (?:clear|precise|exact)|clarify|confirm|recap|sum up|summari[sz]e)"
    r"|just (?:so you know|to (?:note|add|clarify|confirm)|for reference|as a reminder)"
    r"|by the way|btw|incidentally|in short|in summary|as it happens|as a (?:reminder|side note)|on a side note"
    r"|for (?:context|reference|your information)|importantly|notably|interestingly"
    r"|(?:apparently|evidently|it turns out|turns out)(?=,)),\s+"
    r"|(?:apparently|evidently)\s+(?=\S+ \S+ )"
)
"""A remark in front of a statement about where it is from, or that it is one."""

_PREFERS: Final = LazyPattern(
    r"(?i)(the )?user(?: has)?(?: stated| expressed| voiced| shown| shows| states| expresses)?"
    r" a (?:clear |general )?preference for "
    r"(?!a\b|an\b)(?=\S)"
)
_SOME: Final = r"(?: (?:also|just|again|briefly|explicitly|casually|further|later|once|previously|has|had|have))*"
_USER_SAID: Final = LazyPattern(
    rf"(?i)(?:the )?(?:user|human){_SOME} "
    r"(?:said|says|mentioned|mentions|noted|notes|stated|states|told (?:me|us|the assistant)|explained|explains|shared"
    r"|revealed|confirmed|confirms|clarified|indicated|indicates|reported|remarked|added|pointed out|wrote|disclosed"
    r"|specified|emphasi[sz]ed|let (?:me|us) know|informed (?:me|us)|reminded (?:me|us)"
    r"|(?:asked|wants|wanted|told|would like)(?: me| us| the assistant)? to (?:remember|note|keep in mind|save|record))"
    r"(?: to me)?(?P<that>:? that|:|) "
)
_HEARD: Final = LazyPattern(
    r"(?i)(?:(?:it )?turn(?:s|ed) out|it (?:seems|appears)|it (?:looks|sounds) like"
    r"|it(?:['’]s| is| was| has)(?: been)? (?:agreed|established|confirmed|clear|known|understood|settled)"
    r"|(?:i|we)(?: have|['’]ve| just| also)* (?:learned|learnt|noticed|found out|discovered|gathered|noted"
    r"|observed|realised|realized|was told|were told|understood)(?: today| just now| earlier| recently)?"
    r"|(?:i|we) (?:should|must|need to|have to|will) "
    r"(?:remember|note|keep in mind)|(?:please )?(?:remember|note|keep in mind|bear in mind|be aware|don['’]t forget)"
    r"|it (?:is|was) (?:worth (?:noting|remembering)|important to (?:note|remember)|noted|mentioned))"
    r"(?P<that> that|:|) "
)
_VERB: Final = (
    r"(?:is|are|was|were|has|have|had|will|would|can|cannot|can['’]t|does|doesn['’]t|do|don['’]t|prefers?|likes?|wants?"
    r"|needs?|uses?|works?|lives?|hates?)\b"
)
_CLAUSE: Final = LazyPattern(
    rf"(?i)(?:he|she|they|it|there)(?:['’](?:s|re|ve|d|ll)| {_VERB})"
    rf"|(?:the|their|his|her|its) (?:(?!that\b|which\b|who\b|of\b)[\w'’-]+ ){{1,4}}?{_VERB}"
)
"""A clause whose verb is plain to see, for narration without "that": "The user said the dog is called Rex."."""

_OTHER_VOICE: Final = LazyPattern(r"(?i)(?:i|we|you|my|our|your|me)\b|[\"“'‘«]")
_LATER_PRONOUN: Final = LazyPattern(r"(?i).*\b(?:he|she|they|him|his|her|hers|their|them)\b")
"""A pronoun that may stand for the user: without the narration nobody knows whom it means."""
_SECOND_ACT: Final = LazyPattern(
    r"(?i).*\b(?:and|but) (?:also |then )?(?:sa(?:id|ys)|mention|emphasi|express|ask|want|shared|noted|added|explain"
    r"|thank|appreciat|feels?\b|felt\b|hopes?\b|plans?\b)"
)
"""A second verb that may have the user as its subject."""
_POSSESSIVE: Final = LazyPattern(r"(?i)(?:his|her|their) (?=\w)")
_PERSON: Final = LazyPattern(
    r"(?i)(?P<who>he|she|they)(?P<short>['’](?:s|re|ve|d|ll))? "
    r"(?P<adverb>(?:(?:never|always|often|also|still|now|no longer|sometimes|\w+ly) ){0,3})(?P<verb>\S+)(?P<rest>.*)"
)
_SINGULAR: Final = {
    "are": "is",
    "have": "has",
    "do": "does",
    "were": "was",
    "aren't": "isn't",
    "haven't": "hasn't",
    "don't": "doesn't",
    "weren't": "wasn't",
}
_MODALS: Final = "will would can cannot can't could should must may might had did didn't won't went"
_SAME: Final = frozenset(_MODALS.split())
_PRESENT: Final = """
    prefer like want need use work live hate love own drive eat drink take speak play keep plan study teach run walk
    enjoy avoid follow manage lead travel commute cook sleep wear carry pay attend know get make give go hope intend
"""
_PRESENTS: Final = frozenset(_PRESENT.split())
_SEVERAL: Final = LazyPattern(r"(?i)\b(?:and|or|but)\b|,")
_PLAIN_WORD: Final = LazyPattern(
    r"(?:an?|he|she|it|if|in|on|at|no|we|my|the|all|his|her|its|our|for|(?=\w*[aeiou])[a-z]{4,})\b(?![.'_-])"
)
"""A first word that may be written with a capital letter; `pnpm`, `uv` and `app.py` may not."""


def statement_of(text: str) -> str:
    """The statement without bullet, label or narration; the text unchanged if it has none of them, or several lines."""
    if "\n" in text:
        return text
    for _ in range(_LAYERS):
        inner = _without_layer(text)
        if inner == text:
            break
        text = inner
    return text


def _without_layer(text: str) -> str:
    """The text without the outermost words around its statement; unchanged if there are none."""
    for pattern in (_BULLET, _LABEL, _ASIDE):
        if match := pattern.match(text):
            return _begun(text[match.end() :])
    if match := _PREFERS.match(text):
        return f"The user prefers {text[match.end() :]}"
    if (match := _USER_SAID.match(text)) and _is_clause(match, text):
        return _about_user(text[match.end() :]) or text
    if (match := _HEARD.match(text)) and _is_clause(match, text):
        return _begun(text[match.end() :])
    return text


def _is_clause(narration: re.Match[str], text: str) -> bool:
    """True if a clause follows the narration, and not a thing: "The user mentioned Lisbon."."""
    rest = text[narration.end() :]
    return bool(rest.strip()) and (narration["that"].endswith("that") or _CLAUSE.match(rest) is not None)


def _about_user(rest: str) -> str:
    """What the user said, with the user in place of a pronoun; empty if that cannot be done."""
    if _OTHER_VOICE.match(rest) or _SECOND_ACT.match(rest):
        return ""
    if match := _POSSESSIVE.match(rest):
        return f"The user's {rest[match.end() :]}"
    person = _PERSON.match(rest)
    if person is None:
        return "" if _LATER_PRONOUN.match(rest) else _begun(rest)
    verb = _verb_of(person)
    return f"The user {verb}{person['rest']}" if verb else ""


def _verb_of(person: re.Match[str]) -> str:
    """The adverbs and the verb to follow "the user"; empty if their letters alone do not tell."""
    short, verb, adverb = (person["short"] or "").replace("’", "'"), person["verb"], person["adverb"]
    if short:
        would = short == "'d" and verb in ("like", "love", "prefer", "rather")
        link = {"'ll": "will", "'re": "is", "'ve": "has"}.get(
            short, "would" if would else "is" if short == "'s" else ""
        )
        is_open = short == "'s" and verb.rstrip(".,;!").endswith(("ed", "en", "got", "had"))  # he is, or he has
        several = short in ("'re", "'ve") and _SEVERAL.search(person["rest"])
        return f"{link} {adverb}{verb}" if link and not is_open and not several else ""
    plain = verb.casefold().replace("’", "'")
    if person["who"].casefold() != "they" or plain in _SAME or plain.endswith("ed"):
        return f"{adverb}{verb}"
    if _SEVERAL.search(person["rest"]):  # another verb of the same subject may follow
        return ""
    singular = _SINGULAR.get(plain) or (_third_person(plain) if plain in _PRESENTS else "")
    return f"{adverb}{singular}" if singular else ""


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ch", "sh", "s", "x", "o")) else f"{verb}s"


def _begun(statement: str) -> str:
    """The statement with a capital first letter, unless its first word may be a name that has none."""
    return statement[:1].upper() + statement[1:] if _PLAIN_WORD.match(statement) else statement
