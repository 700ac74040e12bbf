"""Endings that the person decides: those that programs want, groups, those of old rules; and what comes back."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.errors import Conflict, Refused
from commonplace.flows.memory.amend import archive_entry
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from commonplace.model.fact import GroupVerdict
from tests.gitvault import git
from tests.memories import Calendar, make_memory

TABS, SPACES = "Prefers tabs over spaces in every project.", "Prefers spaces over tabs in every project."
BAKER = "The bakery in the Linden street opens at seven."
CHANGED = "It says that this has changed."


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


def wanted_ending(house: House) -> tuple[Fact, Fact]:
    """What the person said, and the day after what an agent says instead."""
    old = house.person.entries.save(TABS, kind="preference").fact
    house.clock.pass_(days=1)
    new = house.agent.entries.save(SPACES, kind="preference", replaces=[old.id])
    house.clock.pass_(days=1)
    assert [each.id for each in new.waiting] == [old.id]
    return old, new.fact


def group_of(house: House, *texts: str) -> list[Fact]:
    """Statements of the person about one thing, a day apart, the newest first."""
    facts = []
    for text in texts:
        facts.append(house.person.entries.save(text, kind="fact").fact)
        house.clock.pass_(days=1)
    return facts[::-1]


def texts(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.facts.about()}


def replaced(house: House, old: str, new: str, *, reason: str = CHANGED) -> tuple[Fact, Fact]:
    """What an old rule did: the first statement was ended by the second, for this reason."""
    before = house.person.entries.save(old, kind="fact").fact
    house.clock.pass_(days=1)
    after = house.person.entries.evolve(before.id, new, reason=reason).fact
    house.clock.pass_(days=1)
    return before, after


def put_away(house: House, fact: Fact, verb: str) -> None:
    """Forget, archive or erase the entry, the first two with a reason."""
    entries = house.person.entries
    if verb == "erase":
        entries.erase(fact.id)
    elif verb == "forget":
        entries.forget(fact.id, reason="It was a mistake.")
    else:
        archive_entry(fact.id, house.person._session, reason="It was a mistake.")


def announced(house: House, old: str, new: str, *, begins: str) -> tuple[Fact, Fact]:
    """What an old rule did: the first statement ends where the second one begins, and neither names the other."""
    before = house.person.entries.save(old, kind="fact").fact
    house.clock.pass_(days=1)
    after = house.person.entries.save(new, kind="fact", valid_from=begins, replaces=[before.id]).fact
    note = house.vault / after.path
    note.write_text(note.read_text().replace(after.reason, "The known value is valid until this begins."))
    house.person.index.sync()
    house.clock.pass_(days=1)
    return before, house.person.entries.show(after.id).fact


# ---------------------------------------------------------------- endings that wait


def test_an_ending_that_a_program_wants_is_listed_with_both_texts_and_counted(house: House) -> None:
    """Both hold meanwhile, and they are no group besides."""
    old, new = wanted_ending(house)
    queue = house.person.reviews.list()
    (ending,) = queue.endings

    assert (ending.fact.id, [each.id for each in ending.against]) == (new.id, [old.id])
    assert (queue.entries, queue.groups, queue.count) == ((), (), 1)
    assert house.person.reviews.count() == house.agent.reviews.count() == 1
    assert house.person.reviews.show(new.id) == ending
    assert texts(house.person) == {TABS, SPACES}


def test_approving_an_ending_ends_the_old_one_in_one_commit_and_undo_takes_it_back(house: House) -> None:
    """The new one is the person's own word from then on."""
    old, new = wanted_ending(house)
    before = git(house.vault, "rev-list", "--count", "HEAD")
    (result,) = house.person.reviews.approve(new.id)
    after = git(house.vault, "rev-list", "--count", "HEAD")
    held, problems = texts(house.person), house.person.lint().problems
    house.person.notes.undo()

    assert (result.action, result.fact.supersedes, [each.id for each in result.ended]) == ("approve", old.id, [old.id])
    assert (result.fact.origins.trust, result.fact.bonds) == ("told", ())
    assert int(after) == int(before) + 1
    assert (held, problems) == ({SPACES}, ())
    assert texts(house.person) == {TABS, SPACES}
    assert house.person.reviews.count() == 1


