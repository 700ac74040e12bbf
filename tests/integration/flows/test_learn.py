"""Facts grow from conversations: few, sourced, by the same gate and integrator as every save, and each once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import ProviderFailed, Refused
from commonplace.extraction.options import LearnOptions
from commonplace.flows.conversations import erase_thread, record_conversation
from commonplace.flows.learn.learn import learn_conversation
from commonplace.flows.learn.queue import learning_status, retry_learning, run_daily, run_learning
from commonplace.flows.learn.settle import settle_pending
from commonplace.flows.memory.amend import erase_entry, forget
from commonplace.flows.memory.review import approve, reject, review_queue
from commonplace.flows.memory.save import save
from commonplace.flows.stores import Session
from commonplace.history.base import NewThread
from commonplace.index.base import FactQuery
from commonplace.model import Actor, ActorKind, Candidate, Fact, Message, Origins
from commonplace.model.learning import ExtractedFact, Extraction, LearnedBatch, LearnedItem, Turn
from tests import components
from tests.memories import Calendar, make_memory
from tests.stores import make_session

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TEA = ExtractedFact(text="Prefers tea to coffee.", quote="I prefer tea to coffee", turn=1, kind="preference")
SAID = "I prefer tea to coffee. Can you order some?"


@pytest.fixture
def session(root: Path) -> Iterator[Session]:
    made = make_session(root)
    made = replace(made, stores=replace(made.stores, clock=lambda: NOW), clock=lambda: NOW)
    yield made
    made.stores.close()


def _record(session: Session, *texts: str, name: str = "s", captured: bool = True, at: datetime = NOW) -> str:
    thread = NewThread("claude-code", name, trust="said", captured=captured)
    roles = ("user", "assistant")
    messages = [Message(roles[n % 2], text, at=at - timedelta(hours=1)) for n, text in enumerate(texts)]  # type: ignore[arg-type]
    return record_conversation(thread, messages, session.as_actor(Actor("job", "daemon"))).id


def _finds(*facts: ExtractedFact):  # type: ignore[no-untyped-def]
    """An extractor that finds these facts in whatever it reads."""

    def extractor(turns: Sequence[Turn]) -> Extraction:
        return Extraction(facts=facts)

    return extractor


_ORIGINS: dict[ActorKind, Origins] = {"person": Origins(), "agent": Origins("claude-code", trust="said")}


def _before(session: Session, speaker: ActorKind = "person") -> Session:
    """The session a day before."""
    then = NOW - timedelta(days=1)
    return replace(session.as_actor(Actor(speaker, "test")), clock=lambda: then)


def _settled_by_model(source: str, fact: ExtractedFact, session: Session) -> tuple[LearnedItem, ...]:
    """What became of a fact that a model has extracted."""
    batch = LearnedBatch(source=source, extraction=Extraction(facts=(fact,)), extractor="model extract.v1", until=1)
    session.stores.history.begin_learning(batch, now=NOW)
    return settle_pending(session)


def _facts(session: Session) -> list[Fact]:
    with session.stores.index.reader() as reader:
        return [each.fact for each in reader.facts(FactQuery(origins=("entry",), statuses=("active",), staged=True))]


def _outcomes(items: Sequence[LearnedItem]) -> list[str]:
    return [each.outcome for each in items]


@pytest.mark.requirement("X-20", "V-16", "I-28")
def test_a_fact_names_who_extracted_it_and_quotes_what_was_said(session: Session, root: Path) -> None:
    """Its trust tells it from what was told; conversation, turn and quote are in its note."""
    id_ = _record(session, SAID, "Sure.")
    result = learn_conversation(id_, session, extractor=_finds(TEA))
    (fact,) = _facts(session)

    assert _outcomes(result.items) == ["stored"]
    assert fact.origins == Origins(
        "claude-code", id_, "mined", extractor="rules", turn=1, quote="I prefer tea to coffee"
    )
    assert "quote: I prefer tea to coffee" in (root / fact.path).read_text()


@pytest.mark.requirement("V-25")
def test_the_rules_alone_learn_without_a_model(session: Session) -> None:
    """With no model in the settings, what is plainly stated becomes a fact, and the question does not."""
    id_ = _record(session, "I live in Utrecht. Is it far from Leiden?", "About an hour.")
    result = learn_conversation(id_, session)

    assert result.extractor == "rules"
    assert [each.text for each in _facts(session)] == ["Lives in Utrecht."]


def test_a_change_that_is_learned_ends_nothing_and_stands_beside_with_its_moment(tmp_path: Path) -> None:
    """However it was introduced: nobody has read both."""
    said = ("Atlas is hosted on Heroku.", "Atlas is hosted on Render now instead of Heroku.")
    calendar = Calendar(NOW)
    with make_memory(tmp_path, clock=calendar) as memory:
        for text in said:
            memory.conversations.record([{"role": "user", "content": text, "at": calendar.at.isoformat()}])
            calendar.pass_(hours=20)
            memory.learning.run()
        begun = {each.fact.text: each.fact.begins for each in memory.facts.about()}

    assert sorted(begun.items(), key=lambda each: each[1]) == [
        ("Atlas is hosted on Heroku.", "2026-11-15T12:00:00Z"),
        ("Atlas is hosted on Render now instead of Heroku.", "2026-11-16T08:00:00Z"),
    ]


@pytest.mark.requirement("I-17")
def test_what_was_read_is_not_read_again(session: Session) -> None:
    """A second run finds nothing new; when the conversation grows, only its new turns are read."""
    id_ = _record(session, SAID, "Sure.")
    seen: list[list[int]] = []

    def extractor(turns: Sequence[Turn]) -> Extraction:
        seen.append([each.number for each in turns])
        return Extraction()

    assert learn_conversation(id_, session, extractor=extractor).turns == 2
    assert learn_conversation(id_, session, extractor=extractor).turns == 0
    _record(session, SAID, "Sure.", "And I live in Kiel.")
    assert learn_conversation(id_, session, extractor=extractor).turns == 1
    assert seen == [[1, 2], [1, 2, 3]]  # the earlier ones as context


MOVED = ExtractedFact(
    text="Lives in York.", quote="I live in York now", turn=1, relation="update", ends="Lives in Leeds."
)


def test_what_rules_take_for_a_change_ends_nothing(session: Session) -> None:
    """They have read no known statement."""
    save(Candidate(text="Lives in Leeds."), _before(session))
    id_ = _record(session, "I moved to York, so Leeds is history. I live in York now.")
    result = learn_conversation(id_, session, extractor=_finds(MOVED))

    assert _outcomes(result.items) == ["stored"]
    assert sorted(each.text for each in _facts(session)) == ["Lives in Leeds.", "Lives in York."]


def test_a_claim_waits_for_review_with_its_evidence(session: Session) -> None:
    """Who spoke in a conversation that a program recorded is what the program says: nothing of it is recalled."""
    id_ = _record(session, SAID, captured=False)
    result = learn_conversation(id_, session, extractor=_finds(TEA))
    (waiting,) = review_queue(session).entries

    assert _outcomes(result.items) == ["staged"]
    assert waiting.fact.origins.quote == "I prefer tea to coffee"
    assert (waiting.fact.origins.conversation, waiting.fact.origins.turn) == (id_, 1)
    assert "says who spoke" in waiting.fact.reason
    (approved,) = approve([waiting.fact.id], session)
    assert approved.fact.origins.trust == "told"
    assert approved.fact.origins.quote


@pytest.mark.parametrize(("speaker", "outcome", "left"), [("person", "stored", 2), ("agent", "replaced", 1)])
def test_a_models_reading_ends_what_a_program_said_and_not_the_persons_word(
    session: Session, speaker: ActorKind, outcome: str, left: int
) -> None:
    """A model has read both, and may misread: over the person's word its statement stands, and the ending waits."""
    said = save(Candidate(text="Lives in Leeds.", origins=_ORIGINS[speaker]), _before(session, speaker)).fact
    (item,) = _settled_by_model(_record(session, "I live in York now."), MOVED, session)
    (new,) = (each for each in _facts(session) if each.id == item.fact)

    assert (item.outcome, item.old, len(_facts(session))) == (outcome, said.id, left)
    assert new.bonds == ((("end", said.id),) if speaker == "person" else ())


