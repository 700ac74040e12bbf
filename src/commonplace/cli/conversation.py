"""`commonplace conversation | pause | resume`: recorded conversations, and whether to record them."""

import os
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commonplace.cli.completion import offer
from commonplace.cli.import_files import PROGRESS_WORDS, answer_import, pauses_of_person
from commonplace.cli.invocation import (
    Invocation,
    invocation_of,
    local_time,
    local_zone,
    print_line,
    print_table,
    printable,
    show_help,
    with_local_times,
)
from commonplace.cli.parameters import DryRun
from commonplace.cli.progress import ProgressLine
from commonplace.errors import UsageError
from commonplace.memory import shapes
from commonplace.model import MEMORY_USES, TRUSTS, Message, RecordResult, Thread
from commonplace.model.conversation import FactsKept
from commonplace.model.text import counted

if TYPE_CHECKING:
    from commonplace.daemon.capture.pauses import PauseKind, Pauses
    from commonplace.memory import Memory
    from commonplace.memory.imports import ImportReport

_Project = Annotated[
    str | None, typer.Option("--project", metavar="PATH", help="Only in this folder and its subfolders.")
]
_Conversation = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="Only this conversation: its id here or in its program."),
]


def pause(
    context: typer.Context,
    project: _Project = None,
    conversation: _Conversation = None,
    list_: Annotated[bool, typer.Option("--list", help="Pause nothing; say what is paused, and since when.")] = False,
) -> None:
    """Pause recording conversations with agents, until `resume`.

    Hooks stop recording conversations, but still give memory to agents, and an agent can still save with its tools.
    The daemon need not run.

    \b
    Examples:
      commonplace pause
      commonplace pause --list
      commonplace pause --project ~/work/secret-client
      commonplace pause --conversation c-1f0c9a2b7d3e
    """
    invocation, choices = invocation_of(context), _pauses()
    if list_:
        if project is not None or conversation is not None:
            raise UsageError("--list takes no other option", hint="Leave the others out: it lists every pause.")
        return _answer(invocation, choices, {}, lambda: _show_paused(choices))
    kind, what = _target(invocation, project, conversation)
    is_new = choices.pause(kind, what, now=datetime.now(UTC))

    def show() -> None:
        since = next(each.since for each in choices.current() if (each.kind, each.what) == (kind, what))
        done = "paused" if is_new else f"already paused since {local_time(since)}"
        print_line(f"{done}: {_target_text(kind, what)}")
        invocation.inform("nothing said during the pause is recorded; `commonplace resume` starts recording again")

    return _answer(invocation, choices, {"changed": is_new}, show)


def resume(context: typer.Context, project: _Project = None, conversation: _Conversation = None) -> None:
    """Resume recording conversations with agents.

    Name the same project or conversation as for `pause`.

    \b
    Examples:
      commonplace resume
      commonplace resume --project ~/work/secret-client
    """
    invocation, choices = invocation_of(context), _pauses()
    kind, what = _target(invocation, project, conversation)
    was_paused = choices.resume(kind, what, now=datetime.now(UTC))

    def show() -> None:
        print_line(f"{'recording again' if was_paused else 'was not paused'}: {_target_text(kind, what)}")
        for each in choices.current():
            print_line(f"still paused: {with_local_times(str(each))}")

    _answer(invocation, choices, {"changed": was_paused}, show)


def _answer(invocation: Invocation, choices: "Pauses", values: dict[str, object], show: Callable[[], None]) -> None:
    invocation.answer({**values, "paused": [*choices.current()]}, show)


def _show_paused(choices: "Pauses") -> None:
    for each in choices.current():
        print_line(with_local_times(str(each)))
    if not choices.current():
        print_line("nothing is paused")


def _pauses() -> "Pauses":
    from commonplace.daemon.capture.pauses import user_pauses
    from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files

    make_daemon_folders(user_daemon_files())
    return user_pauses()


def _target(invocation: Invocation, project: str | None, conversation: str | None) -> "tuple[PauseKind, str]":
    """What to pause. Raises UsageError for both options or a missing folder, NotFound for an unknown conversation."""
    if project is not None and conversation is not None:
        raise UsageError("--project and --conversation cannot be combined", hint="Pause one, then the other.")
    if project is not None:
        folder = os.path.realpath(os.path.expanduser(project))
        if not os.path.isdir(folder):
            raise UsageError(f"no such folder: {project}", hint="Name the project's folder.")
        return "project", folder
    if conversation is not None:
        return "conversation", _id_in_its_program(invocation, conversation)
    return "all", ""