@pytest.mark.parametrize("how", ["reject", "keep_old"])
def test_a_rejected_ending_leaves_both_and_nobody_asks_again(house: House, how: str) -> None:
    """The verdict stands in the note of the newer entry."""
    old, new = wanted_ending(house)
    reviews = house.person.reviews
    (result,) = reviews.reject(new.id) if how == "reject" else reviews.approve(new.id, keep_old=True)

    assert (result.action, result.fact.bonds, result.ended) == ("both", (("both", old.id),), ())
    assert texts(house.person) == {TABS, SPACES}
    assert reviews.count() == 0
    with pytest.raises(Conflict, match="does not wait"):
        reviews.approve(new.id)


def test_nothing_is_asked_about_what_is_over_or_was_said_again_since(house: House) -> None:
    """What the person said after the agent is newer than what the agent said."""
    old, new = wanted_ending(house)
    house.person.entries.evolve(old.id, "Prefers tabs of four columns.", reason="precise")
    newer = house.person.reviews.list().endings
    house.person.notes.undo()
    again = house.person.reviews.list().endings
    house.person.entries.forget(old.id)

    assert (newer, len(again), house.person.reviews.list().endings) == ((), 1, ())
    assert house.person.entries.show(new.id).fact.status == "active"


def test_of_two_endings_of_one_entry_the_later_one_ends_the_earlier(house: House) -> None:
    """All are decided in order, a commit each."""
    old, new = wanted_ending(house)
    none = "Prefers no indentation at all."
    later = house.agent.entries.save(none, kind="preference", replaces=[old.id]).fact
    first, second = house.person.reviews.approve(all=True)

    assert [first.fact.id, second.fact.id] == [new.id, later.id]
    assert second.remarks == (f"{old.id[-6:]} was replaced by {new.id[-6:]} since it was saved.",)
    assert texts(house.person) == {none}
    assert house.person.reviews.count() == 0


def test_an_ending_is_not_edited(house: House) -> None:
    """The entry stands already: it gets other words as every entry does."""
    _, new = wanted_ending(house)
    with pytest.raises(Conflict, match="does not wait as a whole"):
        house.person.reviews.edit(new.id, "Prefers both.")


def test_programs_decide_no_ending_no_group_and_bring_nothing_back(house: House) -> None:
    """Nor do they see them."""
    old, new = wanted_ending(house)
    reviews = house.agent.reviews
    for verb in (
        reviews.list,
        reviews.ended,
        lambda: reviews.approve(new.id),
        lambda: reviews.reject(new.id),
        lambda: reviews.settle("g-000000", "both"),
        lambda: reviews.bring_back(old.id),
        lambda: reviews.leave_ended(old.id),
    ):
        with pytest.raises(Refused, match="only the person may review"):
            verb()


# ---------------------------------------------------------------- what programs replaced back and forth


def test_what_programs_replaced_back_and_forth_waits_for_the_person(house: House) -> None:
    """Oslo, Bergen, Oslo: whoever replaces it once more is not the last one."""
    add = house.agent.facts.add
    for place in ("Oslo", "Bergen", "Oslo"):
        assert add("Ada", "lives_in", place).waiting == ()
        house.clock.pass_(days=1)
    again = add("Ada", "lives_in", "Bergen")
    held = texts(house.person)
    (ending,) = house.person.reviews.list().endings
    (result,) = house.person.reviews.approve(ending.fact.id)

    assert [each.object for each in again.waiting] == ["Oslo"]
    assert again.reason == "Programs have replaced it back and forth: the person decides which one holds."
    assert held == {"Ada lives in Oslo.", "Ada lives in Bergen."}
    assert texts(house.person) == {"Ada lives in Bergen."}
    assert result.fact.origins.trust == "told"


