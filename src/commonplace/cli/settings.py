"""`commonplace settings`: what is set, and where each value comes from."""

import typer

from commonplace.cli.door import door_of, help_alone, print_line, print_table
from commonplace.settings import KNOBS

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


@app.command("path")
def path(context: typer.Context) -> None:
    """Print the files that settings are read from.

    \b
    Example:
      commonplace settings path
    """
    door = door_of(context)
    loaded = door.settings()
    person, vault = loaded.person_file, loaded.vault_file

    def print_paths() -> None:
        print_line(f"{person}{'' if person.exists() else '  (not there yet)'}")
        if vault:
            print_line(f"{vault}  (in the vault: harmless settings only)")

    door.answer({"person": str(person), "exists": person.exists(), "vault": vault}, print_paths)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    return "(not set)" if value is None else str(value)
