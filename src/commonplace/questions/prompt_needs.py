"""What a prompt needs from memory, by its wording alone.

Someone who speaks of themselves and their things is served by a memory that is only remotely near. A question that
anybody could ask, about the world, is served by none: only a memory that matches it plainly is shown.
"""

import re
from functools import cache
from typing import Final

from commonplace.model.context import Need
from commonplace.model.text import LazyPattern
from commonplace.questions.words import STOP_WORDS, token_texts

_MOST_CHARS: Final = 1500  # of a prompt, from its beginning: what follows is usually pasted
_FOLLOW_UP_WORDS: Final = 2  # words besides stop words up to which a prompt leans on the one before it
_FOLLOW_UP_LENGTH: Final = 7
_BACKWARD_WORDS: Final = """
it that this those these them they one ones same then instead again another other others first second third last former
latter both neither either so else too also and but why
"""
_BACKWARD: Final = frozenset(_BACKWARD_WORDS.split())

_QUOTED: Final = LazyPattern(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]{3,}'(?!\w)", re.DOTALL)

_PERSON: Final = LazyPattern(
    r"\b(?:my|mine|our|ours|us|we|we(?:'re|'ve|'d|'ll)|i|i(?:'m|'ve|'d|'ll)|me|myself|ourselves)\b", re.IGNORECASE
)
"""First person words, in which a person speaks of themselves unless they are part of `_ASKING`."""