@pytest.mark.parametrize("verb", ["settle", "evolve"])
def test_they_wait_by_whichever_verb_a_program_ends_them(house: House, verb: str) -> None:
    """The person is not asked about what they replace themselves."""
    entries = house.agent.entries
    first = entries.save("The build runs on the old server.").fact
    second = entries.evolve(first.id, "The build runs on the new server.", reason="moved").fact
    third = entries.evolve(second.id, "The build runs on the old server.", reason="moved back").fact
    house.clock.pass_(days=1)
    text = "The build runs on a third server."
    if verb == "settle":
        result = entries.settle(entries.save(text).fact.id, replaces=[third.id])
    else:
        result = entries.evolve(third.id, text, reason="moved")
    house.person.entries.settle(result.fact.id, replaces=[third.id])

    assert [each.id for each in result.waiting] == [third.id]
    assert texts(house.person) == {text}
    assert house.person.reviews.count() == 0


def test_a_program_puts_none_of_them_away_as_the_same(house: House) -> None:
    """The person does."""
    entries = house.agent.entries
    oven, mill = "The bread is baked in the oven.", "The bread is baked in the mill."
    first = entries.save(oven).fact
    second = entries.evolve(first.id, mill, reason="moved").fact
    third = entries.evolve(second.id, oven, reason="moved back").fact
    other = entries.save("It is in the oven that they bake the bread.").fact
    house.clock.pass_(days=1)
    with pytest.raises(Conflict, match="only the person may put"):
        entries.settle(third.id, same=[other.id])
    house.person.entries.settle(third.id, same=[other.id])

    assert texts(house.person) == {other.text}


def test_an_agents_wish_to_forget_one_of_them_waits(house: House) -> None:
    """Another way to end it is no way around the person."""
    entries = house.agent.entries
    first = entries.save("The build runs on the old server.").fact
    second = entries.evolve(first.id, "The build runs on the new server.", reason="moved").fact
    third = entries.evolve(second.id, "The build runs on the old server.", reason="moved back").fact
    result = entries.forget(third.id)

    assert [each.id for each in result.waiting] == [third.id]
    assert texts(house.person) == {third.text}


# ---------------------------------------------------------------- groups


def test_a_group_is_listed_once_with_the_newest_first_and_counts_as_one(house: House) -> None:
    """However many entries it has."""
    facts = group_of(house, BAKER, BAKER.replace("seven", "eight"), BAKER.replace("seven", "nine"))
    queue = house.person.reviews.list()
    (group,) = queue.groups

    assert [each.id for each in group.entries] == [each.id for each in facts]
    assert (queue.count, house.person.reviews.count(), house.agent.reviews.count()) == (1, 1, 1)


@pytest.mark.parametrize("verdict", ["both", "replaces", "same"])
def test_a_verdict_on_a_group_is_one_commit_and_nothing_is_asked_twice(house: House, verdict: GroupVerdict) -> None:
    """All hold, the newest alone does, or one wording stays for all; `undo` takes it back."""
    words = (BAKER, BAKER.replace("seven", "eight"), BAKER.replace("seven", "nine"))
    newest, middle, oldest = group_of(house, *words)
    before = git(house.vault, "rev-list", "--count", "HEAD")
    (group,) = house.person.reviews.list().groups
    result = house.person.reviews.settle(group.id, verdict)
    after, left = git(house.vault, "rev-list", "--count", "HEAD"), house.person.reviews.count()
    held, problems = texts(house.person), house.person.lint().problems
    house.person.notes.undo()

    assert int(after) == int(before) + 1
    assert (left, problems) == (0, ())
    assert held == {"both": {*words}, "replaces": {words[2]}, "same": {words[0]}}[verdict]
    assert result.fact.id == (oldest.id if verdict == "same" else newest.id)
    assert {each.id for each in result.ended} == {
        "both": set[str](),
        "replaces": {middle.id, oldest.id},
        "same": {newest.id, middle.id},
    }[verdict]
    assert house.person.reviews.list().groups == (group,)


def test_of_entries_that_mean_the_same_the_persons_own_or_loaded_one_stays(house: House) -> None:
    """Its days are those of all of them."""
    oldest = house.agent.entries.save(BAKER, kind="fact").fact
    house.clock.pass_(days=1)
    own = house.person.entries.save(BAKER.replace("opens", "is open"), kind="fact").fact
    house.clock.pass_(days=1)
    (group,) = house.person.reviews.list().groups
    result = house.person.reviews.settle(group.id, "same")

    assert (result.fact.id, [each.id for each in result.ended]) == (own.id, [oldest.id])
    assert result.fact.confirmed == ("2026-03-01", "2026-03-03")


