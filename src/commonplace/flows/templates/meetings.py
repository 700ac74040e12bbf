"""What memory knows about a meeting: its people, earlier meetings, what they owe, what was left open, related things.

The event's words come from whoever sent the invitation, the rest from notes and conversations: all of it is untrusted,
and reaches a note as plain words only.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, tzinfo
from html import unescape
from typing import Any, Final
from unicodedata import normalize

from commonplace.errors import CommonplaceError
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.memory.commitments import concerns, list_commitments
from commonplace.flows.memory.facts import names_of_person
from commonplace.flows.read import locate
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session
from commonplace.flows.templates.people import person_name, person_target
from commonplace.model import Filters, Hit, Note
from commonplace.model.calendar import Attendee, Event
from commonplace.model.moment import moment_text
from commonplace.model.note_words import plain_words
from commonplace.model.template import WRITTEN_BY, NoteDraft
from commonplace.model.text import fold_phrase
from commonplace.notes import parse
from commonplace.notes.parse import section_named
from commonplace.policy.sensitivity import is_sensitive
from commonplace.questions.words import query_words

NAME: Final = "meeting_note"
FOLDER: Final = "Meetings"
KIND: Final = "meeting"
_DAY: Final = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_SLUG: Final = re.compile(r"[\W_]+")
_LONGEST_SLUG: Final = 60
_MOST_SLUG_BYTES: Final = 150  # a file's name has 255, and a temporary one is longer
_CANDIDATES: Final = 60  # meeting notes, the newest first, that are compared with the event
_SPARE: Final = 3  # times as many hits are read, for those that are meetings themselves
_MOST_COMMITMENTS: Final = 10
_MOST_QUESTIONS: Final = 10
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.+)")

_HTML: Final = re.compile(r"</[a-zA-Z]|<br")
_ITEM: Final = re.compile(r"<li\b[^<>]{0,200}>", re.IGNORECASE)
_LINE_END: Final = re.compile(r"<br\b[^<>]{0,20}>|</(?:p|li|ul|ol|div|tr|h[1-6])>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{1,500}>")
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_CONFERENCE: Final = re.compile(
    r"^-::~|^_{10,}|^─{5,}"
    r"|\bjoin (?:zoom|webex|microsoft teams|with google meet|on your computer|by phone|the meeting)\b"
    r"|\bmicrosoft teams meeting\b|\bscheduled zoom meeting\b|^meeting id:|^one tap mobile|^dial[- ]in\b",
    re.IGNORECASE,
)

_LISTS: Final = ("action_item_candidates", "open_questions", "links_suggested")
DRAFT: Final = NoteDraft(
    task=(
        "A note about the meeting {{ title }}. Sum up in the summary what the material says that matters for it: where "
        "things stand since the last meeting, and what is owed. Nobody has told you what was said in the meeting "
        "itself: do not guess it. Action items are candidates, each `Name: what`. Links are titles of notes that the "
        "material names."
    ),
    schema={
        "type": "object",
        "required": ["summary", *_LISTS],
        "properties": {
            "summary": {"type": "string"},
            **{name: {"type": "array", "maxItems": 8, "items": {"type": "string"}} for name in _LISTS},
        },
    },
)


@dataclass(frozen=True, slots=True)
class MeetingLimits:
    """The most earlier meetings and notes, conversations and tasks that a note about a meeting names."""

    vault: int = 5
    chat: int = 5
    task: int = 5


def meeting_path(event: Event, zone: tzinfo) -> str:
    """`Meetings/YYYY-MM-DD-<slug>.md`, by the day on which it began in the person's zone; letters of any script."""
    words = _SLUG.sub("-", normalize("NFC", event.title).casefold()).strip("-")[:_LONGEST_SLUG]
    slug = words.encode()[:_MOST_SLUG_BYTES].decode(errors="ignore").rstrip("-") or "meeting"
    return f"{FOLDER}/{event.start.astimezone(zone).date().isoformat()}-{slug}.md"


def event_version(event: Event) -> str:
    """A hash of what a note about the event shows of it: another one means that the note is rendered again."""
    shown = [
        event.title,
        moment_text(event.start),
        moment_text(event.end),
        event.location,
        event.description,
        *sorted(f"{each.name} {each.email}" for each in attendees_of(event)),
        *sorted(f"declined {name}" for name in _declined(event)),
    ]
    return hashlib.sha256(json.dumps(shown).encode(errors="surrogatepass")).hexdigest()[:16]


def attendees_of(event: Event) -> tuple[Attendee, ...]:
    """Who was invited and did not decline, and the organizer if the list leaves them out; each once.

    The person whose calendar it is is not listed: they know that they were there.
    """
    everyone = (*event.attendees, *((event.organizer,) if event.organizer and event.attendees else ()))
    first: dict[str, Attendee] = {}
    for each in everyone:
        first.setdefault(each.email.casefold() or each.name.casefold(), each)
    return tuple(each for each in first.values() if not (each.has_declined or each.is_owner))


