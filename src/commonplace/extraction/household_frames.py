"""What people say about their lives: health, belongings, habits, relatives, and what they and theirs do as a rule."""

import re
from typing import Final

from commonplace.extraction.statement import (
    ROLES,
    Frame,
    PlainStatement,
    frame,
    has_capital,
    has_name,
    is_mood,
    is_past,
    is_vague,
)
from commonplace.extraction.third_person import about_person, as_sentence
from commonplace.model.fact import FactClass
from commonplace.model.learning import FactRelation
from commonplace.model.text import LazyPattern

_ERRAND_VERBS_WORDS: Final = """
    need want wonder think know guess have get try see ask say mean hope wish forget remember understand find
    feel seem struggle end mess wanted thought had was been hear believe agree appreciate love like look come
    happen die fail confuse lose run mix worry
    can could will would should must keep cannot can't won't tend
"""


_ERRAND_VERBS: Final = frozenset(_ERRAND_VERBS_WORDS.split())


_BELONGINGS: Final = (
    "kids?|children|child|sons?|daughters?|dogs?|cats?|brothers?|sisters?|siblings|twins|wife|husband"
    "|partner|girlfriend"
    "|boyfriend|puppy|kitten|rabbits?|horses?|chickens|parrot|allotment|car|van|motorbike|motorcycle"
    "|e-?bike|cargo bike"
    "|piano|guitar|cello|violin|sewing machine|3d printer|subscription|membership|season ticket|railcard|bahncard"
    "|house|flat|apartment|garden|greenhouse|cabin|cottage|boat|camper|degree|phd|master's|licence|license|tattoo"
    "|desk job|part-time job|side job|own business|shop|workshop|studio|practice|mortgage|pacemaker"
    "|grandchildren|grandkids|nieces?|nephews?"
)


_NOUN_ENDS: Final = (
    r"(?=$|,| (?:called|named|from|last|in|with|and|for|on|at|who|which|this|two|since|until|to"
    r"|of)\b)"
)


_PASSING_NOUN: Final = LazyPattern(
    r"(?i)\b(?:question|problem|issue|plan|goal|idea|point|guess|code|error|query|answer|mistake|fault"
    r"|concern|worry|view"
    r"|word count|article|headline|title|text|contact information|slogan|leaf|leaves|essay|paper"
    r"|understanding|impression|opinion|score|result|output|input|total|average|order|turn|bad|word"
    r"|number one|thing|way)s?\b"
)


_PRACTICES: Final = (
    "do|pay|write|prefer|prefix|suffix|label|track|estimate|merge|rebase|lint|put|store|deploy"
    "|test|release|ship|log|review|commit|format|close|open"
    "|meet|speak|eat|drink"
    "|cook|heat|recycle|compost|rent|buy|sell|order|invoice|bill|charge|sign|name|tag|squash|host"
    "|back up|rotate|archive"
    "|print|accept|require|support|target|work|live|sleep|travel|go to|drive|cycle|commute|shop|spend"
    "|celebrate|hold|send"
)


_OWN_PRACTICES: Final = (
    "commute|cook|sleep|teach|cycle|swim|sing|dance|knit|volunteer|paint|garden|hike|climb|row|sail"
    "|fly|travel|wear|smoke"
    "|vote|row|surf|ski|coach|bake|brew|code|drink|eat"
)


_LASTING_VERBS: Final = (
    "own|drive|play|speak|study|teach|volunteer|sing|coach|collect|rent|commute|smoke|foster|breed"
    "|mentor|lead|manage|run"
    "|organi[sz]e|edit|maintain"
)


_KIN_STATES: Final = (
    r"(?:lives?|works?|studies|teaches|speaks?|plays?|loves?|hates?|likes?|prefers?|dislikes?|eats?"
    r"|drinks?|doesn't|don't"
    r"|can't|has|have|had|suffers|goes to|attends|owns|drives|swims|moved|died|retired|is|are|'s|'re"
    r"|was born|were born)"
)


