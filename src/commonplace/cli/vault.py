"""`commonplace lint` and `commonplace links`: a look over the whole vault."""

import time
from typing import Annotated

import typer

from commonplace.cli.door import Door, door_of, print_line, wiping
from commonplace.cli.note import link_as_json, link_text
from commonplace.model import Check


def lint(context: typer.Context) -> None:
    """List every Problem in the vault's notes, each with its path and line.

    \b
    Examples:
      commonplace lint
      commonplace lint --json
    """
    door = door_of(context)
    check, seconds = _check(door)

    def show() -> None:
        for problem in check.problems:
            print_line(f"{problem.path}:{problem.line}: {problem.message} [{problem.code}]")
        door.aside(_summary(check, seconds))

    door.answer({**_counts(check, seconds), "problems": check.problems}, show)


def links(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Also the links that lead somewhere.")] = False,
) -> None:
    """List links that lead nowhere, or that could mean several notes.

    \b
    Examples:
      commonplace links
      commonplace links --all --json
    """
    door = door_of(context)
    check, seconds = _check(door)
    found = [each for each in check.links if everything or not each.path or each.also]

    def show() -> None:
        for each in found:
            leads_to = each.path or "(no such file)"
            also = f"  (or {', '.join(each.also)})" if each.also else ""
            print_line(f"{each.source}:{each.link.line}: {link_text(each.link)} -> {leads_to}{also}")
        door.aside(_summary(check, seconds))

    door.answer({**_counts(check, seconds), "links": [link_as_json(each) for each in found]}, show)


def _check(door: Door) -> tuple[Check, float]:
    start = time.perf_counter()
    check = door.memory().notes.check(progress=wiping(lambda done, total: f"read {done} of {total} notes"))
    return check, time.perf_counter() - start


def _counts(check: Check, seconds: float) -> dict[str, object]:
    unresolved = sum(1 for each in check.links if not each.path)
    return {
        "notes": check.notes,
        "links_resolved": len(check.links) - unresolved,
        "links_unresolved": unresolved,
        "links_ambiguous": sum(1 for each in check.links if each.also),
        "problem_count": len(check.problems),
        "took_ms": round(seconds * 1000, 1),
    }


def _summary(check: Check, seconds: float) -> str:
    counts = _counts(check, seconds)
    return (
        f"{counts['notes']} notes, {counts['links_resolved']} links resolved, {counts['links_unresolved']} unresolved, "
        f"{counts['problem_count']} Problems, {seconds:.2f} s"
    )
