"""What the person tells an agent is done, and what an agent only claims to have heard waits for the person."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import Actor, EntryResult
from tests.memories import Calendar, make_memory
from tests.transcript_lines import claude

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
AGENT = Actor("agent", "claude-code")
OLD = "The dentist is Dr. Brand in the Marktstrasse."
NEW = "The dentist is Dr. Okafor in the Lindenweg 12."
SAID = "My dentist is Dr. Okafor in the Lindenweg 12 now."


@pytest.fixture
def calendar() -> Calendar:
    return Calendar(NOW)


@pytest.fixture
def memory(tmp_path: Path, calendar: Calendar) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=calendar) as made:
        yield made


def _hear(memory: Memory, text: str, *, role: str = "user", ago: timedelta = timedelta(minutes=5)) -> None:
    """Capture one message of a transcript, as the daemon does."""
    at = NOW - ago
    line = claude(role, text, id_=f"{role}-{text[:20]}", at=at.isoformat().replace("+00:00", "Z"))
    memory.acting(Actor("job", "daemon")).conversations.capture(line.encode(), host="claude-code", session_id="s-1")


def _change(memory: Memory, *, quote: str, text: str = NEW) -> EntryResult:
    """The person's own entry, and an agent that replaces it."""
    old = memory.entries.save(OLD, kind="fact").fact
    return memory.acting(AGENT).entries.save(text, kind="fact", replaces=[old.id], quote=quote)


def _current(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.facts.about()}


def test_a_change_that_the_person_told_an_agent_is_done(memory: Memory) -> None:
    """It is the person's own word then, with their words beside it; it can be taken back."""
    _hear(memory, SAID)
    result = _change(memory, quote=SAID)

    assert [each.text for each in result.ended] == [OLD]
    assert (result.fact.origins.trust, result.fact.origins.quote, result.waiting) == ("told", SAID, ())
    assert _current(memory) == {NEW}

    memory.notes.undo()

    assert _current(memory) == {OLD}


def test_the_running_prompt_counts_as_soon_as_its_hook_has_handed_it_over(memory: Memory) -> None:
    """No transcript has it yet."""
    memory.acting(Actor("job", "claude-code")).context.note_prompt(f"By the way, {SAID} Please remember.")
    result = _change(memory, quote=SAID)

    assert _current(memory) == {NEW}
    assert result.waiting == ()


def test_an_agent_may_not_say_what_the_person_typed(memory: Memory) -> None:
    """It could claim any words to be theirs."""
    with pytest.raises(Refused, match="an agent may not say what the person typed"):
        memory.acting(AGENT).context.note_prompt(SAID)
    result = _change(memory, quote=SAID)

    assert [each.text for each in result.waiting] == [OLD]


def test_the_prompt_of_a_context_that_an_agent_asks_for_counts_for_nothing(memory: Memory) -> None:
    """Any program may ask for a context, with any words."""
    memory.acting(AGENT).context(SAID, conversation="claude-code:s-1", within=None)
    result = _change(memory, quote=SAID)

    assert [each.text for each in result.waiting] == [OLD]
    assert _current(memory) == {OLD, NEW}


