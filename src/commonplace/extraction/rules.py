"""Facts by rules alone: what a person plainly states in a conversation, with its evidence. Pure, precision first.

`extract_by_rules` reads the person's turns clause by clause. `speech` says which clauses are the person's own plain
words, the frames say which of them state something that lasts, and what remains becomes candidates: with absolute
times, without what the same conversation took back or replaced, each thing once. Everything that had the form of a
statement and was not taken is in the rejections, with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Final

from commonplace.extraction.clause_classifier import ClauseInContext
from commonplace.extraction.dated_frames import DATED_FRAMES
from commonplace.extraction.household_frames import HOUSEHOLD_FRAMES
from commonplace.extraction.personal_frames import CIRCUMSTANCE_FRAMES, PERSONAL_FRAMES
from commonplace.extraction.speech import MOST_CHARACTERS, SpokenClause, clauses_of, is_played
from commonplace.extraction.spoken_dates import absolute_dates
from commonplace.extraction.standing_frames import STANDING_FRAMES
from commonplace.extraction.statement import KIN, PlainStatement, is_mood, is_vague, plain_statement, statements
from commonplace.extraction.third_person import about_person, as_sentence
from commonplace.model.fact import KINDS
from commonplace.model.learning import ExtractedFact, Extraction, Rejection, RejectReason, Turn
from commonplace.model.text import LazyPattern, fold_phrase

ClauseWeigher = Callable[[Sequence[ClauseInContext]], Sequence[float]]
"""For each clause how likely it states something that lasts and can be understood alone, from 0 to 1."""

LIKELY: Final = 0.85
"""From here on a clause without a frame is taken: of such clauses of authors left out of the fit, 93 % were right."""
UNLIKELY: Final = 0.15
"""Below that a clause is not taken although a frame fits it."""
MOST_FACTS: Final = 40
"""Facts of one conversation; what comes after them is rejected as `too_many`."""

_FRAMES: Final = (*STANDING_FRAMES, *DATED_FRAMES, *CIRCUMSTANCE_FRAMES, *PERSONAL_FRAMES, *HOUSEHOLD_FRAMES)
_LONG_AGO: Final = timedelta(days=31)
_REPLY: Final = 300  # characters of the reply before a clause that say what it answers
_MOST_REJECTIONS: Final = 200
_LONGEST: Final = 300  # characters of a statement
_CALENDAR_DAY: Final = LazyPattern(
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|spring|summer|autumn"
    r"|winter) \d{4}|\b\d{4}-\d\d-\d\d\b"
)
_FULL_DAY: Final = LazyPattern(
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b"
)
_SECRETIVE: Final = LazyPattern(
    r"(?i)\b(?:pass ?words?|passphrase|pass ?code|pin|tokens?|secrets?|credentials?|api[ -]?keys?|private key|log-?in"
    r"|2fa|otp|cvv|iban|ssn|seed phrase|connection string)\b|://[^\s/]*:[^\s/]*@"
)
"""Where these are spoken of, a sentence that no frame knows may hold a secret."""
_STRUCTURED: Final = LazyPattern(
    r"^[ \t]*[-*][ \t]+\[(?P<kind>[a-z-]{3,20})\][ \t]+(?P<text>\S.{3,280})$", re.MULTILINE
)
_FIELD: Final = LazyPattern(
    r"(?im)^[ \t]*(?:[-*][ \t]+)?(?P<key>name|full name|role|job|job title|location|city|time ?zone|language|company"
    r"|employer|birthday|diet|allergies|pronouns|hobbies)[ \t]*:[ \t]*(?P<value>[^\n:?]{2,120})$"
)
_RULE_CHANGED: Final = LazyPattern(
    r"\b(?:rule|policy|convention)s? (?:\w+ ){0,2}changed\b"
    r"|\bchanged (?:the|our|that|this) (?:\w+ )?(?:rule|policy|convention)"
)
_POLICY: Final = LazyPattern(
    r"(?i)^(?:that's|that is|this is) (?:our|my|the|a|how we|how i) (?:(?:house|team|company"
    r"|general) )?(?:policy|rule"
    r"|convention|practice|standard|principle|do it|work)\b"
)
_PRONOUN: Final = LazyPattern(r"(?i)^(?P<pronoun>he|she|it|they)(?P<verb>'s|'re| is| are| has| have|(?= ))")
_OTHERS: Final = LazyPattern(r"(?i)\b(?:he|she|him|her|his|they|their|theirs|it|that|this|its|there)\b")
_ONE_WEEKDAY: Final = LazyPattern(
    r"(?i)(?<!every )(?<!second )(?<!other )\bon (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
)
_SUBJECTLESS: Final = LazyPattern(
    r"(?i)(?:just |finally |recently |already )?(?:sold|switched|moved|closed|cancelled|canceled|bought|adopted|quit"
    r"|gave up|got rid of|changed jobs|joined|signed up|migrated)\s(?!by\b|it\b|that\b)"
)
_EXCHANGED: Final = LazyPattern(r"(?<![\w.:])(?P<new>[\w.:]{1,24}),? not (?P<old>[\w.:]{1,24})\b")
_GIVEN_UP: Final = LazyPattern(r"(?:Sold|Quit|Cancell?ed|Closed|Gave up|Got rid of)\b")
_WHEN: Final = LazyPattern(r"(?i)\s(?:yesterday|today|(?:last|this) \w+)$")
_SAID_BEFORE: Final = LazyPattern(
    r"(?i)\bi (?:said|wrote) (?:the )?(?P<old>\d+)(?:st|nd|rd|th)?\b,? (?:but )?it's (?:the )?"
    r"(?P<new>\d+)(?:st|nd|rd|th)?\b"
)
_BARE: Final = LazyPattern(
    r"(?:No longer |Is )?(?:[Ss]topped|[Qq]uit|[Ss]tarted|[Bb]egan|[Gg]ave up|[Ss]witched|[Cc]hanged|[Ll]eft|[Mm]oved)"
    r"(?: (?:in|on|since|at|last|this|around|about)\b[^,]*)?\."
)
_SAMPLE: Final = LazyPattern(r"\b(?:XYZ|ABC|Foo|John Doe|Jane Doe|Lorem)\b|\bexample\.(?:com|org)\b")
_UNKNOWN: Final = LazyPattern(
    r"^(?!The |[A-Z][a-z]+ (?:is|has)\b).*\b(?:him|its)\b"
    r"|\b(?:from|to|with|by|for) (?:her|him)(?=$|[,.]| (?:in|on|at|since|last|and|from)\b)"
)
_OBJECT_PRONOUN: Final = LazyPattern(
    r"(?i)\b(from|to|with|by|for) (?:her|him)(?=$|[,.]| (?:in|on|at|since|last|and|from)\b)"
)
_USER: Final = LazyPattern(r"\b[Tt]he user\b(?!'s name| is [A-ZÄÖÜÅ])")
_BY_THE_WAY: Final = LazyPattern(r"(?i)\b(?:by the way|btw|fyi|for your information|just so you know)\b")
_ASIDE: Final = LazyPattern(
    r"(?i)(?P<article>the |our |my )?(?P<noun>[a-z-]+(?: [a-z-]+)?) (?:is|are) (?P<value>[^?]+)$"
)
_PERSON: Final = LazyPattern(rf"(?i)\b(?:my|our) (?:\w+ )?(?:{KIN})(?:,? (?-i:[A-ZÄÖÜ])[\w-]+)?\b")
_NAMED_PERSON: Final = LazyPattern(
    r"^(?P<first>[A-ZÄÖÜ][a-zäöüéñ]+)(?= (?:usually |always |normally )?(?:does|is|has|writes|takes"
    r"|wants|handles|owns|runs|can|starts|goes|turns|loves|hates|likes|lives|works|needs|plays|left|moved)\b)"
    r"|(?i:\b(?:colleague|friend|boss|manager|doctor|teacher|coach|neighbour|neighbor|accountant|lawyer)),? "
    r"(?P<named>[A-ZÄÖÜ][a-zäöüéñ]+)|\b(?P<title>(?:Dr|Mr|Mrs|Ms|Prof)\.? [A-ZÄÖÜ][\w-]+)"
)
_OWN_THING: Final = LazyPattern(
    r"(?i)\b(?:my|our) (?P<thing>[a-z-]+?(?: [a-z-]+?)??)(?= (?:first|is|was|needs|before|and)\b|[,.]|$)"
)
_MOVED_IN: Final = LazyPattern(
    r"(?i)\b(?:got|have|picked up) the keys\b|\bmoved in\b|\bmoved house\b|\bnew (?:house|flat|place)\b"
)
_COMPARED: Final = LazyPattern(
    r"(?P<new>[A-ZÄÖÜÅ][\w-]+) is (?:so |much |a lot |way )?[\w ]{3,30}? (?:compared to"
    r"|than) (?P<old>[A-ZÄÖÜÅ][\w-]+)\b"
)
_PROPER_NAME: Final = LazyPattern(r"[A-ZÄÖÜÅ][\w-]+(?: [A-ZÄÖÜÅ][\w-]+){0,2}")
_NAME_OF_THING: Final = LazyPattern(
    r"\b(?!January|February|March|April|May|June|July|August|September|October|November|December)[A-ZÄÖÜÅ]"
)
_CARRIER: Final = LazyPattern(
    r"(?i)^(?:(?:maybe|perhaps|probably|possibly|apparently|supposedly|do|does|did|if|what if|would"
    r"|suppose|imagine)\s+"
    r"|i (?:think|guess|believe|suppose|heard|read)(?: that)?\s+"
    r"|[\w' ]{1,40}?\b(?:says?|said|swears?|claims?|thinks?|told (?:me|us))(?: that)?\s+)"
)
_CONTINUED: Final = LazyPattern(r"(?i)(?:always|never)\b")
_SUBJECT: Final = LazyPattern(
    r"(?i)(?:i|we|they|he|she|it|you|my|our|his|her|their|the|i'\w+|they'\w+|he's|she's|it's)\b"
)
_SCOPE: Final = LazyPattern(
    r"(?i)\b(?:policy|rule|convention|practice|standard) (?P<scope>(?:in|for|at|with"
    r"|on) .+)$"
)
_POSSESSIVE: Final = LazyPattern(r"(?i)^(?:her|his) (?=[a-z]+(?: [A-Za-z]+)? (?:is|lives|works|has)\b)")
_PLACE: Final = LazyPattern(
    r"\b(?:in|to) (?P<place>(?!January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)[A-ZÄÖÜÅ][\w-]+)"
)
_SWITCHED: Final = LazyPattern(r"(?i)(?:i|we) (?:switched|changed)(?: my| our)? (?P<topic>[\w-]+(?: [\w-]+)?)$")
_SETTLED: Final = LazyPattern(
    r"(?i)(?:the |my |our )?(?P<topic>[\w-]+(?: [\w-]+)?) (?:is|are) (?:done|sorted|settled|fixed)$"
)
_ACCEPTANCE: Final = LazyPattern(
    r"(?i)\W*(?:(?:yes|ok|okay|yeah|sure|right|good|great|perfect|agreed|deal|fine)[,.! ]*)*(?:agreed"
    r"|deal|let's do (?:that"
    r"|it|this)|let's go with (?:that|it|this)|we'll do (?:that|it)|do it that way|that's decided|decided)\W*"
)
_PROPOSAL: Final = LazyPattern(
    r"(?i)(?:^|[.!?]\s+)(?:then |so )?(?:(?:shall|should) we|i(?:'d| would)? (?:suggest|propose"
    r"|recommend)(?: that)? (?:we|you)"
    r"|let's|how about we|we could)\s+(?P<choice>(?:use|go with|keep|call|name|switch to|move to"
    r"|choose|pick|adopt|start"
    r"|stay with|host|deploy|write|ship)\b[^?.!\n]{3,160})[?.!]*\s*$"
)
_STEP: Final = LazyPattern(
    r"(?i)^(?:first|then|next|after that|afterwards|finally|and then|day (?:one|two|three)|at the end)\b"
)
_PROCESS: Final = LazyPattern(
    r"(?i)\b(?:explain|tell you|show you|this is|here's|here is|that's|describe) how (?:we"
    r"|i) (?P<what>(?!do\b|can\b|could\b|should\b|would\b)[a-z]+ [\w ]{3,50}?)(?= so\b| because\b|[,.:;]|$)"
)


@dataclass(slots=True)
class _Reading:
    """What was found so far in one conversation, and what pronouns may stand for."""

    found: list[tuple[PlainStatement, ExtractedFact]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    owner: str = ""
    person: str = ""
    thing: str = ""
    place: str = ""
    near: date | None = None
    process: str = ""
    options: list[str] = field(default_factory=list)
    weights: dict[tuple[int, int], float] = field(default_factory=dict)
    reply: str = ""


def extract_by_rules(
    turns: Sequence[Turn], *, day: str, person: str = "", weigh: ClauseWeigher | None = None
) -> Extraction:
    """What the person states in these turns. `day` is the day of turns that have none; `person` the owner's name.

    With `weigh`, clauses that no frame knows are taken if they are likely to last, and unlikely ones are not taken.
    Nothing that the assistant, a tool or a quoted text says becomes a fact.
    """
    reading = _Reading(owner=person)
    played = is_played(turns)
    if weigh and not played:
        reading.weights = _weights(turns, weigh)
    for index, turn in enumerate(turns):
        said = _day(turn.day) or _day(day)
        if turn.role != "user":
            reading.reply = turn.text[-_REPLY:]
            _reject_foreign(turn, reading)
        elif played:
            _reject_played(turn, reading)
        elif not _accept_proposal(turn, turns[:index], reading):
            _read_turn(turn, said, reading)
    return _extraction(reading)


def _weights(turns: Sequence[Turn], weigh: ClauseWeigher) -> dict[tuple[int, int], float]:
    """The weight of each plain clause of the person, by the number of its turn and its place in it."""
    clauses: dict[tuple[int, int], ClauseInContext] = {}
    before = ""
    for index, turn in enumerate(turns):
        if turn.role != "user":
            before = turn.text[-_REPLY:] if turn.role == "assistant" else ""
            continue
        for position, each in enumerate(clauses_of(turn.text)):
            if each.text and each.reason is None:
                context = ClauseInContext(each.text, each.marks, position, index, before)
                clauses[turn.number, each.start] = context
    return dict(zip(clauses, weigh([*clauses.values()]), strict=True))


def _day(text: str) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text[:10])
    return None


def _reject_foreign(turn: Turn, reading: _Reading) -> None:
    """The statements and instructions of a turn that is not the person's, as rejections."""
    for clause in clauses_of(turn.text):
        if clause.reason == "instruction":
            _reject(reading, clause.text, "instruction", turn)
            return  # one is enough: no part of this turn is taken
        if _states(clause):
            _reject(reading, clause.text, "not_the_person", turn)


