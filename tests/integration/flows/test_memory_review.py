"""Review: what waits for the person, and what becomes of it when they approve, edit or reject it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from commonplace.model.fact import ReviewResult
from tests.gitvault import git
from tests.memories import Calendar, make_memory

TABS = "Prefers tabs over spaces in every project."
SPACES = "Prefers spaces over tabs in every project."


class House(NamedTuple):
    """One memory as its person and as an agent, and the clock of both."""

    person: Memory
    agent: Memory
    clock: Calendar
    vault: Path


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """An empty vault under git."""
    clock = Calendar()
    with make_memory(tmp_path, clock=clock) as memory:
        yield House(memory, memory.acting(Actor("agent", "claude-code")), clock, tmp_path / "vault")


def staged_change(house: House) -> tuple[Fact, Fact]:
    """What the person said, and the day after what an agent has read and wants to put in its place."""
    old = house.person.entries.save(TABS, kind="preference", topics=["coding"]).fact
    house.clock.pass_(days=1)
    new = house.agent.entries.evolve(old.id, SPACES, reason="said so", conversation="c-1", trust="read")
    house.clock.pass_(days=1)
    assert new.staged
    return old, new.fact


def approved(house: House, *ids: str, **options: bool) -> ReviewResult:
    (result,) = house.person.reviews.approve(*ids, **options)
    return result


def texts(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.facts.about()}


@pytest.mark.requirement("X-01")
def test_what_waits_is_listed_oldest_first_with_its_reason_and_what_it_speaks_against(house: House) -> None:
    """Who saved it and when is in the fact; programs learn only how many there are."""
    old, change = staged_change(house)
    read = house.agent.entries.save("Drinks green tea in the morning.", kind="preference", trust="read").fact
    first, second = house.person.reviews.list().entries

    assert [first.fact.id, second.fact.id] == [change.id, read.id]
    assert first.fact.reason == "What was read waits for the person's approval."
    assert [each.text for each in first.against] == [TABS]
    assert first.against[0].id == old.id
    assert (first.fact.origins.interface, first.fact.origins.trust, first.fact.recorded) == (
        "claude-code",
        "read",
        "2026-03-02T09:00:00Z",
    )
    assert (second.against, second.remarks) == ((), ())
    assert house.person.reviews.count() == house.agent.reviews.count() == 2


@pytest.mark.requirement("X-01")
def test_approving_moves_the_entry_to_its_place_and_ends_what_it_replaces_in_one_commit(house: House) -> None:
    """It keeps its id and its source, and is the person's word from then on; `undo` takes all of it back."""
    old, change = staged_change(house)
    before = git(house.vault, "rev-list", "--count", "HEAD")
    result = approved(house, change.id[-6:])
    after = git(house.vault, "rev-list", "--count", "HEAD")
    chain = house.person.entries.show(change.id)
    current, clean = texts(house.person), house.person.lint().problems
    house.person.notes.undo()
    again = house.person.reviews.show(change.id)

    assert (result.action, result.fact.id, [each.id for each in result.ended]) == ("approve", change.id, [old.id])
    assert result.fact.path == f"Agent/Memory/preference/2026-03/{result.fact.path.rpartition('/')[2]}"
    assert (result.fact.origins.interface, result.fact.origins.conversation) == ("claude-code", "c-1")
    assert (result.fact.origins.trust, result.fact.confirmed, result.fact.supersedes) == (
        "told",
        ("2026-03-03",),
        old.id,
    )
    assert int(after) == int(before) + 1
    assert [(each.fact.text, each.state) for each in chain.versions] == [(TABS, "superseded"), (SPACES, "current")]
    assert chain.versions[0].fact.path.startswith("Agent/Memory/_archive/preference/")
    assert (current, clean) == ({SPACES}, ())
    assert (texts(house.person), again.fact.path, [each.id for each in again.against]) == (
        {TABS},
        change.path,
        [old.id],
    )
    assert git(house.vault, "status", "--porcelain") == ""


