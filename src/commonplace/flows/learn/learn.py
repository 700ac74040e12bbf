"""A conversation -> its new turns -> candidate facts -> saved as every entry is, by gate, integrator and review.

What is extracted is stored in the history together with how far the conversation was read, before anything is saved;
`settle` then saves item by item. A killed process loses nothing that was extracted, and repeats nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from commonplace.errors import Refused
from commonplace.events import emit
from commonplace.extraction.speech import SpokenClause, clauses_of, is_played
from commonplace.facts.commitments import COMMITTED, COMPLETED, Commitment
from commonplace.facts.spoken_commitments import Promise, completed_commitment, promise_of
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.conversations import find_thread, may_learn_from
from commonplace.flows.learn.extract import Extractor, extract
from commonplace.flows.learn.settle import JOB, preview, settle_pending
from commonplace.flows.memory.amend import cite_fact, erase_entry
from commonplace.flows.memory.commitments import list_commitments
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import LanguageModel
from commonplace.model import Message, Thread
from commonplace.model.fact import RULES
from commonplace.model.learning import ExtractedFact, Extraction, LearnedBatch, LearnedItem, LearnResult, Turn
from commonplace.model.untrusted_text import clean_text

_MOST_CHARACTERS: Final = 48_000  # of the turns that are read at once: some 12,000 tokens, which small models can hold
_MOST_TURNS: Final = 200
_CONTEXT_TURNS: Final = 6  # earlier turns that are read along, so that "yes, that one" has a meaning
_NOBODY: Final = "nobody"  # the extractor of a part in which the person says nothing


@dataclass(frozen=True, slots=True)
class ConversationPart:
    """The turns that are read at once, with those before them as context, up to message number `until`."""

    turns: tuple[Turn, ...]
    after: int
    until: int

    @property
    def has_words(self) -> bool:
        """True if the person says something in it."""
        return any(each.role == "user" and each.number > self.after for each in self.turns)


def learn_conversation(
    id: str,
    session: Session,
    *,
    model: LanguageModel | None = None,
    extractor: Extractor | None = None,
    dry_run: bool = False,
) -> LearnResult:
    """Learn from the turns of a conversation that were not read yet, and save what was left pending.

    Another `model` or `extractor` replaces that of the settings. Nothing is written before the model has answered.
    Raises NotFound, Refused if its memory is off, and ProviderFailed if the model does not answer: then the
    conversation is read again later.
    """
    job, history = session.as_actor(JOB), session.stores.history
    thread = _readable(id, session)
    state = history.learning_states([thread.id]).get(thread.id)
    start = after = state.turns if state else 0
    newest = next((each.number for each in history.learned_items(limit=1)), 0)
    batches: list[LearnedBatch] = []
    for part in _parts(thread, after, session):
        extraction, name = _extracted(part, job, model=model, extractor=extractor)
        _readable(thread.id, session)  # a person may have switched its memory off while the model answered
        batch = LearnedBatch(
            source=thread.id, extraction=extraction, extractor=name, after=part.after, until=part.until
        )
        if not dry_run and not history.begin_learning(batch, now=session.clock()):
            break  # another process has read this part, or the conversation is gone
        after = part.until
        batches.append(batch)
    if dry_run:
        items = tuple(item for batch in batches for item in preview(batch, job))
    else:
        items = _settled(thread.id, job, newest=newest)
    return _result(thread, batches, items, turns=after - start)


def _result(
    thread: Thread, batches: Sequence[LearnedBatch], items: tuple[LearnedItem, ...], *, turns: int
) -> LearnResult:
    extractor = next((each.extractor for each in reversed(batches) if each.extractor != _NOBODY), "")
    emit("conversation_learned", id=thread.id, turns=turns, items=len(items), extractor=extractor)
    return LearnResult(
        source=thread.id,
        title=thread.title,
        extractor=extractor,
        turns=turns,
        items=items,
        summary=" ".join(each.extraction.summary for each in batches if each.extraction.summary),
    )


def _readable(id: str, session: Session) -> Thread:
    """The conversation. Raises NotFound, and Refused if memory may not learn from it."""
    thread = find_thread(id, session)
    if not may_learn_from(thread, session.stores):
        raise Refused(
            f"memory does not learn from conversation {thread.id}",
            hint="It is switched off or isolated; `commonplace conversation show` says so.",
        )
    return thread


def _extracted(
    part: ConversationPart, session: Session, *, model: LanguageModel | None, extractor: Extractor | None
) -> tuple[Extraction, str]:
    if not part.has_words:
        return Extraction(), _NOBODY
    if extractor:
        return extractor(part.turns), RULES
    extraction, name = extract(part.turns, session, first=part.after + 1, model=model)
    promised = [*_promises(part, session)] if name == RULES else []
    quotes = {(each.turn, each.quote) for each in promised}
    facts = [each for each in extraction.facts if (each.turn, each.quote) not in quotes]
    return replace(extraction, facts=(*facts, *promised, *_completions(part, session))), name


def _promises(part: ConversationPart, session: Session) -> Iterator[ExtractedFact]:
    """What the person's plain words say that someone has to do by a day; for rules, since a model tells by itself."""
    for turn in _own_turns(part):
        for clause in clauses_of(turn.text):
            is_told = _is_plain(clause) or clause.reason == "third_party"
            promise = promise_of(clause.text, day=turn.local_day or session.today) if is_told else None
            if promise and (_is_plain(clause) or promise.who != ME):
                yield _commitment(promise, turn, quote=turn.text[clause.start : clause.end].strip())