def _reject_played(turn: Turn, reading: _Reading) -> None:
    for clause in clauses_of(turn.text):
        if clause.reason in {"quotation", "instruction"} or _states(clause):
            _reject(reading, clause.text, clause.reason or "hypothetical", turn)


def _states(clause: SpokenClause) -> bool:
    """True if the clause has the form of a statement, after the words that report or weaken it."""
    texts = (clause.text, _CARRIER.sub("", clause.text)) if clause.reason else (clause.text,)
    return clause.reason != "junk" and any(next(statements(text, _FRAMES), None) for text in texts)


def _reject(reading: _Reading, text: str, reason: RejectReason, turn: Turn) -> None:
    if text and len(reading.rejections) < _MOST_REJECTIONS:
        reading.rejections.append(Rejection(text, reason, turn.number))


def _accept_proposal(turn: Turn, before: Sequence[Turn], reading: _Reading) -> bool:
    """Take the assistant's proposal as decided, if accepting it is all that the person says."""
    if not before or before[-1].role != "assistant" or not _ACCEPTANCE.fullmatch(turn.text.strip()[:200]):
        return False
    proposal = _PROPOSAL.search(before[-1].text[-600:])
    if not proposal:
        return False
    choice = proposal["choice"].strip()
    statement = PlainStatement(text=as_sentence(f"decided to {choice}"), kind="decision", slot="choice")
    _add(reading, statement, turn, quote=turn.text.strip(), said=None)
    return True


