"""`commonplace undo | log | grant`: undo changes, list them, and allow an agent one change."""

from itertools import groupby
from typing import Annotated

import typer

from commonplace.cli.invocation import invocation_of, print_line, print_table
from commonplace.cli.note import DryRun, NotePath, first_line, show_change
from commonplace.memory.notes import AuditEntry
from commonplace.model import Terms
from commonplace.model.moment import moment_text


def undo(
    context: typer.Context,
    count: Annotated[int, typer.Argument(metavar="[N]", min=1, help="How many changes.")] = 1,
    commit: Annotated[str | None, typer.Option(help="Undo this change instead; an undo can be undone, too.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Undo the newest changes made through Commonplace; what people wrote since stays.

    \b
    Examples:
      commonplace undo
      commonplace undo 3
      commonplace undo --commit 3f2a9c1b
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        done = memory.notes.undo(count, commit=commit, terms=Terms(dry_run=dry_run))

    def show() -> None:
        for each in done:
            show_change(each)
        if commit and len(done) > 1:
            print_line(f"{len(done) - 1} of these came from the last one: what was derived from it is undone too")

    invocation.answer({"undone": done}, show)


def log(
    context: typer.Context,
    path: Annotated[str | None, typer.Option(help="Only changes to this note.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, help="Show at most this many, newest first.")] = 20,
) -> None:
    """List what was written through Commonplace, by whom and why.

    \b
    Examples:
      commonplace log
      commonplace log --path People/Ada.md -n 5 --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        entries = memory.notes.log(path=path, limit=limit)
    rows = [_log_row(list(mutation)) for _, mutation in groupby(entries, key=lambda each: each.commit)]
    invocation.answer({"entries": entries}, lambda: print_table(["commit", "when", "who", "what", "note", "why"], rows))


def _log_row(entries: list[AuditEntry]) -> tuple[str, ...]:
    """One row of the log: the main note of a commit, and how many others it changed."""
    main = next((each for each in entries if each.destination), entries[-1])
    more = f" (+{len(entries) - 1})" if len(entries) > 1 else ""
    return (
        (main.commit or "")[:10],
        moment_text(main.when),
        f"{main.actor} ({main.origin})" if main.origin else main.actor,
        main.verb,
        (f"{main.path} -> {main.destination}" if main.destination else main.path) + more,
        first_line(main.reason),
    )


def grant(
    context: typer.Context,
    path: NotePath,
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long the token is valid.")] = 10,
) -> None:
    """Print a token that lets an agent change one note once.

    \b
    Example:
      commonplace grant "Journal/Today.md"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        token = memory.notes.grant(path, minutes=minutes)
    invocation.answer({"path": path, "grant": token, "minutes": minutes}, lambda: print_line(token))