def test_agents_and_jobs_cannot_review(house: House) -> None:
    """Neither look nor decide; nothing changes."""
    _, change = staged_change(house)
    for memory in (house.agent, house.person.acting(Actor("job", "nightly"))):
        reviews = memory.reviews
        for verb in (
            reviews.list,
            lambda reviews=reviews: reviews.show(change.id),
            lambda reviews=reviews: reviews.approve(change.id),
            lambda reviews=reviews: reviews.approve(all=True),
            lambda reviews=reviews: reviews.edit(change.id, "Prefers both."),
            lambda reviews=reviews: reviews.reject(change.id),
        ):
            with pytest.raises(Refused, match="only the person may review"):
                verb()

    assert house.person.reviews.count() == 1


def test_with_keep_old_both_hold_and_neither_is_doubted(house: House) -> None:
    """The person says that the two do not contradict each other, and the newer one says so from then on."""
    house.person.entries.save("Works from home on Mondays.", kind="fact", topics=["work"])
    old = house.person.facts.about()[0].fact
    text = "Works from Lyon on Tuesdays."
    new = house.agent.entries.save(text, kind="fact", contradicts=[old.id], trust="read").fact
    (waiting,) = house.person.reviews.list().entries
    result = approved(house, new.id, keep_old=True)

    assert [each.id for each in waiting.against] == [old.id]
    assert (result.ended, result.fact.supersedes, result.fact.bonds) == ((), "", (("both", old.id),))
    assert texts(house.person) == {"Works from home on Mondays.", "Works from Lyon on Tuesdays."}


def test_what_contradicts_is_replaced_when_it_is_approved(house: House) -> None:
    """In the same commit."""
    old = house.person.entries.save("The deploy runs on Fly.", kind="fact", topics=["deploy"]).fact
    text = "The deploy runs on Cloudflare."
    new = house.agent.entries.save(text, kind="fact", contradicts=[old.id], trust="read").fact
    result = approved(house, new.id)

    assert (result.fact.supersedes, [each.id for each in result.ended]) == (old.id, [old.id])
    assert texts(house.person) == {"The deploy runs on Cloudflare."}


def test_a_target_that_changed_meanwhile_is_named_and_its_latest_version_replaced(house: House) -> None:
    """The entry holds from its approval on, because what it replaces began after it was saved."""
    old, change = staged_change(house)
    newer = house.person.entries.evolve(old.id, "Prefers tabs of four columns.", reason="precise").fact
    house.clock.pass_(days=1)
    waiting = house.person.reviews.show(change.id)
    result = approved(house, change.id)

    assert [each.id for each in waiting.against] == [newer.id]
    assert result.remarks == (f"{old.id[-6:]} was replaced by {newer.id[-6:]} since it was saved.",)
    assert (result.fact.supersedes, result.fact.valid_from) == (newer.id, "2026-03-04T09:00:00Z")
    assert texts(house.person) == {SPACES}
    assert house.person.lint().problems == ()


def test_a_target_that_was_forgotten_is_named_and_nothing_ends(house: House) -> None:
    """The entry is approved all the same."""
    old, change = staged_change(house)
    house.person.entries.forget(old.id)
    result = approved(house, change.id)

    assert result.remarks == (f"{old.id[-6:]}, which it was saved against, is deleted.",)
    assert (result.ended, result.fact.supersedes) == ((), "")
    assert texts(house.person) == {SPACES}


@pytest.mark.parametrize("choice", ["approve", "confirm_known", "keep_old"])
def test_what_is_known_by_now_never_takes_the_place_of_what_was_approved(house: House, choice: str) -> None:
    """Approving keeps the approved entry; the person may also confirm the known one, or keep both."""
    waits = house.agent.entries.save("Drinks green tea in the morning.", kind="preference", trust="read").fact
    mine = house.person.entries.save("Drinks green tea in the morning.", kind="preference").fact
    house.person.entries.load(mine.id, always=True, pinned=True)
    house.clock.pass_(days=1)
    shown = house.person.reviews.show(waits.id)
    result = approved(house, waits.id, **({} if choice == "approve" else {choice: True}))
    held = {each.fact.id for each in house.person.facts.about()}

    assert shown.known
    assert shown.known.id == mine.id
    assert held == {"approve": {waits.id}, "confirm_known": {mine.id}, "keep_old": {waits.id, mine.id}}[choice]
    assert (result.action, result.fact.id) == (
        ("confirm", mine.id) if choice == "confirm_known" else ("approve", waits.id)
    )
    assert [each.id for each in result.ended] == ([mine.id] if choice == "approve" else [])
    assert (result.fact.always_load, result.fact.pinned) == ((False, False) if choice == "keep_old" else (True, True))
    assert house.person.reviews.count() == 0
    assert house.person.lint().problems == ()


