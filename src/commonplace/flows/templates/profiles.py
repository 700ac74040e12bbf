"""What memory knows about a person, and the profile in their note: sections that we own, whoever wrote the rest.

A note that we wrote, or a stub, is written by the writer of all templates. In a note that the person wrote, the
sections are first proposed (`commonplace review`); once the person has accepted them, those that are as we wrote them
are replaced, and nothing else of the note changes. What one says about another person is untrusted: it reaches a note
as plain words only.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.facts.commitments import COMMITTED, COMPLETED, Commitment, commitment_id
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, predicate_key, strip_links
from commonplace.flows.memory.commitments import list_commitments, told
from commonplace.flows.memory.facts import FactRequest, entity_names, facts_about, names_of_person
from commonplace.flows.notes.proposals import propose
from commonplace.flows.notes.write import write_note
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.meetings import KIND, day_of, questions_of, read_note
from commonplace.flows.templates.people import PROFILE
from commonplace.flows.templates.write import Gather
from commonplace.model import FactSnapshot, Filters, Note, Terms
from commonplace.model.layout import MEMORY, PEOPLE, is_below
from commonplace.model.template import (
    AUTHOR,
    KEY,
    SECTIONS,
    SOURCE_VERSION,
    TEMPLATE,
    WRITTEN_BY,
    TemplateRequest,
    WriteResult,
)
from commonplace.notes import set_key
from commonplace.notes.note_text import render_note, split_note
from commonplace.questions.words import query_words
from commonplace.templates.sections import START, Merged, NoteSection, merge_sections, read_marks, split_sections

_AGENT: Final = MEMORY.partition("/")[0]
_MOST_READ: Final = 300  # notes that name the person, the newest first, that are looked into
_NO_TEXT: Final = NoteSection(START, "")
_STATES: Final = ("current", "superseded", "expired")


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """The most lines of a section, and the most meetings and other notes that a profile names."""

    items: int = 20
    notes: int = 10


@dataclass(frozen=True, slots=True)
class PersonNote:
    """The note of a person: its path, their name, and whether it is ours, theirs with our sections, or theirs alone.

    `key` is the idempotency key of its profile, `version` that of what this was made from, and `marks` are those of its
    sections; all are empty if it has none.
    """

    path: str
    name: str
    is_ours: bool
    is_accepted: bool
    key: str
    version: str
    marks: Mapping[str, str]


def person_note(path: str, session: Session) -> PersonNote | None:
    """The person's note at that path; None if there is none, or programs do not see it."""
    note = read_note(path, session)
    if note is None:
        return None
    keys = note.frontmatter
    is_profile = keys.get(TEMPLATE) == PROFILE
    is_ours = is_profile and keys.get(WRITTEN_BY) == AUTHOR
    marks = read_marks(keys.get(SECTIONS)) if is_profile else {}
    return PersonNote(
        path=path,
        name=note.title,
        is_ours=is_ours,
        is_accepted=bool(marks) and not is_ours,
        key=str(keys.get(KEY, "")) if is_profile else "",
        version=str(keys.get(SOURCE_VERSION, "")) if is_profile else "",
        marks=marks,
    )


