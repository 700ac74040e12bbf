"""Entries and notes that other programs held: each goes through the gate and the policy that a program's words do.

Who imports a file did not write it. Entries are saved as imported: they hold at once, since the person asked for them,
and are recalled where a prompt is about them; what would replace or contradict the person's own word, or be loaded
before every prompt, waits for review. Notes are written like a job's: no secrets, and no line of them is the person's
word. An import never confirms what is known, and never overwrites what somebody has changed here.

A note that was imported says so in its frontmatter, with a hash of what it was made from: `imported: notion 3f9a1c2b`.
So a later import knows whether the source or the note has changed since. A folder inside the vault is not copied: its
notes stay where they are, and those that are entries of another memory get the keys of an entry.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.facts.cues import counted_cue
from commonplace.facts.entry_format import is_entry
from commonplace.facts.entry_paths import fact_class_of
from commonplace.flows.learn.marked_notes import MARK, MARK_KEY
from commonplace.flows.memory.new_entry import complete_candidate, new_id, screen_candidate, with_keys
from commonplace.flows.memory.save import save
from commonplace.flows.notes.write import Edit, Permit, Reader, change, commit_message, refuse_secrets, write_notes
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Candidate, EntryResult, Note, Origins, Terms
from commonplace.model.layout import is_entry_path
from commonplace.notes import parse, remove_key, set_key
from commonplace.notes.note_text import note_diff
from commonplace.sources.imports.base import ImportedEntry, ImportedNote

IMPORT_FOLDER: Final = "Imports"
"""Where notes go that have no place of their own in the vault."""

IMPORTED: Final = "imported"
"""The key of an imported note: the kind of the import, and a hash of the text that was imported."""

StoredOutcome = Literal["saved", "updated", "known", "staged", "kept", "refused"]
_DIGITS: Final = 12  # of the hash: it tells versions of one note apart
_SETTLED: Final = frozenset(("id", "kind", "status", "source"))  # keys of an adopted note that get our values
_ID_KEYS: Final = frozenset(("supersedes", "superseded_by", "derived_from"))


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of an entry or a note, and why; `path` is where it is, empty if it is nowhere.

    `difference` is what a dry run would change in a note that stays where it is.
    """

    outcome: StoredOutcome
    path: str = ""
    reason: str = ""
    difference: str = ""


def store_entry(
    item: ImportedEntry, session: Session, *, kind: str, review: bool, inside: str | None, dry_run: bool
) -> Stored:
    """Save the entry of another memory, unless it is known. Raises Conflict, VaultUnavailable and IndexDamaged.

    `kind` is the kind of the import. With `review` every entry waits for approval. `inside` is the path of the imported
    folder in the vault, None if it lies elsewhere.
    """
    candidate = replace(item.candidate, origins=Origins(interface=kind, trust="imported"))
    candidate = replace(candidate, about=candidate.about or counted_cue(", ".join(candidate.topics or candidate.tags)))
    try:
        if inside is not None and item.note:
            return _adopt(candidate, item, session, folder=inside, dry_run=dry_run)
        return _save_imported(candidate, item, _as_import(session, review=review), dry_run=dry_run)
    except (Refused, UsageError) as error:
        return Stored("refused", reason=error.message)


def _as_import(session: Session, *, review: bool) -> Session:
    """The session of a program, whose imported facts need not wait unless everything is to be reviewed."""
    stores = session.stores
    if not review:
        trusts = tuple(each for each in stores.facts.staged_trusts if each != "imported")
        stores = replace(stores, facts=replace(stores.facts, staged_trusts=trusts))
    elif "imported" not in stores.facts.staged_trusts:
        stores = replace(stores, facts=replace(stores.facts, staged_trusts=(*stores.facts.staged_trusts, "imported")))
    return replace(session, stores=stores, actor=replace(session.actor, kind="job"))


def _save_imported(candidate: Candidate, item: ImportedEntry, session: Session, *, dry_run: bool) -> Stored:
    """Save the candidate as what was said when the other memory came to know it."""
    candidate = replace(candidate, said=item.known_since if item.known_since < session.now else "")
    begins = candidate.valid_from or candidate.said
    if candidate.valid_until and candidate.valid_until <= (begins or session.now):
        return Stored("refused", reason="it has ended, and when it began is not known")
    if known := _known(candidate, session, begins=candidate.valid_from):
        return known
    return _stored(save(candidate, session, dry_run=dry_run))