def test_a_model_ends_nothing_that_was_recorded_after_the_words_it_has_read(session: Session) -> None:
    """What was said earlier never ends what was said later, whoever has read both."""
    save(Candidate(text="Lives in Leeds.", origins=_ORIGINS["agent"]), session.as_actor(Actor("agent", "test")))
    (item,) = _settled_by_model(_record(session, "I live in York now."), MOVED, session)

    assert (item.outcome, item.old) == ("stored", "")
    assert {each.text: each.bonds for each in _facts(session)} == {"Lives in Leeds.": (), "Lives in York.": ()}


def test_a_program_cannot_end_a_known_fact_by_claiming_that_the_person_said_so(session: Session) -> None:
    """A recorded conversation is no word of the person: the fact stands until the person approves its end."""
    save(Candidate(text="Lives in Leeds."), _before(session))
    _settled_by_model(_record(session, "I live in York now.", captured=False), MOVED, session)
    (waiting,) = review_queue(session).entries

    assert [each.text for each in waiting.against] == ["Lives in Leeds."]


@pytest.mark.requirement("V-28")
def test_every_item_is_logged_with_its_reason(session: Session) -> None:
    """Stored, known, refused by the gate: each has a row, and so has what the extractor refused."""
    save(Candidate(text="Prefers tea to coffee."), session)
    secret = replace(TEA, text="The key is AKIAIOSFODNN7EXAMPLE.", quote="my key AKIAIOSFODNN7EXAMPLE")
    id_ = _record(session, SAID)
    learn_conversation(id_, session, extractor=_finds(TEA, secret))
    items = session.stores.history.learned_items(source=id_)

    assert sorted(_outcomes(items)) == ["confirmed", "refused"]
    assert all(each.reason for each in items)