def _declined(event: Event) -> list[str]:
    return [each.name for each in event.attendees if each.has_declined and not each.is_owner]


def changed_events(session: Session, *, since: datetime, until: datetime) -> tuple[Event, ...]:
    """The events that ended in that time and whose notes show an older version of them, wherever those notes are."""
    history = session.stores.history
    with session.stores.index.reader() as reader:
        written = {each.key: each.version for each in reader.written_notes(template=NAME)}
    events = (event for event in history.events_ending(since, until) if event.id in written)
    return tuple(event for event in events if event_version(event) != written[event.id])


def gather_meeting(event: Event, session: Session, *, zone: tzinfo, limits: MeetingLimits) -> Mapping[str, Any]:
    """The values of the template `meeting_note` for this event."""
    people = attendees_of(event)
    names = [each.name for each in people]
    start, end = event.start.astimezone(zone), event.end.astimezone(zone)
    with ThreadPoolExecutor(3) as pool:
        notes = pool.submit(_hits, event, names, session, source="vault", limit=limits.vault * _SPARE)
        chats = pool.submit(_hits, event, names, session, source="chat", limit=limits.chat)
        tasks = pool.submit(_hits, event, names, session, source="task", limit=limits.task)
    prior = prior_meetings(event, session, limit=limits.vault)
    commitments, questions = [*_commitments(event, session)], [*questions_of(prior)]
    attendees = [{"name": person_name(name), "target": person_target(name, session)} for name in names]
    shown = {*(each.path for each in prior), *(f"{each['target']}.md" for each in attendees)}
    return {
        "title": plain_words(event.title) or "Meeting",  # a link in a property is a link
        "date": start.date().isoformat(),
        "event_id": event.id,
        "uid": event.uid,
        "start": moment_text(event.start),
        "end": moment_text(event.end),
        "when": f"{start:%A}, {start.date().isoformat()}, {start:%H:%M} to {end:%H:%M}",
        "location": _place(event.location),
        "description": agenda_text(event.description),
        "declined": _declined(event),
        "attendee_names": [person_name(name) or plain_words(name) for name in names],
        "attendees": attendees,
        "commitments": commitments[:_MOST_COMMITMENTS],
        "questions": questions[:_MOST_QUESTIONS],
        "left_out": {
            "commitments": max(0, len(commitments) - _MOST_COMMITMENTS),
            "questions": max(0, len(questions) - _MOST_QUESTIONS),
        },
        "prior": [{"path": each.path, "title": each.title, "date": day_of(each)} for each in prior],
        "notes": [_named(each) for each in notes.result() if _is_related(each, shown)][: limits.vault],
        "conversations": [{"id": each.path, "title": each.title} for each in chats.result()],
        "tasks": [{"title": each.title} for each in tasks.result()],
    }


def agenda_text(description: str) -> str:
    """The description without HTML, and without how to dial in: the meeting is over."""
    text = description
    if _HTML.search(text):
        text = unescape(_TAG.sub("", _LINE_END.sub("\n", _ITEM.sub("\n- ", text))))
    lines = [line.strip() for line in text.splitlines()]
    end = next((number for number, line in enumerate(lines) if _CONFERENCE.search(line)), len(lines))
    return "\n".join(filter(None, lines[:end]))


def _place(location: str) -> str:
    """The location without addresses: those of a video meeting often have its password."""
    return " ".join(_ADDRESS.sub(" ", location).split()).strip(" ,;|(-–")


# ---------------------------------------------------------------- earlier meetings


def prior_meetings(event: Event, session: Session, *, limit: int) -> tuple[Note, ...]:
    """Notes about earlier meetings of the same series or of the same people, the newest first.

    A note is one by its `type: meeting`, wherever it is. People are the same if most of the event's attendees were
    there, and if the note has the event's title, if one of them was; the person themselves does not count.
    """
    began, found = moment_text(event.start), list[Note]()
    people = _people_of(event, session)
    for path in _meeting_paths(event, session, before=began):
        note = read_note(path, session)
        if note and note.frontmatter.get("calendar_event_id") != event.id and _is_prior(note, event, people, session):
            found.append(note)
        if len(found) >= limit:
            break
    return tuple(found)


def _people_of(event: Event, session: Session) -> list[frozenset[str]]:
    """The normalized names of each attendee but the person; a first name that two of them have is left out."""
    with session.stores.index.reader() as reader:
        people = [names_of_person(each.name, reader, session) for each in attendees_of(event)]
    counts = Counter(name for names in people for name in names)
    return [frozenset(name for name in names if counts[name] == 1) for names in people if ME not in names]


