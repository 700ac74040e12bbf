"""What people say about changes and days: what is over, what replaces what, what happens on which day."""

import re
from typing import Final

from commonplace.extraction.statement import Frame, PlainStatement, frame, has_capital, has_name, is_mood, is_vague
from commonplace.extraction.third_person import about_person, as_sentence
from commonplace.model.learning import FactRelation
from commonplace.model.text import LazyPattern

_NO_ENDING: Final = LazyPattern(
    r"(?i)^(?:my (?:keys|phone|bag|wallet)|(?:the|my|our|that|a) (?:meeting|call|appointment|order"
    r"|trip|flight|party)|early|late|trying|working|at|by|for the day|responding|here|there|off|on|me|to)\b"
)
_MONTH: Final = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_NO_SUBJECT: Final = LazyPattern(
    r"(?i)(?:they|he|she|it|i|we|there|you|which|what|who)\b"
    r"|the (?:trip|meeting|call|appointment|event|party|flight|show|game|class|exam|test|interview|ticket)s?$"
)
_OBJECT_END: Final = LazyPattern(
    r"(?i)\s*(?:,|;|\b(?:because|since|after|in|on|at|last|this|for|when|as|due|and|but|so|too|from|to"
    r"|with|then|finally|now|any ?more)\b).*$"
)
_STOPPED: Final = (
    "stopped|stop(?= \\w+ing\\b)|quit|gave up|given up|cancelled|canceled|sold|dropped|got rid of"
    "|gave away|left(?! (?:a"
    "|an|some|it|him|her)\\b)"
    "|finished(?= my (?:phd|degree|studies|training|thesis|master's|apprenticeship|probation)\\b)"
    "|retired from|resigned from"
    "|moved out of|moved away from|abandoned|resigned as|stepped down from|unsubscribed from"
)
_LEAVING: Final = frozenset({"left", "sold", "dropped", "gave away", "abandoned", "got rid of"})
_CHANGED: Final = "switched|moved|migrated|changed|went|converted|upgraded|transferred|swapped"
_HAPPENS: Final = (
    r"is|are|starts?|begins?|ends?|takes? place|happens|will be|goes (?:out|live)|launch(?:es)?|opens?"
    r"|closes?|runs? out"
    r"|expires?|comes? out|ships?|falls on|arrives?|is (?:now )?(?:scheduled|due|planned|set|moved"
    r"|postponed|rescheduled)"
    r"|turns \d+|stays?|remains?|lasts?|has been moved|was moved|got moved|moved to|was pushed"
    r"|is valid|are valid|are due|was born|were born"
)
_APPOINTMENTS: Final = (
    "appointment|check-?up|exam|interview|surgery|operation|wedding|flight|deadline|presentation"
    "|conference|defen[cs]e"
    "|marathon|race|concert|scan|mri|trip|holiday|hearing|due date|birthday|anniversary|reunion|audit|inspection"
)


def _ended(match: re.Match[str]) -> PlainStatement | None:
    """ "I stopped running in October", "we cancelled Netflix": what is over is the object."""
    thing = match["thing"].strip(" ,")
    if is_vague(thing) or _NO_ENDING.match(thing):
        return None
    if support := re.match(r"(?i)support for (?P<what>.+)", thing):
        ended = _object(support["what"])
        return PlainStatement(
            text=about_person(match.group()), kind="decision", relation="end", ends=ended, starts=True
        )
    if match["verb"].lower() in _LEAVING and not re.match(r"(?i)(?:my|our|the)\b|(?-i:[A-ZÄÖÜÅ])", thing):
        return None
    if match["verb"].lower() not in _LEAVING and not re.match(r"(?:[a-z]+ing\b|[A-Za-z])", thing):
        return None
    return PlainStatement(
        text=about_person(match.group()), kind="fact", relation="end", ends=_object(thing), starts=True
    )


