"""`commonplace lint | links`: problems and links of the whole vault."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table
from commonplace.cli.note import link_text
from commonplace.cli.parameters import DryRun
from commonplace.cli.progress import ProgressLine
from commonplace.errors import UsageError
from commonplace.memory import shapes
from commonplace.model import Problem, VaultCheck


def lint(
    context: typer.Context,
    fix: Annotated[
        bool,
        typer.Option("--fix", "--mend", help="Fix what is safe, in one commit for each kind, and list the rest."),
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """List every problem in notes, entries and facts, with its path and line.

    The exit code is 0 only if there are none.

    \b
    Examples:
      commonplace lint
      commonplace lint --mend --dry-run
      commonplace lint --mend
      commonplace lint --json
    """
    invocation = invocation_of(context)
    start = time.perf_counter()
    with invocation.memory() as memory, ProgressLine(invocation) as indexing, _reading(invocation) as reading:
        linted = memory.lint(fix=fix or dry_run, dry_run=dry_run, progress=indexing)
        indexing.wipe()
        check = memory.notes.check(progress=reading)
    seconds = time.perf_counter() - start
    problems = sorted({*check.problems, *linted.problems})

    def show() -> None:
        for problem in linted.mended:
            print_line(f"{'would fix' if dry_run else 'fixed'} {_line(problem)}")
        for problem in problems:
            print_line(_line(problem))
        if problems:
            invocation.inform(_groups(problems))
        invocation.inform(_summary(check, len(problems), seconds))

    invocation.answer({**_counts(check, len(problems), seconds), "mended": linted.mended, "problems": problems}, show)
    if problems:
        raise typer.Exit(1)


def links(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="[ENTITY]", help="List the links around this person or thing.")] = "",
    hops: Annotated[int, typer.Option(min=1, metavar="N", help="Up to this many links away from ENTITY.")] = 1,
    everything: Annotated[bool, typer.Option("--all", help="Include links that resolve.")] = False,
) -> None:
    """List links that are broken or ambiguous.

    With ENTITY, list the links around it and the relation each one states.

    \b
    Examples:
      commonplace links
      commonplace links --all --json
      commonplace links "Ada Lindqvist" --hops 2
    """
    invocation = invocation_of(context)
    if entity:
        if everything:
            raise UsageError("--all cannot be combined with an entity", hint="Drop --all or the entity.")
        _around(entity, invocation, hops=hops)
        return
    start = time.perf_counter()
    with _reading(invocation) as progress:
        check = invocation.memory().notes.check(progress=progress)
    seconds = time.perf_counter() - start
    links_found = [each for each in check.links if everything or not each.path or each.also]

    def show() -> None:
        for each in links_found:
            leads_to = each.path or "(no such file)"
            also = f"  (or {', '.join(each.also)})" if each.also else ""
            print_line(f"{each.source}:{each.link.line}: {link_text(each.link)} -> {leads_to}{also}")
        invocation.inform(_summary(check, len(check.problems), seconds))

    values = {
        **_counts(check, len(check.problems), seconds),
        "links": [shapes.link_shape(each) for each in links_found],
    }
    invocation.answer(values, show)


def _around(entity: str, invocation: Invocation, *, hops: int) -> None:
    with invocation.memory() as memory:
        edges = memory.facts.links(entity, hops=hops)

    def show() -> None:
        rows = [
            (f"{each.source}:{each.line}", each.relation or "-", each.path or f"{each.target} (no such note)")
            for each in edges
        ]
        print_table(["from", "says", "to"], rows)
        invocation.inform("1 link" if len(edges) == 1 else f"{len(edges)} links")

    invocation.answer({"entity": entity, "hops": hops, "count": len(edges), "links": edges}, show)


def _reading(invocation: Invocation) -> ProgressLine:
    return ProgressLine(invocation, {"notes": "read"})


def _line(problem: Problem) -> str:
    return f"{problem.path}:{problem.line}: {problem.message} [{problem.code}]"


def _groups(problems: Sequence[Problem]) -> str:
    """How many problems there are of each code, most frequent first."""
    return ", ".join(f"{number} {code}" for code, number in Counter(each.code for each in problems).most_common())


def _counts(check: VaultCheck, problems: int, seconds: float) -> dict[str, object]:
    unresolved = sum(1 for each in check.links if not each.path)
    return {
        "notes": check.notes,
        "links_resolved": len(check.links) - unresolved,
        "links_unresolved": unresolved,
        "links_ambiguous": sum(1 for each in check.links if each.also),
        "problem_count": problems,
        "took_ms": round(seconds * 1000, 1),
    }


def _summary(check: VaultCheck, problems: int, seconds: float) -> str:
    counts = _counts(check, problems, seconds)
    return (
        f"{counts['notes']} notes, {counts['links_resolved']} links resolved, {counts['links_unresolved']} unresolved, "
        f"{counts['problem_count']} problems, {seconds:.2f} s"
    )