_ASKING: Final = LazyPattern(
    r"""\b(?:
      how\ (?:do|can|could|would|should|does|might)\ (?:i|we|you|one)(?:\ (?:\w+\ ){0,2}my(?:\ (?:last|own|local))?\b)?
    | (?:can|could|would|will|may)\ (?:you|i\ (?:get|have|see|ask))
    | (?:tell|give|show|teach|send|remind|walk|talk)\ (?:me|us)
    | (?:explain|describe|spell|say)\ (?:\w+\ ){0,5}(?:to|for)\ (?:me|us)
    | (?:help|let)\ (?:me|us)\ (?:understand|know|see)
    | (?:like|as\ if)\ i(?:'m|\ am|\ were)\ \w+
    | (?:do|must|should)\ (?:i|we|you)\ (?:need|use)\b
    | i(?:'m|\ am)\ (?:curious|wondering|confused|learning)
    | i\ (?:keep|wonder|forget|forgot|don't\ (?:understand|get))
    | (?:excuse|trust|pardon)\ me
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""Ways to ask that name the asker and say nothing about them."""

_GENERAL: Final = LazyPattern(
    r"""\A\W*(?:(?:hey|hi|hello|ok|okay|so|and|also|please|pls|quick\ (?:one|question)|btw|um|hm+)\b[\s,:.!-]*)*
    (?:(?:can|could|would)\ you\ (?:please\ )?|please\ )?(?:
      what(?:'s|s|\ (?:is|are|was|were|does|do|did|exactly|year|kind|sort|language|colou?r|happens|would|causes?))?\b
    | who(?:'s|\ \w+)\b | whose\b | when\ (?:did|was|is|were|does|do)\b | where\ (?:is|was|did|does|do|are)\b
    | which\b | why(?:'s|\ (?:is|are|do|does|did|was|were|would|can))\b
    | how\ (?:do|does|did|to|many|much|far|long|old|tall|big|is|are|can|would|should|come|deep|fast|often)\b
    | (?:is|are|was|does|do|did|can|could|should|would)\ (?:it|there|a|an|the|\w+s?)\b
    | (?:explain|define|describe|translate|convert|spell|conjugate|pronounce|calculate|compute|compare|recommend)\b
    | (?:another|a\ (?:better|good|nicer|shorter|synonym)|the)\ (?:word|synonym|antonym|opposite|plural|phrase)\b
    | (?:synonyms?|regex(?:p|es)?|formula|definition|meaning|capital|difference|pros|rhymes?|examples?)\b
    | (?:write|tell|give|make|say|sing|compose|name|list|invent|suggest)\ (?:me\ |us\ )?
      (?:a|an|some|something|any|\d+|one|two|three|four|five|ten)\b
    | [\d(][\d\s.,:x*×/+()=%^-]*(?:times|plus|minus|divided|percent|in|to|is|of|\Z)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of questions about the world, and of requests for a text about anything."""

_IDLE: Final = LazyPattern(
    r"""\b(?:tell|write|give|make|say|know|got)\b.{0,20}\b(?:joke|haiku|limerick|riddle|pun|tongue\ twister)s?\b
    | \bsay\ something\b | \bhow\ (?:do|would)\ (?:you|i|we)\ (?:spell|pronounce)\b
    | \b(?:word|synonym|antonym|opposite|plural|rhyme)s?\ (?:for|of|with)\b | \bis\ it\ ["'“‘]
    | \A\W*["'“‘]?[\w-]+["'”’]?\ or\ ["'“‘]?[\w-]+["'”’]?\s*[:?]
    | \A\W*(?:what(?:'s|\ is)\ |how\ much\ is\ |convert\ )?\d[\d.,:]*\s*
      (?:%|[x*×/+^-]|times|plus|minus|divided|percent|square|[a-z°]{1,10}\ (?:in|to|into|as|is\ what)\b)
    | \btranslate\ ["'“‘]""",
    re.IGNORECASE | re.VERBOSE,
)
"""Play with words and numbers: jokes, spelling, synonyms, sums, units; what someone remembers hardly ever helps."""

_MEETINGS: Final = re.compile(
    r"\b(?:my|our|next|upcoming|today['’]?s|tomorrow['’]?s)\s+(?:\w+\s+){0,2}?(?:meetings?|appointments?|calendar)\b"
    r"|\bmeetings?\s+(?:today|tomorrow|this week|next week)\b|\bam i (?:busy|free)\b|\bmy schedule\b",
    re.IGNORECASE,
)
_COMMITMENTS: Final = LazyPattern(
    r"""\b(?:commitments?|promis(?:e|es|ed)|ow(?:e|es|ed|ing)|overdue|deadlines?|outstanding|to-?dos?
    | action\ (?:items?|points?) | open\ (?:points?|items?|ends?|tasks?)
    | (?:is|are|what's|anything|something|everything)\ (?:still\ )?(?:due|open)
    | (?:am|is|are|'m|'re)\ (?:\w+\ )?(?:still\ )?waiting\ (?:for|on)
    | (?:has|have|had)\ (?:still\ )?to\ (?:do|send|deliver|finish)
    | agreed\ to\ do | supposed\ to\ (?:do|send|deliver))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that ask who has to do what, in a prompt that asks."""
_OWN_COMMITMENTS: Final = LazyPattern(
    r"""\bI\b[^.?!\n]{0,40}\b(?:promised?|owed?|committed|agreed|have\ to|need\ to|supposed\ to)\b
    | \bmy\s+(?:\w+\s+)?(?:commitments?|promises?|to-?dos?|tasks?|action\ (?:items?|points?)|deadlines?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS: Final = LazyPattern(
    r"""\?\s*\Z|\A\W*(?:what|which|who|whose|when|did|do|does|is|are|has|have|any|list|show|tell|remind|summari[sz]e)\b""",
    re.IGNORECASE,
)

_CODE_WORDS: Final = """
add remove delete drop fix run rerun refactor rename extract split move sort format lint test build compile commit
push pull revert undo merge rebase explain show open close update write rewrite generate convert turn make check debug
log print handle return throw catch parse read look find change replace inline clean simplify document comment type
cast work works fail fails break breaks crash hang pass raise call use import export mock cover function functions
method class classes module modules file files line lines imports variable variables constant argument arguments
parameter parameters tests suite error errors warning warnings exception bug code block helper branch branches commits
changes diff patch migration column table query loop list array string strings dict map set object null none true
false value values docstring docstrings comments output input stack trace traceback script page button component api
endpoint request response json yaml regex race condition memory leak cache performance pointer index key keys field
fields name names constructor interface struct enum decorator async await promise callback thread lock timeout retry
failing broken unused empty missing slow wrong last first second three two one top bottom next new old same case cases
edge number numbers default whatever everything something again instead twice
"""
"""Words of everyday requests about code; a prompt with no others asks for nothing that someone else would not ask."""

_AT_HAND: Final = LazyPattern(r"\b(?:this|these|those|attached|below|above|here)\b", re.IGNORECASE)
"""Words that point at something the person has before them."""

_GREETING: Final = LazyPattern(
    r"\A\W*(?:hi|hello|hey|heya|yo|g'day|(?:good )?(?:morning|evening|night)|good (?:day|afternoon)|thanks|thank you"
    r"|cheers|bye|great|nice|cool|perfect|awesome|lovely|wow)\b",
    re.IGNORECASE,
)
_GREETING_LENGTH: Final = 6  # words up to which a prompt that begins with a greeting is one

_NOTES: Final = LazyPattern(
    r"""\b(?:
      (?:my|our|the|any|in)\ (?:\w+\ ){0,2}
      (?:(?<!release\ )(?<!patch\ )notes|vault|journal|diary|second\ brain|obsidian|digital\ garden)\b
    | (?:my|our|that)\ (?:\w+\ ){0,2}note\b | (?:the|any)\ note\ (?:on|about|from|where|with|i)\b
    | (?:did|have|had)\ (?:i|we)\ (?:ever\ |already\ )?(?:note|noted|write|written|wrote|save|saved|read|collect|jot)
    | i\ (?:wrote|noted|saved|read|collected|jotted|once\ wrote)\b
    | (?:last|previous|earlier|other|past)\ (?:session|conversation|chat|time|discussion|week)\b
    | (?:we|you|i|you\ and\ i)\ (?:talked|discussed|said|spoke|agreed|decided|concluded|suggested|recommended|told)\b
    | (?:did|have)\ (?:we|you|i)\ (?:talk|discuss|say|said|agree|decide|decided|suggest|conclude|tell)
    | (?:look\ up|search|check|find)\ (?:in\ )?(?:my|the|our)\ (?:notes?|vault|memory)
    | remember\ (?:when|what|the|that|how)
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def need_of(prompt: str) -> Need:
    """What kind of memory could serve this prompt; text in quotes and code does not count."""
    text = prompt[:_MOST_CHARS].replace("’", "'")
    if _IDLE.search(text):
        return "idle"
    text = _QUOTED.sub(" ", text)
    if is_greeting(text):
        return "general"
    if _PERSON.search(_ASKING.sub(" ", text)):
        return "personal"
    if _is_plain_coding(text):
        return "general"
    return "general" if _GENERAL.match(text) and not _AT_HAND.search(text) else "task"


def is_greeting(prompt: str) -> bool:
    """True if a prompt greets, thanks or praises, and says nothing else."""
    return _GREETING.match(prompt) is not None and len(prompt.split()) <= _GREETING_LENGTH


def _is_plain_coding(text: str) -> bool:
    """True if every word of the prompt is a stop word or an everyday word about code."""
    words = {token.casefold().replace("'", "") for token in token_texts(text)}
    return words <= STOP_WORDS | _code_words() | {word for word in words if word.isdecimal()}


@cache
def _code_words() -> frozenset[str]:
    return frozenset(_CODE_WORDS.split())


def asks_for_notes(prompt: str) -> bool:
    """True if the prompt plainly asks for something that was written down or said before."""
    return _NOTES.search(prompt[:_MOST_CHARS].replace("’", "'")) is not None


def is_follow_up(prompt: str) -> bool:
    """True if a prompt says too little to be understood without the one before it: `the second one, please`.

    It is short and points back, or is a single word, or has no content: `run the tests` stands for itself.
    """
    tokens = [token.casefold().replace("'", "") for token in token_texts(prompt)]
    words = [token for token in tokens if token not in STOP_WORDS]
    points_back = len(tokens) == 1 or not words or bool(_BACKWARD & {*tokens})
    return len(tokens) <= _FOLLOW_UP_LENGTH and len(words) <= _FOLLOW_UP_WORDS and points_back


def asks_for_meetings(prompt: str) -> bool:
    """True if the prompt asks about the person's meetings to come: "prepare my next meeting"."""
    return _MEETINGS.search(_QUOTED.sub(" ", prompt[:_MOST_CHARS])) is not None


def asks_for_own_commitments(prompt: str) -> bool:
    """True if it is the person who has to do what the prompt asks for: "what did I promise Ada?"."""
    return _OWN_COMMITMENTS.search(_QUOTED.sub(" ", prompt[:_MOST_CHARS])) is not None


def asks_for_commitments(prompt: str) -> bool:
    """True if the prompt asks who has to do something, or by when: "what does Ada still owe me?"."""
    asked = _QUOTED.sub(" ", prompt[:_MOST_CHARS])
    return _ASKS.search(asked) is not None and _COMMITMENTS.search(asked) is not None
