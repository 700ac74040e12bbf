"""`commonplace user`: what every session knows of you (USER.md), or of a channel (CHANNEL.md), by operations."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from commonplace.cli.invocation import (
    Invocation,
    invocation_of,
    local_time,
    print_linked,
    print_table,
    print_text,
    show_help,
)
from commonplace.cli.parameters import DryRun
from commonplace.errors import UsageError
from commonplace.memory import profile_shapes
from commonplace.model.profile import (
    REASON_WORDS,
    OperationName,
    OperationResult,
    ProfileChange,
    ProfileLogEntry,
    ProfileOperation,
)

app = typer.Typer(
    help="Show USER.md or a channel's CHANNEL.md, and change single statements in it.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)

Line = Annotated[str, typer.Argument(metavar="TEXT", help="One statement, on one line.")]
Match = Annotated[
    str, typer.Argument(metavar="MATCH", help="The statement, or a part of it with `...` where words are left out.")
]
Heading = Annotated[str, typer.Option(metavar="H", help="The section with this heading.")]
Subheading = Annotated[str, typer.Option(metavar="S", help="The section with this heading below H.")]
Channel = Annotated[str, typer.Option(metavar="T", help="The CHANNEL.md of this channel instead of USER.md.")]

_OUTCOMES: Final = {
    "applied": "done",
    "noop_dup": "already there, nothing changed",
    "noop_no_match": "nothing matches, nothing changed",
    "proposed": "waits for approval",
}
_REASONS: Final = {
    **REASON_WORDS,
    "no_such_heading": "there is no such heading; add it with --create, or with `commonplace user add-heading`",
    "ambiguous": "several statements match; give the whole statement, or name the section with --heading",
}


@app.command("show")
def show(context: typer.Context, channel: Channel = "") -> None:
    """Print the note, and what could be better in it.

    \b
    Examples:
      commonplace user show
      commonplace user show --channel team --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        profile, link = memory.profiles.show(channel=channel), memory.notes.link

    def show_note() -> None:
        if not profile.exists:
            invocation.inform(f"{profile.path} does not exist yet; `commonplace user append` creates it")
            return
        print_text(profile.text)
        for problem in profile.problems:
            invocation.inform(f"{problem.path}:{problem.line} {problem.message}")
        for remark in profile.remarks:
            invocation.inform(remark)

    invocation.answer({"profile": profile_shapes.profile_shape(profile, link)}, show_note)


@app.command("append")
def append(
    context: typer.Context,
    text: Line,
    heading: Heading = "",
    subheading: Subheading = "",
    create: Annotated[bool, typer.Option("--create", help="Add the headings if the note does not have them.")] = False,
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Add one statement, at the end of a section or before the first one.

    \b
    Examples:
      commonplace user append "Prefers green tea."
      commonplace user append "Allergic to nuts." --heading Food --subheading Allergies
      commonplace user append "Has a cat called Miso." --heading Pets --create
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        change = memory.profiles.append(
            text, heading=heading, subheading=subheading, channel=channel, create=create, dry_run=dry_run
        )
        link = memory.notes.link(change.path)
    _answer(invocation, change, link)


@app.command("add-heading")
def add_heading(
    context: typer.Context,
    heading: Annotated[str, typer.Argument(metavar="HEADING", help="The new heading, or the one above --subheading.")],
    lines: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Statements below it.")] = None,
    subheading: Annotated[str, typer.Option(metavar="S", help="Add this heading below HEADING.")] = "",
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Add a heading, with statements below it.

    \b
    Examples:
      commonplace user add-heading Pets "Has a cat called Miso."
      commonplace user add-heading Food --subheading Allergies "Nuts."
    """
    operation = ProfileOperation("add_heading", heading, subheading, lines=tuple(lines or ()))
    _edit(context, operation, channel=channel, dry_run=dry_run)


@app.command("remove")
def remove(
    context: typer.Context,
    match: Match,
    heading: Heading = "",
    subheading: Subheading = "",
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Remove one statement.

    \b
    Examples:
      commonplace user remove "Prefers green tea."
      commonplace user remove "Prefers green..." --heading Food --dry-run
    """
    operation = ProfileOperation("remove", heading, subheading, match=match)
    _edit(context, operation, channel=channel, dry_run=dry_run)


@app.command("replace")
def replace(
    context: typer.Context,
    match: Match,
    text: Line,
    heading: Heading = "",
    subheading: Subheading = "",
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Replace one statement by another, in its place.

    \b
    Example:
      commonplace user replace "Works at Acme..." "Works at Norrfors since 2026."
    """
    operation = ProfileOperation("replace", heading, subheading, text, match)
    _edit(context, operation, channel=channel, dry_run=dry_run)


@app.command("remove-heading")
def remove_heading(
    context: typer.Context,
    heading: Annotated[str, typer.Argument(metavar="HEADING", help="The heading to remove, with all below it.")],
    subheading: Annotated[str, typer.Option(metavar="S", help="Remove only this heading below HEADING.")] = "",
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Remove a heading with everything below it.

    \b
    Examples:
      commonplace user remove-heading Pets --dry-run
      commonplace user remove-heading Food --subheading Allergies
    """
    _edit(context, ProfileOperation("remove_heading", heading, subheading), channel=channel, dry_run=dry_run)


@app.command("apply")
def apply(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help='JSON: {"ops": [...]}; `-` for standard input.')],
    channel: Channel = "",
    dry_run: DryRun = False,
) -> None:
    """Apply several operations from a file, in one commit; each has its own outcome.

    \b
    Example:
      echo '{"ops": [{"op": "append", "heading": "Food", "line": "Likes leeks."}]}' | commonplace user apply -
    """
    invocation = invocation_of(context)
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}", hint="Give a text file in UTF-8.") from error
    with invocation.memory() as memory:
        change = memory.profiles.edit(text, channel=channel, dry_run=dry_run)
        _answer(invocation, change, memory.notes.link(change.path))