def test_what_the_person_rejected_does_not_come_back(session: Session) -> None:
    """Neither from the same words in another conversation, nor when the history is lost and all is read anew."""
    first = _record(session, SAID, captured=False)
    learn_conversation(first, session, extractor=_finds(TEA))
    reject([_facts(session)[0].id], session)
    again = _record(session, SAID, name="t")
    result = learn_conversation(again, session, extractor=_finds(TEA))
    session.stores.history.forget_learning(first)
    anew = learn_conversation(first, session, extractor=_finds(TEA))

    assert _outcomes(result.items) == ["refused"]
    assert _outcomes(anew.items) == ["refused"]
    assert _facts(session) == []


def test_a_history_that_is_lost_learns_nothing_twice(session: Session) -> None:
    """The entries say from which turn they are: reading the conversation again changes none of them."""
    id_ = _record(session, SAID)
    learn_conversation(id_, session, extractor=_finds(TEA))
    before = _facts(session)
    session.stores.history.forget_learning(id_)
    learn_conversation(id_, session, extractor=_finds(TEA))

    assert _facts(session) == before


def test_a_killed_run_is_finished_by_the_next(session: Session) -> None:
    """What was extracted is stored first; whether an item was saved before the kill or not, it is there once."""
    id_ = _record(session, SAID)
    other = replace(TEA, text="Drinks no coffee.", quote="tea to coffee", kind="fact")
    batch = LearnedBatch(source=id_, extraction=Extraction(facts=(TEA, other)), extractor="rules", until=1)
    session.stores.history.begin_learning(batch, now=NOW)
    learn_conversation(_record(session, SAID, name="u"), session, extractor=_finds())  # others go on meanwhile
    pending = session.stores.history.pending_items()
    settle_pending(session)
    session.stores.history.forget_learning(id_)
    session.stores.history.begin_learning(batch, now=NOW)  # as if the first item was saved, and then the kill came
    settle_pending(session)

    assert len(pending) == 2
    assert sorted(each.text for each in _facts(session)) == ["Drinks no coffee.", "Prefers tea to coffee."]
    assert all(not each.confirmed for each in _facts(session))


def test_old_words_date_from_then_and_do_not_confirm_what_holds_today(session: Session) -> None:
    """What was said two years ago held then; it is no sign that it still does."""
    then = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
    known = save(Candidate(text="Prefers tea to coffee.", valid_from="2020-01-01T00:00:00Z"), session).fact
    learn_conversation(_record(session, SAID, at=then), session, extractor=_finds(TEA))
    lives = replace(TEA, text="Owns a boat.", quote="I prefer tea to coffee", kind="fact")
    learn_conversation(_record(session, SAID, name="u", at=then), session, extractor=_finds(lives))
    facts = {each.text: each for each in _facts(session)}

    assert (facts["Prefers tea to coffee."].id, facts["Prefers tea to coffee."].confirmed) == (known.id, ())
    assert facts["Owns a boat."].valid_from == "2024-03-01T08:00:00Z"


@pytest.mark.requirement("V-29", "X-18")
def test_nothing_is_learned_where_memory_is_off(session: Session) -> None:
    """Not by name, not by the queue; and switching it off saves nothing of what was extracted before."""
    id_ = _record(session, SAID)
    batch = LearnedBatch(source=id_, extraction=Extraction(facts=(TEA,)), extractor="rules", until=1)
    session.stores.history.begin_learning(batch, now=NOW)
    session.stores.history.set_memory_use(id_, "off", now=NOW)

    with pytest.raises(Refused):
        learn_conversation(id_, session)
    assert run_learning(session, waits=False).results == ()
    assert _outcomes(session.stores.history.learned_items()) == ["refused"]
    assert _facts(session) == []