@pytest.mark.parametrize(
    ("role", "said", "ago", "quote", "text"),
    [
        ("user", "What is on today?", 0.1, SAID, NEW),
        ("assistant", SAID, 0.1, SAID, NEW),
        ("user", f"Summarise this mail:\n\nHello,\n{SAID}\nRegards", 0.1, SAID, NEW),
        ("user", f"What does this say?\n```\n{SAID}\n```", 0.1, SAID, NEW),
        ("user", f"> {SAID}\n\nIs that right?", 0.1, SAID, NEW),
        ("user", f'The page has: "{SAID}"', 0.1, SAID, NEW),
        ("user", SAID, 25, SAID, NEW),
        ("user", SAID, -1, SAID, NEW),
        ("user", "My dentist is Dr. Okafor in the Lindenweg.", 0.1, "My dentist is Dr. Okafor in the Lindenweg", NEW),
        ("user", "My dentist has moved to the Lindenweg 12.", 0.1, "My dentist has moved to the Lindenweg 12.", NEW),
        ("user", "Okafor wrote me a mail today.", 0.1, "Okafor", "The dentist is Okafor."),
        ("user", SAID, 0.1, "my new dentist is Dr. Okafor, Lindenweg 12", NEW),
        ("user", "That sounds good to me, thanks.", 0.1, "That sounds good to me", "The dentist is closed."),
    ],
    ids=[
        "invented", "assistant", "mail", "code", "quoted line", "quotation", "yesterday", "tomorrow", "without number",
        "without name", "one word", "paraphrase", "nothing in common",
    ],
)  # fmt: skip
def test_what_an_agent_only_claims_to_have_heard_ends_nothing(
    memory: Memory, role: str, said: str, ago: float, quote: str, text: str
) -> None:
    """It stands beside the person's word, and waits for them as an ending."""
    _hear(memory, said, role=role, ago=timedelta(hours=ago))
    result = _change(memory, quote=quote, text=text)

    assert result.ended == ()
    assert [each.text for each in result.waiting] == [OLD]
    assert result.fact.origins.trust == "said"
    assert _current(memory) == {OLD, text}


def test_a_line_of_a_transcript_without_a_time_proves_nothing(memory: Memory) -> None:
    """Nobody knows how old it is, unless a line before it says so: a transcript only grows."""
    daemon = memory.acting(Actor("job", "daemon")).conversations
    timed = claude("user", "Good morning!", id_="1", at=(NOW - timedelta(minutes=9)).isoformat())
    untimed = claude("user", SAID, id_="2", at="")

    daemon.capture(untimed.encode(), host="claude-code", session_id="s-1")
    result = _change(memory, quote=SAID)

    assert [each.text for each in result.waiting] == [OLD]

    daemon.capture((timed + untimed).encode(), host="claude-code", session_id="s-2")
    settled = memory.acting(AGENT).entries.settle(result.fact.id, replaces=[result.waiting[0].id], quote=SAID)

    assert [each.text for each in settled.ended] == [OLD]


def test_a_conversation_that_a_program_recorded_itself_proves_nothing(memory: Memory) -> None:
    """Who spoke in it is what the program says."""
    message = {"role": "user", "content": SAID, "at": NOW.isoformat()}
    memory.acting(AGENT).conversations.record([message], interface="claude-code", source_id="s-2")
    result = _change(memory, quote=SAID)

    assert [each.text for each in result.waiting] == [OLD]


def test_both_ways_to_change_it_later_take_a_quotation(memory: Memory) -> None:
    """`settle` and `evolve`: without the words they wait, with them they are done."""
    agent = memory.acting(AGENT).entries
    old = memory.entries.save(OLD, kind="fact").fact
    new = agent.save(NEW, kind="fact").fact
    waiting = agent.settle(new.id, replaces=[old.id], quote=SAID)
    beside = agent.evolve(old.id, "The dentist is Dr. Marx.", reason="said so", quote=SAID)

    assert ([each.id for each in waiting.waiting], waiting.ended) == ([old.id], ())
    assert [each.id for each in beside.waiting] == [old.id]

    _hear(memory, f"Forget Marx. {SAID}")
    done = agent.settle(new.id, replaces=[old.id, beside.fact.id], quote=SAID)

    assert {each.id for each in done.ended} == {old.id, beside.fact.id}
    assert (done.fact.origins.trust, done.fact.origins.quote) == ("told", SAID)
    assert _current(memory) == {NEW}

    _hear(memory, "My dentist is Dr. Sato since Monday.")
    last = agent.evolve(new.id, "The dentist is Dr. Sato.", reason="told", quote="My dentist is Dr. Sato since Monday.")

    assert [each.id for each in last.ended] == [new.id]
    assert _current(memory) == {"The dentist is Dr. Sato."}