def test_a_group_that_changed_since_it_was_shown_is_not_decided(house: House) -> None:
    """Another entry of it has not been read."""
    group_of(house, BAKER, BAKER.replace("seven", "eight"))
    (group,) = house.person.reviews.list().groups
    house.person.entries.save(BAKER.replace("seven", "nine"), kind="fact")
    with pytest.raises(Conflict, match="it has changed, or it is decided"):
        house.person.reviews.settle(group.id, "replaces")

    assert len(texts(house.person)) == 3


def test_what_was_said_again_takes_over_when_it_was_said_again(house: House) -> None:
    """Oslo, Bergen, and Oslo confirmed: Bergen held in between."""
    oslo, bergen = "Nora lives in Oslo at the moment.", "Nora lives in Bergen at the moment."
    again = house.person.entries.save(oslo).fact.id
    house.clock.pass_(days=10)
    ended = house.person.entries.save(bergen).fact.id
    house.clock.pass_(days=10)
    house.person.entries.confirm(again)
    house.person.entries.settle(again, replaces=[ended])
    held = house.person.entries.show(ended).fact

    assert (held.begins[:10], held.valid_until) == ("2026-03-11", "2026-03-21T00:00:00Z")


# ---------------------------------------------------------------- endings of old rules


def test_endings_of_old_rules_are_listed_and_counted_and_nothing_returns_by_itself(house: House) -> None:
    """By the sentences that the old program gave; a person's own reason is none of them."""
    old, new = replaced(house, "Nora is allergic to penicillin.", "Nora stopped smoking last year.")
    replaced(house, "The bell is broken.", "The bell works again.", reason="it was mended")
    (ending,) = house.person.reviews.ended()
    (finding,) = [each.said for each in house.person.index.examine() if "rule that is gone" in each.said]

    assert (ending.fact.id, ending.by) == (old.id, house.person.entries.show(new.id).fact)
    assert finding == "1 memory was ended by a rule that is gone: `commonplace review --ended` can bring each back"
    assert old.text not in texts(house.person)
    assert house.person.reviews.count() == 0


def test_what_is_brought_back_holds_beside_the_newest_version(house: House) -> None:
    """In one commit, with the time it had; nobody asks how they relate, and it is not listed again."""
    old, new = replaced(house, "Nora is allergic to penicillin.", "Nora stopped smoking last year.")
    before = git(house.vault, "rev-list", "--count", "HEAD")
    (result,) = house.person.reviews.bring_back(old.id[-6:])
    after = git(house.vault, "rev-list", "--count", "HEAD")
    back, newer = house.person.entries.show(old.id).fact, house.person.entries.show(new.id).fact

    assert (result.action, back.path, back.status, back.begins) == ("back", old.path, "active", old.begins)
    assert (back.valid_until, back.superseded_by, back.superseded_at) == ("", "", "")
    assert (newer.supersedes, newer.reason, newer.bonds) == ("", "", (("both", old.id),))
    assert int(after) == int(before) + 1
    assert texts(house.person) == {old.text, new.text}
    assert house.person.reviews.ended() == ()
    assert house.person.lint().problems == ()
    with pytest.raises(Conflict, match="was not replaced"):
        house.person.reviews.bring_back(old.id)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("verb", ["save", "settle"])
def test_of_several_that_one_entry_replaced_each_comes_back_by_itself(house: House, verb: str, first: int) -> None:
    """The successor still names and explains what it replaces besides, whichever comes back."""
    entries = house.person.entries
    olds = [entries.save(text, kind="fact").fact for text in ("Is allergic to penicillin.", "Plays the cello.")]
    house.clock.pass_(days=1)
    if verb == "save":
        new = entries.save("Stopped smoking.", kind="fact", replaces=[each.id for each in olds]).fact
    else:
        new = entries.save("Stopped smoking.", kind="fact").fact
        new = entries.settle(new.id, replaces=[each.id for each in olds]).fact
    house.clock.pass_(days=1)
    back, other = olds[first], olds[1 - first]
    house.person.reviews.bring_back(back.id)
    half, problems = entries.show(new.id).fact, house.person.lint().problems
    house.person.reviews.bring_back(other.id)
    last = entries.show(new.id).fact

    assert (half.supersedes, half.reason, half.bonds) == (other.id, new.reason, (("both", back.id),))
    assert (last.supersedes, last.reason, len(last.bonds)) == ("", "", 2)
    assert (problems, house.person.lint().problems) == ((), ())
    assert texts(house.person) == {back.text, other.text, new.text}


