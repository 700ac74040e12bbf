"""What it costs in recall to compare the sentences of the best few hundred chunks instead of all of them.

The same questions are asked twice: with the pools of the product, and with pools that hold every chunk of the store.
Run it as `python bench/pool.py`; `--questions 60` asks so many of each set, `--save` keeps the figures.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures, quality
from bench.figures import say
from bench.plan import Plan
from bench.quality_tables import named

from commonplace.flows.search import search as look_up

SETS: Final = ("longmemeval", "locomo", "scifact")
EVERY: Final = 1_000_000


@contextmanager
def every_chunk() -> Iterator[None]:
    """Pools that leave nothing out."""
    with mock.patch.multiple(look_up, HYBRID_POOL=EVERY, SCORED=EVERY):
        yield


def main() -> None:
    """Measure both, print them side by side, and keep them if so told."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with longmemeval_s/, locomo/, beir/")
    options.add_argument("--questions", type=int, default=60, help="how many of each set")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/pool-<commit>.json")
    chosen = options.parse_args()
    chosen.encoder = "real"
    plan = Plan(data=chosen.data, sets=SETS, modes=("hybrid",), count=chosen.questions)
    with figures.own_home():
        settings = quality.settings_for(chosen)
        say("with the pools of the product")
        ours = quality.measure(plan, settings, processes=1)
        say("with every chunk")
        with every_chunk():
            whole = quality.measure(plan, settings, processes=1)
    told = {"questions": chosen.questions, "rows": rows(ours["headlines"], whole["headlines"])}
    for row in told["rows"]:
        print(f"{row['what']:45} n {row['n']:4}  {row['pool']:6.1f}  {row['every']:6.1f}")
    if chosen.save:
        print(f"saved in {figures.save('pool', told)}")


def rows(ours: list[dict[str, Any]], whole: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each headline with its two values."""
    return [
        {"what": named(one), "n": one["n"], "pool": one["value"] * 100, "every": other["value"] * 100}
        for one, other in zip(ours, whole, strict=True)
    ]


if __name__ == "__main__":
    main()
