"""How good recall is, on public sets, through the library and with its default settings.

Conversations are recorded and notes are synced as a program would do it; then every question is asked in every mode.
The sets: LongMemEval_S (each question on its own haystack), the same in a store four times as large, LoCoMo, SciFact,
and rejection (whether confidence tells questions that can be answered from those that cannot).

Run it as `python bench/quality.py`; `--questions 80` asks a fixed part of each set, `--ablate` switches each part of
the ranking off in turn, `--save` keeps the figures. Vectors are kept in the cache folder: the first run takes one to
two hours of two cores, a second one minutes.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say
from bench.plan import SETS, Plan, jobs
from bench.quality_tables import tables
from bench.scoring import figures_of
from bench.stores import answer_all

from commonplace.ranking.options import RANKING_PARTS

MODES: Final = ("words", "sense", "rrf", "hybrid")
ABLATED: Final = 80
SWITCHED: Final = tuple(part for part in RANKING_PARTS if part != "age")  # see bench/updates.py


def measure(plan: Plan, settings: dict[str, object], *, processes: int) -> dict[str, Any]:
    """All figures of the plan. A question that fails ends the run."""
    begun = time.perf_counter()
    made = jobs(plan)
    say(f"{len(made)} stores, {sum(len(job.asks) for job in made)} questions to them, {processes} processes")
    answers = answer_all(made, settings, processes=processes)
    told = figures_of(plan, answers)
    return {"questions": plan.count or "all", "seconds": round(time.perf_counter() - begun), **told}


def settings_for(chosen: argparse.Namespace) -> dict[str, object]:
    """What differs from the defaults: the encoder's weights, and vectors that all stores share."""
    cache: dict[str, object] = {"embedding.cache_file": str((chosen.cache / "quality/vectors.db").absolute())}
    if chosen.encoder == "hashing":
        return {**cache, "embedding.provider": "hashing"}
    return {**cache, "embedding.provider": "minilm-l6-v2", **figures.with_model(chosen.model.absolute())}


def main() -> None:
    """Measure, print the tables, and keep them if so told."""
    chosen = _options().parse_args()
    plan = Plan(
        data=chosen.data,
        sets=chosen.sets,
        modes=chosen.modes,
        count=chosen.questions,
        parts=SWITCHED if chosen.ablate != 0 else (),
        ablated=chosen.ablate,
    )
    with figures.own_home():
        told = measure(plan, settings_for(chosen), processes=chosen.jobs)
    told = {"encoder": chosen.encoder, **told}
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {figures.save('quality', told)}")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with longmemeval_s/, locomo/, beir/")
    options.add_argument("--sets", type=_some_of(SETS), default=SETS, help=f"some of {','.join(SETS)}")
    options.add_argument("--modes", type=_some_of(MODES), default=MODES, help=f"some of {','.join(MODES)}")
    options.add_argument(
        "--questions", type=count_of, default=None, help="how many of each set, or `all` (the default)"
    )
    options.add_argument(
        "--ablate",
        type=count_of,
        nargs="?",
        const=ABLATED,
        default=0,
        help=f"switch each part off on so many questions of each set ({ABLATED}), or `all`",
    )
    options.add_argument("--jobs", type=int, default=2, help="processes")
    options.add_argument("--encoder", choices=("real", "hashing"), default="real", help="hashing is for trying out")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/quality-<commit>.json")
    return options


def count_of(text: str) -> int | None:
    """A number of questions; None for all of them."""
    if text == "all":
        return None
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least one question")
    return int(text)


def _some_of(names: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """A reader of some of these names, with commas between them."""

    def read(text: str) -> tuple[str, ...]:
        wanted = tuple(text.split(","))
        if unknown := set(wanted) - set(names):
            raise argparse.ArgumentTypeError(f"not known: {', '.join(sorted(unknown))}")
        return wanted

    return read


if __name__ == "__main__":
    main()
