"""What was erased leaves the notes that jobs made of it, at once.

A bullet goes if its block id names what was erased: a conversation, a task or an entry. A bullet that a job wrote goes
if it names an erased note by its path, as digests and reviews do, or an erased conversation. What the person wrote
stays. The commit that removes a bullet cannot be undone, and the index keeps no word of the note as it was.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from commonplace.errors import CommonplaceError, NotFound
from commonplace.events import emit
from commonplace.facts.entry_paths import id_digits
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import index_notes, unindex_notes
from commonplace.flows.ingest.line_writers import ACTOR
from commonplace.flows.notes.write import FORGETS, require_history
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.flows.templates.meetings import FOLDER as MEETINGS
from commonplace.index.base import FactQuery
from commonplace.model import Actor, Note
from commonplace.model.layout import (
    CHANNELS,
    COMMITMENTS,
    DATED_NOTES,
    DIGESTS,
    MEMORY,
    PEOPLE,
    PROJECTS,
    entry_digits,
    is_below,
)
from commonplace.model.template import SECTIONS
from commonplace.model.text import counted
from commonplace.model.untrusted_text import line_of
from commonplace.upkeep.daily_reflection import FOLDER as REFLECTIONS
from commonplace.upkeep.day_memories import notes_below, read_day_note, rewrite_note
from commonplace.upkeep.day_note import bullets_of, covered_by, named_day, source_of, without_sources
from commonplace.upkeep.job import Step, StepResult
from commonplace.upkeep.weekly_review import FOLDER as REVIEWS
from commonplace.vault.base import Blob, Capability

_INBOX: Final = "Inbox"  # where templates write whose autonomy is low
_JOB: Final = "sleep"  # in whose name the notes change: it wrote most of them
_THREAD: Final = re.compile(r"(?<![\w-])[cxt]-[0-9a-f]{6,}(?![\w-])")


def forget_erased(session: Session, *, paths: Collection[str] = ()) -> None:
    """Remove what was erased from the notes that jobs made of it; `paths` are those of erased notes.

    A note that cannot be changed now is an event: the next night tries again.
    """
    own = session.as_actor(Actor("job", _JOB)).at(session.clock())
    for step in (*erased_steps(_made_notes(own), own), *_naming_steps(paths, own)):
        try:
            apply_forgetting(step, own)
        except CommonplaceError as error:
            emit("memories_not_forgotten", level="warning", path=step.subject, said=str(error))
    _erase_removed(own)


def _erase_removed(session: Session) -> None:
    """Erase from the index the notes of jobs that were deleted before: their words are kept there for a while."""
    stores, folders = session.stores, (DATED_NOTES, CHANNELS, DIGESTS, REFLECTIONS, REVIEWS, MEETINGS, _INBOX)
    gone = [path for path, stamp in stores.index.stamps(VAULT).items() if stamp.deleted]
    if found := [path for path in gone if any(is_below(path, folder) for folder in folders)]:
        unindex_notes(found, (), stores)


def are_quoted(ids: Collection[str], session: Session) -> bool:
    """True if a note that jobs wrote names one of these conversations, or still has a bullet of an erased one."""
    made = _made_notes(session)
    texts = (note.text for path in (*made, *_meetings(session)) if (note := read_day_note(path, session)))
    return any(id in text for text in texts for id in ids) or next(erased_steps(made, session), None) is not None


def erased_steps(paths: Iterable[str], session: Session) -> Iterator[Step]:
    """A step for each of these notes with bullets whose conversation or entry was erased or forgotten."""
    notes = [note for path in paths if (note := read_day_note(path, session)) and _is_made(note) and _sources(note)]
    sources = {source for note in notes for source in _sources(note)}
    gone = session.stores.history.forgotten(source for source in sources if not source.startswith("e-"))
    gone |= _forgotten_entries({source for source in sources if source.startswith("e-")}, session)
    for note in notes:
        if own := sorted(_sources(note) & gone):
            yield Step(
                action="forget",
                subject=note.path,
                said=f"Remove what {counted(len(own), 'erased source')} said from {note.path}.",
                values={"gone": frozenset(own)},
            )


def reviews_and_progress(session: Session) -> tuple[str, ...]:
    """The person's notes besides the dated ones that hold bullets of ours: reviews, reflections, progress."""
    progress = (path for path in notes_below(PROJECTS, session) if "/_harness/progress" in path)
    folders = (REFLECTIONS, REVIEWS, PEOPLE, COMMITMENTS)
    return (*progress, *(path for folder in folders for path in notes_below(folder, session)))


