"""The verbs on profile notes, USER.md and CHANNEL.md: show, edit, log; and one verb for each operation."""

from collections.abc import Sequence

from commonplace.errors import UsageError
from commonplace.flows.memory.profiles import edit_profile, profile_log, read_profile
from commonplace.flows.stores import Session
from commonplace.model.profile import ProfileChange, ProfileLogEntry, ProfileOperation, ProfileText
from commonplace.notes.section_operations import NO_SUCH_HEADING, parse_operations


class Profiles:
    """The profile notes of one vault, for one actor. `channel` names a channel's CHANNEL.md instead of USER.md."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def show(self, *, channel: str = "") -> ProfileText:
        """The note as it is now, and what could be better in it. Raises Refused, UsageError."""
        return read_profile(self._session, channel=channel)

    def edit(
        self,
        operations: str | Sequence[object],
        *,
        channel: str = "",
        expected: str = "",
        why: str = "",
        dry_run: bool = False,
    ) -> ProfileChange:
        """Apply operations, each a ProfileOperation or a mapping of its fields, or all of them as JSON text.

        Each is validated by itself and has its own outcome: applied, noop_dup, noop_no_match, proposed, or rejected
        with a reason. What a program may not do to the person's words is proposed and waits for review. `expected` is
        the version that was read. Raises Conflict, Refused, and UsageError for text that is not JSON.
        """
        if isinstance(operations, str):
            operations = operations_in(operations)
        return edit_profile(
            operations, self._session, channel=channel, expected=expected or None, why=why, dry_run=dry_run
        )

    def append(
        self,
        line: str,
        *,
        heading: str = "",
        subheading: str = "",
        channel: str = "",
        create: bool = False,
        expected: str = "",
        why: str = "",
        dry_run: bool = False,
    ) -> ProfileChange:
        """Add one statement to a section, or before the first one; with `create` a missing heading is added for it.

        Raises as `edit` does.
        """
        operations = [ProfileOperation("append", heading, subheading, line)]
        if create and heading and self._lacks_heading(operations, channel=channel):
            above = [ProfileOperation("add_heading", heading)] if subheading else []
            operations = [*above, ProfileOperation("add_heading", heading, subheading, lines=(line,))]
        return self.edit(operations, channel=channel, expected=expected, why=why, dry_run=dry_run)

    def _lacks_heading(self, operations: Sequence[object], *, channel: str) -> bool:
        results = self.edit(operations, channel=channel, dry_run=True).results
        return any(each.reason == NO_SUCH_HEADING for each in results)

    def remove(self, match: str, *, heading: str = "", subheading: str = "", channel: str = "") -> ProfileChange:
        """Remove one statement. Raises as `edit` does."""
        return self.edit([ProfileOperation("remove", heading, subheading, match=match)], channel=channel)

    def replace(
        self, match: str, line: str, *, heading: str = "", subheading: str = "", channel: str = ""
    ) -> ProfileChange:
        """Replace one statement, in its place. Raises as `edit` does."""
        return self.edit([ProfileOperation("replace", heading, subheading, line, match)], channel=channel)

    def log(self, *, channel: str = "", limit: int | None = None) -> tuple[ProfileLogEntry, ...]:
        """Every operation on the note with its outcome and who asked for it, newest first."""
        return profile_log(self._session, channel=channel, limit=limit)


def operations_in(text: str) -> list[object]:
    """The operations in a JSON text, with or without a code fence. Raises UsageError if there are none in it."""
    operations, problem = parse_operations(text)
    if problem:
        raise UsageError(problem, hint='Give {"ops": [{"op": "append", "line": "..."}]}.')
    return [*operations]