def test_what_is_saved_after_it_is_found_by_comparing(house: House) -> None:
    """The entry names nothing that it speaks against; what was said since is found all the same."""
    waits = house.agent.facts.add("Ada", "works_at", "Acme", trust="imported").fact
    mine = house.person.facts.add("Ada", "works_at", "Globex", valid_from="2026-01-01").fact
    house.clock.pass_(days=1)
    (waiting,) = house.person.reviews.list().entries
    result = approved(house, waits.id)

    assert [each.id for each in waiting.against] == [mine.id]
    assert [each.id for each in result.ended] == [mine.id]
    assert texts(house.person) == {"Ada works at Acme."}


def test_a_line_of_a_note_stays_and_the_person_is_told(house: House) -> None:
    """Only its writer changes a line."""
    (house.vault / "People").mkdir()
    (house.vault / "People/Ada.md").write_text("# Ada\n\n- works_at [[Globex]]\n")
    house.person.index.sync()
    waits = house.agent.facts.add("Ada", "works_at", "Acme", trust="imported").fact
    result = approved(house, waits.id)

    assert result.ended == ()
    assert result.remarks == ("People/Ada.md:3 says otherwise: only you can change that line.",)
    assert (house.vault / "People/Ada.md").read_text() == "# Ada\n\n- works_at [[Globex]]\n"


def test_what_begins_later_ends_the_old_only_then(house: House) -> None:
    """The old value holds until that day, and stays in its place."""
    old = house.person.facts.add("me", "lives_in", "Berlin").fact
    new = house.agent.facts.add("me", "lives_in", "Paris", valid_from="2026-12-03").fact
    result = approved(house, new.id)
    (held,) = [each for each in house.person.facts.about() if each.fact.id == old.id]

    assert (held.state, held.until, held.fact.path) == ("current", "2026-12-03T00:00:00Z", old.path)
    assert (result.fact.supersedes, result.fact.valid_from) == ("", "2026-12-03T00:00:00Z")
    assert house.person.lint().problems == ()


def test_an_always_loaded_entry_comes_to_its_folder_when_it_is_approved(house: House) -> None:
    """Not before."""
    waits = house.agent.entries.save("Answers in one paragraph.", kind="preference", always_load=True).fact
    before = [each.piece.text for each in house.person.context.start(within=None).included]
    result = approved(house, waits.id)
    after = [each.piece.text for each in house.person.context.start(within=None).included]

    assert result.fact.path.startswith("Agent/Memory/_always-load/")
    assert not any("one paragraph" in text for text in before)
    assert any("one paragraph" in text for text in after)


def test_an_edit_is_approved_as_the_persons_own_words(house: House) -> None:
    """In one commit with what it replaces; the file is named after the new words."""
    old, change = staged_change(house)
    result = house.person.reviews.edit(change.id, "Prefers spaces, but tabs in Makefiles.")
    note = house.person.notes.read(result.fact.path)

    assert (result.action, result.fact.id, result.fact.text) == (
        "edit",
        change.id,
        "Prefers spaces, but tabs in Makefiles.",
    )
    assert (result.fact.origins.interface, result.fact.origins.trust) == ("test", "told")
    assert note.body.strip() == "Prefers spaces, but tabs in Makefiles."
    assert "prefers-spaces-but-tabs-in-makefiles" in result.fact.path
    assert [each.id for each in result.ended] == [old.id]
    assert house.person.lint().problems == ()


