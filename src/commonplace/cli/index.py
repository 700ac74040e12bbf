"""`commonplace sync | watch | rebuild | stats | doctor`: the index and its health."""

import signal
import threading
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line, printable, with_local_times
from commonplace.cli.progress import ProgressLine
from commonplace.errors import VaultUnavailable
from commonplace.memory.index import Counts, SyncReport
from commonplace.model.diagnostics import Finding
from commonplace.model.text import counted

_SHOWN = 5  # problems listed without --problems


def sync(context: typer.Context) -> None:
    """Update the index with what is new, changed, moved or deleted in the vault.

    Notes can be found by their words first; then their meaning follows, newest notes first.
    Ctrl-C keeps what is done, and the next sync goes on from there.

    \b
    Examples:
      commonplace sync
      commonplace sync --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        try:
            synced = memory.index.sync(progress=progress)
        except KeyboardInterrupt:
            progress.wipe()
            invocation.inform(_interrupted(memory.index.stats()))
            raise
    invocation.answer(_as_json(synced), lambda: _show(synced, invocation))


def _interrupted(counts: Counts) -> str:
    """What a sync that the person stopped has done."""
    notes = f"{counted(counts.documents.get('vault', 0), 'note')} can be found by words"
    waiting = f", {counts.waiting:,} of {counted(counts.chunks, 'chunk')} not yet by meaning" if counts.waiting else ""
    return f"stopped: {notes}{waiting}; `commonplace sync` goes on from here"


def rebuild(context: typer.Context) -> None:
    """Rebuild the index from scratch.

    Vectors are reused from the cache. This repairs a damaged index.

    \b
    Example:
      commonplace rebuild
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        synced = memory.index.rebuild(progress=progress)
    invocation.answer(_as_json(synced), lambda: _show(synced, invocation))


def watch(context: typer.Context) -> None:
    """Keep the index up to date while you write, until you press Ctrl-C.

    \b
    Examples:
      commonplace watch
      commonplace watch --json
    """
    invocation = invocation_of(context)
    stop = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stop.set())

    with invocation.memory() as memory, ProgressLine(invocation) as progress:

        def heard(synced: SyncReport) -> None:
            progress.wipe()
            invocation.answer(_as_json(synced), lambda: print_line(_line(synced)))

        invocation.inform("watching; press Ctrl-C to stop")
        memory.index.watch(stop, heard=heard, progress=progress)


def stats(
    context: typer.Context,
    problems: Annotated[bool, typer.Option("--problems", help="List every problem, not only the first few.")] = False,
) -> None:
    """Print what is in the index.

    \b
    Examples:
      commonplace stats
      commonplace stats --problems --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        counts, sizes = memory.index.stats(), memory.index.sizes()
        listed = memory.index.problems()

    def show() -> None:
        for name, value in _rows(counts, sizes):
            print_line(f"{name:12} {value}")
        for each in listed if problems else listed[:_SHOWN]:
            print_line(f"{each.path}:{each.line}: {each.message} [{each.code}]")
        if len(listed) > _SHOWN and not problems:
            invocation.inform(f"... and {len(listed) - _SHOWN} more problems: --problems lists them all")

    invocation.answer({"index": counts, "sizes": sizes, "problems": listed}, show)


def doctor(context: typer.Context) -> None:
    """Check the vault, git, index, encoder and installed hosts, and say what to do.

    A change of a note is tried, up to its commit, and taken back.
    For each host: its files, the daemon, and how fast it answers a hook.
    The exit code is 0 only if nothing is wrong.

    \b
    Examples:
      commonplace doctor
      commonplace doctor --json
    """
    invocation = invocation_of(context)
    findings = (*_vault(invocation), *checks_outside_vaults(invocation))
    wrong = sum(not finding.ok for finding in findings)

    def show() -> None:
        for finding in findings:
            _show_finding(finding)
        invocation.inform("everything is fine" if not wrong else counted(wrong, "problem"))

    invocation.answer({"well": not wrong, "findings": findings}, show)
    if wrong:
        raise typer.Exit(1)


def _vault(invocation: Invocation) -> tuple[Finding, ...]:
    """Findings about the vault; a single one if it is away, as on a disk that is not mounted."""
    try:
        with invocation.memory() as memory:
            return memory.index.examine()
    except VaultUnavailable as error:
        return (Finding("vault", ok=False, said=error.message, remedy=error.hint or "", path=error.path),)


def checks_outside_vaults(invocation: Invocation) -> tuple[Finding, ...]:
    """What the person paused, and since when; and the hosts that Commonplace is installed in."""
    from commonplace.daemon.capture.pauses import user_pauses
    from commonplace.hosts.health_checks import check_hosts, probe_daemon
    from commonplace.hosts.host import current_environment

    environment = current_environment(port=invocation.settings().settings.serve.port)
    return (user_pauses().finding(), *check_hosts(environment, probe=probe_daemon))


def _show_finding(finding: Finding) -> None:
    place = f"{finding.path}:{finding.line}: " if finding.path and finding.line else ""
    place = place or (f"{finding.path}: " if finding.path else "")
    said = with_local_times(finding.said)
    print_line(printable(f"{'ok   ' if finding.ok else 'WRONG'} {finding.what}: {place}{said}"))
    if not finding.ok and finding.remedy:
        print_line(printable(f"      {finding.remedy}"))


def _as_json(synced: SyncReport) -> dict[str, Any]:
    return {
        **synced.counts(),
        "encoded": synced.encoded,
        "reused": synced.reused,
        "waiting": synced.waiting,
        "missing": synced.missing,
        "problems": synced.problems,
        "took_ms": round(synced.seconds * 1000, 1),
    }


def _show(synced: SyncReport, invocation: Invocation) -> None:
    print_line(_line(synced))
    if synced.missing:
        invocation.inform(f"words only: {synced.missing}")
    for problem in synced.problems[:_SHOWN]:
        invocation.inform(f"{problem.path}: {problem.message} [{problem.code}]")
    if len(synced.problems) > _SHOWN:
        invocation.inform(f"... and {len(synced.problems) - _SHOWN} more: `commonplace doctor` lists them all")


def _line(synced: SyncReport) -> str:
    """What a sync did. The progress counts every text of every note, of which many are known: reused or repeated."""
    counts = ", ".join(f"{number:,} {name}" for name, number in synced.counts().items() if number) or "nothing to index"
    reused = f", {synced.reused:,} known already" if synced.reused else ""
    return f"{counts}; {counted(synced.encoded, 'text')} encoded{reused}, {synced.seconds:.1f} s"


def _rows(counts: Counts, sizes: Mapping[str, int]) -> list[tuple[str, str]]:
    documents = ", ".join(f"{number:,} {name}" for name, number in counts.documents.items()) or "none"
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sizes.items())
    vectors = ", ".join(f"{number:,} by {version}" for version, number in counts.vectors.items()) or "none: words only"
    return [
        ("documents", documents),
        ("chunks", f"{counts.chunks:,}"),
        ("vectors", vectors),
        ("waiting", f"{counted(counts.waiting, 'chunk')} not encoded yet"),
        ("links", f"{counts.links:,}, {counts.unresolved:,} of them unresolved"),
        ("sensitive", str(counts.sensitive)),
        ("problems", str(counts.problems)),
        ("removed", str(counts.removed)),
        ("size", f"{sum(sizes.values()) / 1e6:.1f} MB ({parts})"),
        ("synced", counts.synced or "never: run `commonplace sync`"),
    ]
