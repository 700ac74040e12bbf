"""Marks follow a note through its history: what was marked later is told by no search and no fact of the past."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.flows.as_of import open_past
from commonplace.flows.ingest.sync import sync
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import write_note
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session, Stores
from commonplace.memory.facts import Facts
from commonplace.model import Actor, ActorKind, Terms
from commonplace.vault.base import StorageBackend
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git
from tests.stores import commit_by_hand, make_session, save

OLD = "Health/Lena.md"
TEXT = "# Lena\n\nThe clinic called about the zqcanary results.\n\n- treated_at [[Zqclinic]]\n- [fact] sleeps badly\n"
MARK = "---\nsensitive: true\n---\n"
BEFORE = "2026-03-15"
Step = Callable[[Path], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with an unmarked note in March, and one beside it."""
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "--quiet")
    save(root, OLD, TEXT)
    save(root, "Garden.md", "# Garden\n\nThe zqcanary of the garden sings.\n\n- located_in [[Zqclinic]]\n")
    commit(root, 3)
    return root


@pytest.fixture
def backend(root: Path) -> StorageBackend:
    return ObsidianVault(root, author=AUTHOR)


def commit(root: Path, month: int) -> None:
    commit_by_hand(root, f"2026-{month:02}-01T12:00:00Z")


def rename(root: Path, source: str, target: str) -> None:
    (root / target).parent.mkdir(parents=True, exist_ok=True)
    (root / source).rename(root / target)


def marked_then_renamed(root: Path) -> None:
    """As in the attack: the note still exists, and is still marked."""
    save(root, OLD, MARK + TEXT)
    commit(root, 4)
    rename(root, OLD, "Health/L.md")
    commit(root, 5)


def marked_then_deleted(root: Path) -> None:
    save(root, OLD, MARK + TEXT)
    commit(root, 4)
    (root / OLD).unlink()
    commit(root, 5)


def renamed_and_marked_at_once(root: Path) -> None:
    rename(root, OLD, "L.md")
    save(root, "L.md", MARK + TEXT)
    commit(root, 4)


def renamed_and_edited(root: Path) -> None:
    """In one commit, with a mark, and half of the text is another."""
    (root / OLD).unlink()
    save(root, "Private/x.md", f"{MARK}{TEXT}\nMore was said on the phone.\n\nAnd a letter came on Friday.\n")
    commit(root, 4)


def renamed_twice_then_marked(root: Path) -> None:
    rename(root, OLD, "L.md")
    commit(root, 4)
    rename(root, "L.md", "M.md")
    commit(root, 5)
    save(root, "M.md", MARK + TEXT)
    commit(root, 6)


def deleted_and_written_anew(root: Path) -> None:
    """In two commits, as a program does that syncs files; git sees no rename."""
    (root / OLD).unlink()
    commit(root, 4)
    save(root, "L.md", MARK + TEXT)
    commit(root, 5)


def folder_renamed_then_marked(root: Path) -> None:
    """In two commits again, and the text is another: the name of the file is the same."""
    (root / OLD).unlink()
    commit(root, 4)
    save(root, "Private/Lena.md", "# Lena\n\nNothing here is as it was.\n")
    commit(root, 5)
    save(root, "Private/Lena.md", f"{MARK}# Lena\n\nNothing here is as it was.\n")
    commit(root, 6)


def copied_then_deleted(root: Path) -> None:
    """The copy is marked, the note itself goes."""
    save(root, "Private.md", MARK + TEXT)
    commit(root, 4)
    (root / OLD).unlink()
    commit(root, 5)


def marked_and_restored(root: Path) -> None:
    """Deleted while it was marked, and restored from before the mark, then deleted again."""
    save(root, OLD, MARK + TEXT)
    commit(root, 4)
    (root / OLD).unlink()
    commit(root, 5)
    save(root, OLD, MARK + TEXT)
    commit(root, 6)
    (root / OLD).unlink()
    commit(root, 7)


def marked_then_unmarked(root: Path) -> None:
    """What it said before and while it was marked stays covered; what it says since is told."""
    save(root, OLD, MARK + TEXT)
    commit(root, 4)
    save(root, OLD, "# Lena\n\nThe garden is green.\n")
    commit(root, 5)


def marked_for_this_machine_only(root: Path) -> None:
    save(root, OLD, f"---\nmemory: local-only\n---\n{TEXT}")
    commit(root, 4)
    rename(root, OLD, "L.md")
    commit(root, 5)


def moved_into_an_ignored_folder(root: Path) -> None:
    rename(root, OLD, "Templates/L.md")
    commit(root, 4)


def marked_in_the_editor(root: Path) -> None:
    """No commit has the mark yet."""
    save(root, OLD, MARK + TEXT)


def renamed_in_the_editor(root: Path) -> None:
    """No commit has the new name yet: when in doubt, it is covered."""
    rename(root, OLD, "L.md")
    save(root, "L.md", MARK + TEXT)


