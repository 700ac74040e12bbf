"""`commonplace init`: make or adopt a vault."""

from pathlib import Path
from typing import Annotated

import typer

from commonplace.app import init_vault
from commonplace.cli.door import door_of, print_line


def init(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="The vault's folder; made if it is not there.")] = Path(
        "."
    ),
) -> None:
    """Make or adopt a vault: git behind it, and this machine knows it. No note is changed.

    \b
    Examples:
      commonplace init ~/Notes
      commonplace init .
    """
    door = door_of(context)
    made = init_vault(path, flags=door.flags)

    def show() -> None:
        print_line(f"vault: {made.root}")
        print_line(f"git: {'made, with a first commit of what was there' if made.created else 'adopted as it is'}")
        print_line(f"data: {made.data}")

    door.answer(
        {"vault": str(made.root), "git": "created" if made.created else "adopted", "data": str(made.data)}, show
    )