def test_of_a_chain_each_version_comes_back_by_itself(house: House) -> None:
    """The verdict stands in the version that holds."""
    first, second = replaced(house, "Rule: never force-push to main.", "Rule: squash commits before merging.")
    third = house.person.entries.evolve(second.id, "Rule: name branches after issues.", reason=CHANGED).fact
    house.person.reviews.bring_back(first.id)
    middle = house.person.reviews.ended()
    house.person.reviews.bring_back(second.id)

    assert [each.fact.id for each in middle] == [second.id]
    assert texts(house.person) == {first.text, second.text, third.text}
    assert house.person.entries.show(third.id).fact.bonds == (("both", first.id), ("both", second.id))
    assert house.person.lint().problems == ()


def test_an_ending_that_was_right_is_not_listed_again(house: House) -> None:
    """The entry stays in the archive."""
    old, new = replaced(house, "The office is in Oslo.", "The office moved to Bergen.")
    (result,) = house.person.reviews.leave_ended(old.id)

    assert (result.action, house.person.reviews.ended()) == ("agree", ())
    assert texts(house.person) == {new.text}
    with pytest.raises(Conflict, match="no old rule ended"):
        house.person.reviews.leave_ended(old.id)


@pytest.mark.parametrize("verb", ["forget", "archive", "erase"])
def test_what_an_old_rule_ended_is_offered_whatever_became_of_its_successor(house: House, verb: str) -> None:
    """The history says why it ended; the successor itself says why it was put away, or nothing."""
    old, new = replaced(house, "Nora is allergic to penicillin.", "Nora stopped smoking last year.")
    put_away(house, new, verb)
    (ending,) = house.person.reviews.ended()
    said = [each.said for each in house.person.index.examine() if "rule that is gone" in each.said]
    (result,) = house.person.reviews.bring_back(old.id)

    assert (ending.fact.id, ending.by and ending.by.id) == (old.id, None if verb == "erase" else new.id)
    assert (ending.reason, len(said)) == (CHANGED, 1)
    assert (result.fact.status, texts(house.person)) == ("active", {old.text})
    assert house.person.reviews.ended() == ()
    assert house.person.lint().problems == ()


@pytest.mark.parametrize("verb", ["forget", "archive", "erase"])
def test_an_ending_without_a_successor_may_be_right_too(house: House, verb: str) -> None:
    """Nobody asks again, and why the successor was put away stays."""
    old, new = replaced(house, "The office is in Oslo.", "The office moved to Bergen.")
    put_away(house, new, verb)
    house.person.reviews.leave_ended(old.id)

    assert (house.person.reviews.ended(), texts(house.person)) == ((), set())
    if verb != "erase":
        assert house.person.entries.show(new.id).fact.reason.startswith("It was a mistake.")


def test_what_was_ended_by_no_old_rule_is_not_offered_when_its_successor_is_put_away(house: House) -> None:
    """The history says that somebody decided it; where the history is lost, it is offered."""
    first = replaced(house, "The office is in Oslo.", "The office moved to Bergen.", reason="we moved")
    second = replaced(house, "The desk is by the window.", "The desk is by the door.", reason="we moved it")
    put_away(house, first[1], "forget")
    put_away(house, second[1], "erase")
    known = house.person.reviews.ended()
    house.person._session.stores.history.forget_path(house.person.entries.show(first[0].id).fact.path)

    assert known == ()
    assert [each.fact.id for each in house.person.reviews.ended()] == [first[0].id]