def _correct(turn: Turn, reading: _Reading) -> None:
    """Put the value that the turn names in the place of the one that it takes back: "it's 71, not 70"."""
    text = turn.text[:MOST_CHARACTERS]
    for match in (*_EXCHANGED.finditer(text), *_SAID_BEFORE.finditer(text)):
        new, old = match["new"].strip(".:"), match["old"].strip(".:")
        if not old or new[:1].isdigit() != old[:1].isdigit() or new[:1].isupper() != old[:1].isupper():
            continue
        if not (old[:1].isdigit() or old[:1].isupper()):
            continue
        value = re.compile(rf"\b{re.escape(old)}\b")
        for index, (statement, fact) in enumerate(reading.found):
            if fact.turn < turn.number and value.search(fact.text):
                reading.found[index] = (statement, replace(fact, text=value.sub(new, fact.text)))


def _read_turn(turn: Turn, said: date | None, reading: _Reading) -> None:
    _correct(turn, reading)
    clauses = clauses_of(turn.text)
    if not any(clause.reason in {"instruction", "quotation"} for clause in clauses):
        _read_lines(turn, reading, said)
    _read_move(turn, clauses, reading, said)
    steps = _steps(clauses, reading)
    is_secretive = bool(_SECRETIVE.search(turn.text[:MOST_CHARACTERS]) or _SECRETIVE.search(reading.reply))
    reading.thing = ""
    for index, clause in enumerate(clauses):
        if index in steps:
            continue
        statement = _statement(clause, clauses[:index], reading, said=said)
        weight = reading.weights.get((turn.number, clause.start))
        if statement is None and weight is not None and weight >= LIKELY and not is_secretive:
            statement = plain_statement(_resolved(clause.text, reading))
        is_over = clause.reason == "passing" and statement is not None and bool(_GIVEN_UP.match(statement.text))
        if clause.reason and not is_over:  # what was given up yesterday is over for good
            if statement or clause.reason in {"quotation", "instruction"} or _states(clause):
                _reject(reading, clause.text, clause.reason, turn)
        elif statement and weight is not None and weight < UNLIKELY:
            _reject(reading, clause.text, "unimportant", turn)
        elif statement:
            statement = _with_reasons(statement, clause, clauses[index + 1 :])
            _keep(reading, statement, clause, clauses[:index], turn=turn, said=said)
        _note_referents(clause, reading, said)
    if steps:
        _keep_process(reading, [clauses[index] for index in sorted(steps)], turn, said)
    _note_process(turn, clauses, reading)