def profile_version(values: Mapping[str, Any]) -> str:
    """A hash of what a profile shows: another one means that it is rendered again."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode(errors="surrogatepass")).hexdigest()[:16]


def gather_profile(name: str, path: str, session: Session, *, limits: ProfileLimits) -> dict[str, Any]:
    """The values of the template `person_profile` for this person, whose note is at `path`, if there is one."""
    with session.stores.index.reader() as reader:
        names = {*entity_names(name, reader, session), session.stores.rules.entity(name)}
        called = names_of_person(name, reader, session)
    notes = _notes_naming(names, path, session)
    meetings = [each for each in notes if each.frontmatter.get("type") == KIND and _attended(each, called, session)]
    others = [each for each in notes if each not in meetings and WRITTEN_BY not in each.frontmatter]
    facts = [_shown_fact(each) for each in _facts(name, path, session)]
    theirs, yours = _between(called, session)
    return {
        "name": name,
        "facts": facts[: limits.items],
        "meetings": [_shown_note(each) for each in meetings[: limits.notes]],
        "theirs": [_shown_commitment(each) for each in theirs][: limits.items],
        "yours": [_shown_commitment(each) for each in yours][: limits.items],
        "questions": [*questions_of(meetings)][: limits.items],
        "mentions": [_shown_note(each) for each in others[: limits.notes]],
        "left_out": {
            "facts": max(0, len(facts) - limits.items),
            "meetings": max(0, len(meetings) - limits.notes),
        },
    }


def is_empty(values: Mapping[str, Any]) -> bool:
    """True if memory knows nothing about the person that their own note does not say."""
    return not any(values[name] for name in ("facts", "meetings", "theirs", "yours", "mentions"))


# ---------------------------------------------------------------- what is known


def _facts(name: str, path: str, session: Session) -> list[FactSnapshot]:
    """The facts about the person, the newest first; those that ended come after those that hold.

    What their own note says, commitments, and what waits are left out.
    """
    every = facts_about(FactRequest(name, every=True), session)
    facts = [
        each
        for each in every
        if each.state in _STATES
        and each.fact.path != path
        and predicate_key(each.fact.predicate) not in (COMMITTED, COMPLETED)
        and each.fact.origins.trust != "imported"
    ]
    facts.sort(key=lambda each: each.fact.id)
    facts.sort(key=lambda each: each.fact.begins, reverse=True)
    return sorted(facts, key=lambda each: each.state != "current")


def _shown_fact(snapshot: FactSnapshot) -> dict[str, Any]:
    fact = snapshot.fact
    is_entry = fact.origin == "entry"
    text = fact.text if is_entry or not fact.predicate else f"{fact.subject} {fact.predicate} {fact.object}"
    return {
        "text": strip_links(text).replace("_", " "),
        "since": fact.valid_from[:10],
        "until": snapshot.until[:10] if snapshot.state != "current" else "",
        "path": "" if is_entry else fact.path.removesuffix(".md"),
        "digits": id_digits(fact.id) if is_entry else "",
    }


def _between(names: Iterable[str], session: Session) -> tuple[list[Commitment], list[Commitment]]:
    """What they have to do, and what the person has to do for them; as far as it is open."""
    rules, known = session.stores.rules, frozenset(names)
    standing = told(list_commitments(session, states=("open", "overdue")))
    theirs = [each for each in standing if rules.entity(strip_links(each.who)) in known]
    mine = [each for each in standing if each.who == ME]
    words = [frozenset(query_words(name).words) for name in known if name]
    yours = [each for each in mine if any(name <= frozenset(query_words(each.what).words) for name in words if name)]
    return theirs, yours


def _shown_commitment(commitment: Commitment) -> dict[str, Any]:
    return {
        "what": strip_links(commitment.what),
        "due": commitment.due,
        "path": commitment.path.removesuffix(".md"),
        "id": commitment_id(commitment),
    }


def _notes_naming(names: Iterable[str], own: str, session: Session) -> list[Note]:
    """The notes that link to the person's note `own` or have all words of a name, newest first; none that is hidden."""
    filters = Filters(sources=("vault",))
    with session.stores.index.reader() as reader:
        numbers = {
            number
            for name in names
            if (words := query_words(name).words)
            for number in reader.chunks_with(words, filters)
        }
        days = {each.path: each.at[:10] for each in reader.chunk_attributes(sorted(numbers)).values() if each.path}
        linking = {edge.source for edge in reader.edges([own]) if edge.path == own}
    paths = [path for path in {*days, *linking} if not is_below(path, _AGENT) and not is_below(path, PEOPLE)]
    paths = sorted(paths, key=lambda path: (days.get(path, ""), path), reverse=True)[:_MOST_READ]
    notes = [note for path in paths if path != own and (note := read_note(path, session))]
    notes.sort(key=lambda note: (day_of(note) or days.get(note.path, ""), note.path), reverse=True)
    return notes