def _no_longer(match: re.Match[str]) -> PlainStatement | None:
    thing = match["thing"].strip(" ,")
    if is_vague(thing) or not thing:
        return None
    verb = match.string[match.start("verb") : match.end("verb")] if match["verb"] else ""
    if re.match(
        r"(?i)(?:need|want|think|know|see|get|hanging|interested|really|trust|as much|have (?:to|a"
        r"|the) (?:problem|issue|error))\b",
        f"{verb} {thing}".strip(),
    ):
        return None
    ends = _object(f"{verb} {thing}".strip())
    return PlainStatement(text=about_person(match.group()), kind="fact", relation="end", ends=ends, starts=True)


def _replaced(match: re.Match[str]) -> PlainStatement | None:
    """ "we switched from Teams to Zoom": the old value is over."""
    old, new = match["old"].strip(" ,"), match["new"].strip(" ,")
    if is_vague(old) or is_vague(new):
        return None
    return PlainStatement(
        text=about_person(match.group()), kind="fact", relation="update", ends=_object(old), starts=True
    )


def _moved_away(match: re.Match[str]) -> PlainStatement | None:
    thing, old = match["thing"].strip(" ,"), match["old"].strip(" ,")
    if is_vague(thing) or is_vague(old):
        return None
    return PlainStatement(
        text=about_person(match.group()), kind="decision", relation="update", ends=f"{thing} {_object(old)}"
    )