@pytest.mark.parametrize("days", [0, 40])
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_what_an_old_rule_let_end_at_a_later_beginning_is_offered(house: House, is_forgotten: bool, days: int) -> None:
    """Before that day and after it, and if the other one is forgotten; it comes back without an end."""
    python = "Uses Python 3.11 in project A."
    old, new = announced(house, python, "Uses Python 3.12 in project B.", begins="2026-03-20")
    if is_forgotten:
        house.person.entries.forget(new.id)
    house.clock.pass_(days=days)
    (ending,) = house.person.reviews.ended()
    (result,) = house.person.reviews.bring_back(old.id)
    house.clock.pass_(days=40)

    assert (ending.fact.id, ending.by and ending.by.id, ending.at[:10]) == (old.id, new.id, "2026-03-20")
    assert (result.fact.valid_until, result.fact.status) == ("", "active")
    assert texts(house.person) == ({python} if is_forgotten else {python, new.text})
    assert house.person.reviews.ended() == ()
    assert house.person.lint().problems == ()


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_ending_at_a_later_beginning_may_be_right(house: House, is_forgotten: bool) -> None:
    """Nobody asks again."""
    old, new = announced(house, "The office is in Oslo.", "The office is in Bergen.", begins="2026-03-20")
    if is_forgotten:
        house.person.entries.forget(new.id)
    house.person.reviews.leave_ended(old.id)

    assert house.person.reviews.ended() == ()
    assert house.person.entries.show(old.id).fact.valid_until[:10] == "2026-03-20"


def test_an_ending_to_come_that_somebody_stated_is_not_offered(house: House) -> None:
    """Nor is the next value of a predicate that has one at a time: neither was a guess."""
    entries = house.person.entries
    old = entries.save("The office is in Oslo.", kind="fact").fact
    house.clock.pass_(days=1)
    entries.save("The office is in Bergen.", kind="fact", valid_from="2026-03-20", replaces=[old.id])
    house.person.facts.add("Ada", "lives_in", "Oslo")
    house.person.facts.add("Ada", "lives_in", "Bergen", valid_from="2026-03-20")

    assert house.person.reviews.ended() == ()
    with pytest.raises(Conflict, match="was not replaced"):
        house.person.reviews.bring_back(old.id)


def test_what_learning_took_for_over_and_what_dream_merged_are_old_rules_too(house: House) -> None:
    """Learning matched 80 % of the words; `dream` made one entry of several in other words."""
    learned, heir = replaced(house, "The desk is by the window.", "The desk is by the door.")
    merged, other = replaced(house, "Tea is drunk at four.", "Tea is drunk at four o'clock sharp.")
    for fact, old, keys in (
        (heir, CHANGED, ("It is said to replace this fact.", "trust: told", "trust: mined")),
        (other, CHANGED, ("Merge 2 entries that say the same as fact 123456", "supersedes:", "derived_from:")),
    ):
        note = house.vault / fact.path
        text = note.read_text().replace(old, keys[0]).replace(keys[1], keys[2])
        text = text.replace(f"derived_from: {merged.id}", f"derived_from: [{merged.id}]")
        note.write_text(text)
    house.person.index.sync()

    assert {each.fact.id for each in house.person.reviews.ended()} == {learned.id, merged.id}


def test_what_an_old_rule_made_wait_says_so(house: House) -> None:
    """Today it would stand beside what it speaks against: the person keeps both, or decides."""
    old = house.person.entries.save(TABS, kind="preference").fact
    house.clock.pass_(days=1)
    new = house.agent.entries.evolve(old.id, SPACES, reason="said so", trust="read").fact
    note = house.vault / new.path
    reason = "It contradicts what is known. It says otherwise of the same thing."
    note.write_text(note.read_text().replace(new.reason, reason).replace("trust: read", "trust: said"))
    house.person.index.sync()
    (waiting,) = house.person.reviews.list().entries
    (result,) = house.person.reviews.approve(new.id, keep_old=True)

    assert waiting.remarks == (
        "An old rule made it wait. Today it would stand beside what it speaks against: keep both, or decide.",
    )
    assert result.fact.bonds == (("both", old.id),)
    assert house.person.reviews.count() == 0
