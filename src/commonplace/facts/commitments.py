"""Commitments: who has to do what by when, as the lines of notes say it; and which of them are open or overdue.

A line with a box is a commitment if it says who (`- [ ] Ada: send the offer by 3 May`) or by when, or if it stands
below a heading such as `Action items`; there, a line without a box is one too if it names someone. A commitment that
names nobody is the person's own. A plain word before a colon may be a name or a label (`Groceries: milk`): below
`Action items`, in a note about a meeting, and where the note's properties name that person, it is a name; anywhere
else it is one if the vault knows such a person, which is decided when commitments are read (`with_known_names`). Days
are read from the signs of the plugin Tasks (`📅 2026-05-03`) and Kanban (`@{2026-05-03}`), from Dataview's fields
(`[due:: 2026-05-03]`) and from the words at the end of the line; `by 3 May` and `by Friday` count from the day of the
note. All of it is what a note says: text to show, never an instruction.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal

from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, predicate_key, strip_links
from commonplace.model import ActionLine, Fact, FactRecord, FactSnapshot, Note
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import read_moment
from commonplace.model.text import fold_phrase

COMMITTED: Final = "committed_to"
"""The predicate of a commitment: its subject is who, its object what."""

COMPLETED: Final = "completed"
"""The predicate of an entry that says that a commitment is done: its subject is who, its object what."""
IF_PERSON: Final = "if_person"
"""The kind of a commitment that is one only if its subject is a known person."""
PERSON_OR_OWN: Final = "person_or_own"
"""The kind of a commitment that is the person's own unless its subject is a known person."""

CommitmentState = Literal["open", "overdue", "closed"]

_DATED: Final = re.compile(r"(📅|📆|🗓|⏳|⌛|🛫|✅|❌|➕)\ufe0f?[ \t]*(\d{4}-\d{2}-\d{2})")
_DUE_SIGNS, _PLAN_SIGNS, _END_SIGNS = "📅📆🗓", "⏳⌛", "✅❌"
_SIGNS: Final = re.compile(
    r"(?:🔁[^📅📆🗓⏳⌛🛫✅❌➕🔺⏫🔼🔽⏬\[(#\n]*|(?:🆔|⛔|🏁)\ufe0f?[ \t]*[\w,-]+|[🔺⏫🔼🔽⏬]\ufe0f?)"
)
_FIELD: Final = re.compile(r"[\[(]([A-Za-z][\w -]{0,30}?)::[ \t]*((?:\[\[[^\[\]\n]*\]\]|[^\[\]()\n])*)[\])]")
_DUE_FIELDS: Final = ("due", "deadline", "by", "scheduled")
_END_FIELDS: Final = ("completion", "completed", "done", "cancelled")
_REPEAT_SIGN, _REPEAT_FIELDS = "🔁", ("repeat", "recurrence")
_WHO_FIELDS: Final = ("who", "owner", "assignee", "assigned", "responsible")
_TAIL: Final = re.compile(r"(?:[ \t]+(?:#(?=\S*[^\d\s#])[^\s#]+|\^[A-Za-z0-9-]+))+[ \t]*\Z")
_HEAD: Final = re.compile(
    r"(?:#(?:task|todo)s?(?=\s)[ \t]*)+", re.IGNORECASE
)  # by which the plugin Tasks knows its lines
_AT_DAY: Final = re.compile(r"@(?:due)?(?:[({]|\[\[)(\d{4}-\d{2}-\d{2})(?:[)}]|\]\])")
_AT_TIME: Final = re.compile(r"@@\{[^{}\n]{0,20}\}")
_NAME: Final = r"(?:\*\*|__)?(\[\[[^\[\]\n]{1,80}\]\]|@?[^\W\d_][\w'’.-]*(?:[ ][^\W\d_][\w'’.-]*){0,3})(?:\*\*|__)?"
_COLON: Final = re.compile(rf"{_NAME}[ \t]*(?:\*\*|__)?[:—–](?:\*\*|__)?[ \t]+(?=\S)")
_LINK_FIRST: Final = re.compile(
    r"(?:\*\*)?(\[\[[^\[\]\n]{1,80}\]\])(?:\*\*)?[ \t]+(?:(?:to|will|should|soll|wird)[ \t]+)?"
)
_VERB: Final = re.compile(r"([^\W\d_][\w'’-]*(?:[ ][^\W\d_][\w'’-]*)?)[ \t]+(?:to|will|soll|wird)[ \t]+(?=[^\W\d_])")
_MENTION: Final = re.compile(r"(?<!\S)\(?@([^\W\d_][\w'’-]*)\)?")
_LAST_NAME: Final = re.compile(r"[ \t]+(?:\(([^()]{2,60})\)|[—–-][ \t]+([^—–]{2,60}))\Z")
_OWN_DEED: Final = re.compile(r"\AI(?:['’]ll|[ ]will|[ ]have to|[ ]need to|[ ]must)?[ ]+(?=[^\W\d_])")
_PROPOSED: Final = "proposed:"
_ME_WORDS: Final = frozenset({"i", "me", "myself", "ich", "mich"})
_PARTICLES: Final = frozenset({"von", "van", "de", "der", "den", "di", "da", "la", "le", "bin", "zu"})
_LABEL_WORDS: Final = """
    action actions agenda answer api art backend bug bugs buy call chapter check chore context day deadline decision
    design doc docs done draft due email error example feature fix fixme followup follow-up frontend goal goals hint
    home http https idea ideas important info issue later link links mail maybe meeting milestone morning next note
    notes open optional option part phase plan priority problem project prep question questions read reason refactor
    release reminder research result review risk section see shopping source step summary task tasks test tests time
    tip title today todo todos tomorrow topic update url version wait waiting warning week weekend wip work
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december aufgabe frage fragen hinweis idee notiz termin thema wichtig ziel
    montag dienstag mittwoch donnerstag freitag samstag sonntag
"""
_LABELS: Final = frozenset(_LABEL_WORDS.split())
"""Words before a colon that are no name."""

