"""A simulated year: does memory stay small, current and true, and does everything that jobs did come back?

One generated person talks with an assistant on 365 days (`year_person`, `year_talk`), mostly about nothing that lasts.
Home, job, boss, tools and plans change. Each day is recorded and learned from, each night the due jobs run, with an
injected clock, real git and real SQLite; every week the person reads the digest and decides what waits. A scripted
model answers over HTTP (`year_model`); with --rules there is none.

The program fails if entries are not bounded, if at one of the checkpoints an attribute has no current value or an old
one (without a model: if fewer are right than the floors below), if a note of the person changes by itself, if a job or
a command of a digest fails, if an injection is kept, or if the index does not answer the same after a rebuild.

Run it as `python bench/year.py [--days 365] [--seed 1] [--rules] [--real]`.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say
from bench.year_checks import Checkpoint, CommandRun, Copy, injected, is_rebuilt_equal, look, recall, run_commands
from bench.year_life import REVIEWS, Life
from bench.year_model import YearModel, no_model, serving_year
from bench.year_person import FIRST_DAY, QUESTIONS, year_of
from bench.year_tables import year_tables

from tests.memories import Calendar, make_memory

CHECKPOINTS: Final = 12
MOST_ENTRIES: Final = 1.5
"""Current entries for each thing that is true and was said."""
FLOORS: Final = {"known": 0.5, "stale": 0.15}
"""Without a model: the least share of attributes whose value is known, and the most of entries that are stale."""


@dataclass(slots=True)
class YearResult:
    """What a year showed; `broken` are the rules that it broke."""

    name: str
    days: int
    seed: int
    checkpoints: list[Checkpoint] = field(default_factory=list)
    commands: list[CommandRun] = field(default_factory=list)
    recall: dict[str, dict[str, float]] = field(default_factory=dict)
    is_equal: bool = False
    life: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0


def live_year(
    home: Path,
    *,
    days: int,
    seed: int = 1,
    checkpoints: int = CHECKPOINTS,
    questions: int = QUESTIONS,
    has_model: bool = True,
    settings: dict[str, object] | None = None,
) -> YearResult:
    """Live the year below this folder, and look at it at so many checkpoints."""
    year, begun = year_of(seed, days, questions=questions), time.perf_counter()
    result = YearResult("a scripted model" if has_model else "rules alone", days, seed)
    with serving_year(year) if has_model else no_model() as (model, served):
        given = {"embedding.provider": "hashing", **(settings or {}), **served, "upkeep.zone": "UTC"}
        with _opened(home, given) as (memory, calendar):
            life = Life(memory, calendar, year, home / "vault", seed, model)
            _live(life, result, copy=lambda: Copy(home, home / "copy", given), due=_evenly(days, checkpoints))
            result.is_equal = is_rebuilt_equal(life)
            result.life = _figures(life, model)
            result.broken = [*_broken(result, life, model)]
    result.seconds = time.perf_counter() - begun
    return result


@contextmanager
def _opened(home: Path, settings: dict[str, object]) -> Iterator[tuple[Any, Calendar]]:
    calendar = Calendar(datetime.combine(FIRST_DAY, time_of_day(6), UTC))
    memory = make_memory(home, clock=calendar, settings=settings)
    try:
        yield memory, calendar
    finally:
        memory.close()


def _evenly(days: int, number: int) -> list[int]:
    return [round(days / number * place) - 1 for place in range(1, number + 1)]


def _live(life: Life, result: YearResult, *, copy: Callable[[], Copy], due: Sequence[int]) -> None:
    first = min(29, life.year.days - 1)
    for day in range(life.year.days):
        life.live(day)
        is_checkpoint = day in due
        if is_checkpoint or day % REVIEWS == REVIEWS - 1:
            check = (lambda: _check_commands(life, result, copy())) if is_checkpoint else (lambda: None)
            life.review(day, before=check)
        if is_checkpoint:
            with life.timed("checks"):
                result.checkpoints.append(look(life))
            _tell(result.checkpoints[-1])
        if day == first or day == life.year.days - 1:
            with life.timed("checks"):
                result.recall[f"day {day + 1}"] = recall(life)


def _check_commands(life: Life, result: YearResult, copy: Copy) -> None:
    """Run the commands of the digest that the person is about to read."""
    with life.timed("checks"):
        digest = life.memory.digests.read(advance=False)
        result.commands += run_commands(digest.lines, copy)


def _tell(point: Checkpoint) -> None:
    say(
        f"day {point.day}: {point.entries} entries, {point.known} of {point.attributes} attributes right, "
        f"{point.stale} stale"
    )


def _figures(life: Life, model: YearModel | None) -> dict[str, Any]:
    return {
        "learned": dict(life.learned),
        "decided": dict(life.decided),
        "jobs": {name: dict(counts) for name, counts in sorted(life.jobs.items())},
        "seconds_of": {name: round(value, 1) for name, value in sorted(life.seconds.items())},
        "asked": dict(model.asked) if model else {},
        "injected": injected(life),
    }


def _broken(result: YearResult, life: Life, model: YearModel | None) -> Iterator[str]:
    """Every rule that the year broke."""
    yield from life.faults
    for point in result.checkpoints:
        yield from _broken_at(point, is_strict=model is not None)
    yield from (f"{each.command} ({each.kind}): {each.wrong}" for each in result.commands if each.wrong)
    yield from (f"kept, and must not be: {each}" for each in result.life["injected"])
    if not result.is_equal:
        yield "the index answers otherwise after a rebuild"
    if model and model.unknown:
        yield f"the scripted model does not know the tasks {', '.join(sorted(model.unknown))}"


def _broken_at(point: Checkpoint, *, is_strict: bool) -> Iterator[str]:
    if point.entries > MOST_ENTRIES * point.facts:
        yield f"day {point.day}: {point.entries} entries for {point.facts} facts"
    if is_strict:
        yield from (f"day {point.day}: {each}" for each in point.wrong)
    elif point.known < FLOORS["known"] * point.attributes or point.stale > FLOORS["stale"] * point.entries:
        yield f"day {point.day}: {point.known} of {point.attributes} attributes known, {point.stale} entries stale"


# ---------------------------------------------------------------- what is printed


def told_of(result: YearResult) -> dict[str, Any]:
    """The figures of one year, as they are kept."""
    return {
        "name": result.name,
        "days": result.days,
        "seed": result.seed,
        "seconds": round(result.seconds, 1),
        "checkpoints": [each.figures for each in result.checkpoints],
        "recall": result.recall,
        "commands": len(result.commands),
        "commands_failed": [each.command for each in result.commands if each.wrong],
        "command_kinds": sorted({each.kind for each in result.commands}),
        "rebuild_equal": result.is_equal,
        "broken": result.broken,
        **result.life,
    }


def show(result: YearResult) -> None:
    """Print the tables of one year, and everything that it broke."""
    print("\n".join(("", *year_tables(told_of(result)))))
    for name, value in result.life.items():
        print(f"{name}: {value}")
    print("\n".join(f"BROKEN: {each}" for each in result.broken) or "nothing is broken")


def main() -> None:
    """Live the year with a model and without one; the exit code is 1 if a rule is broken."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--days", type=int, default=365)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--checkpoints", type=int, default=CHECKPOINTS)
    options.add_argument("--model", action="store_true", help="only with the scripted model")
    options.add_argument("--rules", action="store_true", help="only without a model")
    options.add_argument("--real", action="store_true", help="with the real encoder instead of the hashing one")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/year_*-<commit>.json")
    chosen = options.parse_args()
    settings = {"embedding.provider": "minilm-l6-v2", **figures.with_model(figures.MODEL)} if chosen.real else None
    is_broken = False
    for name, is_left_out in (("model", chosen.rules), ("rules", chosen.model)):
        if is_left_out:
            continue
        with figures.own_home() as home:
            run = {"days": chosen.days, "seed": chosen.seed, "checkpoints": chosen.checkpoints}
            result = live_year(home, **run, has_model=name == "model", settings=settings)
        show(result)
        is_broken |= bool(result.broken)
        if chosen.save:
            print(f"saved in {figures.save(f'year_{name}', told_of(result))}")
    sys.exit(1 if is_broken else 0)


if __name__ == "__main__":
    main()
