"""What kind of answer a question wants: something that an assistant said before, or something from several places."""

import re
from typing import Final

from commonplace.recalling.spans import WEEKDAYS

_TOLD = (
    "said|told|suggested|recommended|mentioned|gave|listed|explained|wrote|provided|proposed|described|advised|showed"
    "|shared|answered|replied|named|generated|created|drafted|made|referred|pointed|quoted|outlined|came up with"
)
_TELL = (
    "say|tell|suggest|recommend|mention|give|list|explain|write|provide|propose|describe|advise|show|share|answer|reply"
    "|name|generate|create|draft|make|refer|point|quote|outline|come up with"
)
_EARLIER = "previous|earlier|last|past|prior|former"
_TALK = "chat|conversation|discussion|session|exchange|talk"
_ANSWER = "answer|reply|response|suggestion|recommendation|message|list|advice"
_REPLY: Final = re.compile(
    rf"\b(?:you(?:'ve|'d| have| had)?(?: (?:\w+ly|just|also|once|already|ever))? (?:{_TOLD})"
    rf"|did you(?: (?:\w+ly|just|also|once|already|ever))? (?:{_TELL})"
    rf"|(?:our|your|an?) (?:{_EARLIER}) (?:{_TALK}|{_ANSWER})s?"
    r"|we (?:discussed|(?:talked|spoke|chatted) about|went over|covered) (?:earlier|before|previously|last time)"
    r"|you were (?:saying|telling me|suggesting|recommending|explaining))\b",
    re.IGNORECASE,
)
_REMIND = re.compile(r"\bremind me(?: again)? (?:of|about|what|which|who|where|when|how|why|the)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|i'm|i've|i'd|my|mine|we|our)\b", re.IGNORECASE)

_TIMES = "day|night|week|weekend|month|year|morning|evening|time|hour|minute|" + "|".join(WEEKDAYS)
_ENDS = "earliest|oldest|first|latest|newest|last|most recent"
_MANY: Final = re.compile(
    r"\b(?:how (?:many|often)|in total|altogether|total (?:number|amount|cost|of|time)|combined|across|on average"
    r"|average|both|compare[ds]?|chronological\w*|most (?:often|frequently)|so far"
    r"|(?:what|which|right|correct) order|order (?:in which|of (?:the|these|those|my|our|events))"
    rf"|(?:{_ENDS}) to (?:the )?(?:{_ENDS})|every (?:single )?time|(?:every|each)(?! (?:other|{_TIMES})\b)"
    r"|(?<!at )(?<!after )(?<!above )(?<!of )all(?! (?:right|day|night|week|year|along|over|about|set|the time)\b)"
    r"|(?:^|(?<=[.,?!:] )|(?<=please )|(?<=you )|(?<=to )|(?<=and ))(?:list|enumerate|count)(?= \w)"
    r"|(?:what|which)(?: (?:kinds?|types?|sorts?) of)?(?: \w+){0,2} \w+[^\W_suai]s"
    r" (?:have|has|had|did|do|does|are|were)"
    r"|(?:what|which) (?:\w+ ){0,4}(?:have|has) (?:i|we|you|he|she|they))\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:first|last|earlier|later|sooner|before|more|most|less|longer|shorter|older|newer|bigger|better|cheaper)\b",
    re.IGNORECASE,
)


def asks_reply(text: str) -> bool:
    """Whether it is about what an assistant said before; "can you suggest" asks for something new."""
    plain = text.replace("’", "'")
    if _REPLY.search(plain):
        return True
    reminder = _REMIND.search(plain)
    return reminder is not None and not _OWN.search(plain, reminder.end())


def asks_many(text: str) -> bool:
    """Whether the answer lies in more than one place: a count, a list, an order, one of two, the time between them."""
    return bool(_MANY.search(text)) or _chooses(text) or _is_between(text)


def _chooses(text: str) -> bool:
    """Whether two things are compared: which was first, one or the other."""
    place = text.rfind(" or ")
    return place > 0 and bool(_COMPARES.search(text, 0, place))


def _is_between(text: str) -> bool:
    place = text.find("between ")
    return place >= 0 and text.find(" and ", place) > place
