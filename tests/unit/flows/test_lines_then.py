"""The facts of lines as the notes had them: read from a commit, without an index of it."""

import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from commonplace.flows.erase import erase_note
from commonplace.flows.lines_then import lines_then
from commonplace.flows.move import move_note
from commonplace.flows.shelf import Shelf
from commonplace.index.base import FactQuery
from commonplace.model import Terms
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git
from tests.unit.flows.desk import make_desk
from tests.unit.flows.shelf import close, make_shelf, save

MARCH, APRIL, MAY = (datetime.fromisoformat(f"2026-0{month}-01T12:00:00Z") for month in (3, 4, 5))
OWN = Terms(personal=True)
ENTRY = "---\nid: 0199f3c2-7a51-7e0c-9d9e-3a4b5c6d7e8f\nkind: fact\n---\n- likes [[Rain]]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with a commit in March and one in May, in which a line is another."""
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "--quiet")
    save(root, "People/Ada.md", "- works_at [[Acme]] #Work\n- [skill] knows Postgres #databases\n")
    save(root, "People/Zoë.md", "- works_at [[Companies/Acme|the firm]]\n- works_at [[Beta]]\n")
    save(root, "plain.md", "Ada is [[Acme]]'s, as a plain sentence.\n\n- [ ] call Ada\n")
    save(root, "Templates/t.md", "- works_at [[Acme]]\n")
    save(root, "Agent/Memory/fact/2026-03/rain-6d7e8f.md", ENTRY)
    commit(root, "2026-03-01T12:00:00Z")
    save(root, "People/Ada.md", "- works_at [[Beta]]\n")
    commit(root, "2026-05-01T12:00:00Z")
    return root


@pytest.fixture
def shelf(root: Path, tmp_path: Path) -> Iterator[Shelf]:
    made = make_shelf(root, tmp_path / "data", vault=ObsidianVault(root, author=AUTHOR))
    yield made
    close(made)


def commit(root: Path, when: str) -> None:
    git(root, "add", "--all")
    person = ["-c", "user.name=A Person", "-c", "user.email=person@localhost"]
    dated = {**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(["git", *person, "commit", "--quiet", "--message", "by hand"], cwd=root, env=dated, check=True)


def told(shelf: Shelf, asked: FactQuery, when: datetime = APRIL) -> list[tuple[str, str]]:
    return [(each.fact.subject, each.fact.object or each.fact.text) for each in lines_then(asked, when, shelf)]


def test_lines_are_those_that_the_notes_had_then(shelf: Shelf) -> None:
    """At the second of a commit they are its own; ignored notes and entries have none."""
    ada, zoe = ("Ada", "Acme"), [("Zoë", "Companies/Acme"), ("Zoë", "Beta")]

    assert told(shelf, FactQuery(), MARCH) == [ada, ("Ada", "knows Postgres"), *zoe]
    assert told(shelf, FactQuery(), APRIL) == told(shelf, FactQuery(), MARCH)
    assert told(shelf, FactQuery(), MAY) == [("Ada", "Beta"), *zoe]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (FactQuery(names=("ada",)), ["Acme", "knows Postgres"]),
        (FactQuery(names=("acme",)), ["Acme", "Companies/Acme"]),
        (FactQuery(names=("zoë", "nobody")), ["Companies/Acme", "Beta"]),
        (FactQuery(names=("me",)), []),
        (FactQuery(predicate="works_at"), ["Acme", "Companies/Acme", "Beta"]),
        (FactQuery(topics=("wORK",)), ["Acme"]),
        (FactQuery(names=("ada",), topics=("databases",)), ["knows Postgres"]),
    ],
)
def test_only_what_fits_is_told(shelf: Shelf, asked: FactQuery, wanted: list[str]) -> None:
    """Names as entities compare, at either end of a triple; topics without regard to case."""
    assert [said for _, said in told(shelf, asked)] == wanted


def test_a_name_is_found_however_the_note_writes_it(root: Path, shelf: Shelf) -> None:
    """In the path or the title, escaped, decomposed, in capitals or over two blanks; and the user by any name."""
    save(root, "a.md", '---\ntitle: "\\u00c5sa Berg"\n---\n- likes [[Tea]]\n')
    save(root, "b.md", "* knows [[A\u030aSA  BERG]]\n")
    save(root, "c.md", "+ [note] nothing\n")
    save(root, "I.md", "- likes [[Fog]]\n")
    commit(root, "2026-06-01T12:00:00Z")
    june = datetime.fromisoformat("2026-06-02T00:00:00Z")

    assert [subject for subject, _ in told(shelf, FactQuery(names=("åsa berg",)), june)] == ["Åsa Berg", "b"]
    assert told(shelf, FactQuery(names=("me",)), june) == [("I", "Fog")]


def test_a_line_ends_another_of_its_note_that_is_not_asked_for(shelf: Shelf) -> None:
    """Zoë's note has two employers: one of the lines holds, whichever of them is asked for."""
    every = lines_then(FactQuery(names=("zoë",)), APRIL, shelf)
    each = [lines_then(FactQuery(names=(name,)), APRIL, shelf)[-1] for name in ("acme", "beta")]

    assert sum(known.end is None for known in every) == 1
    assert {known.fact.id: known.end for known in each} == {known.fact.id: known.end for known in every}


def test_what_was_erased_or_is_sensitive_today_stays_so(root: Path, tmp_path: Path, shelf: Shelf) -> None:
    """Under the path of today, where the note was moved since."""
    desk = make_desk(root)
    move_note("People/Ada.md", "People/Ada L.md", desk, OWN)
    save(root, "People/Ada L.md", "---\nsensitive: true\n---\n- works_at [[Beta]]\n")
    erase_note("People/Zoë.md", desk, OWN)
    facts = [each.fact for each in lines_then(FactQuery(), APRIL, shelf)]

    assert [(fact.object or fact.text, fact.sensitive) for fact in facts] == [("Acme", True), ("knows Postgres", True)]
    assert lines_then(FactQuery(sensitive=False), APRIL, shelf) == ()


def test_without_history_there_are_no_lines_of_the_past(root: Path, tmp_path: Path, shelf: Shelf) -> None:
    """Neither before the first commit, nor in a folder that is under no git."""
    before = datetime.fromisoformat("2026-02-01T00:00:00Z")
    plain = make_shelf(root, tmp_path / "other")

    assert lines_then(FactQuery(), before, shelf) == ()
    assert lines_then(FactQuery(), APRIL, plain) == ()
    close(plain)
