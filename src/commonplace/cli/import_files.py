"""`commonplace import`: the exports and folders of other programs, read into this memory."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commonplace.cli.completion import import_kinds
from commonplace.cli.invocation import Invocation, invocation_of, print_line
from commonplace.cli.progress import ProgressLine
from commonplace.model.progress import duration_text

if TYPE_CHECKING:
    from commonplace.memory.imports import ImportReport, PausesOf

PROGRESS_WORDS: Final = {"bytes": "read"}
_OUTCOMES: Final = {
    "saved": "new",
    "updated": "updated",
    "known": "known",
    "staged": "waiting for `commonplace review`",
    "kept": "left where they are",
    "refused": "left out",
}
_LISTED: Final = 10  # problems, and things left out, that are printed one by one
_FIRST_YEAR: Final = datetime.min.replace(tzinfo=UTC)
_LAST_YEAR: Final = datetime.max.replace(tzinfo=UTC)


def import_(
    context: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE|FOLDER...", help="Exports as downloaded, zips too, or folders.")
    ],
    kind: Annotated[
        str,
        typer.Option("--from", metavar="KIND", help="What the files must be.", autocompletion=import_kinds),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be imported.")] = False,
    review: Annotated[
        bool, typer.Option("--review", help="The files are not your own: what is learned from them waits for approval.")
    ] = False,
) -> None:
    """Import conversations, notes and memories of other programs.

    Each file or folder is recognised by its shape. Importing again adds only what is new, also from a newer export.
    Secrets in conversations are redacted.

    \b
    Examples:
      commonplace import ~/Downloads/chatgpt-export.zip --dry-run
      commonplace import ~/Downloads/chatgpt-export.zip
      commonplace import conversations.json --from claude-ai
      commonplace import ~/.claude/projects ~/.codex/sessions
      commonplace import ~/Downloads/memory.json --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory, ProgressLine(invocation, PROGRESS_WORDS) as progress:
        report = memory.imports.run(
            paths,
            kind=kind,
            dry_run=dry_run,
            review=review,
            longest=invocation.settings().settings.capture.max_message_chars,
            pauses_of=pauses_of_person(),
            progress=progress,
        )
    answer_import(invocation, report)


def pauses_of_person() -> "PausesOf":
    """When a session was not to be recorded, as `pause` and the projects that opted out say."""
    from commonplace.daemon.capture.pauses import opt_out_file, user_pauses

    pauses = user_pauses()

    def windows(session_id: str, folders: Sequence[str]) -> Sequence[tuple[datetime, datetime]]:
        if any(opt_out_file(folder) for folder in folders):
            return ((_FIRST_YEAR, _LAST_YEAR),)
        return pauses.windows(session_id=session_id, folders=folders)

    return windows


def answer_import(invocation: Invocation, report: "ImportReport") -> None:
    """Print the report. The exit code is 1 if there are problems and nothing could be read."""
    invocation.answer({"imported": report}, lambda: _show(report, invocation))
    if report.problem_count and not (report.conversations or report.notes or report.entries):
        raise typer.Exit(1)


def _show(report: "ImportReport", invocation: Invocation) -> None:
    for each in report.sources:
        print_line(f"{each.kind}: {each.name}")
    for line in _count_lines(report):
        print_line(f"  {line}")
    _show_some("problem", report.problem_count, [f"{each.where}: {each.message}" for each in report.problems])
    _show_some("left out", report.skip_count, [f"{each.where}: {each.reason}" for each in report.skips])
    if report.dry_run:
        for difference in report.differences:
            print_line(difference)
        invocation.inform("dry run: nothing was changed")
        return
    if report.unencoded:
        until = "until the daemon or `commonplace sync` encodes them"
        invocation.inform(f"{report.unencoded:,} texts are found by their words only, {until}")
    invocation.inform(f"done in {duration_text(report.seconds)}")


def _count_lines(report: "ImportReport") -> Iterator[str]:
    """One line for each kind of thing that was read."""
    if report.conversations:
        messages = f"{report.messages:,} new messages" if report.messages != 1 else "1 new message"
        yield f"conversations: {_outcomes(report.conversations)}; {messages}, {report.known_messages:,} known"
    if report.notes:
        yield f"notes: {_outcomes(report.notes)}"
    if report.entries:
        yield f"entries: {_outcomes(report.entries)}"
    if report.unshown:
        yield f"{report.unshown:,} messages on branches that are not shown were left out"
    if report.cut:
        yield f"{report.cut:,} messages were cut, because they are very long"
    if not (report.conversations or report.notes or report.entries):
        yield "nothing to import"


def _outcomes(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]:,} {words}" for name, words in _OUTCOMES.items() if counts.get(name)) or "none"


def _show_some(what: str, count: int, lines: Sequence[str]) -> None:
    for line in lines[:_LISTED]:
        print_line(f"  {what}: {line}")
    if count > _LISTED:
        print_line(f"  {what}: {count - _LISTED:,} more; `--json` lists them")