def _id_in_its_program(invocation: Invocation, id_: str) -> str:
    """The id in the program it took place in; one of our ids is looked up. Raises NotFound, UsageError."""
    if not id_.strip():
        raise UsageError("the conversation id is empty", hint="`commonplace conversation list` lists them.")
    if not id_.startswith("c-"):
        return id_
    with invocation.memory() as memory:
        return memory.conversations.show(id_, last=1)[0].source_id


def _target_text(kind: "PauseKind", what: str) -> str:
    return "everything" if kind == "all" else f"{kind} {what}"


app = typer.Typer(
    help="Record, list, show and erase conversations, and switch what they are used for.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)

STANDARD_INPUT: Final = "-"
ConversationId = Annotated[str, typer.Argument(metavar="ID", help="The conversation's id, or its beginning.")]


@app.command()
def add(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="A file; `-` or nothing reads standard input.")] = "-",
    interface: Annotated[str, typer.Option(metavar="NAME", help="The program it took place in.")] = "",
    source_id: Annotated[str, typer.Option("--id", metavar="ID", help="Its id in that program.")] = "",
    title: Annotated[str, typer.Option(help="A title.")] = "",
    trust: Annotated[
        str, typer.Option(help=f"How far to trust it: {', '.join(TRUSTS)}.", autocompletion=offer(*TRUSTS))
    ] = "told",
) -> None:
    """Record a conversation: JSON, JSON Lines, or text with `User:` and `Assistant:`.

    Adding it again adds only new messages; a conversation that grows needs an --id for that. Exports and folders of
    other programs are read as `commonplace import` reads them.

    \b
    Examples:
      commonplace conversation add talk.md --title "The boat"
      commonplace conversation add session.jsonl --interface claude-code --id 7f3a
      printf 'User: My boat is called Argo.\\n' | commonplace conversation add
    """
    invocation = invocation_of(context)
    if trust not in TRUSTS:
        raise UsageError(f"no such trust: {trust!r}", hint=f"Choose from: {', '.join(TRUSTS)}.")
    if file == STANDARD_INPUT and sys.stdin.isatty():
        invocation.inform("Type the conversation; finish with Ctrl-D.")
    name = "standard input" if file == STANDARD_INPUT else file
    with invocation.memory() as memory, ProgressLine(invocation, PROGRESS_WORDS) as progress:
        content, kind = _content_and_kind(file, name, memory)
        if kind:
            _refuse_options(name, kind, interface or source_id or title or trust != "told")
            report = _import(file, content, name, memory, progress)
        else:
            recorded = memory.conversations.add(
                content,
                name=name,
                interface=interface,
                source_id=source_id,
                title=title,
                trust=trust,
                progress=progress,
            )
    if kind:
        answer_import(invocation, report)
    else:
        invocation.answer({"recorded": recorded}, lambda: print_line(_told(recorded)))