def test_an_edit_of_a_triple_gives_another_value(house: House) -> None:
    """Its sentence follows, unless it is given too; text alone is not enough."""
    waits = house.agent.facts.add("Ada", "works_at", "Acme", trust="imported").fact
    with pytest.raises(UsageError, match="is a triple"):
        house.person.reviews.edit(waits.id, "Ada works for Acme Berlin.")
    result = house.person.reviews.edit(waits.id, object="Acme Berlin")

    assert (result.fact.text, result.fact.object) == ("Ada works at Acme Berlin.", "Acme Berlin")


def test_an_edit_is_screened_and_needs_words(house: House) -> None:
    """A secret is refused; nothing is written."""
    _, change = staged_change(house)
    with pytest.raises(Refused, match="secret"):
        house.person.reviews.edit(change.id, "The key is AKIA" + "IOSFODNN7" + "EXAMPLQ.")
    with pytest.raises(UsageError, match="new words"):
        house.person.reviews.edit(change.id, " ")
    with pytest.raises(UsageError, match="not a triple"):
        house.person.reviews.edit(change.id, object="spaces")

    assert house.person.reviews.count() == 1


@pytest.mark.parametrize("verb", ["reject", "forget"])
def test_rejected_words_cannot_be_saved_again_by_a_program(house: House, verb: str) -> None:
    """By saving nor by evolving; the person can."""
    old, change = staged_change(house)
    if verb == "reject":
        (result,) = house.person.reviews.reject(change.id, reason="never true")
        assert (result.fact.status, result.fact.reason) == ("deleted", "never true")
        assert result.fact.path.startswith("Agent/Memory/_archive/_staging/")
    else:
        house.person.entries.forget(change.id)
    with pytest.raises(Refused, match="rejected these words on 2026-03-03"):
        house.agent.entries.save(SPACES, kind="preference", trust="read")
    with pytest.raises(Refused, match="rejected these words"):
        house.agent.entries.evolve(old.id, SPACES, reason="again")

    assert house.person.reviews.count() == 0
    assert house.person.lint().problems == ()
    assert house.person.entries.evolve(old.id, SPACES, reason="changed my mind").changed


def test_the_same_replacement_is_staged_once(house: House) -> None:
    """An agent that says it every day is told that it waits already."""
    old, change = staged_change(house)
    again = house.agent.entries.evolve(old.id, SPACES, reason="said so again", trust="read")

    assert (again.staged, again.changed, again.fact.id) == (True, False, change.id)
    assert house.person.reviews.count() == 1


def test_an_undone_rejection_waits_again(house: House) -> None:
    """As before."""
    _, change = staged_change(house)
    house.person.reviews.reject(change.id)
    house.person.notes.undo()

    (waiting,) = house.person.reviews.list().entries

    assert (waiting.fact.id, waiting.fact.path, waiting.fact.reason) == (change.id, change.path, change.reason)


def test_all_are_decided_in_order_with_a_commit_each(house: House) -> None:
    """Two that speak against the same thing: the later one replaces the earlier."""
    old, change = staged_change(house)
    text = "Prefers no indentation at all."
    other = house.agent.entries.evolve(old.id, text, reason="said so", trust="read").fact
    first, second = house.person.reviews.approve(all=True)

    assert [first.fact.id, second.fact.id] == [change.id, other.id]
    assert second.remarks == (f"{old.id[-6:]} was replaced by {change.id[-6:]} since it was saved.",)
    assert texts(house.person) == {"Prefers no indentation at all."}
    assert first.commit != second.commit
    assert house.person.reviews.approve(all=True) == ()


