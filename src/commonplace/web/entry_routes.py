"""Routes for entries, facts and conversations, and for what waits for the person.

The routes for what waits are the person's own: a token of an agent is refused.
"""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import Memory, fact_shapes, shapes
from commonplace.memory.reviews import is_proposal_id
from commonplace.model import EntryResult, FactClass, RecordResult, Role
from commonplace.model.fact import GroupVerdict, ReviewResult
from commonplace.model.proposal import ProposalResult
from commonplace.web.access import CallingProgram, Owner, Reader, Writer
from commonplace.web.schemas import (
    NO_QUERY,
    IdInPath,
    Line,
    Names,
    OkResponse,
    Prose,
    RequestModel,
    RequiredLine,
    Share,
    Word,
    body_config,
    declared_only,
)

conversation_router = APIRouter(prefix="/conversations", tags=["conversations"])


class MessageBody(RequestModel):
    """One turn. `author` is the speaker's name; empty for the vault's owner and for the assistant."""

    model_config = body_config(role="user", content="My boat is called Argo.")

    role: Role
    content: Prose
    author: Word = ""
    at: Word | None = Field(None, description="When, as 2026-03-01T09:12:44Z.")
    id: Word = Field("", description="The id that the program gave the message.")


class RecordBody(RequestModel):
    """A conversation, or the new messages of one that has a `session_id`."""

    model_config = body_config(session_id="7f3a", messages=[{"role": "user", "content": "My boat is called Argo."}])

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=5_000)]
    session_id: Word = Field("", description="The id that the program gave the conversation; with one it may grow.")
    interface: Word = Field("", description="That program; the caller if empty.")
    title: Line = ""
    project: Word = Field("", description="The project in which it was held.")


class ConversationsQuery(RequestModel):
    """Filters for conversations, which come newest first."""

    interface: Word | None = None
    project: Word | None = None
    since: Word | None = None
    limit: int = Field(50, ge=1, le=1_000)


class TurnsQuery(RequestModel):
    """The range of turns."""

    first: int = Field(1, ge=1, le=1_000_000)
    last: int | None = Field(None, ge=1, le=1_000_000)


@declared_only
class RecordedResponse(OkResponse):
    """The result of recording a conversation."""

    recorded: RecordResult


@declared_only
class ConversationsResponse(OkResponse):
    """Conversations, newest first."""

    conversations: list[shapes.ThreadShape]


@declared_only
class ConversationResponse(OkResponse):
    """A conversation without its messages."""

    conversation: shapes.ThreadShape


@declared_only
class TurnsResponse(ConversationResponse):
    """A conversation and its messages."""

    messages: list[shapes.MessageShape]


@conversation_router.post(
    "", operation_id="record_conversation", summary="Record a conversation", dependencies=[NO_QUERY]
)
def record_conversation(body: RecordBody, caller: CallingProgram, memory: Writer) -> RecordedResponse:
    """Record a conversation, or the new messages of one that has a `session_id`; it can be found at once."""
    recorded = memory.conversations.record(
        [each.model_dump() for each in body.messages],
        interface=body.interface or caller.name,
        source_id=body.session_id,
        title=body.title,
        project=body.project,
    )
    return {"ok": True, "recorded": recorded}


@conversation_router.get("", operation_id="list_conversations", summary="List conversations")
def list_conversations(query: Annotated[ConversationsQuery, Query()], memory: Reader) -> ConversationsResponse:
    """The conversations of a program or a project with a message since a given day; newest first."""
    threads = memory.conversations.list(**query.model_dump())
    return {"ok": True, "conversations": [shapes.thread_shape(each) for each in threads]}


@conversation_router.get("/{id}", operation_id="show_conversation", summary="Read a conversation")
def show_conversation(id: IdInPath, query: Annotated[TurnsQuery, Query()], memory: Reader) -> TurnsResponse:
    """Who said what, and when, from one turn to another."""
    thread, messages = memory.conversations.show(id, first=query.first, last=query.last)
    turns = [shapes.message_shape(turn, each) for turn, each in enumerate(messages, start=query.first)]
    return {"ok": True, "conversation": shapes.thread_shape(thread), "messages": turns}


@conversation_router.post(
    "/{id}/close", operation_id="close_conversation", summary="Close a conversation", dependencies=[NO_QUERY]
)
def close_conversation(id: IdInPath, memory: Writer) -> ConversationResponse:
    """Mark a conversation as finished. A message recorded later opens it again."""
    return {"ok": True, "conversation": shapes.thread_shape(memory.conversations.close(id))}