def _statement(
    clause: SpokenClause, before: Sequence[SpokenClause], reading: _Reading, *, said: date | None
) -> PlainStatement | None:
    """What the clause states; or the clause before it, if this one says that it is a rule."""
    if before and _POLICY.match(clause.text) and before[-1].sentence == clause.sentence and not before[-1].reason:
        scope = _SCOPE.search(clause.text)
        words = f"{before[-1].text} {scope['scope']}" if scope else before[-1].text
        return PlainStatement(text=about_person(words), kind="fact", slot="policy")
    text = _resolved(clause.text, reading)
    text = f"i {text}" if _SUBJECTLESS.match(text) else text
    statement = _first(text, said) or _aside(text, clause.marks) or _changed_rule(text, clause.marks)
    if statement and _CONTINUED.match(text) and before and before[-1].sentence == clause.sentence:
        return None if _SUBJECT.match(before[-1].text) else statement  # "they always leave me laughing"
    if statement is None and "," in text:
        return _in_tail(text, said)
    return statement


def _changed_rule(text: str, marks: str) -> PlainStatement | None:
    """What follows "the rule changed:", in words that no frame knows."""
    statement = _first(f"rule: {text}", None) if _RULE_CHANGED.search(marks) else None
    return replace(statement, relation="update") if statement else None