def test_names_are_checked_before_anything_is_changed(house: House) -> None:
    """One that does not wait, one that does not exist, none at all, or both ways of naming."""
    old, change = staged_change(house)
    with pytest.raises(Conflict, match="does not wait"):
        house.person.reviews.approve(change.id, old.id)
    with pytest.raises(NotFound):
        house.person.reviews.reject(change.id, "ffffff")
    with pytest.raises(UsageError, match="no entry is named"):
        house.person.reviews.approve()
    with pytest.raises(UsageError, match="cannot be combined"):
        house.person.reviews.reject(change.id, all=True)

    assert house.person.reviews.count() == 1


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_dry_run_shows_the_difference_and_changes_nothing(house: House, verb: str) -> None:
    """Of both notes."""
    _, change = staged_change(house)
    head = git(house.vault, "rev-parse", "HEAD")
    (result,) = getattr(house.person.reviews, verb)(change.id, dry_run=True)

    assert f"rename from {change.path}" in (result.difference or "")
    assert ("status: superseded" in (result.difference or "")) == (verb == "approve")
    assert git(house.vault, "rev-parse", "HEAD") == head


def test_a_waiting_entry_that_was_edited_by_hand_is_approved_as_it_is_now(house: House) -> None:
    """The index follows the note."""
    _, change = staged_change(house)
    note = house.vault / change.path
    note.write_text(note.read_text().replace(SPACES, "Prefers two spaces."))
    result = approved(house, change.id)

    assert result.fact.text == "Prefers two spaces."
    assert house.person.lint().problems == ()


def test_a_staged_note_that_is_no_entry_is_listed_by_its_path(house: House) -> None:
    """It counts, and a person moves or deletes it as a note."""
    written = house.agent.notes.write("Agent/Memory/_always-load/Tone.md", "---\nalways_load: true\n---\nBe terse.\n")
    queue = house.person.reviews.list()

    assert (queue.entries, queue.notes) == ((), (written.path,))
    assert house.person.reviews.count() == 1


def test_erasing_an_approved_entry_erases_what_was_staged(house: House) -> None:
    """The commit names both moves: of the approved entry and of the one that it replaced."""
    old, change = staged_change(house)
    approved(house, change.id)
    archived = house.person.entries.show(old.id).fact.path
    new, before = house.person.entries.erase(change.id), house.person.entries.erase(old.id)

    assert new.former == (change.path,)
    assert (before.path, before.former) == (archived, (old.path,))


def test_the_log_names_both_moves(house: House) -> None:
    """From git as well as from the audit."""
    old, change = staged_change(house)
    result = approved(house, change.id)
    moves = {(each.path, each.destination) for each in house.person.notes.log(limit=1)}

    assert (change.path, result.fact.path) in moves
    assert any(source == old.path and target for source, target in moves)


def test_an_edit_may_stand_beside_what_it_speaks_against(house: House) -> None:
    """With `keep_old` both are current."""
    old, change = staged_change(house)
    result = house.person.reviews.edit(change.id, "Prefers spaces in the old repository only.", keep_old=True)

    assert result.ended == ()
    assert texts(house.person) == {old.text, "Prefers spaces in the old repository only."}


def test_what_the_person_confirms_is_their_own_word(house: House) -> None:
    """An agent may end what an agent said, but not what the person has confirmed since."""
    said = house.agent.entries.save("Works at Acme.", kind="fact").fact
    house.clock.pass_(days=1)
    house.person.entries.confirm(said.id)
    house.clock.pass_(days=1)
    changed = house.agent.entries.save("Works at Globex now.", kind="fact", replaces=[said.id])

    assert [each.id for each in changed.waiting] == [said.id]
    assert texts(house.person) == {"Works at Acme.", "Works at Globex now."}


def test_an_entry_that_was_over_before_it_was_approved_ends_nothing(house: House) -> None:
    """Otherwise nothing would be true; the answer says so."""
    old = house.person.entries.save("Parks in the yard.", kind="fact").fact
    waits = house.agent.entries.evolve(old.id, "Parks in the street.", reason="works in the yard", trust="read").fact
    file = house.vault / waits.path
    ends = "valid_until: 2026-03-03T00:00:00Z\nstatus: active\n"
    file.write_text(file.read_text().replace("status: active\n", ends))
    house.clock.pass_(days=10)
    house.person.index.sync()
    result = approved(house, waits.id)

    assert result.ended == ()
    assert "before you approved it" in result.remarks[-1]
    assert texts(house.person) == {old.text}
