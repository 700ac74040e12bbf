"""What people say about themselves: names, roles, homes, work, tastes, what they do without, what holds around them."""

import re
from typing import Final

from commonplace.extraction.statement import (
    Frame,
    PlainStatement,
    frame,
    has_capital,
    has_name,
    is_mood,
    is_vague,
)
from commonplace.extraction.third_person import about_person, as_sentence
from commonplace.model.text import LazyPattern

_NAME: Final = (
    r"(?:(?:dr|prof|mr|mrs|ms)\.? )?(?-i:[A-ZÄÖÜÅÉØ][\w'-]+(?: (?:van|von|de|der|da|di|al|bin|la"
    r"|le))*(?: [A-ZÄÖÜÅÉØ][\w'-]+){0,3})"
)


_ORDINARY_WORDS: Final = """
    sure sorry glad happy fine good great ok okay back here there done ready not so just very curious
    interested able trying looking going thinking planning working using having getting doing making wondering
    new afraid aware confused stuck tired busy free late early excited proud open off out in on at about
    considering learning reading writing running writing seeing feeling hoping
"""


_ORDINARY: Final = frozenset(_ORDINARY_WORDS.split())


_NATIONALITY: Final = LazyPattern(
    r"(?i)(?:american|british|english|scottish|welsh|irish|german|french|spanish|italian|dutch|belgian|swiss|austrian"
    r"|polish|czech|swedish|norwegian|danish|finnish|portuguese|greek|turkish|russian|ukrainian|indian"
    r"|chinese|japanese"
    r"|korean|brazilian|mexican|canadian|australian|nigerian|kenyan|egyptian|israeli|iranian|jewish|muslim|catholic)$"
)


_NO_ROLE: Final = LazyPattern(
    r"(?i)\b(?:fan|bit|little|lot|beginner|newbie|mess|idiot|fool|genius|huge|total|complete|such"
    r"|kind of|sucker|person who"
    r"|member of the public|aspiring|wannabe|would-be|better|worse|terrible|bad|good|great|slow|fast"
    r"|natural|going|trying"
    r"|looking|interested|thinking|hoping|finding|having|getting|using|able|about|not|no|to|pretty|very)\b"
)


_ENJOYED: Final = ("enjoy", "love", "adore")


_ONE_THING: Final = LazyPattern(r"(?i)(?:an?|my|our|their|seeing|hearing|adding|learning about)\b")


_NO_THING: Final = LazyPattern(
    r"(?i)(?:to (?:know|see|hear|get|have|go|start)|everything|all|both|how|the way|what|when|for|from)\b"
)


_TASTES: Final = (
    rf"prefer|hate|dislike|detest|despise|loathe|{'|'.join(_ENJOYED)}|can't stand|cannot stand"
    rf"|can't bear|avoid|swear by"
    r"|don't (?:really |particularly )?(?:like|enjoy|care for|eat|drink|use)|do not (?:like|eat|drink|use)"
    r"|never (?:eat|drink|use|wear|buy)|can't eat|cannot eat|can't have"
)


def _name(match: re.Match[str]) -> PlainStatement | None:
    name, rest = match["name"].strip(" ,"), (match["rest"] or "").strip(" ,")
    if name.split()[0].lower() in _ORDINARY or not has_capital(name):
        return None
    if rest:
        return _identity(f"The user is {name}, {_role_at(rest)}", slot="name")
    return _identity(f"The user's name is {name}", slot="name")


def _bare_name(match: re.Match[str]) -> PlainStatement | None:
    name = match["name"]
    if _NATIONALITY.match(name):
        return _identity(f"Is {name}", slot="nationality")
    return None if name.split()[0].lower() in _ORDINARY else _name(match)


def _role_at(rest: str) -> str:
    """ "head of R&D, Velling Pharma" with the organisation after `at`."""
    parts = [part.strip() for part in rest.split(",")]
    if len(parts) == 2 and has_capital(parts[1][:1]):
        return f"{parts[0]} at {parts[1]}"
    return rest


def _role(match: re.Match[str]) -> PlainStatement | None:
    if _NO_ROLE.search(match["role"]) or is_vague(match["role"]):
        return None
    return _identity(match.group(), slot="role")


def _identity(text: str, *, slot: str) -> PlainStatement:
    return PlainStatement(text=about_person(text), kind="identity", fact="identity", slot=slot, starts=True)


def _home(match: re.Match[str]) -> PlainStatement | None:
    place = match["place"]
    if is_vague(place) or not (has_name(place) or re.search(r"(?i)\bmy\b|\balone\b|\bwith\b", place)):
        return None
    text = about_person(match.group())
    return PlainStatement(text=text, kind="identity", fact="identity", slot="home", starts=True)


def _address(match: re.Match[str]) -> PlainStatement | None:
    text = f"Lives at {match['place']}"
    return PlainStatement(
        text=as_sentence(text), kind="identity", fact="identity", relation="update", slot="home", starts=True
    )


