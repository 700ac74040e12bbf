"""Both histories keep what was learned by the same contract: with how far it was read, and as long as its source."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from commonplace.history.base import History, NewThread
from commonplace.model import Message
from commonplace.model.learning import (
    ExtractedFact,
    Extraction,
    LearnedBatch,
    LearnedItem,
    LearningState,
    Rejection,
    SpokenCommitment,
)

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
TEA = ExtractedFact(text="Prefers tea.", quote="I prefer tea", turn=1, topics=("drinks",), importance=0.5)
TEXTS = ("I prefer tea to coffee", "Noted.", "Is Ada in?")


def _record(history: History, name: str = "s", *, at: datetime = NOW, texts: tuple[str, ...] = TEXTS) -> str:
    messages = [Message("user" if n % 2 == 0 else "assistant", text, at=at) for n, text in enumerate(texts)]
    return history.record_conversation(NewThread("test", name), messages, now=at).id


def _batch(source: str, *, after: int = 0, until: int = 3) -> LearnedBatch:
    extraction = Extraction(
        facts=(TEA,),
        rejections=(Rejection("Is Ada in?", "question", 3),),
        summary="Tea.",
        mentions=("Ada",),
        questions=("Is Ada in?",),
        commitments=(SpokenCommitment("Ada", "call", "2026-03-02", 3),),
        drift="from tea to Ada",
    )
    return LearnedBatch(source=source, extraction=extraction, extractor="rules", after=after, until=until)


def _due(history: History, *, now: datetime = LATER, silent: datetime = NOW) -> tuple[str, ...]:
    return history.due_conversations(now=now, silent_since=silent)


def test_a_conversation_is_due_when_it_is_closed_or_silent(history: History) -> None:
    """An open one with a recent message waits; the one that was silent longest comes first."""
    new = _record(history, "new", at=LATER)
    old = _record(history, "old")

    assert _due(history) == (old,)

    history.close_conversation(new, now=LATER)

    assert _due(history) == (old, new)


def test_what_was_read_is_no_longer_due_until_it_grows(history: History) -> None:
    """The cursor is what was gathered: messages that came while a model was asked are read next time."""
    id_ = _record(history)
    _record(history, texts=(*TEXTS, "And I live in Kiel."))

    assert history.begin_learning(_batch(id_), now=NOW)
    assert history.learning_states() == {id_: LearningState(source=id_, turns=3)}
    assert _due(history) == (id_,)
    assert history.begin_learning(_batch(id_, after=3, until=4), now=NOW)
    assert _due(history) == ()


def test_a_part_is_stored_once(history: History) -> None:
    """Of two processes that read the same part the second stores nothing, and nothing is stored of what is gone."""
    id_ = _record(history)

    assert history.begin_learning(_batch(id_), now=NOW)
    assert not history.begin_learning(_batch(id_), now=NOW)
    assert not history.begin_learning(_batch(id_, after=3, until=9), now=NOW)
    assert not history.begin_learning(_batch("c-000000000000"), now=NOW)
    assert len(history.learned_items()) == 2


def test_facts_are_pending_until_each_is_settled(history: History) -> None:
    """Rejections are settled at once, with their reasons; what a crash leaves pending is found again."""
    id_ = _record(history)
    history.begin_learning(_batch(id_), now=NOW)
    ((item, candidate),) = history.pending_items()

    assert candidate == TEA
    assert (item.source, item.outcome, item.quote, item.extractor) == (id_, "pending", "I prefer tea", "rules")

    history.settle_item(replace(item, outcome="stored", reason="new", fact="f-1"), now=LATER)
    rejected, stored = history.learned_items()

    assert history.pending_items() == ()
    assert (stored.outcome, stored.reason, stored.fact, stored.at) == ("stored", "new", "f-1", "2026-03-01T10:12:44Z")
    assert (rejected.outcome, rejected.reason, rejected.turn) == ("rejected", "question", 3)


def test_items_are_found_by_source_and_time_newest_first(history: History) -> None:
    """Ends of facts are added to the last batch of their source; without one there is nothing to add to."""
    one, other = _record(history, "one"), _record(history, "other")
    history.begin_learning(_batch(one), now=NOW)
    history.begin_learning(_batch(other), now=LATER)
    ended = LearnedItem(source=one, text="Prefers tea.", outcome="ended", old="f-1")
    history.add_learned_item(ended, now=LATER)
    history.add_learned_item(replace(ended, source="Nowhere.md"), now=LATER)

    assert [each.outcome for each in history.learned_items(source=one)] == ["ended", "rejected", "pending"]
    assert {each.source for each in history.learned_items(since=LATER)} == {one, other}
    assert len(history.learned_items(since=LATER, limit=2)) == 2
    assert history.learned_items(source="c-none") == ()


def test_what_else_was_extracted_is_kept(history: History) -> None:
    """Summary, mentions, open questions and commitments of a conversation are there for later readers."""
    id_ = _record(history)
    history.begin_learning(_batch(id_), now=NOW)
    (batch,) = history.learned_batches(id_)

    assert batch == replace(_batch(id_), extraction=replace(_batch(id_).extraction, facts=(), rejections=()))
    assert history.learned_batches(since=LATER) == ()
    assert history.learned_batches("c-none") == ()


def test_failures_put_a_conversation_off_and_park_it(history: History) -> None:
    """It is not due before its next try, nor while it is parked; reading it forgets the failures."""
    id_ = _record(history)
    state = LearningState(source=id_, failures=1, reason="busy", retry_at="2026-03-01T11:00:00Z")
    history.save_learning_state(state)

    assert history.learning_states([id_, "c-none"]) == {id_: state}
    assert _due(history) == ()
    assert _due(history, now=NOW + timedelta(hours=2)) == (id_,)

    history.save_learning_state(replace(state, retry_at="", is_parked=True))

    assert _due(history, now=NOW + timedelta(days=9)) == ()
    assert history.begin_learning(_batch(id_), now=NOW)
    assert history.learning_states()[id_] == LearningState(source=id_, turns=3)


def test_what_may_not_be_learned_is_never_due(history: History) -> None:
    """A person switches a conversation's memory off, and on again."""
    id_ = _record(history)
    history.set_memory_use(id_, "off", now=NOW)

    assert _due(history) == ()

    history.set_memory_use(id_, "on", now=NOW)

    assert _due(history) == (id_,)


