"""The lexicon for comparing statements: words that say that something changed, verbs, and words for the same thing.

Patterns match folded words joined by single spaces. All of it is English: in other languages a changed value is known
by its numbers, its names and its place in the same sentence.
"""

import re
from typing import Final

from commonplace.facts.statement_words import word_set

_MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december"


def _phrases(*phrases: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, which are separated by a comma and a space."""
    parts = [part.strip() for group in phrases for part in group.split(", ")]
    return re.compile(rf"\b(?:{'|'.join(parts)})\b")


ENDING: Final = _phrases(
    r"no longer, any longer, any ?more, (?:is|are) gone",
    r"stopped, quit, quits, quitting, gave up, given up, has left, have left, sold, died",
    r"left (?:the|his|her|their|for|in), passed away, passed the, finished, graduated, retired, retires, resigned",
    r"cancelled, canceled, called off, closed (?:the|down|his|her|their|early), was closed, has closed, shut down",
    r"switched off, turned off, removed, dropped, abandoned, deprecated, replaced, replaces, renamed, divorced",
    r"broke up",
    r"split up, separated, has ended, have ended, ended (?:the|in|last), is over, was over, expired, moved out",
    r"moved away",
    r"got rid of, gave away, threw out, healed, recovered, cured, turned out, used to, formerly, fell through",
    r"(?:not|\w+n't) (?:\w+ ){1,4}after all, stepped down, handed (?:\w+ )?over, on hold, paused, postponed",
    r"put off",
    r"delayed, phased out, decommissioned, unsubscribed, outgrown, outgrew, changed hands, came off",
    r"handed in",
    r"gave (?:\w+ ){1,4}away, was the (?:goal|plan|aim), (?:done|complete|completed)(?: and|$)",
)
"""Says that something known is over."""

TURNING: Final = _phrases(
    r"now, nowadays, these days, by now, instead, as of, effective, this (?:season|year|term|semester|month|week)",
    rf"from (?:now|today|then|next|this|\w+day|{_MONTH}|\d\w*|version \S+)(?: \w+)?(?: \w+)? on(?:wards?)?",
    r"after the \w+, moved, relocated, switched, switching, migrated, migrating, changed, went back, back to",
    r"is back",
    r"reset, upgraded, downgraded, became, becomes, has become, turned into, promoted, raised, lowered",
    r"increased, reduced",
    r"cut to, went up, went down, extended, shortened, brought forward, pushed back, rescheduled, took over",
    r"taken over",
    r"converted, grew to, grown to, rose to, fell to, down to, only \w+ left, swapped, traded, succeeded by",
    r"appointed",
    r"elected, rebranded, goes by, went from, up from, down from, for good, after all, actually, reversed, revised",
    r"corrected, correction, a different, shrank, grew(?! up), expanded, doubled, halved",
    r"had (?:the|a|their|her) (?:\w+ )?(?:baby|child|twins), (?:baby|boy|girl|twins) (?:was|were) born, gave birth",
)
"""Says that something is otherwise than before."""

HINTING: Final = _phrases(
    r"new, newest, latest, again, since, current, currently, starting, meanwhile, in the meantime, joined, started",
    r"began, bought",
    r"adopted, engaged, got, recently, lately, already, updated, moves, moving, switches, waits for, waiting for",
    r"blocked",
    r"last (?:week|month|year|spring|summer|autumn|winter), stalled, has been, is going to, will be",
)
"""May say that something is otherwise than before; many statements that change nothing have such a word."""

ADDING: Final = _phrases(
    "also, too(?: and|$), as well, another, a second, additional, additionally, besides, in addition, both, extra"
)
"""Says that something stands beside what is known."""

FACETS: Final = {
    "home": re.compile(
        r"\b(?:live|lives|living|lived|resides?|based|moved|moves|moving|relocated|settled) "
        r"(?:\w+ )?(?:in|to|at|near|with|back)\b(?! (?:\w+ ){0,3}(?:team|project|role|department|group)\b)|\bhome is\b"
    ),
    "job": re.compile(
        r"\b(?:works?|working|worked|employed|job|joined|hired|employer|position) "
        r"(?:\w+ )?(?:\w+ )?(?:at|for|with|is|as)\b(?! \d)"
        r"|^(?:\w+ )?(?:joined|retired|resigned|laid off)\b"
    ),
    "name": re.compile(r"\b(?:is called|is named|goes by|name is|renamed|is known as)\b|'s name is\b"),
    "diet": re.compile(r"\b(?:vegan|vegetarian|pescatarian|eats? (?:\w+ )?(?:meat|fish)|eating (?:meat|fish))\b"),
    "partner": re.compile(
        r"\b(?:married|single|divorced|engaged|dating|widowed|in a relationship|broke up|separated|split up)\b"
    ),
    "birth": re.compile(
        r"\b(?:expect\w*|had|have) (?:\w+ ){1,2}(?:baby|child|twins)\b|\bpregnant\b|\bbaby (?:is due|was born)\b"
        r"|\bgave birth\b"
    ),
}
"""What someone has one of at a time, however the sentence is built."""

STATES: Final = (
    word_set("married single divorced engaged dating widowed separated"),
    word_set("vegan vegetarian pescatarian"),
    word_set("full-time part-time"),
)
"""Groups of words of which one is true of a person at a time."""

ENDED_BEFORE: Final = word_set(
    "longer stopped quit sold retired dropped finished removed cancelled replaced replaces left instead up off "
    "abandoned broke divorced"
)
"""Words that come before the thing that is over."""

CHANGING: Final = word_set(
    "switched switching moved moving migrated renamed changed went upgraded converted swapped up down back"
)
"""Words after which `from` names what was before."""

VERBS: Final = word_set(
    "borrow bring clean dance deliver donate draw edit feed fish fix harvest hunt invest knit lend paint "
    "pick plant prune record repair save sew translate volunteer watch water "
    "be have do can could may might must shall should will would accept administer allow answer approve arrive "
    "assign attend avoid bake become begin belong book boot break build buy cache call cancel carry celebrate "
    "chair change charge climb close coach collect come commit commute compile conduct consist contain cook cost cover "
    "crash cycle depend deploy design die direct dislike drink drive drop earn eat encrypt end enjoy exist expect "
    "expire export expose extend face fail feel find finish fly follow format get give go grow handle hang happen hate "
    "head hear help hike hold host import include increase index inject join keep know last lead lean learn leave let "
    "lie like listen live log look love make manage marry meet mention mentor merge migrate monitor move name "
    "need occur open order own parse pass pay plan play point postpone practice practise prefer prepare process "
    "provide publish push put quit raise reach read receive recover refuse rehearse reject release rename rent "
    "replace reply report require respond retire return review ride row run say see sell send serve set share "
    "ship show sign sing sit ski skip sleep smoke sound source speak spend stand start stay stop store stream "
    "study suffer supervise supply support swim switch sync tag take target teach tell think track train travel "
    "treat trigger try turn use visit wait wake walk want wear weigh work write"
)
"""Common verbs in their base form, for telling where the subject of a sentence ends."""

IRREGULAR: Final = {
    form: base
    for base, forms in {
        "be": "is are was were been being am isn't aren't wasn't weren't",
        "have": "has had having hasn't haven't",
        "do": "does did doesn't don't didn't done",
        "can": "can't cannot",
        "will": "won't",
        "become": "became",
        "begin": "began begun",
        "break": "broke broken",
        "build": "built",
        "buy": "bought",
        "come": "came coming",
        "die": "died dying",
        "drink": "drank drunk",
        "drive": "drove driven driving",
        "eat": "ate eaten",
        "find": "found",
        "fly": "flew flown flies",
        "get": "got getting gotten",
        "give": "gave given",
        "go": "went gone goes going",
        "grow": "grew grown",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left leaving",
        "lie": "lies lay",
        "make": "made",
        "meet": "met",
        "pay": "paid",
        "ride": "rode ridden riding",
        "run": "ran running",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "stand": "stood",
        "swim": "swam swum",
        "take": "took taken taking",
        "teach": "taught",
        "tell": "told",
        "wear": "wore worn",
        "write": "wrote written writing",
    }.items()
    for form in forms.split()
}
"""Forms of verbs that no ending explains, each with its base form."""

SINGLE_VERBS: Final = word_set(
    "attend begin belong charge commute cost drive earn end expire finish last live meet move report retire "
    "ride sit sleep smoke stand start wake weigh work"
)
"""Verbs that have one value at a time even when their subject is a person."""

MULTIPLE_VERBS: Final = word_set(
    "avoid buy collect contain dislike drink enjoy grow hate have include know handle learn like love manage own play "
    "provide read refuse sell speak support teach visit"
)
"""Verbs that have several values at a time, whatever their subject."""

SCOPED_VERBS: Final = word_set(
    "administer bake call can coach cook cover do eat give make mentor need pay prefer review see share "
    "study supervise take use want write"
)
"""Verbs that have several values at a time, and one at a time for the same thing: `uses X for notes`."""

MANY_OBJECTS: Final = word_set("allergic afraid interested good fluent fond keen")
"""Words after which someone may have several things: allergic to nuts and to cats."""

LEADING_VERBS: Final = word_set("chair conduct direct head lead")
"""Verbs of which one person at a time is the subject, for the same thing."""

LIGHT_VERBS: Final = word_set(
    "come feel find give hold host locate offer own provide run see sit spend stand stay work"
)
"""Verbs that say little beside what follows them; so do those among the generic words."""

PHRASES: Final = (
    (r"(?:can't|cannot|can not) (?:stand|bear)|(?:gets?|is|are) (?:annoyed|bothered|irritated) (?:by|when)", "hates"),
    (r"(?:native|first|mother) (?:language|tongue)", "mother tongue"),
    (r"(?:is )?(?:a )?native speaker of", "mother tongue is"),
    (
        r"(?:doesn't|don't|does not|do not|never) eats? (?:any )?meat(?:(?: or|,| and) fish)?(?! any| but|,)",
        "is vegetarian",
    ),
    (r"(?:doesn't|don't|does not|do not|never) drinks? (?:any )?alcohol(?! any)|is (?:a )?teetotall?er", "is teetotal"),
    (r"looks? after|takes? care of|(?:is|are) (?:responsible for|in charge of)", "handles"),
    (r"close to", "near"),
    (r"(full|part) time", r"\1-time"),
    (r"turned (\d+)(?! \w+s\b)", r"is now \1 years old"),
)
"""Patterns for several words that mean the same as others, with those."""

GENERIC: Final = word_set(
    "user person people thing way time day days week month year years always each every everything all only also "
    "still just most more many much lot some any no not very good well get got go do make keep take use want like "
    "have be put set need happen place please should must can will would may could might about with from into "
    "onto over under after before during until till than then there here when where because so as by to for of in "
    "on at up out off or and but if it its this that these those he she they we i you his her their our my your "
    "him them us me one own name call contain something anything mention say tell ask note remember currently now "
    "new current since again back near times things ways "
    "per via using based handle whenever wherever daily usually often "
    "never ever instead too "
    "a an the is are was were been has had does did who which what whose while both either neither such same "
    "mr mrs ms dr prof other another around between within without herself himself themselves itself myself yourself"
)
"""Words that say nothing about what a statement is about."""

_SYNONYMS: Final = (
    "answer answers reply replies response responses respond",
    "short brief concise terse",
    "long detailed lengthy thorough verbose",
    "bicycle bike bikes cycle cycles cycling",
    "car vehicle automobile",
    "flat apartment",
    "film movie",
    "firm company employer business",
    "child children kid kids baby babies",
    "afraid scared frightened fear fears",
    "explain explanation explanations",
    "deliver delivers delivery ship ships shipped shipping",
    "married marriage spouse husband wife",
    "phone phoned telephone call calls",
    "mail mails email emails e-mail",
    "repository repo",
    "database db postgres postgresql",
    "documentation docs",
    "job occupation profession",
    "photo photos picture image",
    "colour color",
    "begin start",
    "buy bought purchase purchased",
    "large big",
    "small little",
    "prefer favour favourite favorite want like",
    "live reside residence",
    "forbidden prohibited banned disallowed",
    "build compile",
    "doctor physician gp",
    "holiday vacation",
    "mother mum mom",
    "father dad",
    "month months monthly",
    "week weeks weekly",
    "day days daily",
    "year years yearly",
    "machine computer pc",
    "screen monitor display",
    "library package",
    "mathematics maths math",
    "error bug failure",
    "meeting meetings meet appointment",
    "own possess",
    "rent hire lease let tenant",
    "boss manager supervisor",
    "ill sick",
    "test tests testing",
    "ci integration",
    "birthday born birth birthplace",
    "language tongue",
    "salary pay paid wage",
    "engineer developer dev programmer",
    "lawyer attorney solicitor",
)
SYNONYMS: Final = {word: group.split()[0] for group in reversed(_SYNONYMS) for word in group.split()}
"""Common words with the first word of their group; of several groups that have a word the first one counts."""
