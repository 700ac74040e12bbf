"""`commonplace lint` and `commonplace links`: a look over the whole vault, or around one name in it."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from commonplace.cli.door import Door, door_of, print_line, print_table, wiping
from commonplace.cli.note import link_text
from commonplace.errors import UsageError
from commonplace.memory import shapes
from commonplace.model import Check, Problem


def lint(
    context: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended safely, in one commit; the rest is listed.")
    ] = False,
) -> None:
    """List every Problem in the vault's notes, entries and facts, with its path and line. Exit code 0 only if none.

    \b
    Examples:
      commonplace lint
      commonplace lint --fix
      commonplace lint --json
    """
    door = door_of(context)
    start = time.perf_counter()
    with door.opened() as memory:
        linted = memory.lint(fix=fix, progress=_progress)
        check = memory.notes.check(progress=_progress)
    seconds = time.perf_counter() - start
    problems = sorted({*check.problems, *linted.problems})

    def show() -> None:
        for problem in linted.mended:
            print_line(f"mended {_line(problem)}")
        for problem in problems:
            print_line(_line(problem))
        if problems:
            door.aside(_groups(problems))
        door.aside(_summary(check, len(problems), seconds))

    door.answer({**_counts(check, len(problems), seconds), "mended": linted.mended, "problems": problems}, show)
    if problems:
        raise typer.Exit(1)


def links(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="[ENTITY]", help="Someone or something: the links around it.")] = "",
    hops: Annotated[int, typer.Option(min=1, metavar="N", help="How many steps away from ENTITY.")] = 1,
    everything: Annotated[bool, typer.Option("--all", help="Also the links that lead somewhere.")] = False,
) -> None:
    """List links that lead nowhere, or that could mean several notes; or those around an entity, and what they say.

    \b
    Examples:
      commonplace links
      commonplace links --all --json
      commonplace links "Ada Lindqvist" --hops 2
    """
    door = door_of(context)
    if entity:
        if everything:
            raise UsageError("--all is for the links of the whole vault", hint="Leave it out, or the entity.")
        _around(entity, door, hops=hops)
        return
    start = time.perf_counter()
    check = door.memory().notes.check(progress=_progress)
    seconds = time.perf_counter() - start
    found = [each for each in check.links if everything or not each.path or each.also]

    def show() -> None:
        for each in found:
            leads_to = each.path or "(no such file)"
            also = f"  (or {', '.join(each.also)})" if each.also else ""
            print_line(f"{each.source}:{each.link.line}: {link_text(each.link)} -> {leads_to}{also}")
        door.aside(_summary(check, len(check.problems), seconds))

    values = {**_counts(check, len(check.problems), seconds), "links": [shapes.link_shape(each) for each in found]}
    door.answer(values, show)


def _around(entity: str, door: Door, *, hops: int) -> None:
    with door.opened() as memory:
        edges = memory.facts.links(entity, hops=hops)

    def show() -> None:
        rows = [
            (f"{each.source}:{each.line}", each.relation or "-", each.path or f"{each.target} (no such note)")
            for each in edges
        ]
        print_table(["from", "says", "to"], rows)
        door.aside("1 link" if len(edges) == 1 else f"{len(edges)} links")

    door.answer({"entity": entity, "hops": hops, "count": len(edges), "links": edges}, show)


_progress = wiping(lambda done, total: f"read {done} of {total} notes")


def _line(problem: Problem) -> str:
    return f"{problem.path}:{problem.line}: {problem.message} [{problem.code}]"


def _groups(problems: Sequence[Problem]) -> str:
    """How many Problems there are of each sort, the most first."""
    return ", ".join(f"{number} {code}" for code, number in Counter(each.code for each in problems).most_common())


def _counts(check: Check, problems: int, seconds: float) -> dict[str, object]:
    unresolved = sum(1 for each in check.links if not each.path)
    return {
        "notes": check.notes,
        "links_resolved": len(check.links) - unresolved,
        "links_unresolved": unresolved,
        "links_ambiguous": sum(1 for each in check.links if each.also),
        "problem_count": problems,
        "took_ms": round(seconds * 1000, 1),
    }


def _summary(check: Check, problems: int, seconds: float) -> str:
    counts = _counts(check, problems, seconds)
    return (
        f"{counts['notes']} notes, {counts['links_resolved']} links resolved, {counts['links_unresolved']} unresolved, "
        f"{counts['problem_count']} Problems, {seconds:.2f} s"
    )