_KIN_VALUES: Final = LazyPattern(
    r"(?i)(?:(?:now |also |both |severely |very )*(?:called|named|allergic|vegan|vegetarian|coeliac|celiac|diabetic"
    r"|asthmatic|pregnant|retired|married|divorced|single|deaf|blind|from|based|born|afraid of|into"
    r"|fluent|a vegetarian|back on|(?:still )?at (?:kindergarten|school|university|college)"
    r"|colou?r[- ]?blind|mad about|crazy about|fond of|keen on|scared of"
    r"|lactose|gluten|in (?:the )?(?:\w+ )?grade|in kindergarten|at university|\d{1,3}(?: years old| months old)?$"
    r"|turning \d|left-handed))|an? (?:\w+ ){0,2}" + f"(?:{ROLES})\\b"
)


_ATTRIBUTES: Final = (
    r"name|full name|nickname|birthday|date of birth|e-?mail(?: address)?|address|phone number|number"
    r"|job|job title|title"
    r"|role|employer|company|boss|manager|team|team lead|hometown|home town|native language"
    r"|mother tongue|first language"
    r"|time ?zone|pronouns|doctor|gp|dentist|vet|therapist|physio|physiotherapist|rheumatologist"
    r"|psychiatrist|landlord"
    r"|landlady|accountant|lawyer|tax advisor|coach|teacher|tutor|neighbour|height|weight|shoe size"
    r"|blood type|blood group"
    r"|diet|budget|rent|salary|car|bike|phone|laptop|camera|editor|shell|stack|tech stack|operating system|database"
    r"|project|thesis|school|university|major|degree|instrument|hobby|hobbies|bank|insurance|gym"
    r"|church|client|supplier"
    r"|deadline|passport|driving licence|license|visa|flight|wedding|anniversary|appointment|next appointment|course"
    r"|favou?rite [\w ]+|preferred [\w ]+|usual [\w ]+|cat's [\w ]+|dog's [\w ]+"
)


def _condition(match: re.Match[str]) -> PlainStatement | None:
    if re.search(r"(?i)\b(?:one|it|that|this)\b", match.group()):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", fact="fact", starts=True)


def _bare_condition(match: re.Match[str]) -> PlainStatement:
    words = match.group()
    is_adjective = re.match(r"(?i)[\w -]*?(?:ic|iac|ant|blind)\b", words.partition(" since ")[0])
    return PlainStatement(text=about_person(f"i {'am' if is_adjective else 'have'} {words}"), kind="fact", starts=True)


def _size(match: re.Match[str]) -> PlainStatement:
    return PlainStatement(text=f"Is {match['size']} m tall.", kind="fact", slot="height")