_MONTHS: Final = (
    ("january", "jan", "januar", "jänner"),
    ("february", "feb", "februar"),
    ("march", "mar", "märz"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "jun", "juni"),
    ("july", "jul", "juli"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oct", "oktober", "okt"),
    ("november", "nov"),
    ("december", "dec", "dezember", "dez"),
)
_MONTH_OF: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAYS: Final = (
    ("monday", "mon", "montag"),
    ("tuesday", "tue", "dienstag"),
    ("wednesday", "wed", "mittwoch"),
    ("thursday", "thu", "donnerstag"),
    ("friday", "fri", "freitag"),
    ("saturday", "sat", "samstag", "sonnabend"),
    ("sunday", "sun", "sonntag"),
)
_WEEKDAY_OF: Final = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_BY: Final = re.compile(
    r"[ \t]*[,(]?[ \t]*(?<!\w)(?:by|until|till|before|due|bis|fällig)[ \t]+"
    r"(?:(?:on|am|the|zum|spätestens|this|diesen)[ \t]+)?"
    r"(?P<day>\d{4}-\d{2}-\d{2}"
    r"|\d{1,2}\.\d{1,2}\.(?:\d{4})?"
    r"|\d{1,2}(?:st|nd|rd|th|\.)?[ \t]+(?:of[ \t]+)?[^\W\d_]{3,9}\.?(?:,?[ \t]+\d{4})?"
    r"|[^\W\d_]{3,9}\.?[ \t]+\d{1,2}(?:st|nd|rd|th)?(?:,?[ \t]+\d{4})?"
    r"|(?:(?:next|nächsten)[ \t]+)?[^\W\d_]{3,10}"
    r"|end[ \t]+of[ \t]+(?:the[ \t]+)?(?:week|month)|eow|eod)\)?[ \t]*[.!]?\Z",
    re.IGNORECASE,
)
_DAY_IN_NAME: Final = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)
_NOTE_DAYS: Final = ("date", "event_start", "created")
_PEOPLE_KEYS: Final = ("attendees", "participants", "people", "with")
_PAST_DAYS: Final = 60  # days before the note from which a day without a year is one of the next year
_LINE_DIGITS: Final = 10
_OF_LOG: Final = re.compile(r"(?<!\S)\^[te]-[0-9a-f]{6,16}[ \t]*\Z")
_LONGEST: Final = 500  # characters of what is to be done


