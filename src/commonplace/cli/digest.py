"""`commonplace digest`: what programs did to the memory since you last looked, each line with its command."""

import sys
from typing import Annotated

import typer

from commonplace.cli.invocation import Invocation, invocation_of, local_time, local_zone, print_line, printable
from commonplace.errors import VaultUnavailable
from commonplace.memory import Memory
from commonplace.model.digest import DIGEST_GROUPS, Digest, DigestGroup, DigestLine

_TITLES: dict[DigestGroup, str] = {"proposed": "waiting for you"}


def digest(
    context: typer.Context,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From then on: `yesterday`, 7d, 2026-03-01; advances nothing.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, and show it again the next time.")] = False,
) -> None:
    """Show what was learned, changed, archived, proposed, refused and spent since you last looked.

    Each line has the command that undoes, approves or explains it. The note of the day under Agent/digests is brought
    up to date with it; the job `digest` does that every morning.

    \b
    Examples:
      commonplace digest
      commonplace digest --since 7d
      commonplace digest --dry-run --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        if not dry_run and since is None:
            _write_note(memory, invocation)
        read = memory.digests.read(since=since, advance=not dry_run, zone=local_zone(invocation))
    values = {"digest": read, "counts": read.counts, "summary": read.summary}
    invocation.answer(values, lambda: _show(read))


def _write_note(memory: Memory, invocation: Invocation) -> None:
    """Bring the day's note up to date; what prevents it is said, and the digest is shown all the same."""
    try:
        record = memory.jobs.run("digest")
    except VaultUnavailable as error:
        invocation.inform(f"the note of the day was not written: {error.message}")
        return
    if record.outcome not in ("done", "running"):
        invocation.inform("the note of the day was not written: `commonplace jobs log digest` says why")


def _show(digest: Digest) -> None:
    since = local_time(digest.since)
    if not digest.lines:
        waits = f"; {digest.summary}: `commonplace review`" if digest.waiting else ""
        print_line(f"nothing happened since {since}{waits}")
        return
    print_line(f"since {since}: {digest.summary or 'nothing changed'}")
    for group in DIGEST_GROUPS:
        lines = digest.of(group)
        if lines:
            print_line()
            _print(_TITLES.get(group, group).capitalize(), style="bold")
        for line in lines:
            _print(f"  {_said(line)}")
            if line.words and line.reason:
                _print(f"      {line.reason}")
            _print(f"      {line.command}", style="dim")
    earlier = digest.waiting - sum(line.count for line in digest.of("proposed"))
    if earlier > 0:
        print_line(f"\n{earlier} from before {'waits' if earlier == 1 else 'wait'} for you, too: `commonplace review`")


def _said(line: DigestLine) -> str:
    if line.words:
        return f'{line.said}: "{line.words}"'
    return f"{line.said}: {line.reason}" if line.reason else line.said


def _print(text: str, *, style: str = "") -> None:
    """Print a line; on a terminal in that style."""
    if not (style and sys.stdout.isatty()):
        print_line(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(printable(text), style=style))
