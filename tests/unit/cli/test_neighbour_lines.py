"""The list of neighbours in the answer of a save: a line each, and never longer than it may be."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.fact_shapes import NeighbourShape
from commonplace.memory.neighbour_list import MOST_CHARACTERS, neighbour_lines


def neighbour(text: str, *, speaker: str = "the person", same: bool = False) -> NeighbourShape:
    return {
        "name": "91f607.3ac",
        "id": "0199f3c2-1111-7000-8000-00000091f607",
        "text": text,
        "speaker": speaker,
        "day": "2026-03-01",
        "same": same,
        "cosine": 0.5,
    }


def test_a_line_has_the_name_the_day_the_speaker_and_the_text() -> None:
    """And a mark where it may say the same."""
    lines = neighbour_lines([neighbour("Ada\npaints."), neighbour("Bo sings.", speaker="codex", same=True)])

    assert lines == (
        "- 91f607.3ac, 2026-03-01, the person: Ada paints.",
        "- 91f607.3ac, 2026-03-01, codex (same?): Bo sings.",
    )


def test_a_short_text_leaves_its_room_to_a_long_one() -> None:
    """A long one is cut only where all of them do not fit."""
    short, long = neighbour_lines([neighbour("Ada paints."), neighbour("word " * 200)])

    assert short.endswith(": Ada paints.")
    assert len(long) > 400
    assert long.endswith("…")


@given(st.lists(st.builds(neighbour, st.text(max_size=900), speaker=st.text(max_size=60)), max_size=5))
def test_the_list_is_never_longer_than_it_may_be(neighbours: list[NeighbourShape]) -> None:
    """Whatever the texts and the speakers are."""
    lines = neighbour_lines(neighbours)

    assert len("\n".join(lines)) <= MOST_CHARACTERS
    assert all("\n" not in line for line in lines)