def _own_turns(part: ConversationPart) -> list[Turn]:
    """The new turns in which the person speaks for themselves."""
    is_spoken = not is_played(part.turns)
    return [each for each in part.turns if is_spoken and each.role == "user" and each.number > part.after]


def _is_plain(clause: SpokenClause) -> bool:
    return clause.reason in (None, "passing")


def _commitment(promise: Promise, turn: Turn, *, quote: str) -> ExtractedFact:
    who = "Committed" if promise.who == ME else f"{promise.who} committed"
    return ExtractedFact(
        text=f"{who} to {promise.what} by {promise.due}.",
        quote=quote,
        turn=turn.number,
        kind="event",
        fact="event",
        subject=promise.who,
        predicate=COMMITTED,
        object=promise.what,
        due=promise.due,
    )


def _completions(part: ConversationPart, session: Session) -> Iterator[ExtractedFact]:
    """The open commitments of which the person's plain words say that they are done, each once."""
    turns = _own_turns(part)
    left = list(list_commitments(session, states=("open", "overdue"))) if turns else []
    for turn in turns:
        for clause in clauses_of(turn.text) if left else ():
            if _is_plain(clause) and (done := completed_commitment(clause.text, left)):
                left = [each for each in left if (each.who, each.what) != (done.who, done.what)]
                yield _completion(done, turn, quote=turn.text[clause.start : clause.end].strip())


def _completion(commitment: Commitment, turn: Turn, *, quote: str) -> ExtractedFact:
    who = "" if commitment.who == ME else f"{strip_links(commitment.who)} "
    text = f"{who}completed: {strip_links(commitment.what)}."
    return ExtractedFact(
        text=f"{text[0].upper()}{text[1:]}",
        quote=quote,
        turn=turn.number,
        kind="event",
        fact="event",
        subject=commitment.who,
        predicate=COMPLETED,
        object=strip_links(commitment.what),
        valid_from=turn.day,
    )


def _settled(id: str, session: Session, *, newest: int) -> tuple[LearnedItem, ...]:
    """Everything that was settled now: what was pending, and the rejections of new batches; in their order."""
    settled = {each.number for each in settle_pending(session, source=id)}
    items = session.stores.history.learned_items(source=id)
    return tuple(each for each in reversed(items) if each.number in settled or each.number > newest)


def erase_learned(id: str, session: Session) -> int:
    """Erase the entries that were learned from a conversation, before it is erased itself; returns how many.

    What the person has made their own word stays, without the quote. Raises Refused unless a person asks.
    """
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(origins=("entry",), staged=True))
    learned = [each.fact for each in records if each.fact.origins.conversation == id and each.fact.origins.extractor]
    for fact in learned:
        if fact.origins.trust == "mined":
            erase_entry(fact.id, session)
        else:
            cite_fact(fact, replace(fact.origins, quote="", turn=0), session)
    return sum(each.origins.trust == "mined" for each in learned)


# ---------------------------------------------------------------- the parts of a conversation


def _parts(thread: Thread, after: int, session: Session) -> Iterator[ConversationPart]:
    """The messages after that number, in parts that a model can read at once."""
    messages = session.stores.history.messages(thread.id)
    while after < len(messages):
        until = _end_of_part(messages, after)
        yield ConversationPart(read_turns(messages, session, after=after - _CONTEXT_TURNS, until=until), after, until)
        after = until


def read_turns(messages: Sequence[Message], session: Session, *, after: int, until: int) -> tuple[Turn, ...]:
    """The messages of a conversation after number `after` up to number `until`, as an extractor sees them."""
    owners, zone = _owners(messages, session), session.stores.calendars.zone
    turns = (_turn(number, messages[number - 1], owners, zone) for number in range(max(0, after) + 1, until + 1))
    return tuple(filter(None, turns))


def _end_of_part(messages: Sequence[Message], after: int) -> int:
    """The number of the last message that fits into the part that begins after this one; one fits at least."""
    characters = 0
    for number in range(after + 1, min(len(messages), after + _MOST_TURNS) + 1):
        characters += len(messages[number - 1].text)
        if characters > _MOST_CHARACTERS and number > after + 1:
            return number - 1
    return min(len(messages), after + _MOST_TURNS)


def _turn(number: int, message: Message, owners: frozenset[str], zone: tzinfo) -> Turn | None:
    """The message as a turn; None for one of the system or a tool. Who is not the person counts as a bystander."""
    if message.role not in ("user", "assistant"):
        return None
    is_other = message.role == "user" and message.author not in owners
    text = clean_text(message.text)[:_MOST_CHARACTERS]
    if is_other:
        text = f"{message.author}: {text}"
    days = [at.date().isoformat() for at in (message.at, message.at.astimezone(zone))] if message.at else ["", ""]
    return Turn(number, "tool" if is_other else message.role, text, *days)


def _owners(messages: Sequence[Message], session: Session) -> frozenset[str]:
    """The names under which the person speaks: no name, their own, or the only one that anybody has.

    In a vault that several people share nobody is "the person": what one of them says of themselves is not learned as
    if it were true of all.
    """
    if session.stores.members():
        return frozenset({""})
    names = {each.author for each in messages if each.role == "user"}
    if len(names) == 1:
        return frozenset(names)
    rules = session.stores.rules
    return frozenset(each for each in names if not each or rules.entity(each) == rules.entity(rules.user))
