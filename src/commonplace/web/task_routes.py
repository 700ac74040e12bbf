"""Routes for tasks and their results, for what the person corrected, and for what a conversation is used for."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import shapes
from commonplace.model import MemoryUse, Message, Thread
from commonplace.web.access import CallingProgram, Reader, Writer
from commonplace.web.entry_routes import ConversationResponse, ConversationsQuery, RecordedResponse, conversation_router
from commonplace.web.schemas import (
    NO_QUERY,
    IdInPath,
    Line,
    OkResponse,
    Prose,
    RequestModel,
    Word,
    body_config,
    declared_only,
)

task_router = APIRouter(prefix="/tasks", tags=["tasks"])
correction_router = APIRouter(prefix="/corrections", tags=["corrections"])


class TaskBody(RequestModel):
    """A task, and what came of it."""

    model_config = body_config(task="Renew the certificate of the shop", result="Renewed until May 2027.")

    task: Prose
    result: Prose = ""
    id: Word = Field("", description="The id that the program gave the task; with one the result may come later.")
    title: Line = ""
    interface: Word = Field("", description="That program; the caller if empty.")
    project: Word = Field("", description="The project it belongs to.")
    silent: bool = Field(default=False, description="Keep it, but never recall it; for routine jobs.")


class CorrectionBody(RequestModel):
    """What is right, and what was wrong."""

    model_config = body_config(correction="We deploy on Thursdays.", corrects="You deploy on Fridays.")

    correction: Prose
    corrects: Prose = Field("", description="What was wrong; by default the conversation's last answer.")
    conversation_id: Word = Field("", description="The conversation in which it was said.")
    interface: Word = Field("", description="The program in which it was said; the caller if empty.")
    project: Word = Field("", description="The project it belongs to.")


class MemoryUseBody(RequestModel):
    """What a conversation is used for: everything, search alone, or only a search that names `isolated`."""

    model_config = body_config(memory="off")

    memory: MemoryUse


@declared_only
class TasksResponse(OkResponse):
    """Tasks, newest first."""

    tasks: list[shapes.ThreadShape]


@declared_only
class TaskResponse(OkResponse):
    """A task, and its messages: what was to be done, and what came of it."""

    task: shapes.ThreadShape
    messages: list[shapes.MessageShape]


@declared_only
class CorrectionsResponse(OkResponse):
    """Corrections, newest first."""

    corrections: list[shapes.ThreadShape]


@declared_only
class CorrectionResponse(OkResponse):
    """A correction, and its messages: what was wrong, and what is right."""

    correction: shapes.ThreadShape
    messages: list[shapes.MessageShape]


@task_router.post("", operation_id="record_task", summary="Record a task", dependencies=[NO_QUERY])
def record_task(body: TaskBody, caller: CallingProgram, memory: Writer) -> RecordedResponse:
    """Record a task and what came of it; both can be found at once."""
    recorded = memory.tasks.record(
        body.task,
        result=body.result,
        id=body.id,
        title=body.title,
        interface=body.interface or caller.name,
        project=body.project,
        silent=body.silent,
    )
    return {"ok": True, "recorded": recorded}


@task_router.get("", operation_id="list_tasks", summary="List tasks")
def list_tasks(query: Annotated[ConversationsQuery, Query()], memory: Reader) -> TasksResponse:
    """The tasks of a program or a project since a given day; newest first."""
    return {"ok": True, "tasks": _shapes(memory.tasks.list(**query.model_dump()))}


@task_router.get("/{id}", operation_id="show_task", summary="Read a task", dependencies=[NO_QUERY])
def show_task(id: IdInPath, memory: Reader) -> TaskResponse:
    """What was to be done, and what came of it."""
    task, messages = memory.tasks.show(id)
    return {"ok": True, "task": shapes.thread_shape(task), "messages": _turns(messages)}


@correction_router.post("", operation_id="record_correction", summary="Record a correction", dependencies=[NO_QUERY])
def record_correction(body: CorrectionBody, caller: CallingProgram, memory: Writer) -> RecordedResponse:
    """Record what is right, and what it corrects; it can be found at once."""
    recorded = memory.corrections.record(
        body.correction,
        corrects=body.corrects,
        conversation=body.conversation_id,
        interface=body.interface or caller.name,
        project=body.project,
    )
    return {"ok": True, "recorded": recorded}


@correction_router.get("", operation_id="list_corrections", summary="List corrections")
def list_corrections(query: Annotated[ConversationsQuery, Query()], memory: Reader) -> CorrectionsResponse:
    """The corrections in a program or a project since a given day; newest first."""
    return {"ok": True, "corrections": _shapes(memory.corrections.list(**query.model_dump()))}


@correction_router.get("/{id}", operation_id="show_correction", summary="Read a correction", dependencies=[NO_QUERY])
def show_correction(id: IdInPath, memory: Reader) -> CorrectionResponse:
    """What was wrong, and what is right."""
    correction, messages = memory.corrections.show(id)
    return {"ok": True, "correction": shapes.thread_shape(correction), "messages": _turns(messages)}


@conversation_router.put(
    "/{id}/memory",
    operation_id="use_conversation",
    summary="Set what a conversation is used for",
    dependencies=[NO_QUERY],
)
def use_conversation(id: IdInPath, body: MemoryUseBody, memory: Writer) -> ConversationResponse:
    """Use it less; only the person, on the command line, may allow more again."""
    return {"ok": True, "conversation": shapes.thread_shape(memory.conversations.use(id, body.memory))}


def _shapes(threads: tuple[Thread, ...]) -> list[shapes.ThreadShape]:
    return [shapes.thread_shape(each) for each in threads]


def _turns(messages: tuple[Message, ...]) -> list[shapes.MessageShape]:
    return [shapes.message_shape(turn, each) for turn, each in enumerate(messages, start=1)]
