"""`commonplace confirm | forget | load | erase`: what is known holds still, holds for nobody, or is gone."""

import sys
from typing import Annotated

import typer

from commonplace.cli.change import show_erased
from commonplace.cli.door import defused, door_of
from commonplace.cli.entry import EntryId
from commonplace.cli.fact_view import answer_remembered, said, short
from commonplace.errors import UsageError


def confirm(context: typer.Context, id: EntryId) -> None:
    """Say that an entry is still true, today.

    \b
    Example:
      commonplace confirm 3f9a1c
    """
    door = door_of(context)
    with door.opened() as memory:
        answer_remembered(door, memory.entries.confirm(id))


def forget(
    context: typer.Context,
    id: EntryId,
    reason: Annotated[str, typer.Option(metavar="R", help="Why.")] = "",
) -> None:
    """Forget an entry: its note stays with that mark, and nothing recalls it. `commonplace undo` takes that back.

    \b
    Example:
      commonplace forget 3f9a1c --reason "never true"
    """
    door = door_of(context)
    with door.opened() as memory:
        answer_remembered(door, memory.entries.forget(id, reason=reason))
    door.aside(f"`commonplace erase {id}` removes it for good")


def load(
    context: typer.Context,
    id: EntryId,
    always: Annotated[
        bool, typer.Option("--always/--on-demand", help="Before every prompt, or when asked for.")
    ] = True,
) -> None:
    """Put an entry before every prompt, or back among those that are recalled when they are asked for.

    \b
    Examples:
      commonplace load 3f9a1c
      commonplace load 3f9a1c --on-demand
    """
    door = door_of(context)
    with door.opened() as memory:
        answer_remembered(door, memory.entries.load(id, always=always))


def erase(
    context: typer.Context,
    id: EntryId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove an entry for good, with all that is known of it; cannot be undone.

    \b
    Example:
      commonplace erase 3f9a1c
    """
    door = door_of(context)
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"erasing {id} needs a yes", hint="Add --yes; it cannot be undone.")
    with door.opened() as memory:
        if not yes:
            fact = memory.entries.show(id).fact
            id = fact.id
            asked = f"Erase {short(id)}, {defused(said(fact))!r}, for good?"
            typer.confirm(asked, abort=True, err=True)
        erased = memory.entries.erase(id)
    door.answer({"erased": erased}, lambda: show_erased(erased))