def test_words_of_others_are_not_the_persons(session: Session) -> None:
    """In a chat with several people only the owner's turns count; a single named speaker is the owner."""
    messages = [
        Message("user", "I live in Kiel.", author="Bob", at=NOW),
        Message("user", "I live in Utrecht.", author="", at=NOW),
    ]
    thread = NewThread("chat", "g", trust="told")
    id_ = record_conversation(thread, messages, session).id
    learn_conversation(id_, session)

    assert [each.text for each in _facts(session)] == ["Lives in Utrecht."]


def test_a_dry_run_changes_nothing(session: Session) -> None:
    """It says what would become of each item."""
    id_ = _record(session, SAID)
    result = learn_conversation(id_, session, extractor=_finds(TEA), dry_run=True)

    assert _outcomes(result.items) == ["stored"]
    assert _facts(session) == []
    assert session.stores.history.learning_states() == {}
    assert learn_conversation(id_, session, extractor=_finds(TEA)).turns == 1


def test_a_long_conversation_is_read_in_parts(session: Session) -> None:
    """Each part is stored when it was read, so that a failure in the next one repeats nothing."""
    id_ = _record(session, *(f"{n} " + "word " * 2000 for n in range(12)))
    sizes: list[int] = []

    def extractor(turns: Sequence[Turn]) -> Extraction:
        sizes.append(len(turns))
        if len(sizes) == 2:
            raise ProviderFailed("no answer", reason="busy")
        return Extraction()

    with pytest.raises(ProviderFailed):
        learn_conversation(id_, session, extractor=extractor)
    first = session.stores.history.learning_states()[id_].turns
    result = learn_conversation(id_, session, extractor=extractor)

    assert 0 < first < 12
    assert first + result.turns == 12


def test_a_part_without_words_of_the_person_costs_no_call(session: Session) -> None:
    """An assistant's or a tool's message alone is passed over, and is not due again."""
    thread = NewThread("claude-code", "x", trust="said", captured=True)
    id_ = record_conversation(thread, [Message("tool", "ok", at=NOW)], session.as_actor(Actor("job", "d"))).id

    def extractor(turns: Sequence[Turn]) -> Extraction:
        raise AssertionError

    assert learn_conversation(id_, session, extractor=extractor).turns == 1
    assert run_learning(session, waits=False).results == ()


def test_an_erased_conversation_leaves_no_words(session: Session) -> None:
    """Items, summary and state go with it; what waits in its place is saved no more."""
    id_ = _record(session, SAID)
    learn_conversation(id_, session, extractor=_finds(replace(TEA, text="Zanzibar tea is best.")))
    erase_thread(id_, session)
    history = session.stores.history

    assert history.learned_items() == ()
    assert history.learned_batches() == ()
    assert history.learning_states() == {}


def test_an_erased_entry_leaves_no_words_in_the_log(session: Session) -> None:
    """The row that says how it was learned has its words."""
    id_ = _record(session, SAID)
    learn_conversation(id_, session, extractor=_finds(TEA))
    erase_entry(_facts(session)[0].id, session)

    assert session.stores.history.learned_items(source=id_) == ()
    assert learn_conversation(id_, session, extractor=_finds(TEA)).items == ()  # and it is not learned again


def test_what_was_forgotten_is_not_learned_again_unasked(session: Session) -> None:
    """Other words in another conversation that say it again wait for the person."""
    learn_conversation(_record(session, SAID), session, extractor=_finds(TEA))
    forget(_facts(session)[0].id, session)
    result = learn_conversation(_record(session, SAID, name="t"), session, extractor=_finds(TEA))

    assert _outcomes(result.items) == ["staged"]


# ---------------------------------------------------------------- the queue


@pytest.mark.requirement("V-15", "I-15")
def test_a_run_reads_what_is_closed_or_silent(session: Session) -> None:
    """The oldest first, at most as many as asked for; one that still goes on is read only if asked."""
    old = _record(session, "I live in Utrecht.", name="old", at=NOW - timedelta(days=1))
    new = _record(session, "My sister is called Ada.", name="new", at=NOW + timedelta(minutes=59))
    run = run_learning(session)

    assert [each.source for each in run.results] == [old]
    assert run_learning(session, waits=False, limit=1).results[0].source == new