def _having(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _lasting(match: re.Match[str]) -> PlainStatement | None:
    thing = match["thing"]
    if is_vague(thing) or re.match(
        r"(?i)(?:into|out|through|around|a test|tests?|the tests?|to|now$"
        r"|again)\b",
        thing,
    ):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _habit(match: re.Match[str]) -> PlainStatement | None:
    verb = match["verb"].lower()
    if verb in _ERRAND_VERBS or is_past(verb) or is_vague(match["thing"] or ""):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


def _routine(match: re.Match[str]) -> PlainStatement | None:
    verb = match["verb"].lower()
    if verb in _ERRAND_VERBS or is_past(verb) or is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _course(match: re.Match[str]) -> PlainStatement:
    return PlainStatement(text=as_sentence(f"the {match['course']}: {match['when']}"), kind="fact")


def _kin(match: re.Match[str]) -> PlainStatement | None:
    verb, rest = match["verb"].lower(), match["rest"]
    if is_vague(rest):
        return None
    if verb in {"is", "are", "'s", "'re"} and not (_KIN_VALUES.match(rest) or has_capital(rest[:1])):
        return None
    if verb in {"has", "have", "had"} and not re.search(rf"(?i){_HAS_LASTING}", rest):
        return None
    if verb in {"doesn't", "don't", "can't"} and not re.match(
        r"(?i)(?:eat|drink|like|speak|drive|have)\b|.* any ?more\b", rest
    ):
        return None
    return PlainStatement(text=about_person(_full_verb(match)), kind="fact")


_HAS_LASTING: Final = r"type [12]\b|cancer|a stroke|a heart attack|dementia|alzheimer|allerg|asthma|diabet|adhd"


def _full_verb(match: re.Match[str]) -> str:
    verb = {"'s": " is", "'re": " are"}.get(match["verb"].lower(), match["verb"])
    return match.string[: match.start("verb")] + verb + match.string[match.end("verb") :]


def _attribute(match: re.Match[str]) -> PlainStatement | None:
    noun, value = match["noun"], match["value"].strip()
    if is_mood(value) or is_vague(value) or re.search(r"(?i)\b(?:question|problem|issue|plan|goal)\b", noun):
        return None
    if re.match(r"(?i)(?:around|about|roughly|approximately|up to|between|under|over|at least|at most|max)\b", value):
        return None
    if not (has_name(value) or re.match(r"(?i)(?:favou?rite|preferred|usual|mother|native|first|diet)", noun)):
        return None
    kind = "preference" if re.match(r"(?i)(?:favou?rite|preferred|usual)", noun) else "fact"
    fact: FactClass = "preference" if kind == "preference" else "fact"
    slot = " ".join(noun.lower().split()[-2:])
    return PlainStatement(text=about_person(match.group()), kind=kind, fact=fact, slot=slot, starts=True)


def _own_value(match: re.Match[str]) -> PlainStatement | None:
    """A value of something that is the person's own, whatever it is, if the value is a name or a number."""
    noun, value = match["noun"], match["value"]
    if _PASSING_NOUN.search(noun) or is_vague(value) or is_vague(noun):
        return None
    relation: FactRelation = "update" if match["new"] else "new"
    return PlainStatement(
        text=about_person(match.group()), kind="fact", relation=relation, slot=noun.lower(), starts=True
    )


def _apposition(match: re.Match[str]) -> PlainStatement:
    """ "my doctor, Dr Bauer, is thrilled" says who the doctor is."""
    return PlainStatement(
        text=as_sentence(f"the {match['noun']} is {match['name']}"), kind="fact", slot=match["noun"].lower()
    )


def _practice(match: re.Match[str]) -> PlainStatement | None:
    """What a team, a household or a person does as a matter of course: "we pay in advance", "I commute by train"."""
    thing = match["thing"].strip(" ,")
    if (
        is_vague(thing)
        or re.match(r"(?i)(?:to|into|out|up|on with|well|fine|ok|good|now|then|again|a lot|too much)\b", thing)
        or len(thing) < 3
    ):
        return None
    state = re.match(
        r"(?i)we (?:now |always |usually )*(?P<verb>heat|commute|deploy|host|live|work|sleep)\b", match.group()
    )
    if state and re.search(r"(?i)\b(?:since|now|these days)\b", match.group()):
        return PlainStatement(
            text=about_person(match.group()), kind="fact", relation="update", ends=state["verb"], starts=True
        )
    return PlainStatement(text=about_person(match.group()), kind="fact", starts=True)


def _biography(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]) or not has_name(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _now_at(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["place"]):
        return None
    text = as_sentence(f"works at {match['place']}")
    return PlainStatement(text=text, kind="identity", fact="identity", relation="update", slot="work", starts=True)


def _named_state(match: re.Match[str]) -> PlainStatement | None:
    """ "Emma is left-handed": a lasting state of someone with a name."""
    if (
        not _KIN_VALUES.match(match["rest"])
        or is_vague(match["rest"])
        or re.match(r"(?i)(?:from|based|into|an?)\b", match["rest"])
    ):
        return None
    return PlainStatement(text=as_sentence(f"{match['name']} is {match['rest']}"), kind="fact")


def _named_work(match: re.Match[str]) -> PlainStatement | None:
    """ "Jonas works at the harbour office": where someone with a name works, and as what."""
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=as_sentence(match["thing"]), kind="fact", starts=True)