entry_router = APIRouter(prefix="/entries", tags=["entries"], dependencies=[NO_QUERY])
fact_router = APIRouter(tags=["facts"])


_REPLACES = "Ids of the entries that hold no longer."
_COVERS = "Ids of the entries of which it says all, and more."
_SAME = "The id of the entry that says the same; its wording stays."
_BOTH = "Ids of the entries that hold as well."
_UNTIL = "It holds until that day; then the older entries hold alone again."


_ABOUT = "The question that it answers, in 2 to 6 words: `how she commutes`."
_WHEN = "Situations in which it matters, in other words than its own: `restaurants, menus, dinner at friends`."


class EntryDetailsBody(RequestModel):
    """The fields of a fact besides its text."""

    topics: Names = Field(default_factory=list)
    about: Line = Field("", description=_ABOUT)
    when: Line = Field("", description=_WHEN)
    importance: Share | None = None
    valid_from: Word = Field("", description="True from that day on.")
    valid_until: Word = Field("", description="No longer true from that day on.")
    session_id: Word = Field("", description="The conversation it comes from.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class SaveBody(EntryDetailsBody):
    """One thing worth knowing. With a predicate it is a triple, and its text may be empty."""

    model_config = body_config(text="Prefers concise pull requests.", kind="preference", topics=["coding"])

    text: Prose
    kind: Word = Field("", description="preference, workflow, fix, idea, decision, ...")
    fact: FactClass = Field("", description="How it ages.")
    subject: Word = ""
    predicate: Word = ""
    object: Line = ""
    project: Word = Field("", description="The project to which it belongs.")
    tags: Names = Field(default_factory=list)
    extends: Names = Field(default_factory=list, description="Ids of the entries it adds to.")
    derived_from: Names = Field(default_factory=list, description="Ids of the entries it follows from.")
    contradicts: Names = Field(default_factory=list, description="Ids of the entries it contradicts.")
    replaces: Names = Field(default_factory=list, description=_REPLACES)
    covers: Names = Field(default_factory=list, description=_COVERS)
    same: Names = Field(default_factory=list, description=_SAME)
    both: Names = Field(default_factory=list, description=_BOTH)
    until: Word = Field("", description=_UNTIL)
    quote: Line = Field("", description="The person's words that say so.")
    whole: bool = Field(default=False, description="Save several list items, lines or paragraphs as one entry.")


class SettleBody(RequestModel):
    """How an entry relates to older ones. An id may be followed by the digits that were shown: `91f607.3ac`."""

    model_config = body_config(replaces=["3f9a1c"])

    replaces: Names = Field(default_factory=list, description=_REPLACES)
    covers: Names = Field(default_factory=list, description=_COVERS)
    same: Names = Field(default_factory=list, description=_SAME)
    both: Names = Field(default_factory=list, description=_BOTH)
    until: Word = Field("", description=_UNTIL)
    reason: Line = ""
    quote: Line = Field("", description="The person's words that say so.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class DescribeBody(RequestModel):
    """What an entry is about and when it matters; null leaves a field as it is, an empty text removes it."""

    model_config = body_config(about="food allergies", when="restaurants, menus, dinner at friends")

    about: Line | None = Field(None, description=_ABOUT)
    when: Line | None = Field(None, description=_WHEN)
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class EvolveBody(EntryDetailsBody):
    """The statement that replaces an entry."""

    model_config = body_config(text="Prefers long pull requests.", reason="said so on Monday")

    text: Prose
    reason: Line
    object: Line = Field("", description="The new value of a triple, if the text is its sentence.")


class ForgetBody(RequestModel):
    """The reason for forgetting the entry, and the person's words that ask for it."""

    model_config = body_config(reason="never true")

    reason: Line = ""
    quote: Line = Field("", description="What the person wrote within the last day, letter by letter.")


@declared_only
class EntryResponse(OkResponse):
    """The result of saving, settling, evolving, confirming, forgetting or ending something."""

    remembered: fact_shapes.EntryResultShape


@declared_only
class ChainResponse(OkResponse, fact_shapes.ChainShape):
    """A fact, its versions oldest first, and their bonds."""


@entry_router.post("", operation_id="save_entry", summary="Save an entry")
def save_entry(body: SaveBody, caller: CallingProgram, memory: Writer) -> EntryResponse:
    """Save one thing worth knowing. What is already known is confirmed instead; nothing is overwritten.

    The response has the `neighbours`: the entries near to it, to be settled by the route `settle` if one holds no
    longer. A program's text of several list items, sentences on lines of their own, or paragraphs (other than a
    statement and its reason) is refused with its parts, unless it is `whole`.
    """
    fields = body.model_dump(exclude={"text", "session_id"})
    return _entry_response(
        memory.entries.save(body.text, **fields, interface=caller.name, conversation=body.session_id), memory
    )


@entry_router.get("/{id}", operation_id="show_entry", summary="An entry with all its versions")
def show_entry(id: IdInPath, memory: Reader) -> ChainResponse:
    """An entry or a fact with all its versions and bonds."""
    return {"ok": True, **fact_shapes.chain_shape(memory.entries.show(id), memory.notes.link)}


@entry_router.post("/{id}/settle", operation_id="settle_entry", summary="Say how an entry relates to older ones")
def settle_entry(id: IdInPath, body: SettleBody, memory: Writer) -> EntryResponse:
    """Say how an entry relates to older ones, after reading both: one change, which undo takes back.

    `ended` in the response are the entries that it ended, `waiting` those that only the person may end.
    """
    return _entry_response(memory.entries.settle(id, **body.model_dump()), memory)


@entry_router.post("/{id}/evolve", operation_id="evolve_entry", summary="Replace an entry")
def evolve_entry(id: IdInPath, body: EvolveBody, caller: CallingProgram, memory: Writer) -> EntryResponse:
    """Replace an entry with what is true now; the old version is archived, and each names the other."""
    fields = body.model_dump(exclude={"text", "session_id"})
    return _entry_response(
        memory.entries.evolve(id, body.text, **fields, interface=caller.name, conversation=body.session_id), memory
    )


@entry_router.post("/{id}/describe", operation_id="describe_entry", summary="Say when an entry matters")
def describe_entry(id: IdInPath, body: DescribeBody, memory: Writer) -> EntryResponse:
    """Say what an entry is about and when it matters, so that prompts about that find it; its words stay."""
    return _entry_response(memory.entries.describe(id, **body.model_dump()), memory)


@entry_router.post("/{id}/confirm", operation_id="confirm_entry", summary="Confirm that an entry is still true")
def confirm_entry(id: IdInPath, memory: Writer) -> EntryResponse:
    """Confirm that an entry is still true; it ages from today on."""
    return _entry_response(memory.entries.confirm(id), memory)


@entry_router.post("/{id}/forget", operation_id="forget_entry", summary="Forget an entry")
def forget_entry(id: IdInPath, body: ForgetBody, memory: Writer) -> EntryResponse:
    """Stop recalling an entry; its note stays, and undo brings it back. The person's own word waits for them."""
    return _entry_response(memory.entries.forget(id, reason=body.reason, quote=body.quote), memory)


class FactsQuery(RequestModel):
    """Filters; a fact must pass all that are given."""

    entity: Word = Field("", description="A person or thing, by any of its names.")
    topic: Word = ""
    about: Word = Field("", description="Part of what an entry is about, or of when it matters.")
    predicate: Word = ""
    project: Word = Field("", description="Only entries of this project.")
    as_of: Word = Field("", description="What was true at the end of that day, as it is known now.")
    known: Word = Field("", description="What was known at the end of that day; with `as_of`, about the other.")
    every: bool = Field(default=False, description="Include what has ended, was replaced or was forgotten.")
    limit: int | None = Field(None, ge=1, le=10_000)


class FactBody(EntryDetailsBody):
    """A triple."""

    model_config = body_config(subject="Ada", predicate="works_at", object="Acme", valid_from="2026-03-01")

    subject: Word
    predicate: Word
    object: Line
    project: Word = Field("", description="The project to which it belongs.")
    text: Prose = Field("", description="The sentence, if the one made from the triple is not good enough.")
    fact: FactClass = Field("", description="How it ages.")
    both: Names = Field(default_factory=list, description=_BOTH)


class EndBody(RequestModel):
    """The day from which the fact is no longer true; now if empty."""

    model_config = body_config(at="2026-03-01")

    at: Word = ""


class TimelineQuery(RequestModel):
    """The person or thing."""

    entity: RequiredLine


@declared_only
class FactsResponse(OkResponse):
    """Facts, the most important first."""

    count: int
    facts: list[fact_shapes.FactSnapshotShape]


@declared_only
class TimelineResponse(OkResponse):
    """The events of all facts about an entity, oldest first."""

    entity: str
    timeline: list[fact_shapes.TimelineEventShape]


@fact_router.get("/facts", operation_id="list_facts", summary="List facts")
def list_facts(query: Annotated[FactsQuery, Query()], memory: Reader) -> FactsResponse:
    """Facts about an entity (by any of its names), on a topic, of a project, or all; the most important first."""
    facts = memory.facts.about(**query.model_dump())
    rows = [fact_shapes.snapshot_shape(each, memory.notes.link) for each in facts]
    return {"ok": True, "count": len(rows), "facts": rows}


@fact_router.post("/facts", operation_id="add_fact", summary="Add a triple", dependencies=[NO_QUERY])
def add_fact(body: FactBody, caller: CallingProgram, memory: Writer) -> EntryResponse:
    """Add a triple. A single-valued predicate ends the previous value; what is already known is confirmed."""
    fields = body.model_dump(exclude={"session_id"})
    return _entry_response(memory.facts.add(**fields, interface=caller.name, conversation=body.session_id), memory)


@fact_router.post("/facts/{id}/end", operation_id="end_fact", summary="End a fact", dependencies=[NO_QUERY])
def end_fact(id: IdInPath, body: EndBody, memory: Writer) -> EntryResponse:
    """Mark a fact as no longer true; it stays known for the time in which it was."""
    return _entry_response(memory.facts.end(id, at=body.at), memory)


@fact_router.get("/timeline", operation_id="timeline", summary="The history of facts")
def timeline(query: Annotated[TimelineQuery, Query()], memory: Reader) -> TimelineResponse:
    """Events of the facts about an entity (began, confirmed, replaced, ended, forgotten), oldest first."""
    events = memory.facts.timeline(query.entity)
    rows = [fact_shapes.timeline_event_shape(each, memory.notes.link) for each in events]
    return {"ok": True, "entity": query.entity, "timeline": rows}


def _entry_response(result: EntryResult, memory: Memory) -> EntryResponse:
    return {"ok": True, "remembered": fact_shapes.entry_result_shape(result, memory.notes.link)}


review_router = APIRouter(prefix="/review", tags=["review"], dependencies=[NO_QUERY])


class ChoiceBody(RequestModel):
    """The waiting entries that are meant: some by their ids, or all of them."""

    ids: Names = Field(default_factory=list, description="Ids of waiting entries.")
    all: bool = Field(default=False, description="Everything that waits, instead of ids.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class ApproveBody(ChoiceBody):
    """The entries and endings to approve."""

    model_config = body_config(ids=["3f9a1c"])

    keep_old: bool = Field(default=False, description="Keep what they speak against as well.")
    confirm_known: bool = Field(
        default=False, description="Where the same words are known by now, confirm what is known instead."
    )


class GroupBody(RequestModel):
    """How the entries of a group relate."""

    model_config = body_config(verdict="replaces")

    verdict: GroupVerdict = Field(description="All hold, the newest replaces the others, or all say the same.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class EndedBody(RequestModel):
    """Entries that were replaced."""

    model_config = body_config(ids=["3f9a1c"])

    ids: Names = Field(description="Their ids.")
    agree: bool = Field(default=False, description="They stay ended, and nobody asks again.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class RejectBody(ChoiceBody):
    """The entries and endings to reject, and why."""

    model_config = body_config(ids=["3f9a1c"], reason="never true")

    reason: Line = ""


class EditBody(RequestModel):
    """The entry in the person's own words."""

    model_config = body_config(text="Prefers long pull requests, with a picture.")

    text: Prose = ""
    object: Line = Field("", description="The new value of a triple; the text is then its sentence.")
    keep_old: bool = Field(default=False, description="Keep what the entry speaks against, too.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


@declared_only
class QueueResponse(OkResponse, fact_shapes.QueueShape):
    """Everything that waits, oldest first."""


@declared_only
class EndedResponse(OkResponse):
    """The endings that an old rule made, the newest first."""

    count: int
    ended: list[fact_shapes.OldEndingShape]


@declared_only
class WaitingResponse(OkResponse):
    """One waiting entry or ending."""

    waiting: fact_shapes.WaitingShape


@declared_only
class ProposalResponse(OkResponse):
    """One proposed change of a note."""

    proposal: fact_shapes.ProposalShape


@declared_only
class ReviewedResponse(OkResponse, fact_shapes.ReviewedShape):
    """What became of each entry and each proposal."""


@review_router.get("", operation_id="list_waiting", summary="List what waits for the person")
def list_waiting(memory: Owner) -> QueueResponse:
    """What programs saved and the person has not approved yet, which endings wait, and what is undecided."""
    return {"ok": True, **fact_shapes.queue_shape(memory.reviews.list(), memory.notes.link)}


@review_router.get("/ended", operation_id="list_ended", summary="List the endings that an old rule made")
def list_ended(memory: Owner) -> EndedResponse:
    """What an old rule ended because it was alike, with what replaced it; nothing returns by itself."""
    rows = [fact_shapes.old_ending_shape(each, memory.notes.link) for each in memory.reviews.ended()]
    return {"ok": True, "count": len(rows), "ended": rows}


@review_router.get("/{id}", operation_id="show_waiting", summary="One waiting entry")
def show_waiting(id: IdInPath, memory: Owner) -> WaitingResponse:
    """One waiting entry, with the reason and what it speaks against."""
    return {"ok": True, "waiting": fact_shapes.waiting_shape(memory.reviews.show(id), memory.notes.link)}


@review_router.get("/proposals/{id}", operation_id="show_proposal", summary="One proposed change of a note")
def show_proposal(id: IdInPath, memory: Owner) -> ProposalResponse:
    """One proposed change of a note, with its difference."""
    return {"ok": True, "proposal": fact_shapes.proposal_shape(memory.reviews.show_proposal(id), memory.notes.link)}


@review_router.post("/approve", operation_id="approve_waiting", summary="Approve waiting entries")
def approve_waiting(body: ApproveBody, memory: Owner) -> ReviewedResponse:
    """Make entries the person's own word, and let endings happen; what they speak against is archived."""
    entries, proposed = _split(body)
    reviews, results = memory.reviews, list[ReviewResult | ProposalResult]()
    if entries or not proposed:
        choice = {"all": body.all, "keep_old": body.keep_old, "confirm_known": body.confirm_known}
        results += reviews.approve(*entries, **choice, dry_run=body.dry_run)
    if proposed or body.all:
        results += reviews.approve_proposals(*proposed, all=body.all, dry_run=body.dry_run)
    return _response(memory, *results)


@review_router.post("/reject", operation_id="reject_waiting", summary="Reject waiting entries")
def reject_waiting(body: RejectBody, memory: Owner) -> ReviewedResponse:
    """Archive entries, so that programs cannot save the same words again; of a rejected ending both entries hold."""
    entries, proposed = _split(body)
    reviews, results = memory.reviews, list[ReviewResult | ProposalResult]()
    if entries or not proposed:
        results += reviews.reject(*entries, all=body.all, reason=body.reason, dry_run=body.dry_run)
    if proposed or body.all:
        results += reviews.reject_proposals(*proposed, all=body.all, reason=body.reason, dry_run=body.dry_run)
    return _response(memory, *results)


@review_router.post("/ended", operation_id="bring_back", summary="Bring replaced entries back")
def bring_back(body: EndedBody, memory: Owner) -> ReviewedResponse:
    """Let replaced entries hold again, each beside its newest version; or agree with the endings of an old rule."""
    deed = memory.reviews.leave_ended if body.agree else memory.reviews.bring_back
    return _response(memory, *deed(*body.ids, dry_run=body.dry_run))


@review_router.post("/groups/{id}", operation_id="settle_group", summary="Decide a group of near entries")
def settle_group(id: IdInPath, body: GroupBody, memory: Owner) -> ReviewedResponse:
    """Say how the entries of a group relate, in one commit; refused if the group has changed since it was listed."""
    return _response(memory, memory.reviews.settle(id, body.verdict, dry_run=body.dry_run))


@review_router.post("/{id}/edit", operation_id="edit_waiting", summary="Approve an entry in other words")
def edit_waiting(id: IdInPath, body: EditBody, memory: Owner) -> ReviewedResponse:
    """Approve a waiting entry in the person's own words."""
    if is_proposal_id(id):
        return _response(memory, memory.reviews.edit_proposal(id, body.text, dry_run=body.dry_run))
    result = memory.reviews.edit(id, body.text, object=body.object, keep_old=body.keep_old, dry_run=body.dry_run)
    return _response(memory, result)


def _split(body: ChoiceBody) -> tuple[list[str], list[str]]:
    """The ids of entries, and those of proposals; with `all`, whatever is named goes to the first."""
    proposed = [id for id in body.ids if is_proposal_id(id) and not body.all]
    return [id for id in body.ids if id not in proposed], proposed


def _response(memory: Memory, *results: ReviewResult | ProposalResult) -> ReviewedResponse:
    return {"ok": True, **fact_shapes.reviewed_shape(results, memory.notes.link)}
