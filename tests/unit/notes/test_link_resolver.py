"""Which file a link means, among all files and among the candidates of the index."""

import time

import pytest

from commonplace.index.base import Linker
from commonplace.model import Link
from commonplace.notes import LinkResolver, parse
from commonplace.notes.link_resolver import NoteLinker, similar_paths

PATHS = (
    "Note.md",
    "A/Note.md",
    "A/Other.md",
    "A/B/Other.md",
    "C/Other.md",
    "C/Deep/Leaf.md",
    "foo.bar.md",
    "Assets/image.png",
    "Assets/image.png.md",
    "Café.md",
    "A/same name.md",
    "Z/Same Name.md",
)
RESOLVER = LinkResolver.of(
    PATHS, {"C/Deep/Leaf.md": ["The Leaf", "Note"], "A/Other.md": ["Twice"], "C/Other.md": ["twice"]}
)

LINKER: Linker = NoteLinker()


def link_of(text: str) -> Link:
    (link,) = parse(text.encode(), path="x.md", mtime=0.0).links
    return link


@pytest.mark.parametrize(
    ("text", "source", "path"),
    [
        ("[[#Heading]]", "A/Note.md", "A/Note.md"),
        ("[[Note]]", "A/Other.md", "Note.md"),
        ("[[note.MD]]", "C/Other.md", "Note.md"),
        ("[[A/Note]]", "C/Other.md", "A/Note.md"),
        ("[[/Note]]", "A/Other.md", "Note.md"),
        ("[[./Note]]", "A/Other.md", "A/Note.md"),
        ("[[../Note]]", "A/Other.md", "Note.md"),
        ("[[../Note]]", "Note.md", None),
        ("[[../../Note]]", "A/Other.md", None),
        ("[[./Leaf]]", "A/Other.md", None),
        ("[[Leaf]]", "A/Other.md", "C/Deep/Leaf.md"),
        ("[[Deep/Leaf]]", "A/Other.md", "C/Deep/Leaf.md"),
        ("[[eep/Leaf]]", "A/Other.md", None),
        ("[[Other]]", "A/B/x.md", "A/B/Other.md"),
        ("[[Other]]", "C/x.md", "C/Other.md"),
        ("[[Other]]", "Note.md", "A/Other.md"),
        ("[[foo.bar]]", "Note.md", "foo.bar.md"),
        ("![[image.png]]", "Note.md", "Assets/image.png"),
        ("[[image.png]]", "Note.md", "Assets/image.png.md"),
        ("[[cafe\u0301]]", "Note.md", "Café.md"),
        ("[[CAFÉ]]", "Note.md", "Café.md"),
        ("[[same NAME]]", "Z/x.md", "Z/Same Name.md"),
        ("[[the leaf]]", "Note.md", "C/Deep/Leaf.md"),
        ("[[Twice]]", "C/x.md", "C/Other.md"),
        ("[[Twice]]", "Note.md", "A/Other.md"),
        ("[[missing]]", "Note.md", None),
        ("[t](Other.md)", "C/x.md", "C/Other.md"),
        ("[t](Note.md)", "A/x.md", "A/Note.md"),
        ("[t](A/Note.md)", "C/x.md", "A/Note.md"),
        ("[t](../Assets/image.png)", "A/x.md", "Assets/image.png"),
    ],
)
def test_a_link_means_what_obsidian_takes_it_for(text: str, source: str, path: str | None) -> None:
    """Path first, then name with the same folder and the shortest path winning, then alias."""
    assert RESOLVER.resolve(link_of(text), source=source) == path


@pytest.mark.parametrize(
    ("text", "by", "also"),
    [
        ("[[Other]]", "name", ("C/Other.md", "A/B/Other.md")),
        ("[[twice]]", "alias", ("C/Other.md",)),
        ("[[A/Other]]", "path", ()),
        ("[[./Note]]", "path", ()),
        ("[x](Other.md)", "path", ()),
        ("[[Leaf]]", "name", ()),
        ("[[missing]]", "path", ()),
    ],
)
def test_an_ambiguous_name_or_alias_lists_the_alternatives(text: str, by: str, also: tuple[str, ...]) -> None:
    """Only where the words leave a choice: a path means one file."""
    resolution = RESOLVER.resolution(link_of(text), source="A/x.md")

    assert (resolution.by, resolution.also) == (by, also)


def test_only_a_few_alternatives_are_listed() -> None:
    """A name that a thousand notes have does not make a thousand times a thousand answers."""
    resolver = LinkResolver.of(f"{n}/README.md" for n in range(1000))

    assert len(resolver.resolution(link_of("[[README]]"), source="x/y.md").also) == 5


def test_two_files_that_differ_in_case_are_told_apart() -> None:
    """The one spelled as the link wins."""
    resolver = LinkResolver.of(["a/B.md", "a/b.md"])

    assert resolver.resolve(link_of("[[a/b]]"), source="x.md") == "a/b.md"
    assert resolver.resolve(link_of("[[a/B]]"), source="x.md") == "a/B.md"


def test_ten_thousand_names_are_ready_in_a_moment() -> None:
    """A fifth of a second is the promise; a slow machine gets a second."""
    paths = [f"Folder {i % 100}/Sub {i % 7}/Note {i} ü.md" for i in range(10_000)]
    start = time.thread_time()
    resolver = LinkResolver.of(paths)

    assert time.thread_time() - start < 1
    assert resolver.resolve(link_of("[[Note 77 ü]]"), source="x.md") == paths[77]


def wikilink(target: str) -> Link:
    return Link(target, None, None, None, form="wikilink", where="body", line=1, start=0, end=1)


def test_a_note_has_the_name_of_its_file_and_its_aliases() -> None:
    """Whatever their case, without `.md`."""
    assert LINKER.names_of("People/Ada Lindqvist.md", ["Ada", "AL"]) == {"ada lindqvist", "ada", "al"}


def test_a_link_has_the_name_of_its_last_part_and_the_whole() -> None:
    """A path means a file, the whole may be an alias; a link within its note has none."""
    assert LINKER.names_in(wikilink("People/Ada.md")) == {"ada", "people/ada.md"}
    assert LINKER.names_in(wikilink("")) == set()


def test_a_link_is_resolved_among_the_notes_that_are_given() -> None:
    """By name first, by alias last; a link within its note means that note."""
    among: dict[str, tuple[str, ...]] = {"a/Ada.md": (), "b/Ada.md": (), "c.md": ("Ada", "Countess")}

    assert LINKER.resolve(wikilink("ada"), source="b/x.md", among=among) == "b/Ada.md"
    assert LINKER.resolve(wikilink("countess"), source="b/x.md", among=among) == "c.md"
    assert LINKER.resolve(wikilink("Bob"), source="b/x.md", among=among) is None
    assert LINKER.resolve(wikilink(""), source="b/x.md", among={}) == "b/x.md"


def test_similar_paths_are_those_with_a_similar_path_or_file_name() -> None:
    """At most three, ignoring case; a path that differs only in case is the only one."""
    paths = ["People/Ada.md", "People/Adda.md", "Projects/Garden plan.md", "x.md"]

    assert similar_paths("people/ada.MD", paths) == ("People/Ada.md",)
    assert similar_paths("Garden plans.md", paths) == ("Projects/Garden plan.md",)
    assert similar_paths("nothing like it.md", paths) == ()