def _made_notes(session: Session) -> tuple[str, ...]:
    days = (path for folder in (DATED_NOTES, CHANNELS) for path in notes_below(folder, session) if named_day(path))
    return (*days, *reviews_and_progress(session))


def _meetings(session: Session) -> tuple[str, ...]:
    return tuple(path for folder in (MEETINGS, _INBOX) for path in notes_below(folder, session))


def _is_made(note: Note) -> bool:
    """True unless it is a note among the person's own in which no template wrote."""
    return SECTIONS in note.frontmatter or not any(is_below(note.path, each) for each in (PEOPLE, COMMITMENTS))


def _sources(note: Note) -> frozenset[str]:
    """Everything that the note is made from, by its bullets and its frontmatter."""
    return (
        frozenset(source_of(block) for _, block in bullets_of(note.body) if block) | covered_by(note.frontmatter).keys()
    )


def _forgotten_entries(sources: Iterable[str], session: Session) -> frozenset[str]:
    """Those of these entries that were forgotten, are sensitive now, or were erased: no file has their digits."""
    wanted = frozenset(sources)
    if not wanted:
        return wanted
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(statuses=("deleted",), origins=("entry",), staged=True))
    deleted = {f"e-{id_digits(each.fact.id)}" for each in records} | {f"e-{each}" for each in session.hidden_entries()}
    there = {f"e-{entry_digits(path)}" for path in notes_below(MEMORY, session)}
    return frozenset(each for each in wanted if each in deleted or each not in there)


# ---------------------------------------------------------------- lines that name what was erased


def _naming_steps(paths: Collection[str], session: Session) -> Iterator[Step]:
    """A step for each note with a line of a job that names an erased note or conversation."""
    meetings = _meetings(session)
    for path in (*notes_below(DIGESTS, session), *_made_notes(session), *meetings):
        note = read_day_note(path, session)
        lines = [line for line in note.body.splitlines() if line.startswith("- ")] if note else []
        named = [each for each in paths if not (path in meetings and is_below(each, PEOPLE))]  # a calendar's names stay
        threads = session.stores.history.forgotten(id for line in lines for id in _THREAD.findall(line))
        found = [line for line in lines if _names(line, named) or threads & {*_THREAD.findall(line)}]
        if found and (ours := sorted({*found} & _job_lines(path, session))):
            said = f"Remove {counted(len(ours), 'line')} about what was erased from {path}."
            yield Step(action="forget", subject=path, said=said, values={"lines": frozenset(ours)})


def _names(line: str, paths: Iterable[str]) -> bool:
    """True if the line names one of these notes, as a digest writes its path or in a link."""
    for path in paths:
        shown = line_of(path).replace("`", "'")
        link = f"[[{path.removesuffix('.md')}"
        if shown in line or any(f"{link}{end}" in line for end in ("]]", "|", "#")):
            return True
    return False


def _job_lines(path: str, session: Session) -> set[str]:
    """The lines that jobs added to the note; none in a vault without history, where nobody can tell."""
    if Capability.HISTORY not in session.stores.vault.capabilities:
        return set()
    vault = require_history(session.stores.vault)
    at = locate(path, vault)
    ours = [each.commit for each in vault.revisions(at, ours=True) if each.trailers.get(ACTOR) == "job"]
    contents = vault.read_all_at([(at, name) for commit in ours for name in (commit, f"{commit}^")])
    return {
        line
        for after, before in zip(contents[::2], contents[1::2], strict=True)
        for line in {*_lines(after)} - {*_lines(before)}
    }


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "surrogateescape").splitlines()


# ---------------------------------------------------------------- apply


def apply_forgetting(step: Step, session: Session) -> StepResult:
    """Remove the bullets, and what the index has of the note as it was. Raises as every write does."""
    removed: list[bytes] = []

    def content(there: Blob | None) -> bytes:
        if there is None:
            raise NotFound(f"no such note: {step.subject}", path=step.subject)
        removed[:] = [there.content]
        if "gone" in step.values:
            return without_sources(there.content, step.values["gone"], path=step.subject)
        return _without_lines(there.content, step.values["lines"])

    message = f"commonplace: erased memories of {step.subject[-13:-3]}"
    result = rewrite_note(step, session, content, message=message, trailers={FORGETS: "yes"})
    if result.outcome == "done":
        unindex_notes([step.subject], removed, session.stores)
        index_notes([step.subject], session.stores)
    return result


def _without_lines(content: bytes, lines: Collection[str]) -> bytes:
    kept = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    return "".join(line for line in kept if line.rstrip("\r\n") not in lines).encode("utf-8", "surrogateescape")
