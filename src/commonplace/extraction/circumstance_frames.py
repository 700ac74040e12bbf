"""What holds for a person's circumstances: what they do without, whom they are with, what holds where they belong."""

import re
from typing import Final

from commonplace.extraction.statement import Frame, PlainStatement, frame, has_name, is_mood, is_vague
from commonplace.extraction.third_person import about_person, as_sentence

_PLACES: Final = (
    "school|company|office|club|firm|house|team|clinic|shop|church|village|building|department|practice|orchestra"
    "|choir|hospital|university|street|family|lab|warehouse|studio|kitchen|library|association"
)
_MONTH: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter"
)
_PERSONAL: Final = r"(?:i|we|my|you|it|that|this|he|she|they|there|what|who|which|if|when|is|are|do|does|can|could)\b"


def _plainly(match: re.Match[str]) -> PlainStatement | None:
    return None if is_vague(match["thing"]) else PlainStatement(text=about_person(match.group()), kind="fact")


def _plainly_of_kin(match: re.Match[str]) -> PlainStatement | None:
    words = match.group()[: match.end("thing") - match.start()]
    return None if is_vague(match["thing"]) else PlainStatement(text=about_person(words), kind="fact")


def _without(match: re.Match[str]) -> PlainStatement | None:
    """ "we don't fly", "I don't drink any alcohol"."""
    if is_vague(match["thing"] or ""):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


def _leading(match: re.Match[str]) -> PlainStatement | None:
    """ "I lead the dispatch at Kolba": what a person is responsible for, and where."""
    if is_vague(match["thing"]) or not has_name(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="identity", fact="identity", slot="role")


def _customer(match: re.Match[str]) -> PlainStatement | None:
    """ "I'm with DKB since May": the bank, the insurer or the provider."""
    if is_vague(match["name"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", relation="update", starts=True)


def _at_ours(match: re.Match[str]) -> PlainStatement | None:
    """ "homework isn't graded at our school": a custom of a place where the person belongs."""
    thing = match["thing"]
    if is_vague(thing) or is_mood(match["state"]) or re.match(f"(?i){_PERSONAL}", thing):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _from_then(match: re.Match[str]) -> PlainStatement | None:
    """ "from January I have to charge VAT": something begins on a day that is named."""
    if is_vague(match["what"]):
        return None
    words = f"{match['who']} will {match['duty'] or ''}{match['what'].strip()} {match['when']}"
    return PlainStatement(text=about_person(words), kind="fact", relation="update", starts=True)


def _closed(match: re.Match[str]) -> PlainStatement | None:
    """ "closed the Sparkasse in summer": an account or a contract with that name is over."""
    words = match.group() if match["who"] else f"i {match.group()}"
    return PlainStatement(text=about_person(words), kind="fact", relation="end", ends=match["thing"], starts=True)


def _off(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=as_sentence(match.group()), kind="fact", relation="end", ends=match["thing"])


CIRCUMSTANCE_FRAMES: Final[tuple[Frame, ...]] = (
    frame(
        r"@i@(?:don't|do not) (?P<verb>fly|drive|drink|smoke|eat out|own a \w+|have a (?:car|tv|television|dishwasher"
        r"|microwave|freezer|garden|balcony|driving licen[cs]e)|work on @weekdays@)"
        r"(?P<thing>(?: any ?more| at all| alcohol| coffee| because .+| since .+)?)$",
        _without,
    ),
    frame(
        r"i (?:also |now |currently )?(?:lead|head|chair|coordinate|supervise|run|manage) "
        r"(?P<thing>(?:the|a|our) [\w -]+ (?:at|of|for|in) .+)$",
        _leading,
    ),
    frame(
        r"(?:i'm|im|i am|we're|we are) with (?P<name>(?-i:[A-ZÄÖÜÅ])[\w&.-]+"
        r"(?: (?-i:[A-ZÄÖÜÅ])[\w&.-]+)?) since .+$",
        _customer,
    ),
    frame(r"i (?:do|work|have|take) (?P<thing>@weekdays@ (?:from|until|in|and|at) .+)$", _plainly),
    frame(
        r"(?:i'm|im|i am) on (?P<thing>(?:nights?|earlies|lates|call|early shift|late shift|night shift)"
        r"(?:,| every\b| this winter\b| on\b| one week\b).*)$",
        _plainly,
    ),
    frame(
        rf"(?P<thing>[\w' -]{{3,60}}?) (?:is|are|isn't|aren't|has|have|must|may|can't|don't|doesn't) (?P<state>.*?)\s?"
        rf"(?:at|in) our (?:\w+ )?(?:{_PLACES})\b.*$",
        _at_ours,
    ),
    frame(
        rf"(?P<when>(?:from|as of|starting(?: in)?) (?:{_MONTH}|next year|new year"
        r"|the (?:first|\d+\w*) of \w+))(?: on)?"
        r",? (?P<who>i|we)(?:'ll| will| (?P<duty>have to ))(?P<what>[^,]+)(?:,.*)?$",
        _from_then,
    ),
    frame(
        r"(?:my|our) (?:\w+ )?@kin@(?:,? (?-i:[A-Z])[\w-]+)? (?:uses|needs|wears|hardly|barely"
        r"|was (?=an? [\w ]+ for \w+ y)"
        r"|has (?:\w+ )?(?:degeneration|disease|syndrome|disorder|disability|implant|wheelchair)|is in a wheelchair"
        r"|coaches|runs|writes|sings|trains|volunteers|looks after|stays with)(?P<thing>.*?)(?: and .*)?$",
        _plainly_of_kin,
    ),
    frame(
        r"(?P<who>i |we )?(?:closed|cancelled|canceled) (?:the |my |our )?(?P<thing>(?-i:[A-ZÄÖÜÅ])[\w&. -]{1,30}?)"
        r"(?: account| contract| subscription| membership)?(?: (?:in|last|this|on|at) .+)?$",
        _closed,
    ),
    frame(r"(?:the )?(?P<thing>[\w -]{3,40}?) is off for (?:me|us|good|this year)$", _off),
)
"""Ways of saying what holds for the person, for someone close, or where the person belongs."""
