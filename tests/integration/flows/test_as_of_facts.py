"""Facts in lines of notes on two clocks: what was true on a day as it is known now, and what was known then."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.flows.ingest.past_lines import update_past
from commonplace.flows.ingest.sync import rebuild, sync
from commonplace.flows.memory.facts import FactRequest, facts_about
from commonplace.flows.notes.erase import erase_note
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery, PastLine
from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.memory.facts import Facts
from commonplace.model import Actor, ActorKind, Terms
from commonplace.notes.link_resolver import NoteLinker
from commonplace.vault.base import StorageBackend
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git
from tests.stores import RULES, close, commit_by_hand, make_stores, save, traces

FEBRUARY, APRIL, JUNE = "2026-02-10", "2026-04-01", "2026-06-01"
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


def facts(stores: Stores, actor: ActorKind = "person") -> Facts:
    return Facts(Session(stores, Actor(actor, "test"), lambda: datetime(2026, 11, 15, tzinfo=UTC)))


def told(stores: Stores, entity: str = "Ada", *, actor: ActorKind = "person", **asked: str) -> list[str]:
    about = facts(stores, actor).about(entity, **asked)  # type: ignore[arg-type]
    return sorted(each.fact.object or each.fact.text for each in about)


def test_a_line_that_was_replaced_was_true_until_then(stores: Stores) -> None:
    """As it is known now: the first value of what has one at a time held before, as long as anybody knows."""
    sync(stores)

    assert told(stores) == ["Beta"]
    assert told(stores, as_of=FEBRUARY) == told(stores, as_of=APRIL) == ["Acme", "knows Postgres"]
    assert told(stores, as_of="2026-05-01") == told(stores, as_of=JUNE) == ["Beta"]


def test_what_was_known_is_what_the_notes_had_then(stores: Stores) -> None:
    """Before the first commit nothing; alone it asks about the same day, and `as_of` about another."""
    sync(stores)

    assert told(stores, known=FEBRUARY) == []
    assert told(stores, known="2026-03-01") == told(stores, known=APRIL) == ["Acme", "knows Postgres"]
    assert told(stores, known=JUNE) == ["Beta"]
    assert told(stores, as_of=FEBRUARY, known=APRIL) == told(stores, as_of=JUNE, known=APRIL)
    assert told(stores, as_of=APRIL, known=JUNE) == ["Acme", "knows Postgres"]
    with pytest.raises(UsageError, match="not a time"):
        told(stores, known="long ago")


def test_what_was_recorded_later_counts_for_the_day_it_is_about(stores: Stores, root: Path) -> None:
    """`as_of` alone answered nothing for a fact that was written down after that day."""
    session = Session(stores, Actor("person", "test"), lambda: datetime(2026, 11, 15, tzinfo=UTC))
    sync(stores)
    facts(stores).add("Ana", "lives_in", "Porto", valid_from="2024-01-01")
    request = FactRequest("Ana", at="2024-12-01T23:59:59Z")

    assert [each.fact.object for each in facts_about(request, session)] == ["Porto"]
    assert told(stores, "Ana", as_of="2024-12-01") == ["Porto"]
    assert told(stores, "Ana", known="2024-12-01") == told(stores, "Ana", as_of="2023-12-31") == []


def test_a_line_that_came_back_was_not_true_in_between(stores: Stores, root: Path) -> None:
    """Each of its times is a fact of its own, also with a limit and in the list of all."""
    save(root, "People/Ada.md", "- works_at [[Acme]]\n")
    commit_by_hand(root, "2026-07-01T12:00:00Z")
    sync(stores)
    days = (APRIL, JUNE, "2026-08-01")

    assert [told(stores, as_of=day)[0] for day in days] == ["Acme", "Beta", "Acme"]
    every = facts(stores).about("Ada", predicate="works_at", as_of="2026-08-01", every=True)
    assert [each.fact.object for each in every if each.state == "current"] == ["Acme"]
    assert len({each.fact.id for each in every}) == len(every) == 3


def test_lines_that_no_commit_has_yet_count_for_what_is_known_now(stores: Stores, root: Path) -> None:
    """What a person has just written replaces the committed line from now on; what is gone went now."""
    save(root, "People/Ada.md", "- works_at [[Gamma]]\n")
    sync(stores)

    assert told(stores) == ["Gamma"]
    assert told(stores, as_of=JUNE) == ["Beta"]
    assert told(stores, as_of=APRIL) == ["Acme", "knows Postgres"]
    assert told(stores, known="2026-12-01") == ["Beta"]


def test_an_entry_ends_a_line_from_the_day_it_begins(stores: Stores) -> None:
    """As everywhere: what a person tells counts more than a line, and what is older held before."""
    sync(stores)
    facts(stores).add("Ada", "works_at", "Delta", valid_from="2026-08-01")

    assert [told(stores, as_of=day)[0] for day in (APRIL, JUNE, "2026-09-01")] == ["Acme", "Beta", "Delta"]


@pytest.mark.parametrize(
    ("entity", "asked", "wanted"),
    [
        ("Ada", {}, ["Acme", "knows Postgres"]),
        ("Acme", {}, ["Acme", "Acme"]),
        ("Zoë", {}, ["Beta"]),
        ("", {"predicate": "works_at"}, ["Acme", "Beta"]),
        ("", {"topic": "wORK"}, ["Acme"]),
        ("Ada", {"topic": "databases"}, ["knows Postgres"]),
    ],
)
def test_only_what_fits_is_told(stores: Stores, entity: str, asked: dict[str, str], wanted: list[str]) -> None:
    """Names as entities compare, at either end of a triple; topics without regard to case; no ignored note."""
    sync(stores)
    by_object = entity == "Acme"  # Zoë's second employer ends the first

    every = {"every": "yes"} if by_object else {}
    assert told(stores, entity, **{"known": APRIL, **every, **asked}) == wanted  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", "in-memory"])
def twin(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Iterator[Stores]:
    """Stores with each of the two indexes."""
    in_memory = InMemoryIndex(user="me", linker=NoteLinker(), rules=RULES) if request.param == "in-memory" else None
    stores = make_stores(root, tmp_path / "twin", vault=ObsidianVault(root, author=AUTHOR), index=in_memory)
    yield stores
    close(stores)


def lines(stores: Stores) -> tuple[PastLine, ...]:
    update_past(stores)
    with stores.index.reader() as reader:
        return reader.past_lines(FactQuery())


def test_commit_by_commit_the_index_is_the_one_that_is_read_at_once(twin: Stores, root: Path, tmp_path: Path) -> None:
    """Also where the history was rewritten in between, and after a rebuild."""
    lines(twin)
    save(root, "People/Ada.md", "- works_at [[Gone]]\n")
    (root / "People/Zoë.md").rename(root / "Zoë.md")
    commit_by_hand(root, "2026-06-01T12:00:00Z")
    lines(twin)
    git(root, "reset", "--quiet", "--hard", "HEAD~1")
    save(root, "People/Ada.md", "- works_at [[Gamma]]\n- likes [[Tea]]\n")
    commit_by_hand(root, "2026-07-01T12:00:00Z")
    step_by_step = lines(twin)
    rebuild(twin)
    other = make_stores(root, tmp_path / "other", vault=ObsidianVault(root, author=AUTHOR))

    assert lines(twin) == lines(other) == step_by_step
    assert [each.fact.object for each in step_by_step if not each.last_at][:2] == ["Gamma", "Tea"]
    close(other)


def test_erased_words_are_not_in_the_index_of_past_lines(stores: Stores, root: Path, tmp_path: Path) -> None:
    """Neither those of the note nor those it had under the name from which it was renamed in an editor."""
    save(root, "Old plan.md", "- located_in [[Xylographia]]\n- [fact] the cellar is damp in autumn\n")
    commit_by_hand(root, "2026-06-01T12:00:00Z")
    (root / "Old plan.md").rename(root / "Secret plan.md")
    commit_by_hand(root, "2026-07-01T12:00:00Z")
    before = told(stores, "Old plan", as_of=JUNE)
    session = Session(stores, Actor("person", "test"), lambda: datetime(2026, 11, 15, tzinfo=UTC))
    sync(stores)
    erase_note("Secret plan.md", session, OWN)
    after = told(stores, "Old plan", as_of=JUNE)
    close(stores)

    assert "Xylographia" in before
    assert after == []
    assert traces(tmp_path / "data", "Xylographia") == traces(tmp_path / "data", "cellar is damp") == []
    assert traces(tmp_path / "data", "Old plan") == traces(tmp_path / "data", "Secret plan") == []


def test_without_history_there_are_no_lines_of_the_past(root: Path, tmp_path: Path) -> None:
    """In a folder that is under no git, a line counts for any day as it is known now."""
    plain = make_stores(root, tmp_path / "other")
    sync(plain)

    assert told(plain, known=APRIL) == []
    assert told(plain, as_of=APRIL) == ["Beta"]
    close(plain)
