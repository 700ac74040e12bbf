"""Readers of notes: Basic Memory, Logseq and Notion, and the paths that imported notes get."""

import pytest

from commonplace.sources.imports import basic_memory, logseq, notion
from commonplace.sources.imports.base import ImportedNote, ImportItem, ImportProblem, ImportReader, ImportSkip
from commonplace.sources.imports.files import InMemoryFiles
from commonplace.sources.imports.note_files import distinct_paths, note_path, split_frontmatter, with_frontmatter
from commonplace.sources.imports.registry import recognise
from tests.import_examples.other_memories import example_files

BLOCK = "64f0c0de-0000-4000-8000-000000000001"


def read(reader: ImportReader, files: InMemoryFiles) -> list[ImportItem]:
    """Everything that the reader makes of the files."""
    return [*reader.read(files, reader.select(files))]


def notes(items: list[ImportItem]) -> dict[str, str]:
    """The texts of the notes by their paths."""
    return {each.path: each.text for each in items if isinstance(each, ImportedNote)}


def test_notes_of_basic_memory_keep_their_text() -> None:
    """Observations and relations are structured lines here too; only links by permalink are rewritten."""
    items = read(basic_memory.READER, example_files("basic-memory"))

    found = notes(items)
    assert found.keys() == {f"Basic Memory/{name}.md" for name in ("Coffee Brewing", "broken", "specs/search")}
    assert "- documented in [[search|the search spec]]" in found["Basic Memory/Coffee Brewing.md"]
    assert "- [method] Pour over gives a clean cup #brewing" in found["Basic Memory/Coffee Brewing.md"]
    assert "memory://coffee-brewing stays in code" in found["Basic Memory/specs/search.md"]
    assert [each.where for each in items if isinstance(each, ImportProblem)] == ["broken.md"]


def test_a_folder_of_plain_markdown_is_not_basic_memory() -> None:
    """A blog has permalinks, and lists have brackets: neither alone makes a project of Basic Memory."""
    blog = {"a.md": b"---\npermalink: /a\n---\nText.\n", "b.md": b"- [x] done\n- [ ] open\n", "c.md": b"# C\n"}

    assert not basic_memory.READER.select(InMemoryFiles(blog))


def test_an_outline_of_logseq_becomes_a_note_of_obsidian() -> None:
    """Properties, tasks, days, block references and embeds are rewritten; code and unknown references stay."""
    found = notes(read(logseq.READER, example_files("logseq")))

    page = found["Logseq/pages/Reading list.md"]
    assert page.startswith(
        '---\ntitle: Reading list\naliases: ["Books", "Lese-Liste"]\ntags: ["reading", "someday"]\ntype: list\n---\n'
    )
    assert f"- [ ] Finish *Middlemarch* ^{BLOCK}\n\t- chapter 12, see [[2026-03-01]]\n\t  page-count:: 880" in page
    assert f"- [ ] ![[Reading list#^{BLOCK}]]" in page
    assert "- [x] Return [[Library/Utrecht]] card" in page
    assert f"- code `(({BLOCK}))` stays" in page
    assert "id:: 64f0c0de-0000-4000-8000-000000000009" in page  # in a block of code
    assert "collapsed::" not in page
    assert "- [[deep work]] and #tag" in page
    assert "- see [[Reading list|my list]]" in found["Logseq/pages/Library/Utrecht.md"]


def test_pages_and_journals_of_logseq_get_their_places() -> None:
    """A namespace is a folder, a journal is named for its day, an empty journal and backups stay out."""
    items = read(logseq.READER, example_files("logseq"))

    assert sorted(notes(items)) == [
        "Logseq/journals/2026-03-01.md",
        "Logseq/pages/Library/Utrecht.md",
        "Logseq/pages/Reading list.md",
        "Logseq/pages/etc/passwd.md",  # its name was ../../../etc/passwd
        "Logseq/pages/Übung.md",
    ]
    assert any("references to blocks" in each.reason for each in items if isinstance(each, ImportSkip))


def test_links_between_pages_of_notion_are_links_between_notes() -> None:
    """By relative path, by address, or to a database; other links, images and code stay as they are."""
    home = notes(read(notion.READER, example_files("notion")))["Notion/Home.md"]

    assert "[[Plan fedcba|Plan]], then [[Tasks]] or [web](https://example.org/a_(b)) and [[Plan fedcba|addr]]." in home
    assert "`[Plan](Home%20" in home
    assert "![img](Home%20" in home