@app.command("log")
def log(
    context: typer.Context,
    channel: Channel = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most rows.")] = 20,
) -> None:
    """List every operation on the note with its outcome and who asked for it, newest first.

    \b
    Examples:
      commonplace user log
      commonplace user log --channel team --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        entries = memory.profiles.log(channel=channel, limit=limit)

    def show_log() -> None:
        if not entries:
            invocation.inform("no operation was recorded yet")
        else:
            print_table(("when", "who", "operation", "outcome", "words"), map(_log_row, entries))

    shapes = [profile_shapes.log_shape(each) for each in entries]
    invocation.answer({"count": len(shapes), "operations": shapes}, show_log)


def _log_row(entry: ProfileLogEntry) -> tuple[str, ...]:
    outcome = f"{entry.outcome}:{entry.reason}" if entry.reason and entry.outcome != "noticed" else entry.outcome
    operation = entry.operation
    words = " -> ".join(str(operation[name]) for name in ("match", "line") if operation.get(name))
    place = " > ".join(str(operation[name]) for name in ("heading", "subheading") if operation.get(name))
    who = f"{entry.actor} {entry.origin}".strip()
    return local_time(entry.at), who, str(operation.get("op", "")), outcome, words or place or entry.reason


def _edit(context: typer.Context, operation: ProfileOperation, *, channel: str, dry_run: bool) -> None:
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        change = memory.profiles.edit([operation], channel=channel, dry_run=dry_run)
        link = memory.notes.link(change.path)
    _answer(invocation, change, link)


def _answer(invocation: Invocation, change: ProfileChange, link: str) -> None:
    """Print what became of each operation; a rejected one alone is an error."""

    def show_change() -> None:
        for result in change.results:
            print_linked(f"{change.path}: {_said(result)}", {change.path: link})
        if change.difference:
            print_text(change.difference)
        if change.difference is not None:
            invocation.inform("dry run, nothing was written")
        for remark in change.remarks:
            invocation.inform(remark)

    invocation.answer(profile_shapes.change_shape(change), show_change)
    if change.results and all(each.outcome == "rejected" for each in change.results):
        raise typer.Exit(3)


def _said(result: OperationResult) -> str:
    name: OperationName | str = result.operation.op.replace("_", "-")
    if result.outcome == "rejected":
        return f"{name} refused: {_REASONS.get(result.reason, result.reason.replace('_', ' '))}"
    return f"{name} {_OUTCOMES[result.outcome]}" + (f" ({result.review})" if result.review else "")
