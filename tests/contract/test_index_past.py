"""Every index keeps the vault's history alike: the lines of notes, and which of the notes were marked or erased."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from commonplace.errors import Conflict
from commonplace.index.base import FactQuery, Index, PastCover, PastMove, PastStep
from commonplace.model import Fact
from tests.contract.twins import INDEXES
from tests.index_documents import fact

FORM = "form"
TEXT = "0123456789abcdef"


@pytest.fixture(params=["sqlite", "in-memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    opened = INDEXES[request.param](tmp_path)
    yield opened
    opened.close()


def step(
    number: int,
    notes: Mapping[str, str] | None = None,
    *facts: Fact,
    marked: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
    moves: tuple[PastMove, ...] = (),
    erased: tuple[str, ...] = (),
    is_complete: bool = True,
) -> PastStep:
    """The commit of that number, on the first of that month."""
    by_path = {path: tuple(each for each in facts if each.path == path) for path in notes or {}}
    return PastStep(
        f"c{number}",
        f"2026-{number:02}-01T00:00:00Z",
        notes or {},
        by_path,
        frozenset(marked),
        removed,
        moves,
        frozenset(erased),
        is_complete,
    )


def add(index: Index, *steps: PastStep) -> None:
    with index.reader() as reader:
        newest = reader.past_commit()
    index.add_past(steps, form=FORM, after=newest.id if newest else "")


def covers(index: Index, *paths: str) -> list[PastCover]:
    with index.reader() as reader:
        found = reader.past_covers(paths)
    return [found[path] for path in paths]


def marks(index: Index, *paths: str) -> list[int]:
    return [each.marked for each in covers(index, *paths)]


def said(index: Index, **asked: tuple[str, ...] | str) -> list[tuple[str, str, str]]:
    """The lines that match, with the months in which they came and went."""
    with index.reader() as reader:
        lines = reader.past_lines(FactQuery(**asked))  # type: ignore[arg-type]
    return [(each.fact.id, each.first_at[5:7], each.last_at[5:7]) for each in lines]


def line(id_: str, object: str = "Acme", *, path: str = "Ada.md", number: int = 1) -> Fact:
    return fact(id_, path=path, origin="line", subject="Ada", predicate="works_at", object=object, line=number)


def test_a_line_stands_from_the_commit_that_brought_it_until_the_one_that_removed_it(index: Index) -> None:
    """Where it stands in its note does not matter, and what it was before it came back is another row."""
    add(index, step(1, {"Ada.md": "a"}, line("f1")), step(2, {"Ada.md": "b"}, line("f1", number=7), line("f2", "Beta")))
    add(index, step(3, {"Ada.md": "c"}, line("f2", "Beta")), step(4, {"Ada.md": "d"}, line("f1")))
    add(index, step(5, removed=("Ada.md",)))

    assert said(index) == [("f1", "01", "03"), ("f2", "02", "04"), ("f1", "04", "05")]
    assert said(index, names=("beta",)) == [("f2", "02", "04")]
    assert said(index, predicate="likes") == said(index, topics=("work",)) == []


def test_the_newest_commit_is_told_by_its_moment_and_by_its_id(index: Index) -> None:
    """And another process that has read on in the meantime is noticed."""
    add(index, step(1), step(2))
    with index.reader() as reader:
        told = [reader.past_commit(at=at) for at in ("", "2026-01-31T00:00:00Z", "2025-12-31T00:00:00Z")]
        among, form = reader.past_commit(among=("c1", "x")), reader.past_form()
    with pytest.raises(Conflict):
        index.add_past([step(3)], form=FORM, after="c1")
    with pytest.raises(Conflict):
        index.add_past([step(3)], form="another", after="c2")

    assert [each.number if each else 0 for each in told] == [2, 1, 0]
    assert (among.id if among else "", form) == ("c1", FORM)


def test_a_mark_covers_what_became_the_note_by_any_name(index: Index) -> None:
    """Along sure and unsure moves, not what was moved there after the mark, nor what the note became."""
    add(
        index,
        step(1, {"A.md": "a"}),
        step(2, {"B.md": "b"}, removed=("A.md",), moves=(PastMove("A.md", "B.md", True),)),
    )
    add(
        index,
        step(3, {"C.md": "c"}, moves=(PastMove("B.md", "C.md", False),)),
        step(4, {"C.md": "d"}, marked=("C.md",)),
    )
    add(index, step(5, {"D.md": "e"}, moves=(PastMove("C.md", "D.md", True), PastMove("X.md", "C.md", True))))

    assert marks(index, "A.md", "B.md", "C.md", "D.md", "X.md") == [4, 4, 4, 0, 0]
    with index.reader() as reader:
        assert reader.past_successors("A.md") == {"B.md", "C.md", "D.md"}
    assert [each.stands for each in covers(index, "A.md", "D.md")] == [False, True]


def test_a_new_note_is_taken_for_one_of_its_text_or_for_a_gone_one_of_its_name(index: Index) -> None:
    """A copy, and a move in two commits; a name that is still there says nothing, nor does a short text."""
    add(index, step(1, {"A.md": TEXT, "x/Lena.md": "", "y/Bo.md": "", "E.md": ""}), step(2, removed=("x/Lena.md",)))
    add(
        index, step(3, {"B.md": TEXT, "z/lena.md": "", "z/Bo.md": "", "F.md": ""}, marked=("B.md", "z/lena.md", "F.md"))
    )

    assert marks(index, "A.md", "x/Lena.md", "y/Bo.md", "E.md") == [3, 3, 0, 0]


def test_an_erased_note_leaves_no_row(index: Index) -> None:
    """Nor does what it was before beyond doubt; a note that is made there anew is another one."""
    moved = (PastMove("Old.md", "Ada.md", True), PastMove("Like.md", "Ada.md", False))
    add(index, step(1, {"Old.md": "a", "Like.md": "b"}, line("f0", path="Old.md"), line("f9", path="Like.md")))
    add(index, step(2, {"Ada.md": "a"}, line("f1"), removed=("Old.md", "Like.md"), moves=moved))
    add(index, step(3, removed=("Ada.md",), erased=("Ada.md",)), step(4, {"Ada.md": "n"}, line("f2", "New")))

    assert said(index) == [("f2", "04", ""), ("f9", "01", "02")]
    assert [each.erased for each in covers(index, "Old.md", "Ada.md", "Like.md")] == [3, 3, 0]
    with index.reader() as reader:
        assert reader.past_erasures() == 3


def test_cutting_the_history_leaves_it_as_it_was(index: Index) -> None:
    """Lines, marks and moves; and all of it goes if an erasure is among what is cut."""
    first = step(1, {"Ada.md": "a", "B.md": TEXT}, line("f1"))
    add(index, first)
    before = said(index), marks(index, "Ada.md", "B.md")
    add(index, step(2, {"Ada.md": "b", "C.md": TEXT}, line("f2", "Beta"), marked=("Ada.md", "C.md"), removed=("B.md",)))
    after = said(index), marks(index, "Ada.md", "B.md")
    index.cut_past(1)

    assert after == ([("f1", "01", "02"), ("f2", "02", "")], [2, 2])
    assert (said(index), marks(index, "Ada.md", "B.md")) == before == ([("f1", "01", "")], [0, 0])
    add(index, step(2, erased=("Ada.md",)))
    index.cut_past(1)
    with index.reader() as reader:
        assert (reader.past_commit(), reader.past_form(), reader.past_erasures()) == (None, "", 0)
    add(index, first)
    assert said(index) == before[0]


def test_a_commit_counts_when_all_of_it_is_there(index: Index) -> None:
    """It may come in parts, the same part twice; what is left of another commit is forgotten."""
    add(index, step(1))
    one = step(2, {"Ada.md": "a"}, line("f1"), is_complete=False)
    two = step(2, {"Bo.md": "b"}, line("f2", path="Bo.md"))
    add(index, step(3, {"Gone.md": "g"}, line("f9", path="Gone.md"), is_complete=False))
    add(index, one)
    with index.reader() as reader:
        newest = reader.past_commit()
    add(index, one, two)

    assert newest
    assert newest.id == "c1"
    assert said(index) == [("f1", "02", ""), ("f2", "02", "")]
    with index.reader() as reader:
        assert reader.past_commit() == (2, "c2", "2026-02-01T00:00:00Z")