def _in_tail(text: str, said: date | None) -> PlainStatement | None:
    """What the words after a comma state, the longest tail first; with the words before it if these deny something."""
    parts = text.split(",")
    for number in range(1, len(parts)):
        statement = _first(",".join(parts[number:]).strip(), said)
        if statement is None:
            continue
        if statement.kind == "preference" and re.match(r"(?i)no \w", text):
            words = f"{','.join(parts[:number])}; {statement.text.rstrip('.').lower()}"
            return replace(statement, text=as_sentence(words))
        return statement
    return None


def _first(text: str, said: date | None) -> PlainStatement | None:
    """The first statement of the words; one that needs a day and has none only if there is no other."""
    undated = None
    for statement in statements(text, _FRAMES):
        if statement.joins or not statement.needs_date or _has_day(statement.text, said):
            return statement
        undated = undated or statement
    return undated


def _has_day(text: str, said: date | None) -> bool:
    return bool(_CALENDAR_DAY.search(absolute_dates(text, said).text if said else text))


def _aside(text: str, marks: str) -> PlainStatement | None:
    """A value that the person mentions by the way, of whatever thing: that is said to be known from then on."""
    match = _ASIDE.match(text) if _BY_THE_WAY.search(marks) else None
    if match is None or is_vague(text) or is_mood(match["value"]):
        return None
    return PlainStatement(
        text=about_person(text if match["article"] else f"the {text}"),
        kind="fact",
        slot=match["noun"].lower(),
        is_value=True,
    )


