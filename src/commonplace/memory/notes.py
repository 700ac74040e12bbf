"""The verbs on notes: read, list, stat, links."""

from pathlib import PurePath

from commonplace.errors import NotFound
from commonplace.flows import read as reading
from commonplace.model import Check, Note, ResolvedLink, Section, Stat
from commonplace.notes import section_named, sections
from commonplace.policy.ignore import Ignores
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import StorageBackend


class Notes:
    """The notes of one vault."""

    def __init__(self, vault: StorageBackend, *, safety: SafetyOptions, ignored: Ignores) -> None:
        self._vault = vault
        self._safety = safety
        self._ignored = ignored

    def read(self, path: str | PurePath) -> Note:
        """The note at that path. Raises NotFound, or Refused for a path that is no note of this vault."""
        return reading.read_note(path, self._vault, skip=self._ignored)

    def section(self, path: str | PurePath, name: str) -> Section:
        """A heading of a note with all below it; `A > B` names one below another. Raises NotFound."""
        note = self.read(path)
        if section := section_named(note, name):
            return section
        known = ", ".join(each.path[-1] for each in sections(note)) or "none"
        raise NotFound(f"no section called {name!r} in {note.path}", path=note.path, hint=f"Its headings: {known}.")

    def list(self, folder: str = "", *, recursive: bool = True) -> tuple[Stat, ...]:
        """The notes below a folder, without the ignored ones. Raises NotFound when there is no such folder."""
        return reading.list_notes(folder, self._vault, skip=self._ignored, recursive=recursive)

    def stat(self, path: str | PurePath) -> Stat:
        """Size and time of a note, without reading it. Raises as `read` does."""
        return reading.stat_note(path, self._vault, skip=self._ignored)

    def links(self, path: str | PurePath) -> tuple[ResolvedLink, ...]:
        """Every link of a note, and the path it leads to. Raises as `read` does."""
        return reading.links_of(path, self._vault, skip=self._ignored)

    def check(self, *, progress: reading.Progress = lambda done, total: None) -> Check:
        """Every Problem and every link of the vault."""
        return reading.check_vault(self._vault, skip=self._ignored, progress=progress)

    def is_sensitive(self, note: Note) -> bool:
        """Whether the note is marked as sensitive."""
        return is_sensitive(note, self._safety)
