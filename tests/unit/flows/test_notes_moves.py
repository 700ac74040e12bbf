"""The trailers of a commit that moves notes."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import pytest

from commonplace.flows.ingest.past_lines import moves_of
from commonplace.flows.notes.write import move_trailers
from commonplace.vault.base import Revision


def commit(trailers: Mapping[str, str], *, paths: Iterable[str] = ()) -> Revision:
    """A commit with these trailers, which removed the first of the paths and added the others."""
    changes = {path: "added" if number else "removed" for number, path in enumerate(paths)}
    return Revision("c", datetime(2026, 3, 1, tzinfo=UTC), "A", "m", trailers, changes)


@pytest.mark.parametrize("moves", [(), (("a.md", "b.md"),), (("a.md", "b.md"), ("c.md", "d.md"))])
def test_the_moves_of_a_commit_are_read_from_its_trailers(moves: tuple[tuple[str, str], ...]) -> None:
    """None, one or several; a path has no line break."""
    assert moves_of(commit(move_trailers(*moves))) == moves


@pytest.mark.parametrize("to", ["_archive/fact/the-code-is-1234-3f9a1c.md", "fact/2026-03/a-code-3f9a1c.md"])
def test_the_words_of_an_entry_are_not_in_the_trailers_and_its_paths_are_known_all_the_same(to: str) -> None:
    """The commit changed both paths, and a trailer names each by its folder and id, even if both are alike then."""
    move = ("Agent/Memory/fact/2026-03/the-code-is-1234-3f9a1c.md", f"Agent/Memory/{to}")
    trailers = move_trailers(move)

    assert "code" not in str(trailers)
    assert moves_of(commit(trailers, paths=move)) == (move,)


def test_half_a_move_is_none() -> None:
    """A person may have amended the commit."""
    assert moves_of(commit({"Commonplace-From": "a.md"})) == ()