def _drug(match: re.Match[str]) -> PlainStatement:
    return PlainStatement(text=as_sentence(f"takes {match.group()}"), kind="fact", starts=True)


def _inability(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["what"]):
        return None
    text = about_person(match["what"]).rstrip(".")
    lead = (match["lead"] or "").strip()
    relation: FactRelation = "update" if lead else "new"
    ends = match["verb"] if lead else ""
    text = as_sentence(f"{text}, {lead}" if lead else text)
    return PlainStatement(text=text, kind="fact", relation=relation, ends=ends, starts=True)


def _acquired(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", starts=True)


def _called(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["noun"]) or not has_capital(match["name"][:1]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", slot=f"name of {match['noun'].lower()}")


def _medicine(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", starts=True)


def _regimen(match: re.Match[str]) -> PlainStatement | None:
    """ "ramipril, 5 mg in the morning, since May": an answer that leaves the verb out."""
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=as_sentence(match.group()), kind="fact", starts=True)


def _we_are_on(match: re.Match[str]) -> PlainStatement | None:
    is_dated = " since " in match["thing"]
    if not (has_capital(match["thing"][:1]) or is_dated) or is_vague(match["thing"]):
        return None
    relation: FactRelation = "update" if is_dated else "new"
    return PlainStatement(text=as_sentence(f"uses {match['thing']}"), kind="fact", relation=relation, starts=is_dated)


def _uses(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]) or not has_name(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


HOUSEHOLD_FRAMES: Final[tuple[Frame, ...]] = (
    frame(
        r"@be@@adv@(?:@condition@|vegan|vegetarian|pescatarian|teetotal|left-handed|right-handed|pregnant"
        r"|married|divorced|single|engaged|widowed|retired|self-employed|bilingual"
        r"|\d\d(?: years old)?)(?: now)?(?: (?:to|with|since|and|but|from|in|by|for|instead)\b.*|,.*)?$",
        _condition,
    ),
    frame(
        r"@i@@adv@(?:go|get|travel|come) to (?:work|the office|school|university|college) "
        r"(?P<thing>(?:by|on) (?:bicycle|bike|train|tram|bus|car|metro|tube|subway|ferry|boat|scooter|foot)\b.*)$",
        _lasting,
    ),
    frame(
        r"(?P<thing>(?-i:[A-ZÄÖÜÅ])[a-zäöüéñ]+(?: (?-i:[A-ZÄÖÜÅ])[\w-]+)? @adv@works "
        r"(?:at (?!night\b|all\b|once\b|least\b|first\b|scale\b)|for (?-i:[A-ZÄÖÜÅ])"
        r"|as (?:an?|the) (?:[\w-]+ ){0,3}@role@\b).*)$",
        _named_work,
    ),
    frame(
        r"i @adv@work (?P<thing>\d+ hours .*|part[- ]time.*|full[- ]time.*|remotely.*|from home.*"
        r"|night shifts?.*)$",
        _lasting,
    ),
    frame(r"@be@(?P<size>[12][.,]\d\d)(?: ?m(?:etres|eters)?)?(?: tall)?$", _size),
    frame(r"@have@@adv@(?:mild |severe |chronic |bad )?@condition@\b.*$", _condition),
    frame(r"(?:i was|i've been|i got) @adv@diagnosed with .+$", _condition),
    frame(r"@condition@ since .+$", _bare_condition),
    frame(
        rf"@have@@adv@(?P<thing>(?:an?|one|two|three|four|five|six|\d+"
        rf"|my)\s+(?:(?!of\b)[\w-]+ ){{0,3}}(?:{_BELONGINGS}){_NOUN_ENDS}.*)$",
        _having,
    ),
    frame(r"@have@@adv@(?P<thing>an? (?-i:[A-Z])[\w -]+ until .+)$", _having),
    frame(rf"@i@(?:now |also |both |still )?(?:{_LASTING_VERBS})\s+(?P<thing>.+)$", _lasting),
    frame(
        r"@i@(?P<adverb>always|usually|normally|typically|generally|never|rarely|mostly"
        r"|only ever) @adv@(?P<verb>[a-z']+)(?P<thing>\s.+)?$",
        _habit,
    ),
    frame(
        r"@i@@adv@(?P<verb>[a-z']+)(?P<thing>\b.*\b(?:every (?:single )?(?:day|week|month|year|morning"
        r"|evening|night|weekday|weekend|other \w+|second \w+|third \w+|two \w+|three \w+|\w+day|spring"
        r"|summer|autumn|winter|january"
        r"|february|march|april|may|june|july|august|september|october|november|december)"
        r"|(?:on )?@weekdays@|(?:once|twice|\w+ times) (?:a|per) (?:day|week|month|year)|daily|at weekends"
        r"|on weekends)\b.*)$",
        _routine,
    ),
    frame(
        r".*\b(?:my|our) (?P<course>(?:[\w-]+ )?(?:course|class|lessons?|choir|rehearsals?|training|club"
        r"|band|therapy|orchestra)),? (?P<when>(?:on )?@weekdays@.*)$",
        _course,
    ),
    frame(
        rf"(?:(?:my|our|the|(?-i:[A-ZÄÖÜÅ])[\w-]+'s) (?:\w+ )?@kin@|mum|mom|dad|grandma|grandpa"
        rf"|granny)(?:,? (?-i:[A-Z])[\w-]+)?,?"
        rf" ?(?:@adv@)(?P<verb>{_KIN_STATES})\s+(?P<rest>.+)$",
        _kin,
    ),
    frame(
        rf"(?:my|our)(?: new| current)? (?P<noun>{_ATTRIBUTES})(?: now)?(?: is"
        rf"| are)(?: now)? (?!been\b)(?P<value>.+)$",
        _attribute,
    ),
    frame(r"(?:my|our) (?P<noun>[\w' -]{2,40}?) (?:is|are) (?:called|named) (?P<name>.+)$", _called),
    frame(
        r"i(?:'m| am)? (?:now )?(?:take|inject|on) (?P<thing>.*(?:\d ?(?:mg|mcg|ml|g|units)\b|every|daily"
        r"|in the (?:morning|evening)|at night).*)$",
        _medicine,
    ),
    frame(
        rf"(?:i|we)(?:'ve| have)? (?:just |finally |recently |now )?(?:got|adopted|bought"
        rf"|inherited) (?P<thing>(?:an?|two|three)\s+(?:(?!of\b)[\w-]+ ){{0,3}}(?:{_BELONGINGS}){_NOUN_ENDS}.*)$",
        _acquired,
    ),
    frame(
        r"(?:i'm|i am) (?:currently |still )?(?:learning|studying|training for|writing (?:a|my) (?:phd"
        r"|thesis|dissertation|book)|doing (?:a|my) (?:phd|master's|apprenticeship)|taking) (?P<thing>.+)$",
        _uses,
    ),
    frame(
        r"(?:we're|we are|i'm) (?P<thing>a (?:team|family|household|company|studio|firm"
        r"|couple) of .+)$",
        _medicine,
    ),
    frame(
        r"(?P<thing>[a-z-]{4,}(?: [a-z-]+)?), (?:an? [\w-]+(?: [\w-]+)? )?(?:every|once|twice"
        r"|\d+ ?mg)\b.*\b(?:since|starting|in the (?:morning|evening)|at night)\b.*$",
        _regimen,
    ),
    frame(
        r"(?:my|our) (?P<new>new )?(?P<noun>[a-z-]+(?: [a-z-]+){0,2}) (?:is|are) (?:still |now |actually )?"
        r"(?P<value>(?-i:[A-ZÄÖÜÅ0-9]|an? [A-Z]).*)$",
        _own_value,
    ),
    frame(
        rf"(?:my|our) (?:new )?(?P<noun>{_ATTRIBUTES}), (?P<name>(?:(?:dr|mr|mrs|ms"
        rf"|prof)\.? )?(?-i:[A-ZÄÖÜÅ])[\w-]+(?: (?-i:[A-ZÄÖÜÅ])[\w-]+)?),.*$",
        _apposition,
    ),
    frame(
        r"@have@@adv@(?P<thing>(?:kids|children|twins|dogs|cats|chickens|hens|bees|rabbits|horses|sheep|goats)\b.*)$",
        _having,
    ),
    frame(r"we (?:now |only |mostly )?use (?P<thing>[\w.+#-]+(?: (?:for|as|with) .+)?)$", _having),
    frame(
        rf"we (?:always |usually |only |all |now |mostly |normally |generally )*(?:{_PRACTICES}) (?P<thing>.+)$",
        _practice,
    ),
    frame(r"i (?P<thing>(?:write|do|send|sign|read|keep) (?:all|every|my) .+)$", _practice),
    frame(rf"i (?:always |usually |only |now |mostly |normally )*(?:{_OWN_PRACTICES}) (?P<thing>.+)$", _practice),
    frame(
        r"i (?:easily )?get (?P<thing>(?:(?:sea|car|air|travel|motion)[- ]?sick|migraines|nosebleeds"
        r"|panic attacks|hives)\b.*)$",
        _practice,
    ),
    frame(
        r"i (?P<thing>(?:studied|graduated|did (?:my|a) (?:phd|master's|degree|apprenticeship)|grew up"
        r"|was born|worked (?:at|for|as)"
        r"|used to (?:work|live|play|be)) .+)$",
        _biography,
    ),
    frame(
        r"(?:now )?(?:i'm|i am) (?:now )?at (?P<place>(?-i:[A-ZÄÖÜÅ])[\w& -]+?(?: as .+|,? since .+|, .+))$", _now_at
    ),
    frame(rf"(?P<who>(?-i:[A-ZÄÖÜÅ])[\w-]+|the @kin@)'s (?P<noun>{_ATTRIBUTES}) is (?P<value>.+)$", _attribute),
    frame(r"(?P<name>(?-i:[A-ZÄÖÜÅ])[\w-]+)(?P<verb> is|'s) (?P<rest>.+)$", _named_state),
    frame(r"(?:we're|we are) (?P<thing>an? (?!bit|little|lot|mess|few|while)[\w-]+ [\w-]+.*)$", _medicine),
    frame(
        r"(?:i|we)(?:'ve| have) (?:been (?=(?:at|with|in|on|an?|the|married|together|vegan|vegetarian|working|living"
        r"|teaching|playing|taking|studying|learning)\b)|lived |worked |had |known |played |used |owned |taught |run )"
        r"(?P<thing>.+ (?:for (?:\d+|two|three|four"
        r"|five|six|seven|eight|nine|ten|twenty|many) (?:years|months)|since (?:\d{4}|the|my|i|january"
        r"|february|march|april|may"
        r"|june|july|august|september|october|november|december|spring|summer|autumn|winter))\b.*)$",
        _medicine,
    ),
    frame(r"(?P<thing>(?!about|only|roughly)[a-z]{5,}) \d+ ?(?:mg|mcg|µg|units|iu)\b.*$", _drug),
    frame(
        r"my (?P<thing>(?:cholesterol|ldl|blood pressure|weight|hba1c|ferritin|tsh|blood sugar"
        r"|resting pulse) (?:is|was) .*\d.*)$",
        _medicine,
    ),
    frame(
        r"(?P<lead>since .+? )?(?P<what>i can(?:'t|not) (?P<verb>run|walk|drive|lift|fly|swim|climb|jump"
        r"|kneel|eat|drink|cycle|dance)"
        r"\b.*)$",
        _inability,
    ),
    frame(r"(?:we're|we are) (?:now )?on (?P<thing>.+)$", _we_are_on),
    frame(r"@i@@adv@use (?P<thing>.+)$", _uses),
)
"""Ways of saying something about one's life and one's people; the first that fits counts."""