def _resolved(text: str, reading: _Reading) -> str:
    """The clause with a pronoun at its beginning replaced by what it stands for, if that is known."""
    if reading.person:
        text = _OBJECT_PRONOUN.sub(lambda match: f"{match[1]} {_bare(reading.person)}", text)
        text = _POSSESSIVE.sub(f"{_bare(reading.person)}'s ", text)
    match = _PRONOUN.match(text)
    if not match:
        return text
    pronoun = match["pronoun"].lower()
    referent = reading.thing if pronoun == "it" else reading.person if pronoun in {"he", "she"} else ""
    if not referent:
        return text
    verb = {"'s": " is", "'re": " are"}.get(match["verb"].lower(), match["verb"])
    if re.match(r"(?i) (?:been|got|had)\b", text[match.end() :]):
        verb = " has"
    return f"{referent}{verb}{text[match.end() :]}"


def _bare(person: str) -> str:
    """A person as the object of a sentence: `Ingrid`, or `the sister`."""
    return re.sub(r"(?i)^(?:my|our) ", "the ", person)


def _note_referents(clause: SpokenClause, reading: _Reading, said: date | None) -> None:
    """Remember who, what and when the next `she`, `it` or `the 25th` may stand for; the last one counts."""
    if said and clause.reason is None:
        day = _last_day(absolute_dates(clause.text, said, near=reading.near).text)
        reading.near = day if day and day > said else reading.near
    if match := _PERSON.search(clause.text) or _NAMED_PERSON.search(clause.text):
        reading.person = match.group(match.lastgroup or 0)
    if match := _PLACE.search(clause.text):
        reading.place = match["place"]
    match = _OWN_THING.search(clause.text)
    reading.thing = f"my {match['thing']}" if match and not _PERSON.search(clause.text) else ""


def _keep(
    reading: _Reading,
    statement: PlainStatement,
    clause: SpokenClause,
    before: Sequence[SpokenClause],
    *,
    turn: Turn,
    said: date | None,
) -> None:
    """Add the statement, with the clauses that it needs; reject it if it does not stand alone."""
    start = clause.start
    if statement.slot == "policy":
        start = before[-1].start
    if statement.joins:
        joined = _joined(statement, clause, before, place=reading.place)
        if joined is None:
            _reject(reading, clause.text, "junk", turn)
            return
        statement, start = joined
    if statement.slot == "choice":
        chosen = _with_topic(statement, reading)
        if chosen is None:
            _reject(reading, clause.text, "unimportant", turn)
            return
        statement = chosen
    if _BARE.fullmatch(statement.text):
        _reject(reading, clause.text, "junk", turn)
        return
    if statement.is_value and (event := _event_of(reading)):
        statement = replace(statement, text=as_sentence(f"{statement.text.rstrip('.')} ({event})"))
    _add(reading, statement, turn, quote=turn.text[start : clause.end].strip(), said=said)


def _event_of(reading: _Reading) -> str:
    """The event that the conversation is about, if it is about one: a budget said next is the event's."""
    events = {
        fact.text[: len(each.slot) - len("event ")]
        for each, fact in reading.found
        if each.slot.startswith("event the ")
    }
    event = events.pop() if len(events) == 1 else ""
    return event[:1].lower() + event[1:]


def _with_reasons(statement: PlainStatement, clause: SpokenClause, after: Sequence[SpokenClause]) -> PlainStatement:
    """A bare value with the rest of its sentence, which says why or for how long; unless that states something else."""
    rest = [each for each in after if each.sentence == clause.sentence]
    if not statement.is_value or any(each.reason or not each.text or _states(each) for each in rest):
        return statement
    tail = "; ".join(each.text for each in rest)
    return replace(statement, text=as_sentence(f"{statement.text.rstrip('.')}; {tail}")) if tail else statement


