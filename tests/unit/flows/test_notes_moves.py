"""The trailers of a commit that moves notes."""

import pytest

from commonplace.flows.notes.move import move_trailers, moves_of


@pytest.mark.parametrize("moves", [(), (("a.md", "b.md"),), (("a.md", "b.md"), ("c.md", "d.md"))])
def test_the_moves_of_a_commit_are_read_from_its_trailers(moves: tuple[tuple[str, str], ...]) -> None:
    """None, one or several; a path has no line break."""
    assert moves_of(move_trailers(*moves)) == moves


def test_half_a_move_is_none() -> None:
    """A person may have amended the commit."""
    assert moves_of({"Commonplace-From": "a.md"}) == ()