@pytest.mark.requirement("I-18", "I-66")
def test_a_model_that_fails_loses_no_conversation(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is put off, parked after three failures of its own, and read when the person asks for another try."""
    id_ = _record(session, "I live in Utrecht.", at=NOW - timedelta(days=1))
    clock = [NOW]
    session = replace(session, clock=lambda: clock[0])
    real = learn_conversation

    def fails(source: str, session: Session, *, dry_run: bool) -> object:
        raise ProviderFailed("the answer does not fit", reason="malformed")

    monkeypatch.setattr("commonplace.flows.learn.queue.learn_conversation", fails)
    for _ in range(3):
        assert run_learning(session).results == ()
        assert run_learning(session).results == ()  # not due: it waits
        clock[0] += timedelta(hours=13)
    status = learning_status(session)

    assert [each.source for each in status.parked] == [id_]
    assert status.parked[0].failures == 3
    assert status.due == 0

    monkeypatch.setattr("commonplace.flows.learn.queue.learn_conversation", real)

    assert retry_learning(session) == 1
    assert [each.source for each in run_learning(session).results] == [id_]
    assert learning_status(session).parked == ()


@pytest.mark.parametrize("reason", ["budget", "paused", "auth", "quota", "unreachable", "busy"])
def test_a_model_that_cannot_be_asked_ends_the_run(
    session: Session, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """No conversation is parked for it, however often it happens; the rest of the queue is not tried."""
    ids = [_record(session, "I live in Utrecht.", name=str(n), at=NOW - timedelta(days=1)) for n in range(2)]
    clock, tried = [NOW], list[str]()
    session = replace(session, clock=lambda: clock[0])

    def fails(source: str, session: Session, *, dry_run: bool) -> object:
        tried.append(source)
        raise ProviderFailed("not now", reason=reason)  # type: ignore[arg-type]

    monkeypatch.setattr("commonplace.flows.learn.queue.learn_conversation", fails)
    for _ in range(5):
        assert "not now" in run_learning(session).said
        clock[0] += timedelta(hours=13)

    assert len(tried) == 5
    assert learning_status(session).parked == ()
    assert learning_status(session).open == len(ids)


@pytest.mark.requirement("I-16")
def test_the_daemon_keeps_to_the_limits_of_the_settings(session: Session) -> None:
    """So many in a run and in a day, and none if learning is switched off."""
    for n in range(4):
        _record(session, f"I have {n} cats.", name=str(n), at=NOW - timedelta(days=1))

    def limited(**options: object) -> Session:
        return replace(session, stores=replace(session.stores, learn=LearnOptions(**options)))  # type: ignore[arg-type]

    assert run_daily(limited(enabled=False)).results == ()
    assert len(run_daily(limited(max_per_run=2, max_per_day=3)).results) == 2
    assert len(run_daily(limited(max_per_run=2, max_per_day=3)).results) == 1
    assert "limit of the day" in run_daily(limited(max_per_run=2, max_per_day=3)).said
    assert run_daily(limited(max_per_run=9)).left == 0


def test_two_runs_do_not_learn_at_once(session: Session) -> None:
    """The second says so and reads nothing."""
    _record(session, "I live in Utrecht.", at=NOW - timedelta(days=1))
    with session.stores.learn_lock():
        run = run_learning(session)

    assert run.results == ()
    assert "another process" in run.said


def test_a_run_shows_how_far_it_is(session: Session) -> None:
    """Progress counts conversations and notes."""
    _record(session, "I live in Utrecht.", at=NOW - timedelta(days=1))
    seen: list[tuple[str, int, int]] = []
    run_learning(session, progress=lambda *step: seen.append(step))

    assert seen == [("sources", 0, 1), ("sources", 1, 1)]


@pytest.mark.needs("model")
def test_with_an_encoder_sentences_that_no_rule_knows_are_learned(tmp_path: Path) -> None:
    """The classifier is fitted with the real encoder; what lasts is stored with its quote, and talk is not."""
    model: dict[str, object] = {
        "embedding.provider": "minilm-l6-v2",
        "embedding.model_folder": str(components.MODEL_FOLDER),
    }
    with make_memory(tmp_path, settings=model) as memory:
        messages = [
            {"role": "user", "content": "Klinikum Kassel has given me the contract as staff nurse from 1 March"},
            {"role": "assistant", "content": "Congratulations!"},
            {"role": "user", "content": "the oven is hot now, thanks for the quick help"},
        ]
        recorded = memory.conversations.record(messages, interface="test", source_id="c1")
        items = memory.learning.learn(recorded.id).items

        assert [(each.outcome, each.quote) for each in items] == [
            ("stored", "Klinikum Kassel has given me the contract as staff nurse from 1 March")
        ]