def _moved_to(match: re.Match[str]) -> PlainStatement | None:
    place = match["place"].strip(" ,")
    if match.group().lower().partition(" to ")[0].endswith(("switched", "migrated")) and not is_vague(place):
        return PlainStatement(text=about_person(match.group()), kind="fact", relation="update", starts=True)
    if is_vague(place) or not has_capital(place[:1]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", relation="update", slot="home", starts=True)


def _prescribed(match: re.Match[str]) -> PlainStatement | None:
    """ "the doctor took me off X", "Dr Anand switched me from X to Y"."""
    who = re.sub(r"(?i)^(?:the|my|our) ", "the ", match["who"].strip(" ,"))
    old, new = match["old"].strip(" ,"), (match.groupdict().get("new") or "").strip(" ,")
    if is_vague(old) or (new and is_vague(new)):
        return None
    if new:
        text = as_sentence(f"switched from {old} to {new} ({who})")
    else:
        name, _, cause = old.partition(",")
        text = as_sentence(f"no longer takes {name}{': ' + cause.strip() if cause else ''} ({who})")
    return PlainStatement(text=text, kind="fact", relation="update" if new else "end", ends=_object(old), starts=True)


def _gone(match: re.Match[str]) -> PlainStatement | None:
    thing = match["thing"].strip(" ,")
    if is_vague(thing) or not has_name(f"x {thing}"):
        return None
    return PlainStatement(
        text=about_person(match.group()), kind="fact", relation="end", ends=_object(thing), starts=True
    )


def _person_left(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["who"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", relation="end", ends=match["who"], starts=True)


def _taken_over(match: re.Match[str]) -> PlainStatement | None:
    """ "Tina takes over the Friday call": who had it before has it no more."""
    if is_vague(match["thing"]):
        return None
    return PlainStatement(
        text=as_sentence(match.group()), kind="fact", relation="update", ends=_object(match["thing"]), starts=True
    )


def _these_days(match: re.Match[str]) -> PlainStatement | None:
    """ "CI is GitHub Actions these days": the value changed."""
    noun, value = match["noun"].strip(), match["value"].strip(" ,")
    if (
        re.match(
            r"(?i)(?:which|what|who|that|there|here|where|i|we"
            r"|you)\b",
            noun,
        )
        or is_mood(value)
        or len(value) > 60
    ):
        return None
    if is_vague(noun) or is_vague(value) or not has_name(value):
        return None
    text = about_person(match.group())
    return PlainStatement(text=text, kind="fact", relation="update", ends=noun, slot=noun.lower())


def _with_now(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["who"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", relation="update", joins=True, starts=True)


def _event(match: re.Match[str]) -> PlainStatement | None:
    subject = match["subject"].strip(" ,")
    if _NO_SUBJECT.match(subject):
        return None
    if is_vague(subject) or is_vague(match["when"]):
        return None
    relation: FactRelation = "update" if re.search(r"(?i)moved|postponed|rescheduled", match.group()) else "new"
    text = (
        match.group()
        if re.match(r"(?i)(?:the|our|my)\b", subject) or has_capital(subject[:1])
        else f"the {match.group()}"
    )
    return PlainStatement(
        text=about_person(text), kind="event", fact="event", relation=relation, slot=f"event {subject.lower()}",
        needs_date=True,
    )  # fmt: skip


def _own_event(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(re.sub(r"(?i)^it\b:?", "", match["what"].strip())):
        return None
    when = (match.groupdict().get("lead") or "").strip()
    words = match.string[match.end("lead") if when else 0 :]
    text = as_sentence(about_person(words).rstrip(".") + (f", {when}" if when else ""))
    if change := re.search(
        r"(?i)\b(?:migrating|switching|moving"
        r"|changing) (?:\w+ ){0,2}?from (?P<old>.+?) to ",
        words,
    ):
        ends = _object(change["old"])
        return PlainStatement(text=text, kind="event", fact="event", relation="update", ends=ends, needs_date=True)
    return PlainStatement(text=text, kind="event", fact="event", needs_date=True)


def _no_more_of(match: re.Match[str]) -> PlainStatement | None:
    """ "from next month no more delivery": what is over is the thing."""
    if is_vague(match["thing"]) or re.match(r"(?i)(?:than|questions?|ideas?|time|words?)\b", match["thing"]):
        return None
    return PlainStatement(
        text=as_sentence(match.group()), kind="fact", relation="end", ends=_object(match["thing"]), starts=True
    )


def _stay(match: re.Match[str]) -> PlainStatement | None:
    """ "14 to 16 March, a conference": an answer that leaves out where; the place was named before."""
    if is_vague(match["what"]):
        return None
    return PlainStatement(
        text=match["what"].strip(" ,"), kind="event", fact="event", slot="stay", needs_date=True, joins=True
    )


def _without_subject(match: re.Match[str]) -> PlainStatement | None:
    """ "staying in Visby until the 26th": the person is meant."""
    if is_vague(match["what"]):
        return None
    what = re.sub(r"(?i)^start\b", "starting", match["what"])
    return PlainStatement(text=as_sentence(f"is {what}"), kind="event", fact="event", needs_date=True)


def _booked(match: re.Match[str]) -> PlainStatement | None:
    what = re.sub(r"(?i)^(?:it|them|everything)\b:? ?", "", match["what"].strip(" :,"))
    if is_vague(what):
        return None
    return PlainStatement(text=as_sentence(f"booked: {what}"), kind="event", fact="event", needs_date=True, joins=True)


def _next_appointment(match: re.Match[str]) -> PlainStatement:
    return PlainStatement(
        text=as_sentence(f"the {match['what'].strip(' ,')}"), kind="event", fact="event", needs_date=True, joins=True
    )


def _visited(match: re.Match[str]) -> PlainStatement | None:
    place = match["place"].strip(" ,")
    if not has_capital(place[:1]) or is_vague(place):
        return None
    return PlainStatement(text=as_sentence(f"was in {place} {match['when']}"), kind="event", fact="event")


def _object(words: str) -> str:
    """The thing itself, without articles, when and why."""
    words = re.sub(
        r"(?i)^(?:\w+ing (?=(?:the|my|our|an?)\b))?(?:with|at|in|on|the|my|our|an?"
        r"|to)\s+(?=\w)",
        "",
        words,
    )
    return _OBJECT_END.sub("", words).strip() or words


DATED_FRAMES: Final[tuple[Frame, ...]] = (
    frame(
        r"(?P<who>(?:the |my |our )?(?:dr\.? )?[\w-]+(?: [\w-]+)?) (?:took me off|stopped my"
        r"|has taken me off|cancelled my) (?P<old>.+)$",
        _prescribed,
    ),
    frame(
        r"(?P<who>(?:the |my |our )?(?:dr\.? )?[\w-]+(?: [\w-]+)?) (?:switched|moved|changed|put) (?:me"
        r"|us) (?:over )?from (?P<old>.+?) (?:on)?to (?P<new>.+)$",
        _prescribed,
    ),
    frame(
        r"(?:i|we)(?:'m| am|'re| are)? (?:now )?(?:no longer|not) (?P<verb>with|at|in|on|a|an|the|vegan"
        r"|vegetarian|married|single)?\s*(?P<thing>.+?)(?: any ?more| any longer)$",
        _no_longer,
    ),
    frame(r"(?:i|we)(?:'m| am|'re| are)? no longer (?P<verb>[a-z]+)?\s*(?P<thing>.+)$", _no_longer),
    frame(
        r"(?:i|we) (?:don't|do not|can't) (?P<verb>[a-z]+)\s+(?P<thing>.+?) (?:any ?more|any longer"
        r"|these days)$",
        _no_longer,
    ),
    frame(
        r"(?:i|we)(?:'ve| have)? (?:now |just |finally |recently |all |both )?(?P<verb>moved|took"
        r"|pulled) (?P<thing>(?:the |our |my )?[\w ]{2,40}?) (?:away from|off|out of) (?P<old>.+)$",
        _moved_away,
    ),
    frame(
        rf"(?:i|we)(?:'ve| have)? (?:now |just |finally |recently |all |both )?(?:{_CHANGED}) (?:(?:the|our"
        rf"|my|all) [\w ]{{2,40}}? )?(?:over )?from (?P<old>.+?) (?:over )?to (?P<new>.+)$",
        _replaced,
    ),
    frame(
        rf"(?:i|we)(?:'ve| have)? (?:now |just |finally |recently |all "
        rf"|both )?(?P<verb>{_STOPPED}) (?P<thing>.+)$",
        _ended,
    ),
    frame(
        r"(?:i|we)(?:'ve| have)? (?:now |just |finally |recently |all |both )?(?:moved|relocated|switched"
        r"|migrated) (?:back |over )?to (?P<place>.+)$",
        _moved_to,
    ),
    frame(
        r"(?P<thing>(?:the |our |my )?(?:old |former )?[\w.+#-]+(?: [\w.+#-]+){0,3}) (?:was|were|is"
        r"|has been|got|are) (?:switched off|shut down|decommissioned|cancelled|canceled|sold|gone|retired"
        r"|phased out|discontinued|closed down|deprecated)(?:\b.*)?$",
        _gone,
    ),
    frame(
        r"(?P<noun>(?:the |our |my )?[\w-]+(?: [\w-]+){0,2}) (?:is"
        r"|are) (?:now )?(?P<value>.+?) (?:these days|nowadays|now|by now)(?:, (?:used to be|was|not|it was) .+)?$",
        _these_days,
    ),
    frame(r"(?P<noun>(?:the |our |my )?[\w-]+(?: [\w-]+){0,2}) (?:is|are) now (?P<value>.+)$", _these_days),
    frame(
        r"(?P<who>(?-i:[A-ZÄÖÜÅ])[\w-]+|(?:my|our) (?:\w+ )?@kin@(?: (?-i:[A-Z])[\w-]+)?)(?: has"
        r"| have)? (?:left(?: the (?:team|company|project|firm|band))?|quit|retired|resigned|died"
        r"|passed away|moved out)(?P<rest>,?(?: (?:in|on|last|this|two|a) .+)?)$",
        _person_left,
    ),
    frame(r"(?:i|we) (?:now )?use (?P<new>.+?) instead of (?P<old>.+)$", _replaced),
    frame(r"(?:i'm|i am|we're|we are) (?:now )?with (?P<who>(?-i:[A-ZÄÖÜÅ])[\w& -]+?) now$", _with_now),
    frame(r"(?:i|we)(?:'ve| have)? ?@adv@booked(?: it| them| everything)?\s*:?\s*(?P<what>.+)$", _booked),
    frame(r"(?-i:[A-ZÄÖÜÅ])[\w-]+ (?:takes|took|has taken|is taking) over (?!\d)(?P<thing>.+)$", _taken_over),
    frame(r"booked\s*:?\s*(?P<what>.+)$", _booked),
    frame(
        rf"(?P<what>(?:from )?(?:the )?\d{{1,2}}\.?(?: {_MONTH})? ?(?:to|-|–"
        rf"|until) ?(?:the )?\d{{1,2}} {_MONTH}\b.*)$",
        _stay,
    ),
    frame(
        r"(?P<subject>(?-i:[A-ZÄÖÜÅ])[\w-]+|(?:my|our|the) (?:\w+ )?@kin@(?: (?-i:[A-Z])[\w-]+)?) (?:is"
        r"|are) (?P<when>(?:off|away|out"
        r"|abroad|on (?:\w+ )?leave|on sabbatical) .*(?:until|till) .+)$",
        _event,
    ),
    frame(
        r"(?:i'm|i am|we're|we are|i have|we have|i've got|we've got) (?P<what>(?!trying|planning|hoping"
        r"|thinking|looking|wondering|organi[sz]ing).+ (?:until|till|from) (?:the )?(?:\d|next|early|late"
        r"|january|february|march|april|may|june|july|august|september|october|november|december|spring"
        r"|summer|autumn|winter).*)$",
        _own_event,
    ),
    frame(r"(?:from .+? )?no more (?P<thing>[a-z].+)$", _no_more_of),
    frame(
        r"(?P<what>(?:staying|flying|leaving|arriving|moving|starting|start) (?:in|at|with|to|on|from) .+)$",
        _without_subject,
    ),
    frame(rf"(?:that's|it's|which is) (?:my|our|the) (?P<what>next (?:{_APPOINTMENTS}).*)$", _next_appointment),
    frame(
        rf"(?:i|we)(?:'ve| have)?(?: got)? (?P<what>(?:an?|my|our"
        rf"|the) (?:[\w-]+ )?(?:{_APPOINTMENTS})\b.*)$",
        _own_event,
    ),
    frame(
        r"(?P<lead>(?:in |next )[a-z]+(?: \d{4})? )?(?:i'm|i am|we're|we are) @adv@(?P<what>"
        r"(?:going(?! to (?!the\b|an?\b|my\b)(?-i:[a-z]))|flying|travell?ing|driving|moving|migrating|switching|doing"
        r"|getting married|off)\b.+)$",
        _own_event,
    ),
    frame(
        r"(?:i|we) @adv@(?P<what>(?:fly|leave|travel|move|get married|marry|start|graduate|retire"
        r"|turn \d+)\b.+)$",
        _own_event,
    ),
    frame(
        rf"(?P<subject>(?:(?:the|our|my) )?[\w'&-]+(?: [\w'&-]+){{0,5}}?) (?:{_HAPPENS})(?: (?:on|from|in"
        rf"|at|by|until|till|to|for|between|only|now|already|again|school|university|back|mid|early"
        rf"|late)){{0,3}} (?P<when>(?:the )?\d.*|(?:january|february|march|april|may|june|july|august"
        rf"|september|october|november|december|spring|summer|autumn|winter|next)\b.*)$",
        _event,
    ),
    frame(r"(?P<place>[\w-]+(?: [\w-]+)?) (?:i|we) (?:did|visited|saw|went to) (?P<when>in \d{4})$", _visited),
    frame(
        r"(?:i|we) (?:was|were|went|visited|did|have been|'ve been) (?:to |in "
        r"|at )?(?P<place>(?-i:[A-Z])[\w -]+?) (?P<when>in \d{4})$",
        _visited,
    ),
)
"""Ways of saying that something is over, has changed, or happens on a day."""