def test_tasks_and_corrections_within_a_conversation_are_not_due(history: History) -> None:
    """The conversation has the words of its corrections; a correction on its own is read."""
    message = [Message("user", "No, in Kiel.", at=NOW)]
    history.record_conversation(NewThread("test", "t", kind="task"), message, now=NOW)
    history.record_conversation(NewThread("test", "p", kind="correction", parent="c-1"), message, now=NOW)
    alone = history.record_conversation(NewThread("test", "c", kind="correction"), message, now=NOW).id

    assert _due(history) == (alone,)


def test_what_was_learned_goes_with_its_conversation(history: History) -> None:
    """No row outlives an erasure; other conversations keep theirs."""
    gone, kept = _record(history, "gone"), _record(history, "kept")
    for id_ in (gone, kept):
        history.begin_learning(_batch(id_), now=NOW)
    history.forget_conversation(gone)

    assert {each.source for each in history.learned_items()} == {kept}
    assert [batch.source for batch in history.learned_batches()] == [kept]
    assert [*history.learning_states()] == [kept]
    assert len(history.pending_items()) == 1


def test_what_was_learned_from_a_note_goes_with_its_path(history: History) -> None:
    """A note's state has its stamp and the hashes of its paragraphs; any stamp may follow another."""
    for stamp in ("a", "b"):
        batch = replace(_batch("Garden.md"), after=0, until=0, stamp=stamp, paragraphs=("x", stamp))
        assert history.begin_learning(batch, now=NOW)
    state = history.learning_states()["Garden.md"]

    assert (state.stamp, state.paragraphs, state.is_note) == ("b", ("x", "b"), True)

    history.forget_path("Garden.md")

    assert history.learning_states() == {}
    assert history.learned_items() == ()


def test_items_of_an_erased_entry_are_removed(history: History) -> None:
    """Those that it was stored by, and those that name it as what they replaced."""
    id_ = _record(history)
    history.begin_learning(_batch(id_), now=NOW)
    ((item, _),) = history.pending_items()
    history.settle_item(replace(item, outcome="replaced", fact="f-2", old="f-1"), now=NOW)

    assert history.forget_learned(["f-9"]) == 0
    assert history.forget_learned(["f-1"]) == 1
    assert [each.outcome for each in history.learned_items()] == ["rejected"]


def test_any_text_can_be_learned(history: History) -> None:
    """Unpaired surrogates, which UTF-8 cannot encode, become question marks."""
    id_ = _record(history)
    odd = Extraction(
        facts=(replace(TEA, text="\ud800 tea"),), summary="\ud800", rejections=(Rejection("\ud800", "junk"),)
    )
    history.begin_learning(replace(_batch(id_), extraction=odd), now=NOW)

    assert {each.text for each in history.learned_items()} == {"? tea", "?"}