@dataclass(frozen=True, slots=True)
class StatedCommitment:
    """What one line of a note says that someone has to do; `due` and `done` are days, `day` is that of the note."""

    who: str
    what: str
    due: str
    done: str
    day: str
    is_closed: bool
    text: str
    line: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Commitment:
    """A commitment as it stands: who has to do what, by when, and where that is written.

    `fact` is the id of its fact. `closed_by` is the path and the line that says it is done, if another line does;
    `closed_on` is the day on which it was closed, as far as it is known. `is_own` is False if a program says so and the
    person has neither said nor approved it. One that `repeats` is closed by the plugin
    Tasks alone, which adds the next one.
    """

    fact: str
    who: str
    what: str
    due: str
    state: CommitmentState
    path: str
    line: int
    since: str = ""
    closed_by: str = ""
    closed_on: str = ""
    trust: str = ""
    is_own: bool = True
    repeats: bool = False

    @property
    def is_open(self) -> bool:
        """True while it is to be done, in time or late."""
        return self.state != "closed"


def commitment_id(commitment: Commitment) -> str:
    """The id with which a line of ours names a commitment: `t-` and digits of a line's, `e-` and those of an entry."""
    if is_entry_path(commitment.path):
        return f"e-{id_digits(commitment.fact)}"
    return f"t-{commitment.fact.replace('-', '')[-_LINE_DIGITS:]}"


def commitments_of(note: Note) -> tuple[StatedCommitment, ...]:
    """The commitments that the lines of a note state, in order."""
    if not note.actions:
        return ()
    day, names = note_day(note), _names_in_properties(note)
    is_meeting = str(note.frontmatter.get("type", "")).casefold() == "meeting"
    found = (_commitment(line, day, names=names, is_meeting=is_meeting) for line in note.actions)
    return tuple(each for each in found if each)


def _names_in_properties(note: Note) -> frozenset[str]:
    """The people that the note's properties name, as a whole and by their first names."""
    values = (note.frontmatter.get(key) for key in _PEOPLE_KEYS)
    listed = [each for value in values for each in (value if isinstance(value, list) else (value,)) if each]
    names = [fold_phrase(strip_links(str(each))) for each in listed]
    return frozenset(part for name in names for part in (name, name.partition(" ")[0]))


def note_day(note: Note) -> str:
    """The day of a note: from its properties, or from its name; empty if it has none."""
    stated = (read_moment(note.frontmatter.get(key)) for key in _NOTE_DAYS)
    in_name = (match.group() for match in _DAY_IN_NAME.finditer(note.path.rpartition("/")[2]))
    return next((at[:10] for at in (*stated, *map(read_moment, in_name)) if at), "")


def is_commitment(fact: Fact) -> bool:
    """True if the fact is a commitment, in a line or in an entry."""
    return bool(fact.predicate) and predicate_key(fact.predicate) == COMMITTED


