"""What `commonplace uninstall` does: hosts that are forgotten, and all of Commonplace but the notes."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from commonplace.cli.door import Door, print_line
from commonplace.cli.install_view import file_shapes, show_changes, show_diffs
from commonplace.errors import UsageError

if TYPE_CHECKING:
    from commonplace.hosts.applying import Change
    from commonplace.hosts.leaving import Left
    from commonplace.hosts.record import Install


def remove_installs(door: Door, installs: "Sequence[Install]", *, dry_run: bool) -> None:
    """Take these installs back, and tell it."""
    from commonplace.hosts.installing import planned_uninstalls

    if dry_run:
        show_diffs(door, planned_uninstalls(installs))
        return
    changes = _removed(installs)
    copies = _copies_of(changes)

    def show() -> None:
        show_changes(changes)
        if not installs:
            print_line("not installed")
        for copy in copies:
            print_line(f"as it was before we came: {copy}")

    door.answer({"files": file_shapes(changes), "backups": [str(copy) for copy in copies]}, show)


def leave(door: Door, *, with_data: bool, dry_run: bool, yes: bool) -> None:
    """Take everything back: hosts, the daemon, its files; with `with_data` all but the vaults."""
    from commonplace.hosts.installing import planned_uninstalls
    from commonplace.hosts.leaving import what_is_left
    from commonplace.hosts.record import read_record

    installs, left = read_record().installs, what_is_left(door.flags)
    if dry_run:
        show_diffs(door, planned_uninstalls(installs))
        _tell_left(door, left)
        return
    if with_data:
        _agree(left, door=door, yes=yes)
    changes = _removed(installs)
    told = {**_end_daemon(), **_files_gone(left if with_data else None)}
    _tell(door, changes, told, None if with_data else left)


def _removed(installs: "Sequence[Install]") -> "list[Change]":
    from commonplace.hosts.access import revoke_token
    from commonplace.hosts.installing import uninstall

    changes: list[Change] = []
    for install in installs:
        changes += uninstall(install).changes
        revoke_token(install.token, now=datetime.now(UTC))
    return changes


def _copies_of(changes: "Sequence[Change]") -> list[Path]:
    from commonplace.hosts.applying import backup_of

    return [copy for change in changes if (copy := backup_of(change.path)).exists()]


def _end_daemon() -> dict[str, Any]:
    """Let the system forget the daemon, and stop it."""
    from commonplace.cli.serve import stop_running
    from commonplace.daemon.installing import this_unit
    from commonplace.daemon.installing import uninstall as uninstall_unit

    unit = uninstall_unit(this_unit())
    return {"stopped": stop_running(), "unit": str(unit.path) if unit.changed else None, "left": list(unit.left)}


def _files_gone(left: "Left | None") -> dict[str, Any]:
    """Remove what the daemon kept, the copies of files that are as they were, and with `left` that, too."""
    from commonplace.hosts.installing import forget_backups
    from commonplace.hosts.leaving import remove_left, remove_state

    copies, kept = forget_backups()
    gone = [*copies, *remove_state()]
    if left:
        remove_left(left)
        gone += [*left.data, *left.settings]
    return {"removed": [str(path) for path in gone], "backups": [str(path) for path in kept]}


def _agree(left: "Left", *, door: Door, yes: bool) -> None:
    """Go on when the person wants this. Raises UsageError where nobody can be asked, Exit at a no."""
    if yes:
        return
    if door.json or not sys.stdin.isatty():
        hint = "Add --yes to remove them, or leave --with-data out."
        raise UsageError("kept conversations would be gone for good; nothing was changed", hint=hint)
    print_line("These go, and the conversations kept in them cannot be made again:")
    for path in (*left.data, *left.settings):
        print_line(f"  {path}")
    if not typer.confirm("Remove them?", default=False):
        door.aside("nothing was changed")
        raise typer.Exit(1)


def _tell(door: Door, changes: "Sequence[Change]", told: dict[str, Any], left: "Left | None") -> None:
    def show() -> None:
        show_changes(changes)
        if told["stopped"]:
            print_line("stopped: the daemon")
        if told["unit"]:
            print_line(f"removed: {told['unit']}")
        for path in told["removed"]:
            print_line(f"removed: {path}")
        for path in told["backups"]:
            print_line(f"kept, because the file has changed since: {path}")
        for command in told["left"]:
            print_line(f"run: {command}")
        _show_left(left)

    door.answer({"files": file_shapes(changes), **told, "kept": _left_shape(left)}, show)


def _tell_left(door: Door, left: "Left") -> None:
    if not door.json:
        _show_left(left)


def _show_left(left: "Left | None") -> None:
    if left is None:
        return
    for vault in left.vaults:
        print_line(f"stays: {vault} (your notes)")
    for folder in left.data:
        print_line(f"stays: {folder} (index, kept conversations; `commonplace uninstall --all --with-data` removes it)")
    for file in left.settings:
        print_line(f"stays: {file}")


def _left_shape(left: "Left | None") -> dict[str, list[str]]:
    if left is None:
        return {}
    groups = {"vaults": left.vaults, "data": left.data, "settings": left.settings}
    return {name: [str(path) for path in paths] for name, paths in groups.items()}
