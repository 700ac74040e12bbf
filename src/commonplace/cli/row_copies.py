"""What the commands share that copy rows from one database to the other: `vault copy-history` and `person copy`."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from commonplace.cli.invocation import Invocation, print_line, print_table
from commonplace.errors import UsageError


class DatabasePlace(StrEnum):
    """Where a history or the people of a server can be."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


class RowCopy(Protocol):
    """What was copied, or would be: the rows of each table, how many the target had, and whether it had the same."""

    @property
    def rows(self) -> Mapping[str, int]: ...
    @property
    def replaced(self) -> int: ...
    @property
    def is_equal(self) -> bool: ...


def require_no_daemon() -> None:
    """Raise UsageError while the daemon runs: it writes to the history and to the list of people."""
    from commonplace.client.start import is_daemon_running
    from commonplace.daemon.service.state_files import user_daemon_files

    if is_daemon_running(user_daemon_files()):
        raise UsageError("the daemon is using this data", hint="Stop it first: `commonplace stop`.")


def answer_copy(
    invocation: Invocation,
    copied: RowCopy,
    *,
    to: DatabasePlace,
    setting: str,
    used: str,
    same: str,
    dry_run: bool,
    notices: Sequence[str] = (),
    **more: Any,
) -> None:
    """Print what was copied, and the setting that uses it unless that is `used` already; `more` is in the JSON alone.

    `same` says what the target has already; `notices` come after the numbers.
    """
    rows, is_used = sum(copied.rows.values()), used == to.value

    def show() -> None:
        if copied.is_equal:
            print_line(f"{same}: {rows} rows")
            return
        print_table(["table", "rows"], [(name, str(count)) for name, count in copied.rows.items()])
        print_line(f"{'would be copied' if dry_run else 'copied'} to {to.value}: {rows} rows")
        if copied.replaced:
            print_line(f"{'would be replaced' if dry_run else 'replaced'}: {copied.replaced} rows")
        for notice in notices:
            print_line(notice)
        if not (dry_run or is_used):
            print_line(f"To use it: commonplace settings set {setting} {to.value}")

    shown = {"to": to.value, "rows": dict(copied.rows), "equal": copied.is_equal, "replaced": copied.replaced}
    invocation.answer({**shown, **more, "dry_run": dry_run, "used": is_used}, show)