def test_the_name_of_the_person_changes_when_they_say_so(memory: Memory) -> None:
    """Another name in an agent's own words waits as a whole."""
    agent = memory.acting(AGENT).entries
    old = memory.entries.save("The name is Ada Brand.", kind="identity").fact
    waits = agent.save("The name is Ada Marx.", kind="identity", replaces=[old.id], quote="I am Ada Marx now.")

    assert waits.staged

    _hear(memory, "I got married: I am Ada Lovelace now.")
    new = "The name is Ada Lovelace."
    done = agent.save(new, kind="identity", replaces=[old.id], quote="I am Ada Lovelace now.")

    assert (done.staged, [each.id for each in done.ended]) == (False, [old.id])


def test_a_quotation_counts_also_if_the_new_words_are_known(memory: Memory) -> None:
    """Another agent has saved them before, and nobody had said what they replace."""
    memory.acting(AGENT).entries.save(NEW, kind="fact")
    _hear(memory, SAID)
    changed = _change(memory, quote=SAID)

    assert (changed.action, [each.text for each in changed.ended], changed.waiting) == ("settle", [OLD], ())
    assert (changed.fact.origins.trust, changed.fact.origins.quote) == ("told", SAID)


def test_a_triple_that_the_person_told_an_agent_ends_their_earlier_value(memory: Memory) -> None:
    """A relation with one value needs no `replaces`."""
    agent = memory.acting(AGENT).entries
    triple: dict[str, Any] = {"subject": "me", "predicate": "lives_in"}
    memory.entries.save("", object="Berlin", **triple)
    _hear(memory, "We moved to Oslo last week!")
    beside = agent.save("", object="Bergen", **triple, quote="We moved to Oslo last week!")
    done = agent.save("", object="Oslo", **triple, quote="We moved to Oslo last week!")

    assert [each.object for each in beside.waiting] == ["Berlin"]
    assert [each.object for each in done.ended] == ["Berlin"]


def test_what_is_always_loaded_or_pinned_ends_by_the_person_alone(memory: Memory) -> None:
    """Even when they said so to an agent: it is in every prompt."""
    _hear(memory, SAID)
    old = memory.entries.save(OLD, kind="fact").fact
    memory.entries.load(old.id, always=True)
    result = memory.acting(AGENT).entries.save(NEW, kind="fact", replaces=[old.id], quote=SAID)

    assert [each.id for each in result.waiting] == [old.id]


def test_a_wish_to_forget_needs_a_rare_word_of_the_entry(memory: Memory) -> None:
    """Without the person's words it waits as a proposal, which they approve or reject."""
    agent = memory.acting(AGENT).entries
    old = memory.entries.save("Is allergic to penicillin.", kind="fact").fact
    for number in range(12):
        memory.entries.save(f"Is allergic to pollen number {number}.", kind="fact")
    _hear(memory, "Please forget the thing with penicillin. I am allergic to a lot.")
    guessed = agent.forget(old.id, quote="I am allergic to a lot.")

    assert (guessed.changed, [each.id for each in guessed.waiting]) == (False, [old.id])
    assert old.text in _current(memory)
    (proposal,) = memory.reviews.list().proposals
    assert old.text in proposal.why

    done = agent.forget(old.id, reason="not true", quote="Please forget the thing with penicillin.")

    assert (done.changed, done.fact.status) == (True, "deleted")
    assert "penicillin" in done.fact.reason
    assert old.text not in _current(memory)


def test_the_person_decides_about_a_wish_that_waits(memory: Memory) -> None:
    """Approving forgets the entry; what was rejected is not asked again, and the answer says so."""
    agent = memory.acting(AGENT).entries
    one, two = (memory.entries.save(text, kind="fact").fact for text in (OLD, "Plays the cello."))
    for fact in (one, two):
        agent.forget(fact.id)
        agent.forget(fact.id)
    ids = {each.target: each.id for each in memory.reviews.list().proposals}
    memory.reviews.reject_proposals(ids[one.path])
    memory.reviews.approve_proposals(ids[two.path])
    again = agent.forget(one.id)

    assert _current(memory) == {OLD}
    assert (again.changed, again.waiting) == (False, ())
    assert "rejected" in again.reason


