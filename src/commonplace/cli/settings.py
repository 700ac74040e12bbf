"""`commonplace settings`: what is set, and where each value comes from."""

import os

import typer

from commonplace.cli.door import door_of, help_alone, print_line, print_table
from commonplace.settings import KNOBS, person_file

app = typer.Typer(
    help="What is set, and where it comes from.",
    callback=help_alone,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.command("show")
def show(context: typer.Context) -> None:
    """List every setting with its value and the file, variable or flag that set it.

    \b
    Examples:
      commonplace settings show
      commonplace --set retrieval.default_k=5 settings show --json
    """
    door = door_of(context)
    loaded = door.settings()
    rows = [
        {"key": key, "value": loaded.value(key), "from": loaded.origins.get(key, "default"), "doc": knob.doc}
        for key, knob in KNOBS.items()
    ]

    def print_rows() -> None:
        print_table(["key", "value", "from"], [(row["key"], _shown(row["value"]), row["from"]) for row in rows])

    door.answer({"settings": rows}, print_rows)


@app.command("keys")
def keys(context: typer.Context) -> None:
    """List every setting that there is, with its default and its meaning.

    \b
    Example:
      commonplace settings keys
    """
    rows = [{"key": key, "default": knob.default, "doc": knob.doc} for key, knob in KNOBS.items()]
    shown = [(knob.key, _shown(knob.default), knob.doc) for knob in KNOBS.values()]
    door_of(context).answer({"settings": rows}, lambda: print_table(["key", "default", "meaning"], shown))


@app.command("path")
def path(context: typer.Context) -> None:
    """Print the file of your own settings; a vault may have a `.commonplace.toml` beside it.

    \b
    Example:
      commonplace settings path
    """
    door = door_of(context)
    person = person_file()
    exists = os.path.lexists(person)
    door.answer(
        {"path": str(person), "exists": exists}, lambda: print_line(f"{person}{'' if exists else '  (not there yet)'}")
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    return "(not set)" if value is None else str(value)