def _work(match: re.Match[str]) -> PlainStatement | None:
    place = match["place"]
    if is_vague(place) or not (has_capital(place) or re.search(r"(?i)^(?:as|in|for|from) ", match["at"] + " ")):
        return None
    if match["at"].lower() in {"in", "from", "on", "for"} and not has_capital(place) and "home" not in place:
        return None
    return PlainStatement(text=about_person(match.group()), kind="identity", fact="identity", slot="work", starts=True)


def _new_work(match: re.Match[str]) -> PlainStatement | None:
    place = re.sub(
        r"(?i) (?=(?:last|this|two|three|a|on|in|yesterday)\b(?! charge))", " since ", match["place"], count=1
    )
    place = re.sub(r"(?i) since (?:on|in) ", " since ", place)
    if not has_capital(place) or is_vague(place):
        return None
    return PlainStatement(
        text=as_sentence(f"works at {place}"), kind="identity", fact="identity", relation="update", slot="work",
        starts=True,
    )  # fmt: skip


def _taste(match: re.Match[str]) -> PlainStatement | None:
    taste, thing = match["taste"].lower(), match["thing"]
    if is_vague(thing) or _NO_THING.match(thing):
        return None
    if taste == "prefer" and re.match(r"(?i)(?:an?|some\w*|the|more|less)\b", thing):
        return None  # the errand at hand: "I prefer a bag with pockets"
    if re.match(r"(?i)(?:the|its|his|her)\b", thing) or (taste in _ENJOYED and _ONE_THING.match(thing)):
        return None  # a reaction: "I love the second recipe"
    text = match.group() if match["who"] else f"I {match.group()}"
    return PlainStatement(text=about_person(text), kind="preference", fact="preference")


def _taste_of_them(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


PERSONAL_FRAMES: Final[tuple[Frame, ...]] = (
    frame(
        rf"(?:my (?:full )?name is|my name's|i'm called|call me"
        rf"|i go by)\s+(?P<name>{_NAME})(?P<rest>, .*)?$",
        _name,
    ),
    frame(rf".*\bmy name,? (?P<name>{_NAME})(?P<rest>,.*)?$", _name),
    frame(
        rf"sign (?:it |this |them |everything |mails? |my mails? )?(?:as|with"
        rf"|off as)\s+(?P<name>{_NAME})(?P<rest>,.*)?$",
        _name,
    ),
    frame(rf"(?:i'm|i am)\s+(?P<name>{_NAME})(?P<rest>,.*)?$", _bare_name),
    frame(
        r"(?:i'm|im|i am)\s+@adv@(?P<role>an? (?:[\w-]+ ){0,3}@role@\b.*|the (?:[\w-]+ ){0,3}@role@ (?:at"
        r"|of|for|in) .+|(?:acting|interim|deputy) .+|(?:[\w-]+ )?(?:head"
        r"|director|owner|founder|co-founder|treasurer|captain|manager) of .+|(?:ceo|cto|cfo|coo)\b.*)$",
        _role,
    ),
    frame(r"@i@@adv@took over (?!\d)(?P<role>.+)$", _role),
    frame(r"(?:my|our) (?:new |home )?address is (?P<place>.*\d.*)$", _address),
    frame(r"@i@@adv@(?:live|reside|grew up|was born|were born) (?:in|at|near|with|on)\s+(?P<place>.+)$", _home),
    frame(
        r"@be@@adv@(?:based|living|from|originally from|born)\s+(?:in |at |near "
        r"|with )?(?P<place>(?-i:[A-Z]).+)$",
        _home,
    ),
    frame(
        r"i(?:'ve)? @adv@(?:started|start|begun|began)(?: (?:work|working|a (?:new )?job"
        r"|my new job))? (?:at|with(?<=job with)) (?P<place>(?-i:[A-Z]).+)$",
        _new_work,
    ),
    frame(r"i @adv@work (?P<at>at|for|as|with|in|from|on)\s+(?P<place>.+)$", _work),
    frame(
        r"(?:@i@|i'm |we're )@adv@(?P<taste>not (?:really )?(?:a (?:big |huge )?fan of|into|fond of"
        r"|keen on)|allergic to|intolerant to|(?:really )?into|fond of|a (?:big |huge )fan of)\s+(?P<thing>.+)$",
        _taste_of_them,
    ),
    frame(rf"(?P<who>(?:i|we) )@adv@(?P<taste>{_TASTES})\s+(?P<thing>.+)$", _taste),
    frame(
        r"(?P<who>)(?P<taste>hate|can't stand|cannot stand|dislike|don't like|not a fan of|allergic to"
        r"|prefer)\s+(?P<thing>.+)$",
        _taste,
    ),
)
"""Ways of saying something about oneself; the first that fits counts."""


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