def _commitment(action: ActionLine, day: str, *, names: frozenset[str], is_meeting: bool) -> StatedCommitment | None:
    if not action.box and action.text.casefold().startswith(_PROPOSED):
        return None  # a suggestion of ours: it counts when the person makes it a box
    if _OF_LOG.search(action.text):
        return None  # a line of ours about a commitment that is made elsewhere
    fields = {match[1].strip().casefold(): match[2].strip() for match in _FIELD.finditer(action.text)}
    signs = [(match[1], match[2]) for match in _DATED.finditer(action.text)]
    text, spoken = without_day(plain_task(action.text), day)
    due = _first(signs, _DUE_SIGNS) or _field(fields, _DUE_FIELDS) or _day_at(action.text) or spoken
    due = due or _first(signs, _PLAN_SIGNS)
    who, what, is_clear = _who(text, is_listed=action.is_listed)
    owner = strip_links(_text_field(fields, _WHO_FIELDS)).strip(" @")
    is_clear = is_clear or action.is_assigned or is_meeting or bool(owner) or fold_phrase(who) in names
    who = owner or who
    is_own = bool((due or action.is_listed) and action.box)
    is_meant = who or is_own
    what = (what if who else _OWN_DEED.sub("", what, count=1)).strip(" \t,;:—–-")
    if not is_meant or not any(each.isalnum() for each in what):
        return None
    return StatedCommitment(
        who=ME if not who or who.casefold() in _ME_WORDS else who,
        what=what[:_LONGEST],
        due=due,
        done=_first(signs, _END_SIGNS) or _field(fields, _END_FIELDS),
        day=day,
        is_closed=action.is_closed,
        text=action.text,
        line=action.line,
        kind="" if is_clear or not who else PERSON_OR_OWN if is_own else IF_PERSON,
    )


def plain_task(text: str) -> str:
    """The words of a task, without signs of Tasks and Kanban, fields of Dataview, and tags and ids at its end."""
    words = _AT_TIME.sub(" ", _AT_DAY.sub(" ", _FIELD.sub(" ", text)))
    words = " ".join(_SIGNS.sub(" ", _DATED.sub(" ", words)).split())
    return _TAIL.sub("", _HEAD.sub("", words, count=1) if _HEAD.match(words) else words).strip()


def repeats(text: str) -> bool:
    """True if the line says that its task comes again, as Tasks and Dataview write it."""
    return _REPEAT_SIGN in text or any(each[1].strip().casefold() in _REPEAT_FIELDS for each in _FIELD.finditer(text))


def _first(signs: Iterable[tuple[str, str]], kinds: str) -> str:
    return next((read_moment(day)[:10] for sign, day in signs if sign in kinds), "")


def _field(fields: Mapping[str, str], names: Iterable[str]) -> str:
    return next((day for name in names if (day := read_moment(strip_links(fields.get(name, "")))[:10])), "")


def _day_at(text: str) -> str:
    """The day that a line names as the plugin Kanban does, `@{2026-05-03}`, or as `@due(2026-05-03)`."""
    match = _AT_DAY.search(text)
    return read_moment(match[1])[:10] if match else ""


