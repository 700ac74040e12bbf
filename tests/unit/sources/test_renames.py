"""The rename buffer: which removals were renames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.sources.options import VaultSourceOptions
from commonplace.sources.renames import Decision, Gone, Pending, Renamed, Saved

WINDOW = VaultSourceOptions().rename_window_seconds
LATER = 1000.0


def pending() -> Pending:
    return Pending(window=WINDOW)


@pytest.mark.requirement("D-84", "D-16")
def test_a_removal_and_a_save_of_equal_content_are_a_rename() -> None:
    """Delete then add with an equal hash inside the window of two seconds is one rename, and nothing is flushed."""
    buffer = pending()

    assert buffer.gone("a.md", "h", at=0) == ()
    assert buffer.saved("b.md", "h", at=1.9) == (Renamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


@pytest.mark.requirement("D-84")
def test_a_save_before_its_removal_is_a_rename_too() -> None:
    """The save is taken in at once; the removal that follows is known as its other half."""
    buffer = pending()

    assert buffer.saved("b.md", "h", at=0) == (Saved("b.md"),)
    assert buffer.gone("a.md", "h", at=1.9) == (Renamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


@pytest.mark.requirement("D-84", "D-16")
def test_a_removal_alone_is_carried_out_when_its_window_closes() -> None:
    """Not before, and once; `rename_window_seconds` is that window."""
    buffer = pending()
    buffer.gone("a.md", "h", at=10)

    assert buffer.due(now=10 + WINDOW - 0.001) == ()
    assert buffer.due(now=10 + WINDOW) == (Gone("a.md"),)
    assert buffer.due(now=LATER) == ()


def test_content_that_turns_up_after_the_window_is_a_new_note() -> None:
    """In either order: two seconds apart are two things."""
    buffer = pending()
    buffer.gone("a.md", "h", at=0)
    late = buffer.saved("b.md", "h", at=WINDOW)
    late += buffer.gone("c.md", "h", at=2 * WINDOW)

    assert late == (Saved("b.md"),)
    assert buffer.due(now=LATER) == (Gone("a.md"), Gone("c.md"))


def test_a_replaced_note_is_not_removed() -> None:
    """An editor that removes and writes again, or renames over the note, leaves a live note: the removal is void."""
    buffer = pending()
    buffer.gone("a.md", "old", at=0)

    assert buffer.saved("a.md", "new", at=0.5) == (Saved("a.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_replacement_is_known_even_after_the_window() -> None:
    """A removal that nobody flushed yet must not fall upon the note that is there again."""
    buffer = pending()
    buffer.gone("a.md", "old", at=0)
    buffer.saved("a.md", "new", at=50)

    assert buffer.due(now=LATER) == ()


def test_content_that_is_not_unique_tells_no_rename() -> None:
    """Of two removed notes with the same text, nobody can say which was renamed; both go, and the new one comes."""
    buffer = pending()
    buffer.gone("a.md", "h", at=0)
    buffer.gone("b.md", "h", at=0)

    assert buffer.saved("c.md", "h", at=1) == (Saved("c.md"),)
    assert buffer.due(now=LATER) == (Gone("a.md"), Gone("b.md"))


def test_two_copies_and_one_removal_tell_no_rename() -> None:
    """Nor can anybody say which of two new notes is the old one."""
    buffer = pending()
    buffer.saved("b.md", "h", at=0)
    buffer.saved("c.md", "h", at=0)

    assert buffer.gone("a.md", "h", at=1) == ()
    assert buffer.due(now=LATER) == (Gone("a.md"),)


def test_a_rename_onto_a_removed_note_voids_its_removal() -> None:
    """`b` was removed, then `a` was renamed to `b`: `b` lives."""
    buffer = pending()
    buffer.gone("b.md", "old b", at=0)
    buffer.gone("a.md", "h", at=0.1)

    assert buffer.saved("b.md", "h", at=0.2) == (Renamed("a.md", "b.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_chain_of_renames_is_followed() -> None:
    """a -> b -> c inside one window."""
    buffer = pending()
    buffer.gone("a.md", "h", at=0)

    assert buffer.saved("b.md", "h", at=0.1) == (Renamed("a.md", "b.md"),)
    assert buffer.gone("b.md", "h", at=0.2) == ()
    assert buffer.saved("c.md", "h", at=0.3) == (Renamed("b.md", "c.md"),)
    assert buffer.due(now=LATER) == ()


def test_a_chain_seen_at_its_end_alone_is_one_rename() -> None:
    """When `b` came and went unseen, nothing was known there: its removal is like no other."""
    buffer = pending()
    buffer.gone("a.md", "h", at=0)
    buffer.gone("b.md", None, at=0)

    assert buffer.saved("c.md", "h", at=0) == (Renamed("a.md", "c.md"),)
    assert buffer.due(now=LATER) == (Gone("b.md"),)


def test_two_notes_that_swap_their_names_stay() -> None:
    """By way of a third name, as people do it."""
    buffer = pending()
    told = [*buffer.gone("a.md", "A", at=0), *buffer.saved("tmp.md", "A", at=0)]
    told += [*buffer.gone("b.md", "B", at=0), *buffer.saved("a.md", "B", at=0)]
    told += [*buffer.gone("tmp.md", "A", at=0), *buffer.saved("b.md", "A", at=0)]

    assert told == [Renamed("a.md", "tmp.md"), Renamed("b.md", "a.md"), Renamed("tmp.md", "b.md")]
    assert buffer.due(now=LATER) == ()


def test_no_window_means_no_renames() -> None:
    """With a window of 0 every removal is due at once."""
    buffer = Pending(window=0)
    buffer.gone("a.md", "h", at=0)

    assert buffer.saved("b.md", "h", at=0) == (Saved("b.md"),)
    assert buffer.due(now=0) == (Gone("a.md"),)


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
            _carry_out(index, buffer.saved(path, content, at=now))
            alive, contents[path] = alive | {path}, content
        elif what == "gone":
            _carry_out(index, buffer.gone(path, contents.pop(path, None), at=now))
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
            case Saved(path):
                index.add(path)
            case Gone(path):
                index.discard(path)
            case Renamed(old, new):
                index.discard(old)
                index.add(new)
