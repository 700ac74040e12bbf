"""The verbs on notes: read, list, stat, links; write, delete, move, undo, erase; history, log, tidy."""

from collections.abc import Mapping
from pathlib import PurePath

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.flows import read as reading
from commonplace.flows.erase import erase_note
from commonplace.flows.log import log_entries
from commonplace.flows.move import move_note
from commonplace.flows.undo import undo_commit, undo_last
from commonplace.flows.write import Desk, delete_note, with_history, write_note, write_notes
from commonplace.history.base import AuditEntry
from commonplace.model import Changed, Check, Erased, Note, ResolvedLink, Section, Stat, Terms
from commonplace.notes import section_named, sections
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.sinks import Sink, shown
from commonplace.vault.base import Capability, Revision

_PLAIN = Terms()


class Notes:
    """The notes of one vault, for one actor."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._vault = desk.vault

    def read(self, path: str | PurePath) -> Note:
        """The note at that path. Raises NotFound, or Refused for a path that is no note of this vault.

        A sensitive note is shown to a person only: an agent or a job is refused.
        """
        note = reading.read_note(path, self._vault, skip=self._desk.ignored)
        if not self._tells(note):
            raise Refused(
                f"{note.path} is marked sensitive",
                path=note.path,
                reason="sensitive",
                hint="Its owner keeps it from programs; ask them.",
            )
        return note

    def _tells(self, note: Note) -> bool:
        """Whether this actor may see what the note says."""
        sink: Sink = "person" if self._desk.actor.kind == "person" else "prompt"
        return shown(self.is_sensitive(note), sink) == "whole"

    def section(self, path: str | PurePath, name: str) -> Section:
        """A heading of a note with all below it; `A > B` names one below another. Raises NotFound."""
        note = self.read(path)
        if section := section_named(note, name):
            return section
        known = ", ".join(each.path[-1] for each in sections(note)) or "none"
        raise NotFound(f"no section called {name!r} in {note.path}", path=note.path, hint=f"Its headings: {known}.")

    def list(self, folder: str = "", *, recursive: bool = True) -> tuple[Stat, ...]:
        """The notes below a folder, without the ignored ones. Raises NotFound when there is no such folder."""
        return reading.list_notes(folder, self._vault, skip=self._desk.ignored, recursive=recursive)

    def stat(self, path: str | PurePath) -> Stat:
        """Size and time of a note, without reading it. Raises as `read` does."""
        return reading.stat_note(path, self._vault, skip=self._desk.ignored)

    def links(self, path: str | PurePath) -> tuple[ResolvedLink, ...]:
        """Every link of a note, and the path it leads to. Raises as `read` does."""
        self.read(path)  # what a note links to is part of what it says
        return reading.links_of(path, self._vault, skip=self._desk.ignored)

    def check(self, *, progress: reading.Progress = lambda done, total: None) -> Check:
        """Every Problem and every link of the vault; for an agent or a job, not the links of sensitive notes."""
        return reading.check_vault(self._vault, skip=self._desk.ignored, progress=progress, tells=self._tells)

    def is_sensitive(self, note: Note) -> bool:
        """Whether the note is marked as sensitive."""
        return is_sensitive(note, self._desk.safety)

    def write(self, path: str, text: str | bytes, terms: Terms = _PLAIN) -> Changed:
        """Create the note, or lay the text over it: its keys win, keys it leaves out survive. One commit.

        Raises Refused with the reason, Conflict when the note is not the expected one, VaultUnavailable.
        """
        return write_note(path, _as_bytes(text, path), self._desk, terms)

    def write_many(self, texts: Mapping[str, str | bytes], terms: Terms = _PLAIN) -> tuple[Changed, ...]:
        """Write several notes in one commit, all or none. Raises as `write` does, for the first that cannot be."""
        contents = {path: _as_bytes(text, path) for path, text in texts.items()}
        return write_notes(contents, self._desk, terms)

    def delete(self, path: str, terms: Terms = _PLAIN) -> Changed:
        """Remove the note; git keeps it, and undo brings it back. Raises as `write` does, and NotFound."""
        return delete_note(path, self._desk, terms)

    def move(self, path: str, to: str, terms: Terms = _PLAIN) -> Changed:
        """Give the note another path; the links to it follow. Raises as `write` does, and NotFound."""
        return move_note(path, to, self._desk, terms)

    def undo(self, count: int = 1, *, commit: str | None = None, terms: Terms = _PLAIN) -> tuple[Changed, ...]:
        """Take back our newest changes, or the one named. Raises Conflict, with the place, and changes nothing then."""
        if commit:
            return (undo_commit(commit, self._desk, terms),)
        return undo_last(self._desk, terms, count=count)

    def erase(self, path: str, terms: Terms = _PLAIN) -> Erased:
        """Remove the note for good, with all rows about it; says what git still holds. It cannot be undone."""
        return erase_note(path, self._desk, terms)

    def grant(self, path: str, *, minutes: int = 10) -> str:
        """A token with which an agent may change this one note once. Only a person may give it: Refused."""
        if self._desk.actor.kind != "person":
            raise Refused("only a person may give a grant", path=path, hint="Ask the owner of the vault.")
        at = reading.locate(path, self._vault)
        return self._desk.history.give_grant(at.path, now=self._desk.clock(), minutes=minutes)

    def history(self, path: str, *, limit: int | None = None) -> tuple[Revision, ...]:
        """The commits that touched a note, whoever made them; newest first."""
        return with_history(self._vault).revisions(reading.locate(path, self._vault), limit=limit)

    def tidy(self) -> None:
        """Let the vault put what it keeps of the past in order, if that is due. Raises VaultUnavailable."""
        if Capability.HISTORY in self._vault.capabilities:
            with_history(self._vault).maintain()

    def log(self, *, path: str | None = None, limit: int | None = None) -> tuple[AuditEntry, ...]:
        """What was written through Commonplace, by whom and why; newest first."""
        return log_entries(self._desk, path=path, limit=limit)


def _as_bytes(text: str | bytes, path: str) -> bytes:
    """The note's bytes. Raises UsageError for what is no text."""
    try:
        return text.encode() if isinstance(text, str) else bytes(memoryview(text))
    except (UnicodeEncodeError, TypeError) as error:
        raise UsageError(f"a note is text, and this is not: {error}", path=path, hint="Give text or bytes.") from error
