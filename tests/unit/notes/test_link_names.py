"""Which file a link means."""

import time

import pytest

from commonplace.model import Link
from commonplace.notes import Names, parse

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
NAMES = Names.of(PATHS, {"C/Deep/Leaf.md": ["The Leaf", "Note"], "A/Other.md": ["Twice"], "C/Other.md": ["twice"]})


def link_of(text: str) -> Link:
    (link,) = parse(text.encode(), path="x.md", mtime=0.0).links
    return link


@pytest.mark.requirement("A-19")
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
    assert NAMES.resolve(link_of(text), source=source) == path


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
def test_a_name_or_alias_that_several_files_have_tells_the_others(text: str, by: str, also: tuple[str, ...]) -> None:
    """Only where the words leave a choice: a path means one file."""
    meaning = NAMES.meaning(link_of(text), source="A/x.md")

    assert (meaning.by, meaning.also) == (by, also)


def test_the_others_are_a_few_however_many_there_are() -> None:
    """A name that a thousand notes have does not make a thousand times a thousand answers."""
    names = Names.of(f"{n}/README.md" for n in range(1000))

    assert len(names.meaning(link_of("[[README]]"), source="x/y.md").also) == 5


def test_two_files_that_differ_in_case_are_told_apart() -> None:
    """The one spelled as the link wins."""
    names = Names.of(["a/B.md", "a/b.md"])

    assert names.resolve(link_of("[[a/b]]"), source="x.md") == "a/b.md"
    assert names.resolve(link_of("[[a/B]]"), source="x.md") == "a/B.md"


def test_ten_thousand_names_are_ready_in_a_moment() -> None:
    """A fifth of a second is the promise; a slow machine gets a second."""
    paths = [f"Folder {i % 100}/Sub {i % 7}/Note {i} ü.md" for i in range(10_000)]
    begun = time.perf_counter()
    names = Names.of(paths)

    assert time.perf_counter() - begun < 1
    assert names.resolve(link_of("[[Note 77 ü]]"), source="x.md") == paths[77]