def _attended(note: Note, names: Iterable[str], session: Session) -> bool:
    """True if the note's attendees name the person."""
    stated = note.frontmatter.get("attendees")
    rules = session.stores.rules
    there = {rules.entity(strip_links(str(each))) for each in (stated if isinstance(stated, list) else ())}
    return bool(there & set(names))


def _shown_note(note: Note) -> dict[str, Any]:
    return {"path": note.path.removesuffix(".md"), "title": note.title, "date": day_of(note)}


# ---------------------------------------------------------------- the sections in a note of the person


def write_profile_sections(
    request: TemplateRequest, gather: Gather, session: Session, *, library: TemplateLibrary
) -> WriteResult:
    """Put the profile into a note that the person wrote: proposed at first, and later only into sections of ours.

    Raises Refused, Conflict, and as the template does.
    """
    path, vault = request.target_path, session.stores.vault
    blob = vault.read(locate(path, vault))
    known, values = person_note(path, session), gather()
    if values is None or known is None:
        return WriteResult(path, skipped=True, reason="nothing")
    if known.is_accepted and known.version == request.source_version:
        return WriteResult(path, skipped=True, reason="idempotent", text=blob.content.decode(errors="replace"))
    note = split_note(blob.content)
    merged = _merged(note.body, library.render(PROFILE, values).body, known.marks)
    text = _completed(render_note(replace(note, body=merged.text)), request, merged)
    if request.dry_run:
        return WriteResult(path, text=text.decode(errors="replace"))
    if not known.is_accepted or "low" in (request.autonomy, session.stores.safety.autonomy):
        return _proposed(path, text, session, why=f"Sections about {known.name} from memory would be added.")
    terms = Terms(message=f"autowrite: {PROFILE} {request.idempotency_key}", expected=blob.version)
    result = WriteResult(path, write_note(path, text, session, terms).commit, text=text.decode(errors="replace"))
    if not merged.changed:
        return result
    text = _completed(render_note(replace(note, body=merged.proposed)), request, merged)
    why = f"What memory knows has changed, and you edited {', '.join(merged.changed)}."
    return replace(result, review=_proposed(path, text, session, why=why).review)


def _merged(body: str, rendered: str, marks: Mapping[str, str]) -> Merged:
    """The person's text with our sections, at first at its end; one of their own sections is never taken for ours."""
    start, *others = split_sections(body)
    own = {each.name for each in others} - marks.keys() | {START}
    fresh = [each for each in split_sections(rendered) if each.name not in own]
    ours = "".join(each.text for each in fresh)
    if not marks:
        return Merged(f"{body.rstrip()}\n\n{ours}", tuple(f"{each.mark} {each.name}" for each in fresh))
    merged = merge_sections("".join(each.text for each in others), ours, {**marks, START: _NO_TEXT.mark})
    kept = tuple(each for each in merged.marks if not each.endswith(f" {START}"))
    proposed = f"{start.text}{merged.proposed}" if merged.changed else ""
    return Merged(f"{start.text}{merged.text}", kept, merged.changed, proposed)


def _completed(content: bytes, request: TemplateRequest, merged: Merged) -> bytes:
    """The note with the keys by which its sections are known as ours, and without the key of a note of ours."""
    keys = {
        TEMPLATE: request.template,
        KEY: request.idempotency_key,
        SOURCE_VERSION: request.source_version,
        SECTIONS: [*merged.marks],
    }
    for key, value in keys.items():
        content = set_key(content, key, value, path=request.target_path)
    return content


def _proposed(path: str, text: bytes, session: Session, *, why: str) -> WriteResult:
    proposed = propose(path, session, why=why, text=text)
    review = proposed.proposal.id if proposed.changed else ""
    reason = "proposed" if review else "rejected"
    return WriteResult(path, skipped=True, reason=reason, review=review, text=text.decode(errors="replace"))
