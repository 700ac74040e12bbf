"""`commonplace uninstall`: our entries out of the files of hosts again; with `--all` the daemon and its files too."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import hosts, offer
from commonplace.cli.install import (
    HOST_NAMES,
    environment_of,
    file_shapes,
    one_of,
    print_path,
    show_changes,
    show_diffs,
)
from commonplace.cli.invocation import Invocation, invocation_of, print_line
from commonplace.errors import UsageError
from commonplace.hosts.registry import host_named

if TYPE_CHECKING:
    from commonplace.hosts.file_changes import FileChange
    from commonplace.hosts.host import Environment
    from commonplace.hosts.install import RemainingData
    from commonplace.hosts.install_record import Install


def remove_installs(invocation: Invocation, installs: "Sequence[Install]", *, dry_run: bool) -> None:
    """Revert these installs and print what changed."""
    from commonplace.hosts.install import plan_uninstalls

    if dry_run:
        show_diffs(invocation, plan_uninstalls(installs))
        return
    changes = _removed(installs)
    copies = _copies_of(changes)

    def show() -> None:
        show_changes(changes)
        if not installs:
            print_line("not installed")
        for copy in copies:
            print_path(f"backup from before the install: {copy}")

    invocation.answer({"files": file_shapes(changes), "backups": [str(copy) for copy in copies]}, show)


def uninstall_everything(invocation: Invocation, *, with_data: bool, dry_run: bool, yes: bool) -> None:
    """Remove the entries in hosts, the daemon and its files; with `with_data` everything but the vaults."""
    from commonplace.hosts.install import find_remaining_data, plan_uninstalls
    from commonplace.hosts.install_record import read_record

    installs, remaining = read_record().installs, find_remaining_data(invocation.flags)
    if dry_run:
        show_diffs(invocation, plan_uninstalls(installs))
        _tell_left(invocation, remaining)
        return
    if with_data:
        _agree(remaining, invocation=invocation, yes=yes)
    changes = _removed(installs)
    report = {**_end_daemon(), **_files_gone(remaining if with_data else None)}
    _tell(invocation, changes, report, None if with_data else remaining)


def _removed(installs: "Sequence[Install]") -> "list[FileChange]":
    from commonplace.hosts.host_tokens import revoke_token
    from commonplace.hosts.install import uninstall

    changes: list[FileChange] = []
    for install in installs:
        changes += uninstall(install).changes
        revoke_token(install.token, now=datetime.now(UTC))
    return changes


def _copies_of(changes: "Sequence[FileChange]") -> list[Path]:
    from commonplace.hosts.file_changes import backup_path

    return [copy for change in changes if (copy := backup_path(change.path)).exists()]


def _end_daemon() -> dict[str, Any]:
    """Stop the daemon and remove its service."""
    from commonplace.daemon.service.control import stop_daemon
    from commonplace.daemon.service.units import current_service
    from commonplace.daemon.service.units import uninstall_service as uninstall_unit

    unit = uninstall_unit(current_service())
    return {"stopped": stop_daemon(), "unit": str(unit.path) if unit.changed else None, "left": list(unit.left)}


def _files_gone(remaining: "RemainingData | None") -> dict[str, Any]:
    """Remove the daemon's files, the backups of files that are unchanged, and the data in `left`."""
    from commonplace.hosts.install import remove_backups, remove_daemon_state, remove_remaining_data

    copies, kept = remove_backups()
    removed = [*copies, *remove_daemon_state()]
    if remaining:
        remove_remaining_data(remaining)
        removed += [*remaining.data, *remaining.settings]
    return {"removed": [str(path) for path in removed], "backups": [str(path) for path in kept]}


def _agree(remaining: "RemainingData", *, invocation: Invocation, yes: bool) -> None:
    """Ask before data is removed. Raises UsageError where it cannot ask, Exit on a no."""
    if yes:
        return
    if invocation.json or not sys.stdin.isatty():
        hint = "Add --yes to remove them, or drop --with-data."
        raise UsageError("recorded conversations would be lost; nothing was changed", hint=hint)
    print_line("These will be removed, with the conversations recorded in them:")
    for path in (*remaining.data, *remaining.settings):
        print_path(f"  {path}")
    if not typer.confirm("Remove them?", default=False):
        invocation.inform("nothing was changed")
        raise typer.Exit(1)


def _tell(
    invocation: Invocation, changes: "Sequence[FileChange]", report: dict[str, Any], remaining: "RemainingData | None"
) -> None:
    def show() -> None:
        show_changes(changes)
        if report["stopped"]:
            print_line("stopped: the daemon")
        if report["unit"]:
            print_path(f"removed: {report['unit']}")
        for path in report["removed"]:
            print_path(f"removed: {path}")
        for path in report["backups"]:
            print_path(f"kept, because the file has changed since: {path}")
        for command in report["left"]:
            print_line(f"run: {command}")
        _show_left(remaining)

    invocation.answer({"files": file_shapes(changes), **report, "kept": _left_shape(remaining)}, show)


def _tell_left(invocation: Invocation, remaining: "RemainingData") -> None:
    if not invocation.json:
        _show_left(remaining)


def _show_left(remaining: "RemainingData | None") -> None:
    if remaining is None:
        return
    for vault in remaining.vaults:
        print_path(f"stays: {vault} (your notes)")
    for folder in remaining.data:
        print_path(
            f"stays: {folder} (index, recorded conversations; `commonplace uninstall --all --with-data` removes it)"
        )
    for file in remaining.settings:
        print_path(f"stays: {file}")


def _left_shape(remaining: "RemainingData | None") -> dict[str, list[str]]:
    if remaining is None:
        return {}
    groups = {"vaults": remaining.vaults, "data": remaining.data, "settings": remaining.settings}
    return {name: [str(path) for path in paths] for name, paths in groups.items()}


def uninstall(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Argument(metavar="[HOST]", help=f"The host: {HOST_NAMES}.", autocompletion=hosts)
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="user|project",
            help="Only yours, or only in this folder. [default: both]",
            autocompletion=offer("user", "project"),
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every host, and the daemon with its tokens, log and service.")
    ] = False,
    with_data: Annotated[
        bool,
        typer.Option("--with-data", help="With --all: also indexes, recorded conversations and settings."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing data.")] = False,
) -> None:
    """Remove what `install` added.

    That is its entries, and the files and folders it created. Your notes are not touched.

    \b
    Examples:
      commonplace uninstall codex
      commonplace uninstall --all --dry-run
      commonplace uninstall --all
    """
    if everything == bool(host) or (with_data and not everything) or (everything and scope):
        hint = "Write `commonplace uninstall HOST [--scope ...]` or `commonplace uninstall --all [--with-data]`."
        raise UsageError("name a host to uninstall, or use --all", hint=hint)
    invocation = invocation_of(context)
    if host is None:
        uninstall_everything(invocation, with_data=with_data, dry_run=dry_run, yes=yes)
    else:
        remove_installs(invocation, _installs_of(host, scope, environment_of(invocation)), dry_run=dry_run)


def _installs_of(host: str, scope: str | None, environment: "Environment") -> "tuple[Install, ...]":
    from commonplace.hosts.install import select_installs
    from commonplace.hosts.install_record import read_record

    chosen_scope = None if scope is None else one_of(scope, ("user", "project"), "--scope")
    return select_installs(read_record(), host_named(host), environment, scope=chosen_scope)