def _joined(
    statement: PlainStatement, clause: SpokenClause, before: Sequence[SpokenClause], *, place: str
) -> tuple[PlainStatement, int] | None:
    """The statement with the words of the clause before it, and where these begin."""
    near = [each for each in before if each.text and each.reason is None]
    last = near[-1] if near else None
    text = statement.text.rstrip(".")
    if statement.kind == "preference":
        if last is None or last.sentence != clause.sentence:
            return None
        return replace(statement, text=as_sentence(f"{last.text}, {text[:1].lower()}{text[1:]}")), last.start
    if statement.text.startswith("Booked"):
        if last and _PROPER_NAME.fullmatch(last.text):
            return replace(statement, text=as_sentence(f"{last.text}, {text[:1].lower()}{text[1:]}")), last.start
        return (statement, clause.start) if _NAME_OF_THING.search(text[len("Booked") :]) else None
    if statement.slot == "stay":
        return (replace(statement, text=f"In {place}: {text}."), clause.start) if place else None
    if last is None or last.sentence != clause.sentence:
        return None
    if statement.kind == "event":
        when = re.search(r"(?i)\bon .+$", last.text)
        return (replace(statement, text=as_sentence(f"{text} is {when.group()}")), last.start) if when else None
    match = _SETTLED.match(last.text) or _SWITCHED.match(last.text)
    if match is None:
        return None
    topic = match["topic"]
    return replace(statement, text=f"{topic}: {text[:1].lower()}{text[1:]}.", ends=topic), last.start


def _with_topic(statement: PlainStatement, reading: _Reading) -> PlainStatement | None:
    """A decision with what it is about, from the person's own earlier words that name the choice; None if unknown."""
    choice = statement.text.removeprefix("Decided: ").split(",")[0].rstrip(".")
    key = fold_phrase(choice)
    for text in reversed(reading.options):
        if key not in fold_phrase(text):
            continue
        topic = re.search(
            r"(?i)\b(?:for|about|decide on|choose|pick) ((?:the|our|my) [\w -]{3,60}?)(?=[?.,:;]| in\b|$)", text
        )
        if topic:
            return replace(statement, text=as_sentence(f"{statement.text.rstrip('.')} ({topic[1]})"))
    return None


def _add(reading: _Reading, statement: PlainStatement, turn: Turn, *, quote: str, said: date | None) -> None:
    text = " ".join(statement.text.split())
    if reading.owner:
        text = _USER.sub(reading.owner, text)
    valid_from = valid_until = ""
    if said:
        dated = absolute_dates(text, said, starts=statement.starts, near=reading.near)
        text, valid_from, valid_until = dated.text, dated.valid_from, dated.valid_until
        reading.near = _last_day(text) or reading.near
        if statement.relation != "new" and valid_from and valid_from < (said - _LONG_AGO).isoformat():
            valid_from = ""  # memory may have learned the old value since, and would take it for the newer one
    text = text[:1].upper() + text[1:]
    if statement.needs_date and not _CALENDAR_DAY.search(text):
        _reject(reading, text, "passing", turn)
        return
    if len(text) > _LONGEST or _OTHERS.search(text.partition(" ")[0]) or _UNKNOWN.search(text):
        _reject(reading, text, "junk", turn)
        return
    if reason := _late_reason(text):
        _reject(reading, text, reason, turn)
        return
    fact = ExtractedFact(
        text=text,
        quote=quote,
        turn=turn.number,
        kind=statement.kind,
        fact=statement.fact,
        relation=statement.relation,
        ends=_WHEN.sub("", statement.ends),
        valid_from=valid_from if statement.kind != "event" else "",
        valid_until=valid_until if statement.kind != "event" else "",
    )
    reading.found.append((statement, fact))


def _last_day(text: str) -> date | None:
    """The last full day that the text names."""
    days = _FULL_DAY.findall(text)
    with suppress(ValueError):
        return datetime.strptime(days[-1], "%d %B %Y").date() if days else None
    return None


def _late_reason(text: str) -> RejectReason | None:
    """Why a whole statement is not worth offering: it is about one day of a week, or about names of examples."""
    if _ONE_WEEKDAY.search(text):
        return "passing"
    return "hypothetical" if _SAMPLE.search(text) else None


def _read_move(turn: Turn, clauses: Sequence[SpokenClause], reading: _Reading, said: date | None) -> None:
    """A new home that is named in passing: "we got the keys! York is so quiet compared to Leeds"."""
    plain = [each for each in clauses if each.reason is None]
    moved = any(_MOVED_IN.search(each.text) for each in plain)
    for clause in plain if moved else ():
        if match := _COMPARED.match(clause.text):
            when = f" since {said:%B %Y}" if said else ""
            text = f"Lives in {match['new']} now{when}, no longer in {match['old']}."
            statement = PlainStatement(
                text=text, kind="identity", fact="identity", relation="update", ends=match["old"], slot="home"
            )
            _add(reading, statement, turn, quote=turn.text[clause.start : clause.end].strip(), said=None)