@app.command("list")
def list_(
    context: typer.Context,
    interface: Annotated[str | None, typer.Option(metavar="NAME", help="Only from this program.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only in this project.")] = None,
    since: Annotated[str | None, typer.Option(help="Only with messages since: 2026-03-01, yesterday, 7d.")] = None,
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="At most this many, newest first.")] = None,
) -> None:
    """List conversations, newest first.

    \b
    Examples:
      commonplace conversation list
      commonplace conversation list --interface claude-code --since 7d -n 5 --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        threads = memory.conversations.list(
            interface=interface, project=project, since=since, limit=limit, zone=local_zone(invocation)
        )
    rows = [_row(each) for each in threads]
    invocation.answer(
        {"conversations": [shapes.thread_shape(each) for each in threads]},
        lambda: print_table(["id", "started", "turns", "interface", "project", "title"], rows),
    )


def _row(thread: Thread) -> tuple[str, ...]:
    started, turns = local_time(thread.started), str(thread.count)
    use = "" if thread.memory == "on" else f" (memory {thread.memory})"
    return thread.id, started, turns, thread.interface, thread.project or "-", f"{thread.title}{use}"


@app.command()
def show(
    context: typer.Context,
    id: ConversationId,
    turn: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only this turn.")] = None,
    turns: Annotated[str | None, typer.Option(metavar="FIRST-LAST", help="These turns, such as 3-8 or 3-.")] = None,
) -> None:
    """Print a conversation with speakers and times.

    \b
    Examples:
      commonplace conversation show c-4f1d20b7a9e3
      commonplace conversation show c-4f --turns 3-8
    """
    invocation = invocation_of(context)
    first, last = _range(turn, turns)
    with invocation.memory() as memory:
        thread, messages = memory.conversations.show(id, first=first, last=last)
        extractions = memory.learning.extractions(thread.id)
    numbered = list(enumerate(messages, start=first))
    summary = " ".join(each.extraction.summary for each in extractions if each.extraction.summary)
    values = {
        "conversation": shapes.thread_shape(thread),
        "summary": summary,
        "messages": [shapes.message_shape(number, each) for number, each in numbered],
    }
    invocation.answer(values, lambda: _show(thread, numbered, invocation, summary=summary))


@app.command()
def close(context: typer.Context, id: ConversationId) -> None:
    """Mark a conversation as finished; recording more messages reopens it.

    \b
    Example:
      commonplace conversation close c-4f1d20b7a9e3
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        thread = memory.conversations.close(id)
    invocation.answer(
        {"conversation": shapes.thread_shape(thread)},
        lambda: print_line(f"closed {thread.id}: {thread.title}, {_number(thread.count)}"),
    )


@app.command()
def memory(
    context: typer.Context,
    id: ConversationId,
    use: Annotated[
        str,
        typer.Argument(metavar="USE", help=f"What for: {', '.join(MEMORY_USES)}.", autocompletion=offer(*MEMORY_USES)),
    ],
) -> None:
    """Switch what a conversation is used for: on, off or isolated.

    on: search finds it, facts are learned from it, and prompts are given passages of it. off: search finds it, and
    nothing else. isolated: only `search --source isolated` finds it. Facts that were learned before stay: forget them
    with `commonplace forget`. The setting sources.isolated isolates a whole program or project.

    \b
    Examples:
      commonplace conversation memory c-4f1d20b7a9e3 off
      commonplace conversation memory c-4f1d20b7a9e3 isolated
    """
    invocation = invocation_of(context)
    if use not in MEMORY_USES:
        raise UsageError(f"no such use: {use!r}", hint=f"Choose from: {', '.join(MEMORY_USES)}.")
    with invocation.memory() as opened:
        thread = opened.conversations.use(id, use)
    invocation.answer(
        {"conversation": shapes.thread_shape(thread)},
        lambda: print_line(f"memory is {thread.memory} for {thread.id}: {thread.title}"),
    )


