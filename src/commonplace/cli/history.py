"""`commonplace undo | log | grant`: undo changes, list them, and allow an agent one change."""

from itertools import groupby
from typing import Annotated, Final

import typer

from commonplace.cli.invocation import invocation_of, local_time, print_line, print_table, print_text
from commonplace.cli.note import DryRun, NotePath, first_line, show_change
from commonplace.memory.notes import AuditEntry, ChangeDetail, LoggedChange
from commonplace.model import Terms

_COLUMNS: Final = ("commit", "when", "who", "what", "note", "why")


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
    actor: Annotated[str, typer.Option(metavar="WHO", help="Only changes by a person, agent or job.")] = "",
    verb: Annotated[str, typer.Option(metavar="VERB", help="Only such changes: write, move, remember, undo, ...")] = "",
    before: Annotated[str, typer.Option(metavar="MARK", help="The page after the change with this mark.")] = "",
    commit: Annotated[str, typer.Option(metavar="COMMIT", help="Show the diff of this change instead.")] = "",
) -> None:
    """List what was written through Commonplace, by whom and why; or show the diff of one change.

    \b
    Examples:
      commonplace log
      commonplace log --path People/Ada.md -n 5 --json
      commonplace log --actor agent --verb remember
      commonplace log --commit 3f2a9c1b
    """
    invocation = invocation_of(context)
    if commit:
        with invocation.memory() as memory:
            detail = memory.notes.change(commit)
        invocation.answer({"change": detail.change, "differences": detail.differences}, lambda: _show_detail(detail))
        return
    if actor or verb or before:
        with invocation.memory() as memory:
            changes = memory.notes.changes(path=path or "", actor=actor, verb=verb, before=before, limit=limit)
        lines = [_change_row(each) for each in changes]
        invocation.answer({"changes": changes}, lambda: print_table([*_COLUMNS, "state"], lines))
        return
    with invocation.memory() as memory:
        entries = memory.notes.log(path=path, limit=limit)
    rows = [_log_row(list(mutation)) for _, mutation in groupby(entries, key=lambda each: each.commit)]
    invocation.answer({"entries": entries}, lambda: print_table(_COLUMNS, rows))


def _change_row(change: LoggedChange) -> tuple[str, ...]:
    main = next((each for each in change.notes if each.destination), change.notes[0])
    more = f" (+{len(change.notes) - 1})" if len(change.notes) > 1 else ""
    return (
        change.commit[:10],
        local_time(change.when),
        _author(change),
        change.verb,
        (f"{main.path} -> {main.destination}" if main.destination else main.path) + more,
        first_line(change.reason),
        "undone" if change.is_undone else "",
    )


def _author(change: LoggedChange | AuditEntry) -> str:
    """Who made a change: the kind of actor, its program and its person."""
    parts = ", ".join(filter(None, (change.origin, f"for {change.person}" if change.person else "")))
    return f"{change.actor} ({parts})" if parts else change.actor


def _show_detail(detail: ChangeDetail) -> None:
    print_line("  ".join(filter(None, _change_row(detail.change))))
    for each in detail.differences:
        print_text(each.difference or f"{each.path}: {each.hidden}\n")
        if each.is_cut:
            print_line("(the rest of this diff is left out)")
    undo_text = f"cannot be undone: {detail.change.why_not}" if detail.change.why_not else ""
    print_line(undo_text or f"`commonplace undo --commit {detail.change.commit[:10]}` undoes it")


def _log_row(entries: list[AuditEntry]) -> tuple[str, ...]:
    """One row of the log: the main note of a commit, and how many others it changed."""
    main = next((each for each in entries if each.destination), entries[-1])
    more = f" (+{len(entries) - 1})" if len(entries) > 1 else ""
    return (
        (main.commit or "")[:10],
        local_time(main.when),
        _author(main),
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