def _read_lines(turn: Turn, reading: _Reading, said: date | None) -> None:
    """Facts in structured lines: `- [preference] Answers in Dutch`, `Name: Ada`."""
    text = turn.text[:MOST_CHARACTERS]
    for match in _STRUCTURED.finditer(text):
        if match["kind"] in KINDS:
            statement = PlainStatement(text=as_sentence(match["text"].strip()), kind=match["kind"])
            _add(reading, statement, turn, quote=match.group().strip(), said=said)
    for match in _FIELD.finditer(text):
        key = " ".join(match["key"].lower().split())
        statement = PlainStatement(
            text=as_sentence(f"the user's {key} is {match['value'].strip()}"), kind="identity", slot=key
        )
        _add(reading, replace(statement, fact="identity"), turn, quote=match.group().strip(), said=said)


def _note_process(turn: Turn, clauses: Iterable[SpokenClause], reading: _Reading) -> None:
    """Remember what the person is about to explain, and the options that questions name."""
    reading.options.append(turn.text[:MOST_CHARACTERS])
    for clause in clauses:
        if match := _PROCESS.search(clause.text):
            reading.process = match["what"].strip()


def _steps(clauses: Sequence[SpokenClause], reading: _Reading) -> frozenset[int]:
    """The numbers of the clauses that are steps of a process that the person explains; empty if none is explained."""
    explains = reading.process or any(_PROCESS.search(clause.text) for clause in clauses)
    if sum(map(_is_step, clauses)) < 2 and not any(each.slot.startswith("process") for each, _ in reading.found):
        return frozenset()
    first = next((index for index, clause in enumerate(clauses) if _is_step(clause)), None)
    if not explains or first is None:
        return frozenset()
    return frozenset(
        index
        for index, clause in enumerate(clauses)
        if index >= first and clause.text and clause.reason in {None, "hypothetical"}
    )


def _is_step(clause: SpokenClause) -> bool:
    return bool(_STEP.match(clause.text) or re.search(r"\b(?:then|first)\b", clause.marks))


def _keep_process(reading: _Reading, steps: Sequence[SpokenClause], turn: Turn, said: date | None) -> None:
    """Add the steps as one workflow; further steps of the same process are added to its text."""
    start, end = steps[0].start, steps[-1].end
    words = " ".join(turn.text[start:end].split())
    process = reading.process or next((m["what"] for step in steps if (m := _PROCESS.search(step.text))), "")
    earlier = next((index for index, (each, _) in enumerate(reading.found) if each.slot == f"process {process}"), None)
    text = as_sentence(f"how to {process}: {words}") if earlier is None else as_sentence(words)
    if earlier is not None:
        statement, fact = reading.found[earlier]
        longer = f"{fact.text} {text}"
        if len(longer) <= 2 * _LONGEST:
            reading.found[earlier] = (statement, replace(fact, text=longer))
        return
    if len(text) > 2 * _LONGEST or len(steps) < 2:
        _reject(reading, text, "junk", turn)
        return
    statement = PlainStatement(text=text, kind="workflow", slot=f"process {process}")
    fact = ExtractedFact(text=text, quote=turn.text[start:end].strip(), turn=turn.number, kind="workflow")
    reading.found.append((statement, fact))


def _extraction(reading: _Reading) -> Extraction:
    """The facts without repetitions and without values that a later one of the same conversation replaced."""
    last = {statement.slot: index for index, (statement, _) in enumerate(reading.found) if statement.slot}
    facts: dict[str, ExtractedFact] = {}
    for index, (statement, fact) in enumerate(reading.found):
        if statement.slot and last[statement.slot] != index and fact.relation != "end":
            reading.rejections.append(Rejection(fact.text, "hypothetical", fact.turn))
        elif len(facts) >= MOST_FACTS:
            reading.rejections.append(Rejection(fact.text, "too_many", fact.turn))
        else:
            facts.setdefault(fold_phrase(fact.text), fact)
    return Extraction(facts=tuple(facts.values()), rejections=tuple(reading.rejections))