def _known(candidate: Candidate, session: Session, *, begins: str) -> Stored | None:
    """The entry with exactly these words, whether it holds, was replaced, was forgotten or waits; None if none has.

    If the other memory says when it `begins`, another time is another fact: people move back to where they lived.
    """
    fingerprint = session.stores.rules.fingerprint(complete_candidate(candidate, session))
    with session.stores.index.reader() as reader:
        same = reader.facts(FactQuery(fingerprint=fingerprint, origins=("entry",), staged=True))
    same = tuple(each for each in same if not begins or each.fact.begins == begins or each.fact.status == "deleted")
    if not same:
        return None
    is_forgotten = any(each.fact.status == "deleted" for each in same)
    return Stored("known", same[0].fact.path, "it was forgotten here" if is_forgotten else "it is known")


def _stored(result: EntryResult) -> Stored:
    if result.action == "confirm":
        return Stored("known", result.fact.path, result.reason)
    if result.staged:
        return Stored("staged", result.fact.path, result.reason)
    return Stored("updated" if result.action == "supersede" else "saved", result.fact.path, result.reason)


def _adopt(candidate: Candidate, item: ImportedEntry, session: Session, *, folder: str, dry_run: bool) -> Stored:
    """Give a note of the vault the keys of an entry; its text and its other keys stay as they are."""
    at = locate(_inside(folder, item.note), session.stores.vault)
    if not is_entry_path(at.path):
        return Stored("kept", at.path, "it stays a note: entries are below Agent/Memory")
    candidate = complete_candidate(candidate, session)
    screen_candidate(candidate, session)
    terms = Terms(message=commit_message(session.stores, verb="adopt", path=at.path), dry_run=dry_run)
    permit = Permit(session, terms, "remember", at.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        note = parse(there.content, path=at.path, mtime=0.0)
        if is_entry(note):
            return ()
        permit.ask(there=note)
        keys = _entry_keys(candidate, item, note, session)
        return (Edit(at, there.content, with_keys(there.content, keys, path=at.path)),)

    edits, _ = change(plan, [permit], path=at.path)
    if not edits:
        return Stored("known", at.path, "it is an entry already")
    return Stored(
        "updated", at.path, "it became an entry where it is", note_diff(edits[0].before, edits[0].after, path=at.path)
    )


def _entry_keys(candidate: Candidate, item: ImportedEntry, note: Note, session: Session) -> dict[str, object | None]:
    """Our keys for the note of another memory, as far as it does not have them; None for a key that goes.

    Its links to other entries are paths, where ours are ids: they go to a key with the name of that memory.
    """
    interface, recorded = candidate.origins.interface, item.known_since if item.known_since < session.now else ""
    keys: dict[str, object | None] = {
        "id": new_id(session.clock()),
        "kind": candidate.kind,
        "fact": fact_class_of(candidate.kind),
        "status": "active",
        "topics": [*candidate.topics],
        "about": candidate.about,
        "recorded": recorded or session.now,
        "source": {"interface": interface, "trust": "said"},  # by the agent that keeps this vault
    }
    keys = {key: value for key, value in keys.items() if value and (key in _SETTLED or key not in note.frontmatter)}
    for name in _ID_KEYS & note.frontmatter.keys():
        keys |= {name: None, f"{interface}_{name}": note.frontmatter[name]}
    return keys


def store_notes(
    items: Sequence[ImportedNote],
    session: Session,
    *,
    kind: str,
    inside: str | None,
    dry_run: bool,
    folder: str = IMPORT_FOLDER,
) -> tuple[Stored, ...]:
    """Write the notes below `folder`, or where they say, in one commit; notes inside the vault stay where they are.

    A path that another note has is not taken: the note gets the name of the import added to its own. Raises Conflict
    and VaultUnavailable.
    """
    if inside is not None:
        return tuple(Stored("kept", _inside(inside, item.where), "it is in the vault already") for item in items)
    writer = _as_writer(session, [item.path if item.in_place else folder for item in items])
    planned = [_plan_note(item, writer, kind=kind, folder=folder) for item in items]
    drafts = [each for each in planned if isinstance(each, _Draft)]
    written = iter(_write_drafts(drafts, writer, dry_run=dry_run))
    return tuple(each if isinstance(each, Stored) else next(written) for each in planned)


def _as_writer(session: Session, paths: Sequence[str]) -> Session:
    """The session of a program that may write to the top folders of these paths: the person named them."""
    stores = session.stores
    allowed = dict.fromkeys((*stores.safety.path_allowlist, *(path.partition("/")[0] for path in paths)))
    stores = replace(stores, safety=replace(stores.safety, path_allowlist=tuple(allowed)))
    return replace(session, stores=stores, actor=replace(session.actor, kind="job"))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A note to be written: `outcome` is what it will be then."""

    path: str
    content: bytes
    outcome: StoredOutcome


def _plan_note(item: ImportedNote, session: Session, *, kind: str, folder: str) -> Stored | _Draft:
    """What is to be done with a note: it is written at its path, or at one with the name of the import, or not."""
    path = item.path if item.in_place else f"{folder}/{item.path}"
    try:
        content = _stamped(item.text, kind, path)
        for each in (path, f"{path.removesuffix('.md')} ({kind}).md"):
            if planned := _compare(each, content, session):
                if isinstance(planned, _Draft):
                    refuse_secrets(item.text)  # the write refuses them too, but counts the lines of the stamp
                return planned
    except (Refused, UsageError) as error:
        return Stored("refused", reason=error.message)
    return Stored("refused", reason="other notes have its name")


def _compare(path: str, content: bytes, session: Session) -> Stored | _Draft | None:
    """What is to be done with a note for this path; None if another note has the path. Raises Refused for the path.

    It is written if nothing is there, or an older import that nobody has changed.
    """
    there = _note_at(path, session)
    if there is None:
        return _Draft(path, content, "saved")
    new = parse(content, path=path, mtime=0.0)
    stamp, own = _stamp_of(there), _stamp_of(new)
    if (stamp and stamp == own) or there.text == new.text or (not stamp and there.body == new.body):
        return Stored("known", path)
    if not stamp or stamp.split()[0] != own.partition(" ")[0]:
        return None
    if stamp.split()[-1] != _hash_of(there):
        return Stored("kept", path, "it was changed here, and its source has changed too")
    return _Draft(path, content, "updated")


def _write_drafts(drafts: Sequence[_Draft], session: Session, *, dry_run: bool) -> list[Stored]:
    """Write the notes in one commit; one after the other if one of them is refused."""
    contents = {each.path: each.content for each in drafts}
    if not drafts:
        return []
    what = drafts[0].path if len(drafts) == 1 else f"{len(drafts)} notes"
    terms = Terms(message=commit_message(session.stores, verb="import", path=what), dry_run=dry_run)
    try:
        changed = write_notes(contents, session, terms)
    except (Refused, UsageError) as error:
        if len(drafts) == 1:
            return [Stored("refused", reason=error.message)]
        return [stored for each in drafts for stored in _write_drafts([each], session, dry_run=dry_run)]
    return [
        Stored(draft.outcome if each.changed else "known", each.path)
        for draft, each in zip(drafts, changed, strict=True)
    ]


def _inside(folder: str, path: str) -> str:
    """The path in the vault of a file in a folder of it."""
    return f"{folder}/{path}".removeprefix("./")


def _note_at(path: str, session: Session) -> Note | None:
    vault = session.stores.vault
    try:
        return parse(vault.read(locate(path, vault)).content, path=path, mtime=0.0)
    except NotFound:
        return None


def _stamped(text: str, kind: str, path: str) -> bytes:
    """The note with the stamp of its import; as it is, if its frontmatter cannot be edited.

    A mark that makes a note a source of memory is taken away: the person sets it, and no one else.
    """
    content = text.encode(errors="replace")
    try:
        note = parse(content, path=path, mtime=0.0)
        if str(note.frontmatter.get(MARK_KEY)).strip().casefold() == MARK:
            content = remove_key(content, MARK_KEY, path=path)
            note = parse(content, path=path, mtime=0.0)
        return set_key(content, IMPORTED, f"{kind} {_hash_of(note)}", path=path)
    except Refused:
        return content


def _stamp_of(note: Note) -> str:
    value = note.frontmatter.get(IMPORTED)
    return value if isinstance(value, str) and len(value.split()) > 1 else ""


def _hash_of(note: Note) -> str:
    """A hash of what a note says without its stamp."""
    keys = {name: value for name, value in note.frontmatter.items() if name != IMPORTED}
    said = json.dumps([keys, note.body.strip()], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
