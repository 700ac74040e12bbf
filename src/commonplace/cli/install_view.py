"""What `commonplace install` and `uninstall` show: which files change, and how."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from commonplace.cli.door import Door, print_line

if TYPE_CHECKING:
    from commonplace.hosts.applying import Change
    from commonplace.hosts.host import Asked, Host
    from commonplace.hosts.installing import Done


def show_installed(door: Door, host: "Host", asked: "Asked", done: "Done") -> None:
    """What was done, and what a person should know now."""
    from commonplace.hosts.consent import notes_for

    notes = notes_for(host, asked)

    def show() -> None:
        if not any(change.is_one for change in done.changes):
            print_line(f"{host.title}: nothing to change, it is installed")
        show_changes(done.changes)
        for copy in done.backups:
            print_line(f"as it was: {copy}")
        for note in notes if any(change.is_one for change in done.changes) else ():
            door.aside(note)

    shown = {"host": host.name, "scope": asked.reach, "transport": asked.transport, "hooks": asked.hooks}
    copies = [str(copy) for copy in done.backups]
    door.answer({**shown, "files": file_shapes(done.changes), "backups": copies, "notes": notes}, show)


def show_changes(changes: "Sequence[Change]") -> None:
    """A line for each file that changed."""
    for change in changes:
        if change.is_one:
            print_line(f"{_verb(change)}: {change.path}")


def show_diffs(door: Door, changes: "Sequence[Change]") -> None:
    """What would change, as diffs."""
    from commonplace.hosts.applying import diff_of

    def show() -> None:
        for change in changes:
            if change.is_one:
                print_line(diff_of(change) or f"{change.path}: for your eyes alone")
        if not any(change.is_one for change in changes):
            print_line("nothing to change")

    shapes = [{**shape, "diff": diff_of(change)} for shape, change in zip(file_shapes(changes), changes, strict=True)]
    door.answer({"dry_run": True, "files": shapes}, show)


def file_shapes(changes: "Sequence[Change]") -> list[dict[str, Any]]:
    """The files for programs: where they are, and what becomes of them."""
    return [{"path": str(change.path), "change": _verb(change)} for change in changes]


def _verb(change: "Change") -> Literal["unchanged", "removed", "made", "changed"]:
    if not change.is_one:
        return "unchanged"
    return "removed" if change.after is None else "made" if change.before is None else "changed"
