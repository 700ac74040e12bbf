"""`commonplace commitment list | close`: who has to do what by when."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.cli.fact_view import brief, short
from commonplace.cli.invocation import invocation_of, print_line, print_table
from commonplace.cli.parameters import DryRun

if TYPE_CHECKING:
    from commonplace.memory.commitments import Commitment

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def commitment() -> None:
    """List who has to do what by when, and close what is done.

    \b
    Examples:
      commonplace commitment list --open
      commonplace commitment close 3f9a1c
    """


@app.command("list")
def list_(
    context: typer.Context,
    who: Annotated[str, typer.Option(metavar="NAME", help="Of this person; `me` for your own.")] = "",
    is_open: Annotated[bool, typer.Option("--open", help="Those that are not done, in time or late.")] = False,
    is_closed: Annotated[bool, typer.Option("--closed", help="Those that are done or cancelled.")] = False,
    is_overdue: Annotated[bool, typer.Option("--overdue", help="Those whose day has passed.")] = False,
) -> None:
    """List commitments, the nearest deadline first, each with the note and the line that states it.

    They come from lines such as `- [ ] Ada: send the offer by 3 May`, and from conversations.

    \b
    Examples:
      commonplace commitment list
      commonplace commitment list --who Ada --open
      commonplace commitment list --overdue --json
    """
    invocation = invocation_of(context)
    states = [
        *(["open", "overdue"] if is_open else ["overdue"] if is_overdue else []),
        *(["closed"] if is_closed else []),
    ]
    with invocation.memory() as memory:
        commitments = memory.commitments.list(who=who, states=states)

    def show() -> None:
        print_table(["id", "who", "what", "due", "state", "where"], [_row(each) for each in commitments])
        if not commitments:
            is_filtered = who or states
            hint = "none fits" if is_filtered else "a line such as `- [ ] @Ada send the offer by 2027-05-03` is one"
            invocation.inform(f"no commitments; {hint}")

    invocation.answer({"count": len(commitments), "commitments": commitments}, show)


@app.command("close")
def close(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id, or its last six characters, as `list` prints it.")],
    dry_run: DryRun = False,
) -> None:
    """Close a commitment: tick its line in the note, or end its entry.

    \b
    Examples:
      commonplace commitment close 3f9a1c
      commonplace commitment close 3f9a1c --dry-run
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        result = memory.commitments.close(id, dry_run=dry_run)

    def show() -> None:
        where, deed = f"{result.commitment.path}:{result.commitment.line}", "closed" if result.changed else "unchanged"
        if result.difference is not None:
            print_line(result.difference)
        print_line(f"{'would close' if dry_run else deed}: {brief(result.commitment.what)} ({where})")

    invocation.answer(asdict(result), show)


def _row(commitment: "Commitment") -> tuple[str, ...]:
    where = f"{commitment.path}:{commitment.line}"
    who, what = commitment.who, brief(commitment.what)
    return short(commitment.fact), who, what, commitment.due or "-", commitment.state, where
