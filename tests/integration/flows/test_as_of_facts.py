"""The facts of lines as the notes had them: read from a commit, without an index of it."""

from datetime import datetime
from pathlib import Path

import pytest

from commonplace.flows.as_of import past_line_facts
from commonplace.flows.notes.erase import erase_note
from commonplace.flows.notes.move import move_note
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery
from commonplace.model import Terms
from commonplace.vault.base import StorageBackend
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git
from tests.stores import close, commit_by_hand, make_session, make_stores, save

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
    commit_by_hand(root, "2026-03-01T12:00:00Z")
    save(root, "People/Ada.md", "- works_at [[Beta]]\n")
    commit_by_hand(root, "2026-05-01T12:00:00Z")
    return root


@pytest.fixture
def backend(root: Path) -> StorageBackend:
    return ObsidianVault(root, author=AUTHOR)


def told(stores: Stores, asked: FactQuery, when: datetime = APRIL) -> list[tuple[str, str]]:
    return [(each.fact.subject, each.fact.object or each.fact.text) for each in past_line_facts(asked, when, stores)]


def test_lines_are_those_that_the_notes_had_then(stores: Stores) -> None:
    """At the second of a commit they are its own; ignored notes and entries have none."""
    ada, zoe = ("Ada", "Acme"), [("Zoë", "Companies/Acme"), ("Zoë", "Beta")]

    assert told(stores, FactQuery(), MARCH) == [ada, ("Ada", "knows Postgres"), *zoe]
    assert told(stores, FactQuery(), APRIL) == told(stores, FactQuery(), MARCH)
    assert told(stores, FactQuery(), MAY) == [("Ada", "Beta"), *zoe]


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
def test_only_what_fits_is_told(stores: Stores, asked: FactQuery, wanted: list[str]) -> None:
    """Names as entities compare, at either end of a triple; topics without regard to case."""
    assert [said for _, said in told(stores, asked)] == wanted


def test_a_name_is_found_however_the_note_writes_it(root: Path, stores: Stores) -> None:
    """In the path or the title, escaped, decomposed, in capitals or over two blanks; and the user by any name."""
    save(root, "a.md", '---\ntitle: "\\u00c5sa Berg"\n---\n- likes [[Tea]]\n')
    save(root, "b.md", "* knows [[A\u030aSA  BERG]]\n")
    save(root, "c.md", "+ [note] nothing\n")
    save(root, "I.md", "- likes [[Fog]]\n")
    commit_by_hand(root, "2026-06-01T12:00:00Z")
    june = datetime.fromisoformat("2026-06-02T00:00:00Z")

    assert [subject for subject, _ in told(stores, FactQuery(names=("åsa berg",)), june)] == ["Åsa Berg", "b"]
    assert told(stores, FactQuery(names=("me",)), june) == [("I", "Fog")]


def test_a_line_ends_another_of_its_note_that_is_not_asked_for(stores: Stores) -> None:
    """Zoë's note has two employers: one of the lines holds, whichever of them is asked for."""
    every = past_line_facts(FactQuery(names=("zoë",)), APRIL, stores)
    each = [past_line_facts(FactQuery(names=(name,)), APRIL, stores)[-1] for name in ("acme", "beta")]

    assert sum(known.end is None for known in every) == 1
    assert {known.fact.id: known.end for known in each} == {known.fact.id: known.end for known in every}


def test_what_was_erased_or_is_sensitive_today_stays_so(root: Path, tmp_path: Path, stores: Stores) -> None:
    """Under the path of today, where the note was moved since."""
    session = make_session(root)
    move_note("People/Ada.md", "People/Ada L.md", session, OWN)
    save(root, "People/Ada L.md", "---\nsensitive: true\n---\n- works_at [[Beta]]\n")
    erase_note("People/Zoë.md", session, OWN)
    facts = [each.fact for each in past_line_facts(FactQuery(), APRIL, stores)]

    assert [(fact.object or fact.text, fact.sensitive) for fact in facts] == [("Acme", True), ("knows Postgres", True)]
    assert past_line_facts(FactQuery(sensitive=False), APRIL, stores) == ()


def test_without_history_there_are_no_lines_of_the_past(root: Path, tmp_path: Path, stores: Stores) -> None:
    """Neither before the first commit, nor in a folder that is under no git."""
    before = datetime.fromisoformat("2026-02-01T00:00:00Z")
    plain = make_stores(root, tmp_path / "other")

    assert past_line_facts(FactQuery(), before, stores) == ()
    assert past_line_facts(FactQuery(), APRIL, plain) == ()
    close(plain)
