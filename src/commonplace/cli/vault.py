"""`commonplace vault`: the vaults on this machine, which one is the default, and where each one is."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import vault_names
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, show_help
from commonplace.errors import CommonplaceError, UsageError

if TYPE_CHECKING:
    from commonplace.settings.registered_vaults import RegisteredVault, RegisteredVaults

app = typer.Typer(
    help="List the vaults on this machine, choose the default one, and tell where one was moved.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)

_Vault = Annotated[
    str,
    typer.Argument(
        metavar="VAULT",
        help="The path of its folder, the folder's name, or its name in `vault list`.",
        autocompletion=vault_names,
    ),
]


@app.command("list")
def list_vaults(context: typer.Context) -> None:
    """List the registered vaults: folder, name, whether it is there, and which one is the default.

    A vault is "ready", "gone" with its folder, or there is "another folder" in its place.

    \b
    Example:
      commonplace vault list
    """
    from commonplace.app.vaults import complete_entry
    from commonplace.settings.registered_vaults import registered_vaults

    for root in registered_vaults().vaults:
        complete_entry(root)
    invocation, registered = invocation_of(context), registered_vaults()
    rows = [_shape(invocation, entry, registered) for entry in registered.entries]

    def show() -> None:
        table = [(row["vault"], row["name"], row["state"] + ", default" * row["default"]) for row in rows]
        print_table(["vault", "name", "state"], table)
        if not rows:
            print_line("No vault is registered. `commonplace init FOLDER` creates or adopts one.")

    invocation.answer({"vaults": rows}, show)


@app.command("use")
def use(context: typer.Context, vault: _Vault) -> None:
    """Make a vault the default one, which commands, hooks and agents use when they name none.

    \b
    Examples:
      commonplace vault use ~/Notes
      commonplace vault use Notes
    """
    from commonplace.app.registration import use_vault
    from commonplace.settings.registered_vaults import registered_vaults

    invocation, entry = invocation_of(context), registered_vaults().select(vault)
    use_vault(entry)
    _warn_of_setting(invocation, entry.root)
    invocation.answer({"default": str(entry.root)}, lambda: print_line(f"default: {entry.root}"))


@app.command("move")
def move(
    context: typer.Context,
    vault: _Vault,
    folder: Annotated[Path, typer.Argument(metavar="NEW_FOLDER", help="Where it is now, or should be.")],
) -> None:
    """Tell Commonplace where a vault is now; its history, conversations, index and settings follow.

    A folder that you have moved already is checked for the same git history. One that is still in its old place is
    moved, on the same disk.

    \b
    Examples:
      commonplace vault move ~/Notes ~/Documents/Notes
      commonplace vault move Notes /media/disk/Notes
    """
    from commonplace.app.registration import move_vault
    from commonplace.settings.registered_vaults import registered_vaults

    invocation = invocation_of(context)
    before = registered_vaults().select(vault).root
    entry, is_moved = move_vault(vault, folder, flags=invocation.flags)
    _warn_of_setting(invocation, entry.root)

    def show() -> None:
        print_line(f"{'moved' if is_moved else 'found'}: {entry.root}")
        print_line(f"was: {before}")

    invocation.answer({"vault": str(entry.root), "was": str(before), "name": entry.name, "moved": is_moved}, show)


@app.command("remove")
def remove(
    context: typer.Context,
    vault: _Vault,
    with_data: Annotated[
        bool,
        typer.Option("--with-data", help="Also its index, recorded conversations, history and your settings for it."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing data.")] = False,
) -> None:
    """Take a vault off the list, so that it is no longer served. Its notes and its git repository stay.

    Its data stays too, and a later `commonplace init` finds it again; with --with-data it is removed for good.

    \b
    Examples:
      commonplace vault remove ~/Old-notes
      commonplace vault remove Old-notes --with-data
    """
    from commonplace.app.registration import data_of, remove_vault
    from commonplace.settings.load import user_vault_file
    from commonplace.settings.registered_vaults import registered_vaults

    invocation, entry = invocation_of(context), registered_vaults().select(vault)
    data, file = data_of(entry, invocation.flags), user_vault_file(entry.root)
    kept = [each for each in (data, file) if each and each.exists()]
    if with_data:
        _agree_to_loss(invocation, entry, kept, yes=yes)
    registered = remove_vault(entry, keeps_data=bool(kept) and not with_data)
    if with_data:
        _delete(kept)

    def show() -> None:
        print_line(f"removed from the list: {entry.root} (your notes stay)")
        for each in kept:
            print_line(f"{'deleted' if with_data else 'stays'}: {each}")
        if registered.default:
            print_line(f"default: {registered.default}")

    shown = {"vault": str(entry.root), "data": [str(each) for each in kept], "data_deleted": with_data}
    invocation.answer({**shown, "default": str(registered.default) if registered.default else None}, show)


def _shape(invocation: Invocation, entry: "RegisteredVault", registered: "RegisteredVaults") -> dict[str, Any]:
    """One vault for programs."""
    from commonplace.app.registration import data_of

    try:
        data, state = str(data_of(entry, invocation.flags)), _state(entry)
    except CommonplaceError as error:  # its settings cannot be read
        data, state = None, error.message
    return {
        "vault": str(entry.root),
        "name": entry.name,
        "default": entry.root == registered.default,
        "state": state,
        "data": data,
    }


def _state(entry: "RegisteredVault") -> str:
    from commonplace.app.vaults import holds_vault

    if holds_vault(entry):
        return "ready"
    return "another folder" if entry.root.is_dir() else "gone"


def _warn_of_setting(invocation: Invocation, root: Path) -> None:
    """Say so if the person's own settings or environment name another vault, which then counts."""
    loaded = invocation.settings()
    named, origin = loaded.settings.vault.root, loaded.origins.get("vault.root", "")
    if named and named.resolve() != root and (origin.startswith("$") or origin.endswith((".toml", ".yaml", ".yml"))):
        invocation.inform(f"{origin} names {named}, which counts before the list of vaults.")


def _agree_to_loss(invocation: Invocation, entry: "RegisteredVault", data: list[Path], *, yes: bool) -> None:
    """Return if the data may go. Raises UsageError where that cannot be asked or the daemon uses it, Exit on a no."""
    from commonplace.client.start import is_daemon_running
    from commonplace.daemon.service.state_files import user_daemon_files

    if is_daemon_running(user_daemon_files()):
        raise UsageError("the daemon is using this data", hint="Stop it first: `commonplace stop`.")
    if yes or not data:
        return
    if invocation.json or not sys.stdin.isatty():
        hint = "Add --yes to delete it, or drop --with-data."
        raise UsageError("recorded conversations would be lost; nothing was changed", hint=hint)
    print_line(f"The index, history and recorded conversations of {entry.root} will be deleted:")
    for each in data:
        print_line(f"  {each}")
    if not typer.confirm("Delete them?", default=False):
        invocation.inform("nothing was changed")
        raise typer.Exit(1)


def _delete(paths: list[Path]) -> None:
    from commonplace.app.index_folders import remove_folder

    for path in paths:
        if path.is_dir():
            remove_folder(path, what="the data folder")
        else:
            path.unlink(missing_ok=True)
