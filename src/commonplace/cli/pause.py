"""`commonplace pause | resume`: what is said in agents is not recorded for a while."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.cli.door import Door, door_of, print_line
from commonplace.errors import UsageError

if TYPE_CHECKING:
    from commonplace.daemon.choices import Choices, Kind

_Project = Annotated[
    str | None, typer.Option("--project", metavar="PATH", help="Only what is said in this folder and those below it.")
]
_Conversation = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="Only this conversation: its id here, or in its program."),
]


def pause(context: typer.Context, project: _Project = None, conversation: _Conversation = None) -> None:
    """Record nothing of what is said in agents, until `resume`; memory is still given to them.

    It is what hooks hand over that is not recorded. An agent can still save something by its tools, if you let it.

    \b
    Examples:
      commonplace pause
      commonplace pause --project ~/work/secret-client
      commonplace pause --conversation c-1f0c9a2b7d3e
    """
    door, choices = door_of(context), _choices()
    kind, what = _meant(door, project, conversation)
    is_new = choices.pause(kind, what, now=datetime.now(UTC))

    def show() -> None:
        print_line(f"{'paused' if is_new else 'paused already'}: {_named(kind, what)}")
        door.aside("what is said meanwhile is not recorded later either; `commonplace resume` goes on")

    _answer(door, choices, {"changed": is_new}, show)


def resume(context: typer.Context, project: _Project = None, conversation: _Conversation = None) -> None:
    """Record again what is said from now on. Name what was paused as you did for `pause`.

    \b
    Examples:
      commonplace resume
      commonplace resume --project ~/work/secret-client
    """
    door, choices = door_of(context), _choices()
    kind, what = _meant(door, project, conversation)
    was_paused = choices.resume(kind, what, now=datetime.now(UTC))

    def show() -> None:
        print_line(f"{'recorded again' if was_paused else 'was not paused'}: {_named(kind, what)}")
        for each in choices.current():
            print_line(f"still paused: {each}")

    _answer(door, choices, {"changed": was_paused}, show)


def _answer(door: Door, choices: "Choices", values: dict[str, object], show: Callable[[], None]) -> None:
    door.answer({**values, "paused": [*choices.current()]}, show)


def _choices() -> "Choices":
    from commonplace.daemon.choices import Choices
    from commonplace.daemon.single import make_folders, our_places

    where = our_places()
    make_folders(where)
    return Choices(where.folder)


def _meant(door: Door, project: str | None, conversation: str | None) -> "tuple[Kind, str]":
    """What is to be paused. Raises UsageError for both, or for no folder; NotFound for no conversation."""
    if project is not None and conversation is not None:
        raise UsageError("both a project and a conversation", hint="Pause the one, then the other.")
    if project is not None:
        folder = os.path.realpath(os.path.expanduser(project))
        if not os.path.isdir(folder):
            raise UsageError(f"there is no folder {project}", hint="Name the project's folder.")
        return "project", folder
    if conversation is not None:
        return "conversation", _id_in_its_program(door, conversation)
    return "all", ""


def _id_in_its_program(door: Door, id_: str) -> str:
    """The id that the program gave it; an id of ours is looked up. Raises NotFound, UsageError."""
    if not id_.strip():
        raise UsageError("a conversation without an id", hint="`commonplace conversation list` shows every one.")
    if not id_.startswith("c-"):
        return id_
    with door.opened() as memory:
        return memory.conversations.show(id_, last=1)[0].source_id


def _named(kind: "Kind", what: str) -> str:
    return "everything" if kind == "all" else f"{kind} {what}"
