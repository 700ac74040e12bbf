"""The verbs on notes: read, section, list, stat, links, check, write, delete, move, undo, erase, log, changes."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePath

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.flows import read as reading
from commonplace.flows.memory.undo import undo_with_heirs
from commonplace.flows.notes.changes import ChangeDetail, ChangeFilter, LoggedChange, list_changes, show_change
from commonplace.flows.notes.erase import erase_note
from commonplace.flows.notes.history import log_entries, undo_last
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import delete_note, require_history, write_note, write_notes
from commonplace.flows.stores import Session
from commonplace.history.base import AuditEntry
from commonplace.model import Changed, Erasure, Note, ResolvedLink, Section, Stat, Terms, VaultCheck
from commonplace.model.layout import masked_path, obsidian_link
from commonplace.model.progress import Progress, ignore_progress
from commonplace.notes import section_named, sections
from commonplace.policy.sensitivity import visibility
from commonplace.vault.base import Capability, Revision

_NO_TERMS = Terms()


class Notes:
    """The notes of one vault, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._vault = session.stores.vault
        self._ignored = session.stores.ignored

    @property
    def max_bytes(self) -> int:
        """The size above which a note is refused, in bytes."""
        return self._session.stores.safety.max_note_bytes

    def read(self, path: str | PurePath) -> Note:
        """The note at that path. Raises NotFound, or Refused for a path that is not a note of this vault.

        A sensitive note is shown to a person only: an agent or a job is refused.
        """
        note = reading.read_note(path, self._vault, skip=self._ignored, shows=self._may_see)
        if not self._may_see(note):
            raise Refused(
                f"{note.path} is marked sensitive",
                path=note.path,
                reason="sensitive",
                hint="Its owner hides it from programs; ask them.",
            )
        return note

    def _may_see(self, note: Note) -> bool:
        is_whole = visibility(sensitive=True, audience=self._session.audience) == "whole"
        return is_whole or not self.is_sensitive(note)

    def section(self, path: str | PurePath, name: str) -> Section:
        """A heading of a note with everything below it; `A > B` is B below A. Raises as `read` does, and NotFound."""
        note = self.read(path)
        if section := section_named(note, name):
            return section
        headings = ", ".join(each.path[-1] for each in sections(note)) or "none"
        raise NotFound(f"no section called {name!r} in {note.path}", path=note.path, hint=f"Its headings: {headings}.")

    def list(self, folder: str = "", *, recursive: bool = True) -> tuple[Stat, ...]:
        """The notes below a folder, without the ignored ones. Raises NotFound if there is no such folder.

        An agent or a job sees the name of a sensitive entry without its words: `Agent/Memory/fact/2026-03/*-3f9a1c.md`.
        """
        try:
            stats = reading.list_notes(folder, self._vault, skip=self._ignored, recursive=recursive)
        except NotFound as missing:
            raise reading.suggest_folders(missing, folder, self._vault, skip=self._ignored) from missing
        hidden = self._session.hidden_entries()
        return tuple(replace(stat, path=masked_path(stat.path, hidden)) for stat in stats) if hidden else stats

    def stat(self, path: str | PurePath) -> Stat:
        """Size and modification time of a note, without reading it. Raises as `read` does."""
        return reading.stat_note(path, self._vault, skip=self._ignored, shows=self._may_see)

    def links(self, path: str | PurePath) -> tuple[ResolvedLink, ...]:
        """Every link of a note, and the path it leads to. Raises as `read` does."""
        self.read(path)  # the links of a sensitive note are sensitive too
        return reading.links_of(path, self._vault, skip=self._ignored)

    def check(self, *, progress: Progress = ignore_progress) -> VaultCheck:
        """Every Problem and every link of the vault; for an agent or a job, without the links of sensitive notes."""
        return reading.check_vault(self._vault, skip=self._ignored, progress=progress, shows=self._may_see)

    def link(self, path: str) -> str:
        """The address that opens the note in Obsidian; empty for a vault without a folder."""
        return obsidian_link(path, vault=self._session.stores.vault_name)

    def is_sensitive(self, note: Note) -> bool:
        """True if the note is marked as sensitive, or another version of the entry that it is."""
        return reading.is_hidden(note, self._session.stores)

    def write(self, path: str, text: str | bytes, terms: Terms = _NO_TERMS) -> Changed:
        """Create the note, or replace its text: its keys win, keys it leaves out survive. One commit.

        Raises Refused with the reason, Conflict if the note is not the expected version, VaultUnavailable.
        """
        return write_note(path, _as_bytes(text, path), self._session, terms)

    def write_many(self, texts: Mapping[str, str | bytes], terms: Terms = _NO_TERMS) -> tuple[Changed, ...]:
        """Write several notes in one commit, all or none. Raises as `write` does, for the first that fails."""
        contents = {path: _as_bytes(text, path) for path, text in texts.items()}
        return write_notes(contents, self._session, terms)

    def delete(self, path: str, terms: Terms = _NO_TERMS) -> Changed:
        """Remove the note; git keeps it, and undo brings it back. Raises as `write` does, and NotFound."""
        return delete_note(path, self._session, terms)

    def move(self, path: str, to: str, terms: Terms = _NO_TERMS) -> Changed:
        """Move the note to another path; links to it are updated. Raises as `write` does, and NotFound."""
        return move_note(path, to, self._session, terms)

    def undo(self, count: int = 1, *, commit: str | None = None, terms: Terms = _NO_TERMS) -> tuple[Changed, ...]:
        """Undo our newest changes, or the one in `commit`. On Conflict, which has the place, nothing changes.

        With a job's change, what programs derived from its entries is undone too, before it.
        """
        if commit:
            return undo_with_heirs(commit, self._session, terms)
        return undo_last(self._session, terms, count=count)

    def erase(self, path: str, terms: Terms = _NO_TERMS) -> Erasure:
        """Remove the note for good, with all rows about it; says what git still holds. It cannot be undone."""
        from commonplace.upkeep.erasures import forget_erased  # not needed to read a note, and slow to import

        erasure = erase_note(path, self._session, terms)
        forget_erased(self._session, paths=(erasure.path, *erasure.former))
        return erasure

    def grant(self, path: str, *, minutes: int = 10) -> str:
        """A token with which an agent may change this one note once. Raises Refused unless the actor is a person."""
        if self._session.actor.kind != "person":
            raise Refused("only a person may give a grant", path=path, hint="Ask the owner of the vault.")
        at = reading.locate(path, self._vault)
        return self._session.stores.history.give_grant(at.path, now=self._session.clock(), minutes=minutes)

    def history(self, path: str, *, limit: int | None = None) -> tuple[Revision, ...]:
        """The commits that touched a note, by any author; newest first."""
        return require_history(self._vault).revisions(reading.locate(path, self._vault), limit=limit)

    def tidy(self) -> None:
        """Run the vault's maintenance of its history, if it is due. Raises VaultUnavailable."""
        if Capability.HISTORY in self._vault.capabilities:
            require_history(self._vault).maintain()

    def log(self, *, path: str | None = None, limit: int | None = None) -> tuple[AuditEntry, ...]:
        """Changes made through Commonplace, by whom and why; newest first.

        An agent or a job sees the names of sensitive entries without their words.
        """
        return self._without_words(log_entries(self._session.stores, path=path, limit=limit))

    def latest(self, limit: int) -> tuple[AuditEntry, ...]:
        """The rows of the newest changes by any process, as they were recorded: `log` without asking git."""
        return self._without_words(self._session.stores.history.entries(limit=limit))

    def _without_words(self, rows: tuple[AuditEntry, ...]) -> tuple[AuditEntry, ...]:
        hidden = self._session.hidden_entries() if rows else frozenset()
        return tuple(_masked(row, hidden) for row in rows) if hidden else rows

    def changes(
        self, *, path: str = "", actor: str = "", verb: str = "", before: str = "", limit: int = 50
    ) -> tuple[LoggedChange, ...]:
        """Changes made through Commonplace, one for each commit, newest first: a page of `limit`.

        Only those of a note, by an actor (person, agent, job), with a verb. `before` is the `mark` of the last change
        on the page before. Each says whether it was undone and why it cannot be. Raises UsageError.
        """
        return list_changes(ChangeFilter(path=path, actor=actor, verb=verb, before=before), self._session, limit=limit)

    def change(self, commit: str) -> ChangeDetail:
        """One change with the diff of each note, and whether an undo would succeed. Raises NotFound.

        `commit` may be the beginning of its id, four digits at least. A program sees no diff of a sensitive note.
        """
        return show_change(commit, self._session)


def _masked(row: AuditEntry, hidden: Collection[str]) -> AuditEntry:
    """The row without the words of a sensitive entry: in its paths, and in the reason that somebody gave."""
    path, to = masked_path(row.path, hidden), row.destination and masked_path(row.destination, hidden)
    is_shown = (path, to) == (row.path, row.destination)
    return row if is_shown else replace(row, path=path, destination=to, reason="")


def _as_bytes(text: str | bytes, path: str) -> bytes:
    """The note's bytes. Raises UsageError for anything but text or bytes."""
    try:
        return text.encode() if isinstance(text, str) else bytes(memoryview(text))
    except (UnicodeEncodeError, TypeError) as error:
        raise UsageError(f"this is not the text of a note: {error}", path=path, hint="Give text or bytes.") from error


__all__ = ["AuditEntry", "ChangeDetail", "LoggedChange", "Notes"]
