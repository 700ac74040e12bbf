"""What people say about themselves: names, roles, homes, work and tastes."""

import re
from typing import Final

from commonplace.extraction.statement import (
    Frame,
    PlainStatement,
    frame,
    has_capital,
    has_name,
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
