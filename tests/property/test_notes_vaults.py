"""The laws of reading and editing, held on three real vaults of 9,500 notes."""

import tarfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from commonplace.errors import Refused
from commonplace.model import Note
from commonplace.notes import LinkResolver, parse, remove_key, set_key
from commonplace.notes.note_text import render_note, split_note
from tests.run_length import rounds

VAULTS = Path(__file__).parents[3] / "shared/data/vaults"
NAMES = ("dendron-site-1k", "flancian-garden-7.7k", "jackyzha0-garden-0.75k")

# Looked at one by one: each is a defect of the note that its author would want to know of.
DEFECTS = {
    "dendron-site-1k": [],
    "flancian-garden-7.7k": [
        ("journal/2021-12-21.md", 25, "merge-conflict"),
        ("journal/2021-12-02.md", 3, "merge-conflict"),
        ("journal/2022-11-25.md", 4, "merge-conflict"),
        ("journal/2021-11-22.md", 3, "merge-conflict"),
        ("journal/2021-12-30.md", 15, "merge-conflict"),
        ("journal/2021-11-23.md", 3, "merge-conflict"),
        ("journal/2023-10-22.md", 1, "merge-conflict"),
        ("gemini/Open Letter to Moloch and Maitreya.md", 2, "invalid-yaml"),
        ("2025-04-17.md", 1, "merge-conflict"),
    ],
    "jackyzha0-garden-0.75k": [],
}
# Values with comments on their inner lines, and every key of the one note that is not valid YAML.
REFUSED = {"dendron-site-1k": 0, "flancian-garden-7.7k": 3, "jackyzha0-garden-0.75k": 0}
# The short run edits every tenth note of the two vaults in which nearly every note has frontmatter.
EVERY = {"dendron-site-1k": rounds(10, long=1), "flancian-garden-7.7k": 1, "jackyzha0-garden-0.75k": rounds(10, long=1)}


@cache
def files_of(vault: str) -> dict[str, bytes]:
    """Every note of the vault, by its path."""
    archive = VAULTS / f"{vault}.tar.gz"
    if not archive.exists():
        pytest.skip(f"{archive} is not there")
    with tarfile.open(archive) as tar:
        members = [member for member in tar if member.isfile() and member.name.endswith(".md")]
        contents = {member.name.partition("/")[2]: tar.extractfile(member) for member in members}
        return {path: content.read() for path, content in contents.items() if content}


@cache
def notes_of(vault: str) -> tuple[Note, ...]:
    return tuple(parse(raw, path=path, mtime=0.0) for path, raw in files_of(vault).items())


def lines_changed(old: bytes, new: bytes) -> tuple[int, int]:
    """How many lines went and came between the first and the last line that differ."""
    before, after = old.split(b"\n"), new.split(b"\n")
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    end = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), shorter - start)
    return len(before) - start - end, len(after) - start - end


@pytest.mark.parametrize("vault", NAMES)
def test_no_byte_of_a_real_note_changes(vault: str) -> None:
    """Splitting and rendering gives the same bytes, for every note."""
    changed = [path for path, raw in files_of(vault).items() if render_note(split_note(raw)) != raw]

    assert changed == []


@pytest.mark.parametrize("vault", NAMES)
def test_every_problem_of_a_real_vault_is_a_real_defect(vault: str) -> None:
    """No false alarm, and nothing raised."""
    found = [(problem.path, problem.line, problem.code) for note in notes_of(vault) for problem in note.problems]

    assert found == DEFECTS[vault]


@pytest.mark.parametrize("vault", NAMES)
def test_every_link_of_a_real_vault_stands_where_it_says(vault: str) -> None:
    """Offsets and lines are exact, and hundreds lead to a note (Dendron writes its links the other way round)."""
    names = LinkResolver.of(files_of(vault), {note.path: note.aliases for note in notes_of(vault)})
    resolved: Counter[bool] = Counter()
    for note in notes_of(vault):
        for link in note.links:
            resolved[names.resolve(link, source=note.path) is not None] += 1

            assert note.text[link.start : link.end].startswith(("[", "![")), (note.path, link)
            assert note.text.count("\n", 0, link.start) + 1 == link.line, (note.path, link)

    assert resolved[True] > 400


@pytest.mark.parametrize("vault", NAMES)
def test_an_edit_of_a_real_note_touches_one_key_or_is_refused(vault: str) -> None:
    """For every key: added, changed and removed, all other keys and the body stay."""
    refused = 0
    for note in notes_of(vault)[:: EVERY[vault]]:
        raw = files_of(vault)[note.path]
        if not split_note(raw).opening:
            continue
        try:
            added = set_key(raw, "brand new", ["a", "b"], path=note.path)
        except Refused:
            refused += 1
            continue
        assert lines_changed(raw, added) == (0, 3)
        assert remove_key(added, "brand new", path=note.path) == raw
        refused += sum(not edits_touch_one_key(note, raw, key) for key in note.frontmatter)

    assert refused == REFUSED[vault]


def edits_touch_one_key(note: Note, raw: bytes, key: str) -> bool:
    """Whether the key could be changed; it can always be removed. Everything else is the same afterwards."""
    removed = remove_key(raw, key, path=note.path)
    assert_others_are_the_same(note, removed, key)
    gone, came = lines_changed(raw, removed)
    assert (gone > 0, came) == (True, 0)
    try:
        changed = set_key(raw, key, "something: else", path=note.path)
    except Refused:
        return False
    assert_others_are_the_same(note, changed, key)
    assert lines_changed(raw, changed)[0] <= gone
    assert lines_changed(raw, changed)[1] == 1
    return True


def assert_others_are_the_same(note: Note, raw: bytes, key: str) -> None:
    edited = parse(raw, path=note.path, mtime=0.0)
    assert edited.body == note.body
    assert [each for each in edited.frontmatter.items() if each[0] != key] == [
        each for each in note.frontmatter.items() if each[0] != key
    ]
