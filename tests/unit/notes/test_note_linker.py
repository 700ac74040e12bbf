"""The names by which the index finds what a link means."""

from commonplace.index.base import Linker
from commonplace.model import Link
from commonplace.notes.linker import NoteLinker

LINKER: Linker = NoteLinker()


def link(target: str) -> Link:
    return Link(target, None, None, None, form="wikilink", where="body", line=1, start=0, end=1)


def test_a_note_has_the_name_of_its_file_and_its_aliases() -> None:
    """Whatever their case, without `.md`."""
    assert LINKER.names_of("People/Ada Lindqvist.md", ["Ada", "AL"]) == {"ada lindqvist", "ada", "al"}


def test_a_link_has_the_name_of_its_last_part_and_the_whole() -> None:
    """A path means a file, the whole may be an alias; a link within its note has none."""
    assert LINKER.names_in(link("People/Ada.md")) == {"ada", "people/ada.md"}
    assert LINKER.names_in(link("")) == set()


def test_a_link_is_resolved_among_the_notes_that_are_given() -> None:
    """By name first, by alias last; a link within its note means that note."""
    among: dict[str, tuple[str, ...]] = {"a/Ada.md": (), "b/Ada.md": (), "c.md": ("Ada", "Countess")}

    assert LINKER.resolve(link("ada"), source="b/x.md", among=among) == "b/Ada.md"
    assert LINKER.resolve(link("countess"), source="b/x.md", among=among) == "c.md"
    assert LINKER.resolve(link("Bob"), source="b/x.md", among=among) is None
    assert LINKER.resolve(link(""), source="b/x.md", among={}) == "b/x.md"