def _meeting_paths(event: Event, session: Session, *, before: str) -> Sequence[str]:
    """The paths of notes of the type meeting that have a name of the event's people, or its title; newest first."""
    filters = Filters(sources=("vault",), kinds=(KIND,))
    names = [each.name for each in attendees_of(event)]
    phrases = [event.title, *names, *(name.partition(" ")[0] for name in names)]
    with session.stores.index.reader() as reader:
        numbers = {
            number
            for phrase in phrases
            if (words := query_words(phrase).words)
            for number in reader.chunks_with(words, filters)
        }
        chunks = reader.chunk_attributes(sorted(numbers))
    days = {each.path: each.at for each in chunks.values() if each.path and each.at[:10] <= before[:10]}
    return sorted(days, key=lambda path: (days[path], path), reverse=True)[:_CANDIDATES]


def _is_prior(note: Note, event: Event, people: Sequence[frozenset[str]], session: Session) -> bool:
    keys, rules = note.frontmatter, session.stores.rules
    began = str(keys.get("event_start", ""))
    if began and began >= moment_text(event.start):
        return False
    if event.uid and keys.get("calendar_uid") == event.uid:
        return True
    stated = keys.get("attendees")
    there = {rules.entity(strip_links(str(each))) for each in (stated if isinstance(stated, list) else ())}
    least = 1 if _has_title(note, event.title) else len(people) // 2 + 1
    return bool(people) and sum(bool(names & there) for names in people) >= least


def _has_title(note: Note, title: str) -> bool:
    """True if the note's first heading, or its name without a day, is the title of the event."""
    named = (*(heading.text for heading in note.headings[:1]), _DAY.sub("", note.title, count=1).strip(" -–_.,"))
    return bool(title) and fold_phrase(title) in map(fold_phrase, named)


def questions_of(meetings: Iterable[Note]) -> Iterator[str]:
    """The questions in the first of these notes, the newest, that has a section for them: bullets, and plain lines."""
    for note in meetings:
        section = section_named(note, "Open questions")
        lines = section.text.splitlines()[1:] if section else []
        questions = [
            match[1].strip() if (match := _BULLET.fullmatch(line)) else line.strip()
            for line in lines
            if _BULLET.fullmatch(line) or line.rstrip().endswith("?")
        ]
        if questions:
            yield from questions
            return


def day_of(note: Note) -> str:
    """The day of a note about a meeting; empty if it has none."""
    day = _DAY.search(note.path)
    return str(note.frontmatter.get("date") or (day[1] if day else ""))[:10]


# ---------------------------------------------------------------- commitments and related things


def _commitments(event: Event, session: Session) -> Iterator[dict[str, Any]]:
    """What these people have to do, and what the person has to do that names one of them.

    What the note about the event itself says is left out: it stands there already.
    """
    rules, names = session.stores.rules, [each.name for each in attendees_of(event)]
    with session.stores.index.reader() as reader:
        own = {each.path for each in reader.written_notes(key=event.id)}
    people = {name for each in _people_of(event, session) for name in each}
    first = {rules.entity(name.split()[0]) for name in names if name.split()}  # "send Marco the price list"
    for each in list_commitments(session, states=("open", "overdue")):
        is_own = rules.entity(each.who) == rules.entity(ME)
        if each.path not in own and concerns(each, people | first if is_own else people, rules):
            yield {
                "who": "You" if is_own else each.who,
                "what": each.what,
                "due": each.due,
                "late": each.state == "overdue",
                "since": each.since or "",
                "path": each.path,
                "title": each.path.rpartition("/")[2].removesuffix(".md"),
            }


def _hits(event: Event, names: Sequence[str], session: Session, *, source: str, limit: int) -> tuple[Hit, ...]:
    """The best hits of one source for the event; none if it cannot be searched."""
    if not limit:
        return ()
    text = f"{event.title} {' '.join(names)}"[:500]
    query = SearchQuery(text, k=limit, filters=Filters(sources=(source,)), by="document", explain_empty=False)
    try:
        return search(query, session.stores, audience=session.audience).hits
    except CommonplaceError:
        return ()


def _is_related(hit: Hit, shown: Iterable[str]) -> bool:
    frontmatter = hit.metadata.get("frontmatter")
    keys = frontmatter if isinstance(frontmatter, Mapping) else {}
    return not hit.sensitive and keys.get("type") != KIND and WRITTEN_BY not in keys and hit.path not in shown


def _named(hit: Hit) -> dict[str, str]:
    return {"path": hit.path, "title": hit.title}


def read_note(path: str, session: Session) -> Note | None:
    """The note; None if it is gone or hidden from programs."""
    vault = session.stores.vault
    try:
        blob = vault.read(locate(path, vault))
    except CommonplaceError:
        return None
    note = parse(blob.content, path=path, mtime=blob.stat.mtime)
    return None if is_sensitive(note, session.stores.safety) else note
