"""`commonplace day`: what happened on a day."""

from dataclasses import asdict
from typing import Annotated

import typer

from commonplace.cli.invocation import invocation_of, local_zone, print_line, print_linked


def day(
    context: typer.Context,
    day: Annotated[str, typer.Argument(metavar="DAY", help="A day: `today`, `yesterday`, 2026-03-01.")] = "today",
) -> None:
    """Show what happened on a day: conversations, what was learned, writes, your own edits, meetings.

    \b
    Examples:
      commonplace day
      commonplace day yesterday
      commonplace day 2026-03-01 --json
    """
    invocation = invocation_of(context)
    zone = local_zone(invocation)
    with invocation.memory() as memory:
        happenings, link = memory.days.show(day, zone=zone), memory.notes.link

    def show() -> None:
        if not happenings:
            print_line(f"nothing is known of {day}")
        for each in happenings:
            time, by = each.at.astimezone(zone).strftime("%H:%M"), f"  ({each.by})" if each.by else ""
            print_linked(
                f"{time}  {each.kind:<12}  {each.title}{by}", {each.path: link(each.path)} if each.path else {}
            )

    invocation.answer({"happenings": [asdict(each) | {"at": each.at.isoformat()} for each in happenings]}, show)
