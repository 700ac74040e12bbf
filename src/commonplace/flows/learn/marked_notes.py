"""A note marked `memory: source` -> its new paragraphs -> facts; facts end when their words leave the note.

The note stays what it is: only its mark is ever written, and only by the person. A fact names the note and quotes it.
After an edit only the paragraphs that are new are read; then every fact whose quote is gone ends, unless another
paragraph says the same, which is its evidence from then on.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import Refused
from commonplace.events import emit
from commonplace.facts.validity import state_of
from commonplace.flows.ingest.documents import body_hash
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.learn.extract import extract
from commonplace.flows.learn.settle import JOB, evidence, preview, settle_pending
from commonplace.flows.memory.amend import cite_fact, end_fact, forget
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.notes.write import Edit, Permit, Reader, change, change_result, commit_message
from commonplace.flows.read import is_hidden, locate, read_note, stat_or_none
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import LanguageModel
from commonplace.model import Changed, Fact, Note, Terms
from commonplace.model.layout import is_entry_path
from commonplace.model.learning import Extraction, LearnedBatch, LearnedItem, LearningState, LearnResult, Turn
from commonplace.model.untrusted_text import clean_text
from commonplace.notes import parse, remove_key, set_key

MARK_KEY: Final = "memory"
MARK: Final = "source"
"""The key and the value in the frontmatter of a note from which memory learns."""

_GONE: Final = "gone"  # the stamp of a note that no longer exists, or that nobody but the person may read
_HASH_DIGITS: Final = 16
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_FENCED: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"#{1,6} [^\n]*\n?")
_UNREAD: Final = "the note is gone, or marked sensitive: nothing is learned from it"
_ENDED: Final = "its words are no longer in the note"


def mark_note(path: str, session: Session, *, is_source: bool, dry_run: bool = False) -> Changed:
    """Mark the note as a source of memory, or take the mark away; every other byte stays. One commit.

    Raises Refused unless a person asks, or if the note is an entry, and NotFound.
    """
    if session.actor.kind != "person":
        raise Refused("only a person may mark a note as a source of memory", path=path, hint="Ask the owner.")
    if is_entry_path(path):
        raise Refused("an entry is memory already", path=path, hint="Mark a note of your own.")
    stores = session.stores
    terms = Terms(
        message=commit_message(stores, verb="mark" if is_source else "unmark", path=path),
        personal=True,
        dry_run=dry_run,
    )
    at, permit = locate(path, stores.vault), Permit(session, terms, "write", path)
    permit.ask_about_existing(path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        permit.ask(there=parse(there.content, path=path, mtime=there.stat.mtime))
        marked = (
            set_key(there.content, MARK_KEY, MARK, path=path)
            if is_source
            else remove_key(there.content, MARK_KEY, path=path)
        )
        return (Edit(at, there.content, marked),)

    (edit,), result = change(plan, [permit], path=path)
    return change_result(edit, permit, result)


def due_notes(session: Session) -> tuple[str, ...]:
    """The marked notes whose text has changed since it was read, and those that are gone. Raises IndexDamaged."""
    stores, now = session.stores, session.now
    states = {path: each for path, each in stores.history.learning_states().items() if each.is_note}
    for path in states:
        refresh_note(path, stores)  # a person may have edited it since the last sync
    with stores.index.reader() as reader:
        marked = reader.memory_sources()
    changed = [path for path, stamp in marked.items() if not is_entry_path(path) and _stamp(states, path) != stamp]
    others = sorted(path for path in states.keys() - marked.keys() if _stamp(states, path) != _GONE)
    due = (*changed, *(path for path in others if _readable(path, session) is None))
    return tuple(path for path in due if path not in states or _may_be_tried(states[path], now))


def learn_note(
    path: str, session: Session, *, model: LanguageModel | None = None, dry_run: bool = False
) -> LearnResult:
    """Learn from the paragraphs of a marked note that are new, and end the facts whose words it no longer has.

    The note counts as read when all of that is done: a killed process is followed by one that does the rest. Raises
    NotFound, Refused if the note is not marked, and ProviderFailed if the model does not answer: then it is read later.
    """
    job, history = session.as_actor(JOB), session.stores.history
    note, state = _readable(path, session), history.learning_states([path]).get(path)
    if note is None:
        return _forget_note(path, job, is_known=state is not None, dry_run=dry_run)
    if str(note.frontmatter.get(MARK_KEY)).strip().casefold() != MARK:
        raise Refused(f"{path} is not marked as a source", path=path, hint=f"`commonplace note mark {path}` marks it.")
    turns = [*paragraphs(note)]
    new = [each for each in turns if not state or _hash(each) not in state.paragraphs]
    extraction, name = extract(new, job, model=model) if new else (Extraction(), "")
    batch = LearnedBatch(source=path, extraction=extraction, extractor=name, paragraphs=_hashes(turns))
    if dry_run:
        items = (*preview(batch, job), *_end_without_words(path, note.body, job, dry_run=True))
    elif _is_unchanged(note, session):
        items = _learned(batch, note, job, is_new=bool(new or not state))
    else:
        return LearnResult(source=path, reason="the note changed while it was read: it is read again")
    emit("note_learned", path=path, paragraphs=len(new), items=len(items), extractor=name)
    return LearnResult(source=path, extractor=name, turns=len(new), items=items, summary=extraction.summary)


def _learned(batch: LearnedBatch, note: Note, session: Session, *, is_new: bool) -> tuple[LearnedItem, ...]:
    """Store and save what was extracted, end what the note says no longer, and note that it was read."""
    history, path = session.stores.history, note.path
    newest = next((each.number for each in history.learned_items(limit=1)), 0)
    if is_new:
        history.begin_learning(batch, now=session.clock())
    settled = {each.number for each in settle_pending(session, source=path)}
    _cite_again(note, session)
    _end_without_words(path, note.body, session, dry_run=False)
    history.save_learning_state(LearningState(source=path, stamp=body_hash(note), paragraphs=batch.paragraphs))
    every = reversed(history.learned_items(source=path))
    return tuple(each for each in every if each.number > newest or each.number in settled)


def _forget_note(path: str, session: Session, *, is_known: bool, dry_run: bool) -> LearnResult:
    """End the facts of a note that is gone, or that only the person may read. Raises NotFound if it never was."""
    if not is_known and _is_gone(path, session):
        read_note(path, session.stores.vault, skip=session.stores.ignored)
    ended = _end_without_words(path, "", session, dry_run=dry_run)
    if not dry_run:
        session.stores.history.save_learning_state(LearningState(source=path, stamp=_GONE))
    return LearnResult(source=path, items=ended, reason=_UNREAD)


def _readable(path: str, session: Session) -> Note | None:
    """The note, or None if it is gone or only the person may read it."""
    if _is_gone(path, session):
        return None
    note = read_note(path, session.stores.vault, skip=session.stores.ignored)
    return None if is_hidden(note, session.stores) else note


def _is_unchanged(note: Note, session: Session) -> bool:
    """True if the note still says what was read: a model may take a minute, and a person edits meanwhile."""
    now = _readable(note.path, session)
    return now is not None and body_hash(now) == body_hash(note)


def paragraphs(note: Note) -> Iterator[Turn]:
    """The paragraphs of a note as turns of the person, numbered by their lines; without headings and fenced code."""
    body = _FENCED.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), note.body)
    start = 0
    for end in (*(match.start() for match in _PARAGRAPH_END.finditer(body)), len(body)):
        text = body[start:end]
        heading = _HEADING.match(text.lstrip())
        words = text.lstrip()[heading.end() if heading else 0 :].strip()
        if words:
            at = body.index(words[:40], start)
            yield Turn(note.body_line + body.count("\n", 0, at), "user", clean_text(words))
        start = end


def _cite_again(note: Note, session: Session) -> None:
    """Give known facts that the note says in other words, or that a note which is gone said, their new evidence."""
    items = session.stores.history.learned_items(source=note.path)
    last = {each.fact: each for each in reversed(items) if each.fact and each.outcome != "ended"}
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(ids=tuple(sorted(last)))) if last else ()
    for fact in (each.fact for each in records if _is_mined(each.fact)):
        item, source = last[fact.id], fact.origins
        is_here = source.note == note.path
        has_lost_words = not _has_words(note.body, source.quote) if is_here else _is_gone(source.note, session)
        if has_lost_words and _has_words(note.body, item.quote):
            origins = replace(source, note=note.path, quote=evidence(item.quote), extractor=item.extractor)
            cite_fact(fact, origins, session)


def _end_without_words(path: str, text: str, session: Session, *, dry_run: bool) -> tuple[LearnedItem, ...]:
    """End the facts of a note whose quotes its text does not have; those that wait for review are forgotten."""
    over = [each for each in _facts_of(path, session) if not _has_words(text, each.origins.quote)]
    items = [LearnedItem(source=path, text=each.text, outcome="ended", reason=_ENDED, fact=each.id) for each in over]
    for fact, item in zip(over, items, strict=True):
        if not dry_run:
            _log_once(item, session)  # before it ends: what a killed process has ended is not found again
            if fact.place == "staging":
                forget(fact.id, session, reason=_ENDED)
            else:
                end_fact(fact.id, session)
    return tuple(items)


def _log_once(item: LearnedItem, session: Session) -> None:
    """Log the end of a fact, unless a process that was killed has logged it."""
    logged = session.stores.history.learned_items(source=item.source)
    newest = next((each for each in logged if each.fact == item.fact), None)
    if newest is None or newest.outcome != "ended":
        session.stores.history.add_learned_item(item, now=session.clock())


def _facts_of(path: str, session: Session) -> list[Fact]:
    """The entries that were learned from the note and still hold or wait; what the person made their own is theirs."""
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(origins=("entry",), statuses=("active",), staged=True))
    now = session.now
    own = [each for each in records if each.fact.origins.note == path and _is_mined(each.fact)]
    return [each.fact for each in own if state_of(each, at=now) in ("current", "future", "staged")]


def _is_mined(fact: Fact) -> bool:
    return bool(fact.origins.note) and fact.origins.trust == "mined" and fact.origin == "entry"


def _has_words(text: str, quote: str) -> bool:
    return bool(quote) and " ".join(quote.split()) in " ".join(clean_text(text).split())


def _is_gone(path: str, session: Session) -> bool:
    return stat_or_none(path, session.stores.vault) is None


def _stamp(states: dict[str, LearningState], path: str) -> str:
    return states[path].stamp if path in states else ""


def _may_be_tried(state: LearningState, now: str) -> bool:
    return not state.is_parked and state.retry_at <= now


def _hashes(turns: Sequence[Turn] | Iterator[Turn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_hash, turns)))


def _hash(turn: Turn) -> str:
    words = " ".join(turn.text.split())
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:_HASH_DIGITS]
