"""`commonplace sync | watch | rebuild | stats | doctor`: the index, and everything that could be wrong."""

import signal
import threading
from typing import Annotated, Any

import typer

from commonplace.cli.door import Door, door_of, print_line, wiping
from commonplace.memory import Counts, Synced
from commonplace.model import Finding

_SHOWN = 5  # Problems that are listed unasked


def sync(context: typer.Context) -> None:
    """Make the index say what the vault says now: what is new, changed, moved and gone.

    \b
    Examples:
      commonplace sync
      commonplace sync --json
    """
    door = door_of(context)
    with door.opened() as memory:
        synced = memory.index.sync(progress=_progress("indexed"))
    door.answer(_as_json(synced), lambda: _show(synced, door))


def rebuild(context: typer.Context) -> None:
    """Make the index anew from nothing. Vectors that are known are not made again; a damaged index is mended.

    \b
    Example:
      commonplace rebuild
    """
    door = door_of(context)
    with door.opened() as memory:
        synced = memory.index.rebuild(progress=_progress("rebuilt"))
    door.answer(_as_json(synced), lambda: _show(synced, door))


def watch(context: typer.Context) -> None:
    """Keep the index true to the vault while you write, until you press Ctrl-C.

    \b
    Examples:
      commonplace watch
      commonplace watch --json
    """
    door = door_of(context)
    stop = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stop.set())

    def heard(synced: Synced) -> None:
        door.answer(_as_json(synced), lambda: print_line(_line(synced)))

    with door.opened() as memory:
        door.aside("watching; Ctrl-C ends it")
        memory.index.watch(stop, heard=heard)


def stats(
    context: typer.Context,
    problems: Annotated[bool, typer.Option("--problems", help="Every Problem, not the first few alone.")] = False,
) -> None:
    """Print what the index holds.

    \b
    Examples:
      commonplace stats
      commonplace stats --problems --json
    """
    door = door_of(context)
    with door.opened() as memory:
        counts = memory.index.stats()
        listed = memory.index.problems()

    def show() -> None:
        for name, value in _rows(counts):
            print_line(f"{name:12} {value}")
        for each in listed if problems else listed[:_SHOWN]:
            print_line(f"{each.path}:{each.line}: {each.message} [{each.code}]")
        if len(listed) > _SHOWN and not problems:
            door.aside(f"... and {len(listed) - _SHOWN} more Problems: --problems lists them all")

    door.answer({"index": counts, "problems": listed}, show)


def doctor(context: typer.Context) -> None:
    """Look at everything that could be wrong, and say what to do about it. Exit code 0 only if all is well.

    The agents that you installed it in are looked at, too: their entries, the daemon, how soon it answers a hook.

    \b
    Examples:
      commonplace doctor
      commonplace doctor --json
    """
    door = door_of(context)
    with door.opened() as memory:
        findings = (*memory.index.examine(), *_hosts(door))
    wrong = sum(not finding.ok for finding in findings)

    def show() -> None:
        for finding in findings:
            _show_finding(finding)
        door.aside("all is well" if not wrong else f"{wrong} to look at")

    door.answer({"well": not wrong, "findings": findings}, show)
    if wrong:
        raise typer.Exit(1)


def _hosts(door: Door) -> tuple[Finding, ...]:
    """What is found in the programs that it is installed in."""
    from commonplace.hosts.around import around_here
    from commonplace.hosts.checking import ask_daemon, check_hosts

    return check_hosts(around_here(port=door.settings().settings.serve.port), probe=ask_daemon)


def _show_finding(finding: Finding) -> None:
    place = f"{finding.path}:{finding.line}: " if finding.path and finding.line else ""
    place = place or (f"{finding.path}: " if finding.path else "")
    print_line(f"{'ok   ' if finding.ok else 'WRONG'} {finding.what}: {place}{finding.said}")
    if not finding.ok and finding.remedy:
        print_line(f"      {finding.remedy}")


def _progress(verb: str) -> Any:
    return wiping(lambda done, total: f"{verb} {done} of {total} notes")


def _as_json(synced: Synced) -> dict[str, Any]:
    return {
        **synced.counts(),
        "encoded": synced.encoded,
        "reused": synced.reused,
        "waiting": synced.waiting,
        "missing": synced.missing,
        "problems": synced.problems,
        "took_ms": round(synced.seconds * 1000, 1),
    }


def _show(synced: Synced, door: Door) -> None:
    print_line(_line(synced))
    if synced.missing:
        door.aside(f"words only: {synced.missing}")
    for problem in synced.problems[:_SHOWN]:
        door.aside(f"{problem.path}: {problem.message} [{problem.code}]")
    if len(synced.problems) > _SHOWN:
        door.aside(f"... and {len(synced.problems) - _SHOWN} more: `commonplace doctor` lists them all")


def _line(synced: Synced) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in synced.counts().items() if number) or "nothing to index"
    return f"{counts}; {synced.encoded} texts encoded, {synced.seconds:.1f} s"


def _rows(counts: Counts) -> list[tuple[str, str]]:
    documents = ", ".join(f"{number} {name}" for name, number in counts.documents.items()) or "none"
    vectors = ", ".join(f"{number} by {version}" for version, number in counts.vectors.items()) or "none: words only"
    return [
        ("documents", documents),
        ("chunks", str(counts.chunks)),
        ("vectors", vectors),
        ("waiting", f"{counts.waiting} chunks are still to be encoded"),
        ("links", f"{counts.links}, {counts.unresolved} of them lead to no note"),
        ("sensitive", str(counts.sensitive)),
        ("problems", str(counts.problems)),
        ("removed", str(counts.removed)),
        ("size", f"{counts.size / 1e6:.1f} MB"),
        ("synced", counts.synced or "never: run `commonplace sync`"),
    ]