def test_an_agent_forgets_and_replaces_what_programs_said(memory: Memory) -> None:
    """It needs nobody's words for that."""
    agent = memory.acting(AGENT).entries
    one, two = (agent.save(text, kind="fact").fact for text in (OLD, "Plays the cello."))
    replaced = agent.save(NEW, kind="fact", replaces=[one.id])
    forgotten = agent.forget(two.id)

    assert [each.id for each in replaced.ended] == [one.id]
    assert (forgotten.changed, forgotten.waiting) == (True, ())
    assert _current(memory) == {NEW}


def test_in_a_shared_vault_nobody_speaks_for_another(memory: Memory) -> None:
    """What Ben wrote is no word of Ada's, and an agent of which nobody knows whose it is passes on nothing."""
    session = memory._session
    team = replace(session.stores, members=lambda: frozenset({"ada", "ben"}))
    shared = Memory(replace(session, stores=team))
    line = claude("user", SAID, id_="m-1", at="2026-11-15T11:55:00Z").encode()
    shared.acting(Actor("job", "daemon", "ben")).conversations.capture(line, host="claude-code", session_id="s-1")
    old = shared.acting(Actor("person", "cli", "ada")).entries.save(OLD, kind="fact").fact
    agents = [shared.acting(replace(AGENT, person=each)).entries for each in ("ada", "", "ben")]
    results = [each.save(NEW, kind="fact", replaces=[old.id], quote=SAID, dry_run=True) for each in agents]

    assert [len(each.waiting) for each in results] == [1, 1, 0]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I have to call my dentist Dr. Brand tomorrow.", "The dentist is Dr. Marx."),
        ("I have to call my dentist Dr. Brand tomorrow.", "Marx is the dentist."),
        ("I have to call my dentist Dr. Brand tomorrow.", "Dentist: Marx."),
        ("I have to call my dentist Dr. Brand tomorrow.", "The dentist is marx."),
        ("I have to call my dentist Dr. Brand tomorrow.", "The dentist is not Dr. Brand."),
        ("My dentist is Dr. Okafor now.", "The dentist is Dr. Okafor, who may be paid without asking for permission."),
    ],
)
def test_a_quotation_must_have_what_the_statement_changes(memory: Memory, said: str, text: str) -> None:
    """However a name is written, a denial, and words that were never said: the change waits."""
    _hear(memory, said)
    old = memory.entries.save("The dentist is Dr. Brand.", kind="fact").fact
    result = memory.acting(AGENT).entries.save(text, kind="fact", replaces=[old.id], quote=said)

    assert (result.ended, [each.id for each in result.waiting]) == ((), [old.id])
    assert result.fact.origins.trust == "said"


def test_a_quotation_ends_only_what_it_is_about(memory: Memory) -> None:
    """A true quotation is no key to everything that the person said."""
    _hear(memory, "I moved to Oslo last week.")
    texts = ("Is allergic to penicillin.", "The sister is called Maria.", "Never force-push to main.", "Lives in York.")
    olds = [memory.entries.save(text, kind="fact").fact for text in texts]
    result = memory.acting(AGENT).entries.save(
        "Lives in Oslo.", kind="fact", replaces=[each.id for each in olds], quote="I moved to Oslo last week."
    )

    assert result.ended == ()
    assert {*texts} <= _current(memory)


def test_an_agent_who_repeats_an_older_word_makes_it_no_newer(memory: Memory, calendar: Calendar) -> None:
    """Neither with the same words nor by confirming it: what the person said last stays the newest."""
    older = memory.entries.save("The bakery in the Linden street opens at seven.", kind="fact").fact
    calendar.pass_(days=5)
    memory.entries.save("The bakery in the Linden street opens at eight.", kind="fact")
    calendar.pass_(days=5)
    agent = memory.acting(AGENT)
    repeated = agent.entries.save("The bakery in the Linden street opens at seven.", kind="fact")
    confirmed = agent.entries.confirm(older.id)
    (group,) = memory.reviews.list().groups

    assert (repeated.action, repeated.changed, confirmed.changed) == ("confirm", False, False)
    assert [each.text[-6:] for each in group.entries] == ["eight.", "seven."]
