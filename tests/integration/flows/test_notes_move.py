"""Moving a note: the links that follow, and what is left alone."""

from pathlib import Path

import pytest

from commonplace.errors import Refused
from commonplace.flows.notes.move import move_note
from commonplace.model import Terms
from tests.stores import make_session, state

PLAIN = Terms()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("Inbox", "Projects", "Agent/Memory/fix", "Agent/Memory/_always-load"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "Inbox/T.md").write_text("text\n")
    return tmp_path


def test_titles_stay_and_what_cannot_follow_is_left_and_told(root: Path) -> None:
    """A wikilink cannot name `C#`; a Markdown link can."""
    (root / "Projects/md.md").write_text('[t](../Inbox/T.md "my title")\n')
    (root / "Projects/wiki.md").write_text("[[T|x]]\n")
    (root / "Projects/both.md").write_text("[[T]] [t](../Inbox/T.md)\n")
    moved = move_note("Inbox/T.md", "Inbox/C#.md", make_session(root), PLAIN)

    assert moved.repointed == ("Projects/md.md",)
    assert moved.left == ("Projects/both.md", "Projects/wiki.md")
    assert (root / "Projects/md.md").read_text() == '[t](../Inbox/C%23.md "my title")\n'
    assert (root / "Projects/wiki.md").read_text() == "[[T|x]]\n"
    assert (root / "Projects/both.md").read_text() == "[[T]] [t](../Inbox/T.md)\n"


def test_a_property_link_never_breaks_its_quotes(root: Path) -> None:
    """The note is left as it is."""
    text = '---\nrelated: "[[T]]"\n---\n'
    (root / "Projects/p.md").write_text(text)
    moved = move_note("Inbox/T.md", "Inbox/it's.md", make_session(root), PLAIN)
    assert (moved.repointed, (root / "Projects/p.md").read_text()) == (("Projects/p.md",), text.replace("T", "it's"))

    (root / "Projects/q.md").write_text("---\nrelated: '[[it''s]]'\n---\n")
    moved = move_note("Inbox/it's.md", "Inbox/isn't.md", make_session(root), PLAIN)
    assert (moved.repointed, moved.left) == (("Projects/p.md",), ("Projects/q.md",))
    assert (root / "Projects/q.md").read_text() == "---\nrelated: '[[it''s]]'\n---\n"


@pytest.mark.parametrize("start", [b"caf\xe9 ", b"---\na: [\n---\n"])
def test_a_moved_note_that_cannot_be_read_keeps_its_bytes(root: Path, start: bytes) -> None:
    """It is told where its own links would have had to change."""
    (root / "Projects/o.md").write_text("o\n")
    for name, link in (("rel", b"[o](../Projects/o.md)"), ("free", b"[[o]]")):
        (root / f"Inbox/{name}.md").write_bytes(start + link)
    session = make_session(root)
    rel = move_note("Inbox/rel.md", "Inbox/deep/rel.md", session, PLAIN)
    free = move_note("Inbox/free.md", "Inbox/deep/free.md", session, PLAIN)

    assert (root / "Inbox/deep/rel.md").read_bytes() == start + b"[o](../Projects/o.md)"
    assert (root / "Inbox/deep/free.md").read_bytes() == start + b"[[o]]"
    assert (rel.left, free.left) == (("Inbox/deep/rel.md",), ())


def test_a_note_that_is_not_text_is_not_repointed(root: Path) -> None:
    """Its bytes are not encoded anew."""
    (root / "Projects/latin.md").write_bytes(b"caf\xe9 [[T]]\n")
    moved = move_note("Inbox/T.md", "Inbox/U.md", make_session(root), PLAIN)

    assert (moved.repointed, moved.left) == ((), ("Projects/latin.md",))
    assert (root / "Projects/latin.md").read_bytes() == b"caf\xe9 [[T]]\n"


@pytest.mark.parametrize("to", ["Inbox/t.md", "inbox/T.md"])
def test_a_change_of_case_alone_is_refused_with_the_way_to_do_it(root: Path, to: str) -> None:
    """Many disks have one file for both names."""
    session = make_session(root)
    before = state(root)
    with pytest.raises(Refused, match="the same name on many file systems") as refused:
        move_note("Inbox/T.md", to, session, PLAIN)

    assert refused.value.hint == "Rename it in two steps, through another name."
    assert state(root) == before


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Agent/Memory/fix/x.md", "---\nalways_load: true\n---\n"),
        ("Agent/Memory/fix/x.md", "---\nsource: [{Trust: Told}]\n---\n"),
        ("Agent/Memory/fix/x.md", "---\nb: [\nalways_load: true\n---\n"),
        ("Agent/Memory/_always-load/x.md", "plain\n"),
    ],
)
def test_an_agent_moves_no_trusted_note(root: Path, source: str, text: str) -> None:
    """An undo would bring it back with the agent's words in it; a person may move it."""
    (root / source).write_text(text)
    agent = make_session(root, actor="agent")
    before = state(root)
    with pytest.raises(Refused, match="always loaded or the person's own word"):
        move_note(source, "Agent/x.md", agent, PLAIN)

    assert state(root) == before
    assert move_note(source, "Agent/x.md", make_session(root), PLAIN).changed


def test_a_broken_note_that_looks_trusted_is_not_moved_into_memory(root: Path) -> None:
    """When in doubt, it has the mark; no plain note is moved there anyway."""
    (root / "Agent/x.md").write_text("---\nb: [\nalways_load: true\n---\n")
    with pytest.raises(Refused, match="only entries"):
        move_note("Agent/x.md", "Agent/Memory/fix/x.md", make_session(root, actor="agent"), PLAIN)
