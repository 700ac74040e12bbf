"""`commonplace vault`: the vaults on this machine, the default one, where each one is; exporting and importing one."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import vault_names
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, show_help
from commonplace.cli.row_copies import DatabasePlace, answer_copy, require_no_daemon
from commonplace.errors import CommonplaceError, UsageError
from commonplace.model.text import counted

if TYPE_CHECKING:
    from commonplace.app.vault_transfer import VaultTransfer
    from commonplace.settings.registered_vaults import RegisteredVault, RegisteredVaults

app = typer.Typer(
    help="List the vaults on this machine, choose the default one, tell where one was moved, export and import one.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)


_Vault = Annotated[
    str,
    typer.Argument(
        metavar="VAULT",
        help="The path of its folder, the folder's name, its name in `vault list`, or postgresql:NAME.",
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
    from commonplace.settings.database_vaults import shown_vault
    from commonplace.settings.registered_vaults import registered_vaults

    invocation, entry = invocation_of(context), registered_vaults().select(vault)
    use_vault(entry)
    _warn_of_setting(invocation, entry.root)
    shown = shown_vault(entry.root)
    invocation.answer({"default": shown}, lambda: print_line(f"default: {shown}"))


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


@app.command("copy-history")
def copy_history(
    context: typer.Context,
    to: Annotated[DatabasePlace, typer.Option("--to", help="Where to copy it; the other place is left as it is.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the history that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be copied, and copy nothing.")] = False,
) -> None:
    """Copy the history from the files of the data folder to PostgreSQL, or back: audit, conversations, jobs, all of it.

    Nothing is copied if one row could not be. The setting history.backend says which of the two is used.

    \b
    Examples:
      commonplace vault copy-history --to postgresql --dry-run
      commonplace vault copy-history --to postgresql
      commonplace vault copy-history --to sqlite --replace
    """
    from commonplace.app.histories import copy_vault_history
    from commonplace.cli.progress import ProgressLine

    invocation = invocation_of(context)
    if not dry_run:
        require_no_daemon()
    settings = invocation.settings().settings
    with ProgressLine(invocation) as progress:
        copied = copy_vault_history(settings, to=to.value, replaces=replace, is_dry=dry_run, progress=progress)
    answer_copy(
        invocation,
        copied,
        to=to,
        setting="history.backend",
        used=settings.history.backend,
        same=f"the history in {to.value} is equal already",
        dry_run=dry_run,
    )


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
    from commonplace.settings.database_vaults import shown_vault
    from commonplace.settings.load import user_vault_file
    from commonplace.settings.registered_vaults import registered_vaults

    invocation, entry = invocation_of(context), registered_vaults().select(vault)
    data, file = data_of(entry, invocation.flags), user_vault_file(entry.root)
    elsewhere = _place_in_database(invocation, entry, data)
    kept = [each for each in (data, file) if each and each.exists()]
    if with_data:
        _agree_to_loss(invocation, entry, kept, yes=yes)
    registered = remove_vault(entry, keeps_data=bool(kept) and not with_data)
    if with_data:
        _delete(kept)

    def show() -> None:
        print_line(f"removed from the list: {shown_vault(entry.root)} (your notes stay)")
        for each in kept:
            print_line(f"{'deleted' if with_data else 'stays'}: {each}")
        if elsewhere:
            print_line(f"stays: {elsewhere}")
        if default:
            print_line(f"default: {default}")

    default = shown_vault(registered.default) if registered.default else None
    shown = {
        "vault": shown_vault(entry.root),
        "data": [str(each) for each in kept],
        "data_deleted": with_data,
        "elsewhere": elsewhere,
    }
    invocation.answer({**shown, "default": default}, show)


_DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be done.")]


@app.command("export")
def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.")],
    dry_run: _DryRun = False,
) -> None:
    """Write a vault in a database into a folder under git: its notes, and every version of them.

    Authors, times and messages stay as they are. The vault in the database stays, too. `commonplace init FOLDER` then
    makes the folder a vault.

    \b
    Examples:
      commonplace vault export ~/Notes --vault postgresql:team
      commonplace vault export ~/Notes --vault postgresql:team --dry-run
    """
    from commonplace.app.vault_transfer import export_vault
    from commonplace.cli.progress import ProgressLine

    invocation = invocation_of(context)
    with ProgressLine(invocation, {"commits": "written"}) as progress:
        done = export_vault(invocation.settings().settings, folder, dry_run=dry_run, progress=progress)
    invocation.answer(_transfer_shape(done, dry_run=dry_run), lambda: _show_export(done, dry_run=dry_run))


@app.command("import")
def import_folder(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a vault, under git or not.")],
    dry_run: _DryRun = False,
) -> None:
    """Fill an empty vault in a database from a folder: its notes, and every version that git has of them.

    The folder stays as it is. Edits that are not committed become a commit of their own. Links, repositories inside
    the folder, and files over 100 MB are left out, and named.

    \b
    Examples:
      commonplace vault import ~/Notes --vault postgresql:team
      commonplace vault import ~/Notes --vault postgresql:team --dry-run
    """
    from commonplace.app.vault_transfer import import_vault
    from commonplace.cli.progress import ProgressLine

    invocation = invocation_of(context)
    with ProgressLine(invocation) as progress:
        done = import_vault(invocation.settings().settings, folder, dry_run=dry_run, progress=progress)
    invocation.answer(_transfer_shape(done, dry_run=dry_run), lambda: _show_import(done, dry_run=dry_run))


def _transfer_shape(done: "VaultTransfer", *, dry_run: bool) -> dict[str, Any]:
    """An export or import for programs."""
    return {
        "dry_run": dry_run,
        "vault": done.vault,
        "folder": str(done.folder),
        "commits": done.commits,
        "files": done.files,
        "versions": done.versions,
        "edits": done.edits,
        "left_out": [{"path": path, "reason": reason} for path, reason in done.left_out],
    }


def _show_export(done: "VaultTransfer", *, dry_run: bool) -> None:
    print_line(f"{'would export' if dry_run else 'exported'} {done.vault} to {done.folder}: {_counts(done)}")
    if not dry_run:
        print_line(f"`commonplace init {shlex.quote(str(done.folder))}` makes it a vault on this machine")


def _show_import(done: "VaultTransfer", *, dry_run: bool) -> None:
    print_line(f"{'would import' if dry_run else 'imported'} {done.folder} into {done.vault}: {_counts(done)}")
    if done.edits:
        print_line(f"edits that were in no commit: {counted(done.edits, 'file')}")
    for path, reason in done.left_out:
        print_line(f"left out: {path} ({reason})")
    if not dry_run:
        print_line(f"`commonplace sync --vault {done.vault}` indexes it")


def _counts(done: "VaultTransfer") -> str:
    return f"{counted(done.files, 'file')}, {counted(done.versions, 'version')}, {counted(done.commits, 'commit')}"


def _shape(invocation: Invocation, entry: "RegisteredVault", registered: "RegisteredVaults") -> dict[str, Any]:
    """One vault for programs."""
    from commonplace.app.registration import data_of
    from commonplace.settings.database_vaults import shown_vault

    try:
        data, state = str(data_of(entry, invocation.flags)), _state(entry)
    except CommonplaceError as error:  # its settings cannot be read
        data, state = None, error.message
    return {
        "vault": shown_vault(entry.root),
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


def _place_in_database(invocation: Invocation, entry: "RegisteredVault", data: Path | None) -> str | None:
    from commonplace.app.histories import place_in_database
    from commonplace.settings.load import load_settings

    settings = load_settings(flags={**invocation.flags, "vault.root": str(entry.root)}).settings
    return place_in_database(settings, data)


def _agree_to_loss(invocation: Invocation, entry: "RegisteredVault", data: list[Path], *, yes: bool) -> None:
    """Return if the data may go. Raises UsageError where that cannot be asked or the daemon uses it, Exit on a no."""
    require_no_daemon()
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