@app.command()
def erase(
    context: typer.Context,
    id: ConversationId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase a conversation and its corrections from every file of the memory; cannot be undone.

    Entries that were learned from it are erased too; those that you approved stay, without their quotes.

    \b
    Example:
      commonplace conversation erase c-4f1d20b7a9e3
    """
    invocation = invocation_of(context)
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"erasing {id} needs confirmation", hint="Add --yes; it cannot be undone.")
    with invocation.memory() as memory:
        if not yes:
            thread, _ = memory.conversations.show(id, last=1)
            id = thread.id
            asked = f"Erase {id}, {printable(thread.title)!r}, {_number(thread.count)}, for good?"
            typer.confirm(asked, abort=True, err=True)
        thread = memory.conversations.erase(id)
    invocation.answer(
        {"erased": {"id": thread.id, "messages": thread.count}},
        lambda: print_line(f"erased {thread.id}: {_number(thread.count)}"),
    )


@app.command()
def prune(
    context: typer.Context,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Whose last message is older: 180d, 1 year, 2026-01-01.")
    ],
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Only from this program.")] = "",
    facts: Annotated[
        str, typer.Option(metavar="keep|forget", help="What was learned: keep it without quotes, or forget it too.")
    ] = "keep",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Forget old conversations everywhere: messages, search, quotes; cannot be undone.

    Transcripts of your agents and imports do not bring them back. The setting upkeep.retention does this each night.

    \b
    Examples:
      commonplace conversation prune --older-than 180d --dry-run
      commonplace conversation prune --older-than "1 year" --source chatgpt --yes
    """
    invocation = invocation_of(context)
    if facts not in ("keep", "forget"):
        raise UsageError(f"no such choice: {facts!r}", hint="Choose from: keep, forget.")
    chosen: FactsKept = "forget" if facts == "forget" else "keep"
    if not (yes or dry_run or sys.stdin.isatty()):
        raise UsageError("forgetting conversations needs confirmation", hint="Add --yes; it cannot be undone.")
    with invocation.memory() as memory:
        threads = memory.conversations.prune(older_than, source=source, facts=chosen, dry_run=True)
        if threads and not (yes or dry_run):
            typer.confirm(f"Forget {counted(len(threads), 'conversation')} for good?", abort=True, err=True)
        if not dry_run:
            threads = memory.conversations.prune(older_than, source=source, facts=chosen)

    def show() -> None:
        for thread in threads:
            said = "would forget" if dry_run else "forgot"
            print_line(f"{said} {thread.id}  {thread.interface}  {local_time(thread.updated)}  {thread.title}")
        number = counted(len(threads), "conversation")
        invocation.inform(f"{number}{', nothing was changed' if dry_run else ''}")

    pruned = [shapes.thread_shape(each) for each in threads]
    invocation.answer({"dry_run": dry_run, "count": len(pruned), "forgotten": pruned}, show)


def _content_and_kind(file: str, name: str, memory: "Memory") -> tuple[bytes, str]:
    """The content of a file, and the kind of export that it is; empty for one conversation, and if nobody knows it.

    An export may be too large to be read whole: then the content is empty, unless it is standard input.
    """
    from commonplace.memory.imports import ONE_CONVERSATION

    if file == STANDARD_INPUT:
        content = _content(file)
        kind = memory.imports.kind_of_content(content, name=name)
    else:
        kind = memory.imports.kind_of(file) if os.path.exists(file) else ""
        content = _content(file) if kind in ("", ONE_CONVERSATION) else b""
    return content, "" if kind == ONE_CONVERSATION else kind


def _refuse_options(file: str, kind: str, is_named: object) -> None:
    """Raise UsageError if options for one conversation are given for an export."""
    if is_named:
        message = f"recognised as {kind}, which says itself what its conversations are"
        raise UsageError(message, path=file, hint="Leave out --interface, --id, --title and --trust.")


def _import(file: str, content: bytes, name: str, memory: "Memory", progress: ProgressLine) -> "ImportReport":
    if file == STANDARD_INPUT:
        return memory.imports.run_content(content, name=name, progress=progress)
    return memory.imports.run([file], pauses_of=pauses_of_person(), progress=progress)


def _content(file: str) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the file: {error.strerror}", path=file, hint="Name a file that exists."
        ) from error


def _told(recorded: RecordResult) -> str:
    return f"{recorded.id}: {_number(recorded.added)} added, {recorded.known} known"


def _number(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _range(turn: int | None, turns: str | None) -> tuple[int, int | None]:
    """The first and last turn to show. Raises UsageError for anything else."""
    if turn and turns:
        raise UsageError("--turn and --turns cannot be combined", hint="Use one of them.")
    if turn:
        return turn, turn
    first, dash, last = (turns or "1-").partition("-")
    if not first.isdecimal() or not dash or not (last.isdecimal() or not last):
        raise UsageError(f"--turns {turns}: not a range of turns", hint="Write it as --turns 3-8.")
    return int(first), int(last) if last else None


def _show(thread: Thread, messages: list[tuple[int, Message]], invocation: Invocation, *, summary: str) -> None:
    trust = f"{thread.trust}, unverified: a program says who spoke" if thread.is_claim else thread.trust
    use = "" if thread.memory == "on" else f", memory {thread.memory}"
    print_line(f"{thread.title}  ({thread.interface}, {_number(thread.count)}, {trust}{use})")
    if summary:
        print_line(f"summary: {summary}")
    for number, each in messages:
        print_line()
        print_line(f"{number:>3}. {each.author or each.role}  {local_time(each.at)}")
        print_line(textwrap.indent(each.text, "     "))
    if not messages:
        invocation.inform(f"no such turns: the conversation has {thread.count}")