def test_pages_of_notion_lose_the_ids_in_their_names() -> None:
    """Of two pages with one name, one keeps it and the other has six digits of its id."""
    found = notes(read(notion.READER, example_files("notion")))

    assert sorted(found) == [
        "Notion/Home.md",
        "Notion/Home/Plan fedcba.md",
        "Notion/Home/Plan.md",
        "Notion/Home/Tasks.md",
        "Notion/Home/Tasks/Write, then ship.md",
    ]


def test_a_database_of_notion_is_a_table_and_its_rows_have_properties() -> None:
    """The table of all rows wins over that of a view; a row's page has its columns as frontmatter."""
    found = notes(read(notion.READER, example_files("notion")))

    assert "| [[Write, then ship]] | Done | a, b | March 1 2026 |\n| Unfiled \\| row |" in found["Notion/Home/Tasks.md"]
    assert "| Hidden row |" in found["Notion/Home/Tasks.md"]
    row = found["Notion/Home/Tasks/Write, then ship.md"]
    assert row.startswith('---\nstatus: Done\ntags: ["a", "b"]\ndue: March 1 2026\nnotion_id: ')
    assert "Up: [[Home]]" in row
    assert "Key: not a property here." in found["Notion/Home/Plan fedcba.md"]


def test_each_example_is_recognised_as_what_it_is() -> None:
    """No reader takes the files of another."""
    kinds = ("mcp-memory", "mem0", "letta", "basic-memory", "logseq", "notion", "agentm")

    recognised = {kind: [part.reader.kind for part in recognise(example_files(kind))] for kind in kinds}
    assert recognised == {kind: [kind] for kind in kinds}


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("Logseq", "../../etc/passwd"), "Logseq/etc/passwd.md"),
        (("N", "C:\\Windows\\system32"), "N/C/Windows/system32.md"),
        (("N", "CON"), "N/CON_.md"),
        (("N", 'a:b*c?"<>|#^[]'), "N/a b c.md"),
        (("N", "trailing. . "), "N/trailing.md"),
        (("N", "\u202egpj.exe\x00"), "N/gpj.exe.md"),
        (("", "///"), "Untitled.md"),
        (("N", "x" * 400), f"N/{'x' * 100}.md"),
        (("N", *"abcdefghijkl"), "N/a/b/c/d/e/f/g/l.md"),
    ],
)
def test_no_name_leads_out_of_the_folder(parts: tuple[str, ...], path: str) -> None:
    """Whatever a note is called elsewhere, its path here is one that every disk takes."""
    assert note_path(*parts) == path


def test_paths_differ_also_where_case_does_not_count() -> None:
    """Three notes with one name get three paths, and the same ones each time."""
    wanted = {"1": "A/x.md", "2": "a/X.md", "3": "A/x.md"}

    paths = distinct_paths(wanted, digits={"2": "abcdef99"})
    assert paths["1"] == "A/x.md"
    assert paths["2"] == "a/X abcdef.md"
    assert len({each.casefold() for each in paths.values()}) == 3
    assert paths == distinct_paths(wanted, digits={"2": "abcdef99"})


def test_frontmatter_that_cannot_be_read_stays_in_the_text() -> None:
    """Broken YAML, anchors and lists are told and not guessed at."""
    for block in ("a: [b", "a: &x 1\nb: *x", "- a\n- b", "a: b: c"):
        text = f"---\n{block}\n---\nBody\n"
        keys, body, problem = split_frontmatter(text)

        assert (keys, body) == ({}, text)
        assert problem


def test_frontmatter_is_written_so_that_it_reads_back() -> None:
    """Words that YAML takes for something else are quoted."""
    keys = {"title": "Yes", "due": "2026-03-01: noon", "tags": ["a", "no"], "empty": "", "plain": "March 1"}

    read_back, body, problem = split_frontmatter(with_frontmatter(keys, "Body\n"))
    assert read_back == {"title": "Yes", "due": "2026-03-01: noon", "tags": ["a", "no"], "plain": "March 1"}
    assert (body, problem) == ("Body\n", "")