def merged_from_another_device(root: Path) -> None:
    """The mark and the rename were made on a branch."""
    git(root, "checkout", "--quiet", "-b", "device")
    marked_then_renamed(root)
    git(root, "checkout", "--quiet", "-")
    save(root, "Other.md", "Something else.\n")
    commit(root, 6)
    git(root, "merge", "--quiet", "--no-ff", "-m", "both", "device")


def moved_by_us_then_deleted(root: Path) -> None:
    move_note(OLD, "L.md", make_session(root), Terms(personal=True))
    save(root, "L.md", MARK + TEXT)
    commit(root, 12)
    (root / "L.md").unlink()
    commit(root, 12)


def too_large_to_read(root: Path) -> None:
    save(root, OLD, f"{TEXT}{'x' * 4_100_000}\n")
    commit(root, 4)
    (root / OLD).unlink()
    commit(root, 5)


STEPS: tuple[Step, ...] = (
    marked_then_renamed,
    marked_then_deleted,
    renamed_and_marked_at_once,
    renamed_and_edited,
    renamed_twice_then_marked,
    deleted_and_written_anew,
    folder_renamed_then_marked,
    copied_then_deleted,
    marked_and_restored,
    marked_then_unmarked,
    marked_for_this_machine_only,
    moved_into_an_ignored_folder,
    marked_in_the_editor,
    renamed_in_the_editor,
    merged_from_another_device,
    moved_by_us_then_deleted,
    too_large_to_read,
)


def found(stores: Stores, day: str = BEFORE, *, person: bool = False) -> dict[str, str]:
    """The notes that a search of that day finds, with what it tells of them."""
    query = SearchQuery("zqcanary clinic", "words", as_of=f"{day}T23:59:59Z")
    return {hit.path: hit.text for hit in search(query, stores, audience="person" if person else "prompt")}


def known(stores: Stores, actor: ActorKind = "agent", **asked: str) -> list[str]:
    """What is told about the clinic: by whom, of whom."""
    facts = Facts(Session(stores, Actor(actor, "test"), lambda: datetime(2099, 12, 31, tzinfo=UTC)))
    return sorted(each.fact.subject for each in facts.about("Zqclinic", **asked))  # type: ignore[arg-type]


@pytest.mark.parametrize("happens", STEPS, ids=lambda step: step.__name__)
def test_what_was_marked_later_is_told_by_nothing_of_the_past(stores: Stores, root: Path, happens: Step) -> None:
    """An agent finds the name of the note at most, a person all of it; the note beside it is told as before."""
    before = found(stores), known(stores, known=BEFORE)
    happens(root)
    sync(stores)

    assert "zqcanary results" in before[0][OLD]
    assert before[1] == ["Garden", "Lena"]
    assert "zqcanary" not in found(stores).get(OLD, "")
    assert "sings" in found(stores)["Garden.md"]
    assert known(stores, known=BEFORE) == known(stores, as_of=BEFORE) == ["Garden"]
    assert "zqcanary results" in found(stores, person=True)[OLD]
    assert known(stores, "person", known=BEFORE) == ["Garden", "Lena"]


@pytest.mark.parametrize("happens", [marked_then_renamed, deleted_and_written_anew], ids=lambda step: step.__name__)
def test_a_past_that_is_built_after_the_mark_has_it(stores: Stores, root: Path, happens: Step) -> None:
    """No encoder on another machine gets what was marked later."""
    happens(root)
    past = open_past(datetime(2026, 3, 15, tzinfo=UTC), stores)
    stamps = past.stores.index.stamps("vault")
    past.stores.index.close()

    assert OLD in stamps
    assert "zqcanary" not in found(stores).get(OLD, "")


def test_what_was_never_marked_is_told_after_its_removal(stores: Stores, root: Path) -> None:
    """Also if a note was marked at the same path before, or another one was renamed: the past is there to be asked."""
    save(root, "Plan.md", f"{MARK}# Plan\n\nThe zqcanary plan nobody may read but me.\n")
    commit(root, 4)
    save(root, "Plan.md", "# Plan\n\nThe zqcanary plan for all to read, a new one.\n")
    commit(root, 5)
    (root / "Plan.md").unlink()
    rename(root, OLD, "Lena.md")
    commit(root, 6)

    assert "for all to read" in found(stores, "2026-05-15")["Plan.md"]
    assert "nobody" not in found(stores, "2026-04-15").get("Plan.md", "")
    assert "zqcanary results" in found(stores)[OLD]
    assert known(stores, as_of=BEFORE) == ["Garden", "Lena"]


def test_what_a_program_wrote_into_a_marked_folder_is_not_trusted_more(stores: Stores, root: Path) -> None:
    """A line keeps the trust of its writer in the past."""
    session = make_session(root, actor="agent")
    write_note("Projects/Boat.md", b"# Boat\n\n- located_in [[Zqclinic]]\n", session, Terms())
    facts = Facts(Session(stores, Actor("person", "test"), lambda: datetime(2099, 12, 31, tzinfo=UTC)))
    trusts = {each.fact.subject: each.fact.origins.trust for each in facts.about("Zqclinic", known="2099-12-31")}

    assert trusts == {"Garden": "read", "Lena": "read", "Boat": "said"}
