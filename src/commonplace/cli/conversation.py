"""`commonplace conversation add | list | show | erase`: what was said, kept and found beside the notes."""

import sys
import textwrap
from pathlib import Path
from typing import Annotated, Final

import typer

from commonplace.cli.door import Door, defused, door_of, help_alone, local_zone, print_line, print_table
from commonplace.errors import UsageError
from commonplace.memory import shapes
from commonplace.model import TRUSTS, Message, Recorded, Thread

app = typer.Typer(
    help="Conversations: kept beside the vault, and searched with it.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=help_alone,
)

STANDARD_INPUT: Final = "-"
ConversationId = Annotated[str, typer.Argument(metavar="ID", help="The conversation's id, or its beginning.")]


@app.command()
def add(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="A file; - or nothing for standard input.")] = "-",
    interface: Annotated[str, typer.Option(metavar="NAME", help="The program in which it was held.")] = "",
    source_id: Annotated[str, typer.Option("--id", metavar="ID", help="Its id in that program.")] = "",
    title: Annotated[str, typer.Option(help="What it is about.")] = "",
    trust: Annotated[str, typer.Option(help=f"How it is known: {', '.join(TRUSTS)}.")] = "told",
) -> None:
    """Keep a conversation, or what is new of one: JSON, JSON Lines, or text with `User:` and `Assistant:`.

    Adding it again adds what is new; for that a conversation that grows needs an id.

    \b
    Examples:
      commonplace conversation add talk.md --title "The boat"
      commonplace conversation add session.jsonl --interface claude-code --id 7f3a
      printf 'User: My boat is called Argo.\\n' | commonplace conversation add
    """
    door = door_of(context)
    if trust not in TRUSTS:
        raise UsageError(f"no trust is called {trust!r}", hint=f"Trust: {', '.join(TRUSTS)}.")
    if file == STANDARD_INPUT and sys.stdin.isatty():
        door.aside("Type the conversation; end it with Ctrl-D.")
    content = _content(file)
    with door.opened() as memory:
        recorded = memory.conversations.add(
            content,
            name="standard input" if file == STANDARD_INPUT else file,
            interface=interface,
            source_id=source_id,
            title=title,
            trust=trust,
        )
    door.answer({"recorded": recorded}, lambda: print_line(_told(recorded)))


@app.command("list")
def list_(
    context: typer.Context,
    interface: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this program.")] = None,
    since: Annotated[str | None, typer.Option(help="Only those that went on since: 2026-03-01, yesterday, 7d.")] = None,
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="The newest so many.")] = None,
) -> None:
    """List conversations, newest first.

    \b
    Examples:
      commonplace conversation list
      commonplace conversation list --interface claude-code --since 7d -n 5 --json
    """
    door = door_of(context)
    with door.opened() as memory:
        threads = memory.conversations.list(interface=interface, since=since, limit=limit, zone=local_zone())
    rows = [(each.id, shapes.time_text(each.started), str(each.count), each.interface, each.title) for each in threads]
    door.answer(
        {"conversations": [shapes.thread_shape(each) for each in threads]},
        lambda: print_table(["id", "started", "turns", "interface", "title"], rows),
    )


@app.command()
def show(
    context: typer.Context,
    id: ConversationId,
    turn: Annotated[int | None, typer.Option(min=1, metavar="N", help="This turn alone.")] = None,
    turns: Annotated[str | None, typer.Option(metavar="FIRST-LAST", help="These turns, such as 3-8 or 3-.")] = None,
) -> None:
    """Print a conversation: who said what, and when.

    \b
    Examples:
      commonplace conversation show c-4f1d20b7a9e3
      commonplace conversation show c-4f --turns 3-8
    """
    door = door_of(context)
    first, last = _range(turn, turns)
    with door.opened() as memory:
        thread, messages = memory.conversations.show(id, first=first, last=last)
    numbered = list(enumerate(messages, start=first))
    values = {
        "conversation": shapes.thread_shape(thread),
        "messages": [shapes.message_shape(number, each) for number, each in numbered],
    }
    door.answer(values, lambda: _show(thread, numbered, door))


@app.command()
def close(context: typer.Context, id: ConversationId) -> None:
    """Say that a conversation is finished. What is recorded after that opens it again.

    \b
    Example:
      commonplace conversation close c-4f1d20b7a9e3
    """
    door = door_of(context)
    with door.opened() as memory:
        thread = memory.conversations.close(id)
    door.answer(
        {"conversation": shapes.thread_shape(thread)},
        lambda: print_line(f"closed {thread.id}: {thread.title}, {_number(thread.count)}"),
    )


@app.command()
def erase(
    context: typer.Context,
    id: ConversationId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a conversation for good, from every file of the memory; cannot be undone.

    \b
    Example:
      commonplace conversation erase c-4f1d20b7a9e3
    """
    door = door_of(context)
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"erasing {id} needs a yes", hint="Add --yes; it cannot be undone.")
    with door.opened() as memory:
        if not yes:
            thread, _ = memory.conversations.show(id, last=1)
            id = thread.id
            asked = f"Erase {id}, {defused(thread.title)!r}, {_number(thread.count)}, for good?"
            typer.confirm(asked, abort=True, err=True)
        thread = memory.conversations.erase(id)
    door.answer(
        {"erased": {"id": thread.id, "messages": thread.count}},
        lambda: print_line(f"erased {thread.id}: {_number(thread.count)}"),
    )


def _content(file: str) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=file, hint="Name a file that is there.") from error


def _told(recorded: Recorded) -> str:
    return f"{recorded.id}: {_number(recorded.added)} added, {recorded.known} known"


def _number(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _range(turn: int | None, turns: str | None) -> tuple[int, int | None]:
    """From which turn to which. Raises UsageError for words that say neither."""
    if turn and turns:
        raise UsageError("--turn and --turns are two ways to say one thing", hint="Give one of them.")
    if turn:
        return turn, turn
    first, dash, last = (turns or "1-").partition("-")
    if not first.isdecimal() or not dash or not (last.isdecimal() or not last):
        raise UsageError(f"--turns {turns}: these are no turns", hint="Write them as --turns 3-8.")
    return int(first), int(last) if last else None


def _show(thread: Thread, messages: list[tuple[int, Message]], door: Door) -> None:
    print_line(f"{thread.title}  ({thread.interface}, {_number(thread.count)}, {thread.trust})")
    for number, each in messages:
        print_line()
        print_line(f"{number:>3}. {each.author or each.role}  {shapes.time_text(each.at)}")
        print_line(textwrap.indent(each.text, "     "))
    if not messages:
        door.aside(f"no such turns: it has {thread.count}")
