"""The rename detector, and conflict copies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.sources.options import VaultSourceOptions
from commonplace.sources.renames import (
    Decision,
    NoteRemoved,
    NoteRenamed,
    NoteSaved,
    RenameDetector,
    original_of_conflict,
)

WINDOW = VaultSourceOptions().rename_window_seconds
LATER = 1000.0


def pending() -> RenameDetector:
    return RenameDetector(window=WINDOW)


@pytest.mark.requirement("D-84", "D-16")
def test_a_removal_and_a_save_of_equal_content_are_a_rename() -> None:
    """Delete then add with an equal hash inside the window of two seconds is one rename, and nothing is flushed."""
    buffer = pending()

    assert buffer.remove("a.md", "h", at=0) == ()
    assert buffer.save("b.md", "h", at=1.9) == (NoteRenamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_save_before_its_removal_is_a_rename_too() -> None:
    """The save is taken in at once; the removal that follows is known as its other half."""
    buffer = pending()

    assert buffer.save("b.md", "h", at=0) == (NoteSaved("b.md"),)
    assert buffer.remove("a.md", "h", at=1.9) == (NoteRenamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


@pytest.mark.requirement("D-84", "D-16")
def test_a_removal_alone_is_carried_out_when_its_window_closes() -> None:
    """Not before, and once; `rename_window_seconds` is that window."""
    buffer = pending()
    buffer.remove("a.md", "h", at=10)

    assert buffer.due(now=10 + WINDOW - 0.001) == ()
    assert buffer.due(now=10 + WINDOW) == (NoteRemoved("a.md"),)
    assert buffer.due(now=LATER) == ()


def test_content_that_turns_up_after_the_window_is_a_new_note() -> None:
    """In either order: two seconds apart are two things."""
    buffer = pending()
    buffer.remove("a.md", "h", at=0)
    late = buffer.save("b.md", "h", at=WINDOW)
    late += buffer.remove("c.md", "h", at=2 * WINDOW)

    assert late == (NoteSaved("b.md"),)
    assert buffer.due(now=LATER) == (NoteRemoved("a.md"), NoteRemoved("c.md"))


def test_a_replaced_note_is_not_removed() -> None:
    """An editor that removes and writes again, or renames over the note, leaves a live note: the removal is void."""
    buffer = pending()
    buffer.remove("a.md", "old", at=0)

    assert buffer.save("a.md", "new", at=0.5) == (NoteSaved("a.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_replacement_is_known_even_after_the_window() -> None:
    """A removal that nobody flushed yet must not fall upon the note that is there again."""
    buffer = pending()
    buffer.remove("a.md", "old", at=0)
    buffer.save("a.md", "new", at=50)

    assert buffer.due(now=LATER) == ()


def test_content_that_is_not_unique_tells_no_rename() -> None:
    """Of two removed notes with the same text, nobody can say which was renamed; both go, and the new one comes."""
    buffer = pending()
    buffer.remove("a.md", "h", at=0)
    buffer.remove("b.md", "h", at=0)

    assert buffer.save("c.md", "h", at=1) == (NoteSaved("c.md"),)
    assert buffer.due(now=LATER) == (NoteRemoved("a.md"), NoteRemoved("b.md"))


def test_two_copies_and_one_removal_tell_no_rename() -> None:
    """Nor can anybody say which of two new notes is the old one."""
    buffer = pending()
    buffer.save("b.md", "h", at=0)
    buffer.save("c.md", "h", at=0)

    assert buffer.remove("a.md", "h", at=1) == ()
    assert buffer.due(now=LATER) == (NoteRemoved("a.md"),)


def test_a_rename_onto_a_removed_note_voids_its_removal() -> None:
    """`b` was removed, then `a` was renamed to `b`: `b` lives."""
    buffer = pending()
    buffer.remove("b.md", "old b", at=0)
    buffer.remove("a.md", "h", at=0.1)

    assert buffer.save("b.md", "h", at=0.2) == (NoteRenamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_chain_of_renames_is_followed() -> None:
    """a -> b -> c inside one window."""
    buffer = pending()
    buffer.remove("a.md", "h", at=0)

    assert buffer.save("b.md", "h", at=0.1) == (NoteRenamed("a.md", "b.md"),)
    assert buffer.remove("b.md", "h", at=0.2) == ()
    assert buffer.save("c.md", "h", at=0.3) == (NoteRenamed("b.md", "c.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_chain_seen_at_its_end_alone_is_one_rename() -> None:
    """When `b` came and went unseen, nothing was known there: its removal is like no other."""
    buffer = pending()
    buffer.remove("a.md", "h", at=0)
    buffer.remove("b.md", None, at=0)

    assert buffer.save("c.md", "h", at=0) == (NoteRenamed("a.md", "c.md"),)
    assert buffer.due(now=LATER) == (NoteRemoved("b.md"),)


def test_two_notes_that_swap_their_names_stay() -> None:
    """By way of a third name, as people do it."""
    buffer = pending()
    told = [*buffer.remove("a.md", "A", at=0), *buffer.save("tmp.md", "A", at=0)]
    told += [*buffer.remove("b.md", "B", at=0), *buffer.save("a.md", "B", at=0)]
    told += [*buffer.remove("tmp.md", "A", at=0), *buffer.save("b.md", "A", at=0)]

    assert told == [NoteRenamed("a.md", "tmp.md"), NoteRenamed("b.md", "a.md"), NoteRenamed("tmp.md", "b.md")]
    assert buffer.due(now=LATER) == ()


def test_no_window_means_no_renames() -> None:
    """With a window of 0 every removal is due at once."""
    buffer = RenameDetector(window=0)
    buffer.remove("a.md", "h", at=0)

    assert buffer.save("b.md", "h", at=0) == (NoteSaved("b.md"),)
    assert buffer.due(now=0) == (NoteRemoved("a.md"),)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["saved", "gone", "tick"]), st.sampled_from("abcd"), st.sampled_from("xyz"), st.floats(0, 1.5)
    ),
    max_size=30,
)


@pytest.mark.requirement("D-84")
@given(events=EVENTS)
def test_any_interleaving_ends_with_exactly_the_live_paths(events: list[tuple[str, str, str, float]]) -> None:
    """Whatever came in which order: no removal is lost, no live note is removed, none waits longer than its window."""
    buffer, now = pending(), 0.0
    alive, contents = set("ab"), dict.fromkeys("ab", "x")
    index, gone_at = set(alive), dict[str, float]()
    for what, path, content, pause in events:
        now += pause
        if what == "saved":
            _carry_out(index, buffer.save(path, content, at=now))
            alive, contents[path] = alive | {path}, content
        elif what == "gone":
            _carry_out(index, buffer.remove(path, contents.pop(path, None), at=now))
            alive, gone_at[path] = alive - {path}, now if path in alive else gone_at.get(path, now)
        else:
            _carry_out(index, buffer.due(now=now))

            assert all(now - gone_at[path] < WINDOW for path in index - alive)
        assert alive <= index
    _carry_out(index, buffer.due(now=now + WINDOW + 0.001))

    assert index == alive


def _carry_out(index: set[str], decisions: tuple[Decision, ...]) -> None:
    for decision in decisions:
        match decision:
            case NoteSaved(path):
                index.add(path)
            case NoteRemoved(path):
                index.discard(path)
            case NoteRenamed(old, new):
                index.discard(old)
                index.add(new)


@pytest.mark.parametrize(
    ("path", "original"),
    [
        ("Inbox/note.sync-conflict-20240101-120000-ABCDEFG.md", "Inbox/note.md"),
        ("a.b.sync-conflict-20240101-120000.md", "a.b.md"),
        ("note (Ada's conflicted copy 2024-01-01).md", "note.md"),
        ("note (Ada’s conflicted copy 2024-01-01).md", "note.md"),
        ("Folder (x)/note (ada-laptop's conflicted copy 2024-01-01 (1)).md", "Folder (x)/note.md"),
        ("note (conflicted copy 2024-01-01 120000).md", "note.md"),
        ("note (Conflicted copy iPhone 202401011200).md", "note.md"),
        ("note (ada conflicted copy).md", "note.md"),
        ("note (Case Conflict).md", None),
        ("note_conflict-20240101-120000.md", "note.md"),
        ("note (1).md", None),
        ("note.md", None),
        ("On conflicted copy.md", None),
        ("(conflicted copy) of what.md", None),
        ("Syncthing .sync-conflict- files.md", None),
        ("a (conflicted copy)/note.md", None),
    ],
)
def test_a_conflict_copy_names_its_original(path: str, original: str | None) -> None:
    """What the sync program put into the name is taken out; a number alone, or words in a title, say nothing."""
    assert original_of_conflict(path) == original