def _text_field(fields: Mapping[str, str], names: Iterable[str]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


# ---------------------------------------------------------------- who


def _who(text: str, *, is_listed: bool) -> tuple[str, str, bool]:
    """Who a line names, what is left of it, and whether that is a name for sure; no name if it names nobody.

    A name stands before a colon, as a link at the beginning or as `@Name`; in a list of action items also before `to`
    or `will`, and in brackets or after a dash at the end.
    """
    for pattern in (_COLON, _LINK_FIRST, *((_VERB,) if is_listed else ())):
        match = pattern.match(text)
        if match and (name := _name(match[1])):
            is_clear = pattern is not _COLON or _is_marked(match[1]) or name.casefold() in _ME_WORDS
            return name, text[match.end() :], is_clear
    if (mention := _MENTION.search(text)) and (name := _name(mention[1], is_marked=True)):
        return name, " ".join(f"{text[: mention.start()]} {text[mention.end() :]}".split()), True
    last = _LAST_NAME.search(text) if is_listed else None
    if last and (name := _name(last[1] or last[2])):
        return name, text[: last.start()], False
    return "", text, False


def _is_marked(text: str) -> bool:
    return text.lstrip("*_ ").startswith(("[[", "@"))


def _name(text: str, *, is_marked: bool = False) -> str:
    """The name of a person that the text is; empty if it is a label such as `TODO`, or words."""
    is_marked = is_marked or _is_marked(text)
    name = _link_name(text).strip(" @*_")
    words = name.split()
    if not words or (not is_marked and (words[0].casefold() in _LABELS or _is_acronym(name))):
        return ""
    if name.casefold() in _ME_WORDS or is_marked:
        return name
    return name if all(word[0].isupper() or word in _PARTICLES for word in words) and words[0][0].isupper() else ""


def _link_name(text: str) -> str:
    return strip_links(text.strip().lstrip("*_@ "))


def _is_acronym(name: str) -> bool:
    return " " not in name and len(name) > 1 and name.isupper()


# ---------------------------------------------------------------- by when


def without_day(text: str, day: str) -> tuple[str, str]:
    """The text without the words that say by when, and that day; the whole text if they name no day."""
    match = _BY.search(text)
    due = _spoken_day(match["day"].casefold(), day) if match else ""
    return (text[: match.start()].rstrip(" ,("), due) if match and due else (text, "")


def _spoken_day(words: str, day: str) -> str:
    """The day that the words name, seen from the day of the note; empty if that cannot be told."""
    if whole := read_moment(words):
        return whole[:10]
    parts = re.findall(r"\d+|[^\W\d_]+", words)
    numbers = [int(each) for each in parts if each.isdigit()]
    month = next((_MONTH_OF[each] for each in parts if each in _MONTH_OF), 0)
    if not month and len(parts) > 1 and all(each.isdigit() for each in parts):
        month = numbers.pop(1)
    if month and numbers:
        return _calendar_day(numbers[0], month, numbers[1] if len(numbers) > 1 else 0, day)
    return _relative_day(parts, date.fromisoformat(day)) if day and not numbers else ""


def _calendar_day(number: int, month: int, year: int, day: str) -> str:
    try:
        if year:
            return date(year, month, number).isoformat()
        if not day:
            return ""
        anchor = date.fromisoformat(day)
        named = date(anchor.year, month, number)
        is_past = named < anchor - timedelta(days=_PAST_DAYS)
        return (named.replace(year=anchor.year + 1) if is_past else named).isoformat()
    except ValueError:
        return ""


def _relative_day(words: list[str], anchor: date) -> str:
    last = words[-1] if words else ""
    if last in ("today", "heute", "eod"):
        return anchor.isoformat()
    if last in ("tomorrow", "morgen"):
        return (anchor + timedelta(days=1)).isoformat()
    if last in _WEEKDAY_OF:
        ahead = (_WEEKDAY_OF[last] - anchor.weekday() - 1) % 7 + 1
        if words[0] in ("next", "nächsten"):
            ahead = 7 - anchor.weekday() + _WEEKDAY_OF[last]
        return (anchor + timedelta(days=ahead)).isoformat()
    if last == "eow" or (words[:2] == ["end", "of"] and last == "week"):
        return (anchor + timedelta(days=(4 - anchor.weekday()) % 7)).isoformat()
    if words[:2] == ["end", "of"] and last == "month":
        first = anchor.replace(day=28) + timedelta(days=4)
        return (first - timedelta(days=first.day)).isoformat()
    return ""


# ---------------------------------------------------------------- names that may be labels


def may_be_label(fact: Fact) -> bool:
    """True if the fact is a commitment whose subject may be a label such as `Groceries`."""
    return fact.kind in (IF_PERSON, PERSON_OR_OWN) and is_commitment(fact)


def with_known_names(records: Iterable[FactRecord], known: Collection[str]) -> list[FactRecord]:
    """The records without commitments of labels: one with a day or in a list of to-dos is the person's own.

    `known` are the subjects that are names of people.
    """
    checked = (each if each.fact.subject in known or not may_be_label(each.fact) else _own(each) for each in records)
    return [each for each in checked if each]


def _own(record: FactRecord) -> FactRecord | None:
    fact = record.fact
    if fact.kind == IF_PERSON:
        return None
    return record._replace(fact=replace(fact, subject=ME, object=f"{fact.subject}: {fact.object}"))


# ---------------------------------------------------------------- open, overdue, closed


def standing_commitments(snapshots: Iterable[FactSnapshot], *, today: str) -> tuple[Commitment, ...]:
    """The commitments among these facts as they stand, those with the nearest deadline first.

    One is closed if its line is, if its entry has ended, or if a line or an entry of a later day says that the same was
    done. A copy that a newer line replaces is left out. What was carried over to a later note is open if it is open
    there.
    """
    present = [each for each in snapshots if each.state not in ("staged", "deleted")]
    facts = [each for each in present if is_commitment(each.fact)]
    done = dict(_closings(present))
    commitments = [
        _standing(each, done, today) for each in facts if not (each.ended_by and each.fact.status == "active")
    ]
    return tuple(sorted(commitments, key=lambda each: (each.due or "9999", each.who, each.what, each.fact)))


def _closings(facts: Iterable[FactSnapshot]) -> Iterator[tuple[tuple[str, str], tuple[str, Fact]]]:
    """For who and what, the last day on which a line or an entry says that it is done, and that fact."""
    dated = [(_day_done(each), each.fact) for each in facts]
    for day, fact in sorted(dated, key=lambda each: (each[0], each[1].id)):
        if day:
            yield _same(fact), (day, fact)


def _day_done(snapshot: FactSnapshot) -> str:
    """The day on which a closed line or an entry says that something is done; empty for any other fact."""
    fact = snapshot.fact
    if fact.origin == "line":
        is_closed = fact.status == "expired" and is_commitment(fact)
        return (fact.valid_until[:10] or fact.valid_from[:10]) if is_closed else ""
    is_word = predicate_key(fact.predicate) == COMPLETED and snapshot.state == "current"
    return fact.begins[:10] if is_word else ""


def _standing(snapshot: FactSnapshot, done: Mapping[tuple[str, str], tuple[str, Fact]], today: str) -> Commitment:
    fact = snapshot.fact
    is_open = snapshot.state in ("current", "future")
    day, closing = done.get(_same(fact), ("", None)) if is_open else ("", None)
    is_closed_there = closing is not None and bool(fact.begins) and day >= fact.begins[:10]
    is_late = bool(fact.due) and fact.due < today
    return Commitment(
        fact=fact.id,
        who=fact.subject,
        what=fact.object,
        due=fact.due,
        state="closed" if not is_open or is_closed_there else "overdue" if is_late else "open",
        path=fact.path,
        line=fact.line,
        since=fact.begins[:10],
        closed_on=day if is_closed_there else "" if is_open else _end_day(snapshot),
        closed_by=f"{closing.path}:{closing.line}" if closing and is_closed_there else "",
        trust=fact.origins.trust,
        is_own=is_own_word(fact) or fact.origins.is_quoted,
        repeats=fact.origin == "line" and repeats(fact.text),
    )


def _end_day(snapshot: FactSnapshot) -> str:
    """The day on which a line says that it was done, or an entry ended; empty if that is unknown."""
    return (snapshot.fact.valid_until if snapshot.fact.origin == "line" else snapshot.until)[:10]


def _same(fact: Fact) -> tuple[str, str]:
    return fold_phrase(strip_links(fact.subject)), fold_phrase(strip_links(fact.object)).rstrip(".! ")


# ---------------------------------------------------------------- closing a line

_LINE_START: Final = re.compile(r"([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(?:\[[^\]\n]\][ \t]+)?")


def closed_line(line: str, *, day: str, is_cancelled: bool = False) -> str:
    """The line of a note with its box ticked (`[x]`, or `[-]` if it is cancelled), or with such a box.

    The day is added as the line writes its others; a line without days of Tasks or Dataview gets none.
    """
    box, sign, field = ("-", "❌", "cancelled") if is_cancelled else ("x", "✅", "completion")
    text = _LINE_START.sub(lambda match: f"{match[1]}[{box}] ", line, count=1)
    ending = text[len(text.rstrip("\r\n \t")) :]
    text = text.removesuffix(ending)
    if _DATED.search(line):
        return f"{text} {sign} {day}{ending}"
    if any(match[1].strip().casefold() in _DUE_FIELDS for match in _FIELD.finditer(line)):
        return f"{text} [{field}:: {day}]{ending}"
    return f"{text}{ending}"
