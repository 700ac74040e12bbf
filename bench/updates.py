"""Where something has changed, how often the session with the current value is found before the one with the old.

The questions of LongMemEval_S, each on its own haystack, with and without weighing by age. The headline is, of the
questions of the type `knowledge-update` with both sessions in the top 10, how often the current one is first; all types
say what the weighing adds or costs.

Run it as `python bench/updates.py`; `--questions 20` asks so many about what has changed and as many others, `--save`
keeps the figures. Vectors are shared with `bench/quality.py`.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures, quality
from bench.datasets import LongMemEval, check_files, read_longmemeval
from bench.figures import say
from bench.questions import UNANSWERABLE, Question, cut_to
from bench.stores import Job, Settings, Way, answer_all
from bench.updates_scoring import HALF_LIVES, KNOWLEDGE_UPDATE, figures_of
from bench.updates_tables import tables


def chosen_of(asked: LongMemEval, count: int | None) -> tuple[Question, ...]:
    """So many questions about what has changed, and as many of the other types; all of them for None."""
    answerable = [each for each in asked.questions if each.type != UNANSWERABLE]
    updates = [each for each in answerable if each.type == KNOWLEDGE_UPDATE]
    others = [each for each in answerable if each.type != KNOWLEDGE_UPDATE]
    return (*cut_to(updates, count), *cut_to(others, count))


def measure(data: Path, settings: Settings, *, count: int | None, processes: int) -> dict[str, Any]:
    """All figures; each store is made once and asked with every half-life. Ends the program when files are missing."""
    begun = time.perf_counter()
    check_files(data, ["longmemeval"])
    asked = read_longmemeval(data)
    questions = chosen_of(asked, count)
    jobs = [
        Job(each.id, asked.store(each.id), tuple((each, Way(half_life=days)) for days in HALF_LIVES))
        for each in questions
    ]
    say(f"{len(jobs)} stores, {len(HALF_LIVES)} ways, {processes} processes")
    answers = answer_all(jobs, settings, processes=processes)
    told = figures_of(questions, asked.haystacks, answers)
    return {"questions": count or "all", "seconds": round(time.perf_counter() - begun), **told}


def main() -> None:
    """Measure, print the tables, and keep them if so told."""
    chosen = _options().parse_args()
    with figures.own_home():
        told = measure(chosen.data, quality.settings_for(chosen), count=chosen.questions, processes=chosen.jobs)
    told = {"encoder": chosen.encoder, **told}
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {figures.save('updates', told)}")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with longmemeval_s/")
    options.add_argument("--questions", type=quality.count_of, default=None, help="how many, or `all` (the default)")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    options.add_argument("--encoder", choices=("real", "hashing"), default="real", help="hashing is for trying out")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/updates-<commit>.json")
    return options


if __name__ == "__main__":
    main()
