"""`commonplace sync | watch | rebuild | stats | doctor`: the index and its health."""

import signal
import threading
from typing import Annotated, Any

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line, progress_line
from commonplace.memory.index import Counts, SyncReport
from commonplace.model.diagnostics import Finding

_SHOWN = 5  # problems listed without --problems


def sync(context: typer.Context) -> None:
    """Update the index with what is new, changed, moved or deleted in the vault.

    \b
    Examples:
      commonplace sync
      commonplace sync --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        synced = memory.index.sync(progress=_progress("indexed"))
    invocation.answer(_as_json(synced), lambda: _show(synced, invocation))


def rebuild(context: typer.Context) -> None:
    """Rebuild the index from scratch.

    Vectors are reused from the cache. This repairs a damaged index.

    \b
    Example:
      commonplace rebuild
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        synced = memory.index.rebuild(progress=_progress("rebuilt"))
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

    def heard(synced: SyncReport) -> None:
        invocation.answer(_as_json(synced), lambda: print_line(_line(synced)))

    with invocation.memory() as memory:
        invocation.inform("watching; press Ctrl-C to stop")
        memory.index.watch(stop, heard=heard)


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
        counts = memory.index.stats()
        listed = memory.index.problems()

    def show() -> None:
        for name, value in _rows(counts):
            print_line(f"{name:12} {value}")
        for each in listed if problems else listed[:_SHOWN]:
            print_line(f"{each.path}:{each.line}: {each.message} [{each.code}]")
        if len(listed) > _SHOWN and not problems:
            invocation.inform(f"... and {len(listed) - _SHOWN} more problems: --problems lists them all")

    invocation.answer({"index": counts, "problems": listed}, show)


def doctor(context: typer.Context) -> None:
    """Check the vault, git, index, encoder and installed hosts, and say what to do.

    For each host: its files, the daemon, and how fast it answers a hook.
    The exit code is 0 only if nothing is wrong.

    \b
    Examples:
      commonplace doctor
      commonplace doctor --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        findings = (*memory.index.examine(), *_hosts(invocation))
    wrong = sum(not finding.ok for finding in findings)

    def show() -> None:
        for finding in findings:
            _show_finding(finding)
        invocation.inform("everything is fine" if not wrong else "1 problem" if wrong == 1 else f"{wrong} problems")

    invocation.answer({"well": not wrong, "findings": findings}, show)
    if wrong:
        raise typer.Exit(1)


def _hosts(invocation: Invocation) -> tuple[Finding, ...]:
    """Findings about the hosts that Commonplace is installed in."""
    from commonplace.hosts.health_checks import check_hosts, probe_daemon
    from commonplace.hosts.host import current_environment

    return check_hosts(current_environment(port=invocation.settings().settings.serve.port), probe=probe_daemon)


def _show_finding(finding: Finding) -> None:
    place = f"{finding.path}:{finding.line}: " if finding.path and finding.line else ""
    place = place or (f"{finding.path}: " if finding.path else "")
    print_line(f"{'ok   ' if finding.ok else 'WRONG'} {finding.what}: {place}{finding.said}")
    if not finding.ok and finding.remedy:
        print_line(f"      {finding.remedy}")


def _progress(verb: str) -> Any:
    return progress_line(lambda done, total: f"{verb} {done} of {total} notes")


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
    counts = ", ".join(f"{number} {name}" for name, number in synced.counts().items() if number) or "nothing to index"
    return f"{counts}; {synced.encoded} texts encoded, {synced.seconds:.1f} s"


def _rows(counts: Counts) -> list[tuple[str, str]]:
    documents = ", ".join(f"{number} {name}" for name, number in counts.documents.items()) or "none"
    vectors = ", ".join(f"{number} by {version}" for version, number in counts.vectors.items()) or "none: words only"
    return [
        ("documents", documents),
        ("chunks", str(counts.chunks)),
        ("vectors", vectors),
        ("waiting", f"{counts.waiting} chunks not encoded yet"),
        ("links", f"{counts.links}, {counts.unresolved} of them unresolved"),
        ("sensitive", str(counts.sensitive)),
        ("problems", str(counts.problems)),
        ("removed", str(counts.removed)),
        ("size", f"{counts.size / 1e6:.1f} MB"),
        ("synced", counts.synced or "never: run `commonplace sync`"),
    ]
