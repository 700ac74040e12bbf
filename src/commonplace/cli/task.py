"""`commonplace task | correction`: tasks and their results, and what you corrected."""

import sys
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.cli.invocation import (
    Invocation,
    invocation_of,
    local_time,
    local_zone,
    print_line,
    print_table,
    printable,
    show_help,
)
from commonplace.errors import UsageError
from commonplace.memory import Memory, shapes
from commonplace.model import Message, RecordResult, Thread, ThreadKind

if TYPE_CHECKING:
    from commonplace.memory.tasks import ThreadVerbs

task_app = typer.Typer(
    help="Record, list, show and erase tasks and their results.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)
correction_app = typer.Typer(
    help="Record, list, show and erase what you corrected.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)

_Project = Annotated[str | None, typer.Option(metavar="NAME", help="The project it belongs to.")]
_OfProgram = Annotated[str | None, typer.Option("--interface", metavar="NAME", help="Only from this program.")]
_InProject = Annotated[str | None, typer.Option("--project", metavar="NAME", help="Only in this project.")]
_Since = Annotated[str | None, typer.Option(help="Only since: 2026-03-01, yesterday, 7d.")]
_Limit = Annotated[int | None, typer.Option("-n", "--limit", min=1, help="At most this many, newest first.")]
_Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, or the beginning of it.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@task_app.command("add")
def add_task(
    context: typer.Context,
    task: Annotated[list[str], typer.Argument(metavar="TASK", help="What was to be done.")],
    result: Annotated[str, typer.Option(help="What came of it.")] = "",
    id_: Annotated[str, typer.Option("--id", metavar="ID", help="Its id in the program that keeps it.")] = "",
    title: Annotated[str, typer.Option(help="A title.")] = "",
    interface: Annotated[str, typer.Option(metavar="NAME", help="The program that keeps it.")] = "cli",
    project: _Project = None,
    silent: Annotated[bool, typer.Option("--silent", help="Keep it, but never recall it; for routine jobs.")] = False,
) -> None:
    """Record a task and what came of it, so that search finds both.

    With an --id the result may come later: give the task again, with its result.

    \b
    Examples:
      commonplace task add "Renew the certificate of the shop" --result "Renewed until May 2027."
      commonplace task add "Order seeds" --id todo-17 --interface todo
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        recorded = memory.tasks.record(
            " ".join(task),
            result=result,
            id=id_,
            title=title,
            interface=interface,
            project=project,
            silent=silent,
        )
    invocation.answer({"recorded": recorded}, lambda: print_line(_recorded(recorded)))


@correction_app.command("add")
def add_correction(
    context: typer.Context,
    correction: Annotated[list[str], typer.Argument(metavar="CORRECTION", help="What is right.")],
    corrects: Annotated[str, typer.Option(help="What was wrong.")] = "",
    conversation: Annotated[
        str, typer.Option("--conversation", metavar="ID", help="The conversation whose last answer was wrong.")
    ] = "",
    project: _Project = None,
) -> None:
    """Record what is right where an agent was wrong, so that search finds it.

    In a conversation, the assistant's last answer is what was wrong, unless --corrects says what.

    \b
    Examples:
      commonplace correction add "We deploy on Thursdays" --corrects "You deploy on Fridays."
      commonplace correction add "I meant the red boat" --conversation c-4f1d20b7a9e3
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        recorded = memory.corrections.record(
            " ".join(correction), corrects=corrects, conversation=conversation, interface="cli", project=project
        )
    invocation.answer({"recorded": recorded}, lambda: print_line(_recorded(recorded)))


@task_app.command("list")
def list_tasks(
    context: typer.Context,
    interface: _OfProgram = None,
    project: _InProject = None,
    since: _Since = None,
    limit: _Limit = None,
) -> None:
    """List tasks, newest first.

    \b
    Example:
      commonplace task list --since 7d
    """
    _list(invocation_of(context), "task", interface=interface, project=project, since=since, limit=limit)


@correction_app.command("list")
def list_corrections(
    context: typer.Context,
    interface: _OfProgram = None,
    project: _InProject = None,
    since: _Since = None,
    limit: _Limit = None,
) -> None:
    """List what you corrected, newest first.

    \b
    Example:
      commonplace correction list --project atlas
    """
    _list(invocation_of(context), "correction", interface=interface, project=project, since=since, limit=limit)


@task_app.command("show")
def show_task(context: typer.Context, id: _Id) -> None:
    """Print a task and its result.

    \b
    Example:
      commonplace task show t-4f1d20b7a9e3
    """
    _show(invocation_of(context), "task", id)


@correction_app.command("show")
def show_correction(context: typer.Context, id: _Id) -> None:
    """Print a correction and what it corrects.

    \b
    Example:
      commonplace correction show x-4f1d20b7a9e3
    """
    _show(invocation_of(context), "correction", id)


@task_app.command("erase")
def erase_task(context: typer.Context, id: _Id, yes: _Yes = False) -> None:
    """Erase a task from every file of the memory; cannot be undone.

    \b
    Example:
      commonplace task erase t-4f1d20b7a9e3
    """
    _erase(invocation_of(context), "task", id, is_sure=yes)


@correction_app.command("erase")
def erase_correction(context: typer.Context, id: _Id, yes: _Yes = False) -> None:
    """Erase a correction from every file of the memory; cannot be undone.

    The conversation in which it was made keeps its own words: `commonplace conversation erase` removes both.

    \b
    Example:
      commonplace correction erase x-4f1d20b7a9e3
    """
    _erase(invocation_of(context), "correction", id, is_sure=yes)


def _verbs(memory: Memory, kind: ThreadKind) -> "ThreadVerbs":
    return memory.tasks if kind == "task" else memory.corrections


def _recorded(recorded: RecordResult) -> str:
    return f"recorded {recorded.id}" if recorded.added else f"known already: {recorded.id}"


def _list(
    invocation: Invocation,
    kind: ThreadKind,
    *,
    interface: str | None,
    project: str | None,
    since: str | None,
    limit: int | None,
) -> None:
    with invocation.memory() as memory:
        threads = _verbs(memory, kind).list(
            interface=interface, project=project, since=since, limit=limit, zone=local_zone(invocation)
        )
    rows = [(each.id, local_time(each.updated), each.interface, each.project or "-", each.title) for each in threads]
    invocation.answer(
        {f"{kind}s": [shapes.thread_shape(each) for each in threads]},
        lambda: print_table(["id", "updated", "interface", "project", kind], rows),
    )


def _show(invocation: Invocation, kind: ThreadKind, id: str) -> None:
    with invocation.memory() as memory:
        thread, messages = _verbs(memory, kind).show(id)
    values = {
        kind: shapes.thread_shape(thread),
        "messages": [shapes.message_shape(number, each) for number, each in enumerate(messages, start=1)],
    }
    invocation.answer(values, lambda: _print(thread, messages))


def _print(thread: Thread, messages: tuple[Message, ...]) -> None:
    parent = f", in conversation {thread.parent}" if thread.parent else ""
    print_line(f"{thread.id}  ({thread.interface}, {local_time(thread.updated)}{parent})")
    labels = {"assistant": "corrects", "user": "correction"} if thread.kind == "correction" else {}
    labels = labels or {"user": "task", "assistant": "result"}
    for each in messages:
        print_line()
        print_line(f"{labels.get(each.role, each.role)}:")
        print_line(textwrap.indent(each.text, "  "))


def _erase(invocation: Invocation, kind: ThreadKind, id: str, *, is_sure: bool) -> None:
    if not is_sure and not sys.stdin.isatty():
        raise UsageError(f"erasing {id} needs confirmation", hint="Add --yes; it cannot be undone.")
    with invocation.memory() as memory:
        verbs = _verbs(memory, kind)
        if not is_sure:
            thread, _ = verbs.show(id)
            id = thread.id
            typer.confirm(f"Erase {id}, {printable(thread.title)!r}, for good?", abort=True, err=True)
        erased = verbs.erase(id)
    invocation.answer({"erased": {"id": erased.id}}, lambda: print_line(f"erased {erased.id}"))
