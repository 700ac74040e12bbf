"""The templates of notes: those that come with the program, and those in the vault's folder, which replace them.

A template is self-contained: the frontmatter of the note is its own first block. What it makes is parsed as every note
is; frontmatter that cannot be read is an error of the template.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from commonplace.errors import NotFound, UsageError
from commonplace.flows.read import list_notes, locate
from commonplace.flows.stores import Stores
from commonplace.model.template import TemplateText
from commonplace.notes import parse
from commonplace.notes.note_text import split_note
from commonplace.templates.render import MOST_SOURCE, render

DEFAULT_FOLDER: Final = "Templates/commonplace"
_ENDING: Final = ".md"
_PACKAGE: Final = "commonplace.templates"
_BASE: Final = "memory.base"


@dataclass(frozen=True, slots=True)
class RenderedNote:
    """A rendered note: its body, without the frontmatter, and the frontmatter's keys."""

    body: str
    frontmatter: Mapping[str, Any]


def memory_base() -> str:
    """A file for Obsidian's Bases: people, meetings, open commitments, what waits for review, and stale facts."""
    return files(_PACKAGE).joinpath(_BASE).read_text(encoding="utf-8")


class TemplateLibrary:
    """The templates that a vault's notes are made from.

    `folder` is the vault's folder of templates; None is DEFAULT_FOLDER, which need not exist. Raises UsageError if a
    folder is named and does not exist.
    """

    def __init__(self, stores: Stores, folder: str | None = None) -> None:
        self._stores, self._folder = stores, (folder or DEFAULT_FOLDER).strip("/")
        self._own = self._own_paths(is_required=folder is not None)

    def names(self) -> tuple[str, ...]:
        """Every template, by name."""
        return tuple(sorted({*_packaged_names(), *self._own}))

    def template(self, name: str) -> TemplateText:
        """The vault's template of that name, else the packaged one. Raises NotFound, and Refused if it is too large."""
        if path := self._own.get(name):
            content = self._stores.vault.read(locate(path, self._stores.vault)).content
            return TemplateText(name, content[: 4 * MOST_SOURCE + 4].decode("utf-8-sig", "replace"), "vault", path)
        if name in _packaged_names():
            text = files(_PACKAGE).joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")
            return TemplateText(name, text, "packaged", f"{name}{_ENDING}")
        hint = f"Templates: {', '.join(self.names()) or 'none'}."
        raise NotFound(f"there is no template {name!r}", path=name, hint=hint)

    def render(self, name: str, values: Mapping[str, Any]) -> RenderedNote:
        """The note that the template makes of the values.

        Raises NotFound, UsageError for a missing value and for frontmatter that cannot be read, and Refused for what
        no template may do.
        """
        template = self.template(name)
        text = render(template.text.replace("\r\n", "\n"), values, name=template.path)
        raw = text.encode(errors="replace")
        note = parse(raw, path=template.path, mtime=0.0)
        parts = split_note(raw)
        if not parts.opening or note.problems:
            said = note.problems[0].message if note.problems else "it does not begin with a block between two `---`"
            hint = "Write every value there with the filter `yaml`."
            raise UsageError(f"the template {template.path} makes bad frontmatter: {said}", path=name, hint=hint)
        return RenderedNote(parts.body.lstrip("\n"), dict(note.frontmatter))

    def _own_paths(self, *, is_required: bool) -> dict[str, str]:
        """The paths of the vault's templates by name."""
        try:
            stats = list_notes(self._folder, self._stores.vault, skip=self._stores.ignored, recursive=False)
        except NotFound as error:
            if not is_required:
                return {}
            hint = "Create it, or correct skills.templates_dir."
            raise UsageError(f"there is no templates folder {self._folder}", path=self._folder, hint=hint) from error
        return {stat.path.rpartition("/")[2].removesuffix(_ENDING): stat.path for stat in stats}


def _packaged_names() -> tuple[str, ...]:
    found = (each.name for each in files(_PACKAGE).iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING)))
