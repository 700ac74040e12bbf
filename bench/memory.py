"""Whether memory reaches the prompt: few words, the right ones, the current ones.

On labelled sets (the README beside them says what they hold), through the library as the hooks use it:

- context: the needed entries in a session's context and in the prompt's own part, what comes without need, old values;
- gate: what becomes of candidate memories: kept, refused, confirmed, taken as a change;
- queries: questions to a real vault, the garden of 748 notes;
- garden: the people of the first part among that garden, and coding prompts that need no memory;
- sizes: the first part again with the people's entries among generated ones, up to ten thousand;
- thresholds: curves of recall against noise for the numbers by which entries are judged.

The development half is in the data folder; the same command with `--data` on another half decides.

Run it as `python bench/memory.py`; `--only context,gate` for parts of it, `--verbose` to list what was missed, `--json`
for all figures, `--save` to keep them, `--set context.recalled=3` to try a setting.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say
from bench.memory_context import measure_context
from bench.memory_garden import measure_garden, measure_queries
from bench.memory_gate import measure_gate
from bench.memory_sets import Person, garden_of, memory_folder, read_candidates, read_people, read_questions
from bench.memory_sizes import measure_sizes
from bench.memory_tables import tables
from bench.memory_thresholds import measure_passages, measure_thresholds
from bench.memory_vault import Opener, settings_of

PARTS: Final = ("context", "gate", "queries", "garden", "sizes", "thresholds")
SIZES: Final = (35, 300, 3_000, 10_000)


def measure(chosen: argparse.Namespace, sets: Path, folder: Path) -> dict[str, Any]:
    """The figures of the chosen parts."""
    flags = settings_of(figures.with_model(chosen.model), chosen.set)
    opener = Opener(flags, chosen.cache / "memory-vectors.db" if chosen.cache else None)
    told: dict[str, Any] = {"sets": str(sets), "cues": chosen.cues}
    people = (
        read_people(sets, cues=chosen.cues) if {"context", "garden", "sizes", "thresholds"} & {*chosen.only} else []
    )
    if "context" in chosen.only and people:
        told["context"] = measure_context(people, opener, folder, say)
    if "gate" in chosen.only and (candidates := read_candidates(sets)):
        say(f"{len(candidates)} candidate memories")
        told["gate"] = measure_gate(candidates, opener)
    told |= _in_garden(chosen, sets, people, opener, folder)
    if "sizes" in chosen.only and people:
        told["sizes"] = measure_sizes(people, chosen.sizes, opener, folder, say, cues=chosen.cues)
    if "thresholds" in chosen.only and people:
        told["thresholds"] = measure_thresholds(people, opener, folder, say)
    return told


def _in_garden(
    chosen: argparse.Namespace, sets: Path, people: list[Person], opener: Opener, folder: Path
) -> dict[str, Any]:
    """The figures of the parts that need the garden; none, with a message, when it is not there."""
    told: dict[str, Any] = {}
    if not {"queries", "garden", "thresholds"} & {*chosen.only}:
        return told
    garden = garden_of(chosen.data, chosen.vaults, folder / "unpacked")
    if garden is None:
        return told
    if "queries" in chosen.only and (questions := read_questions(sets)):
        say(f"{len(questions)} questions to the garden")
        told["queries"] = measure_queries(questions, opener, garden, folder)
    if "garden" in chosen.only and people:
        told["garden"] = measure_garden(people, sets, opener, garden, folder, say)
    if "thresholds" in chosen.only and people:
        say("thresholds: passages of the garden")
        told["passages"] = measure_passages(people, read_questions(sets), opener, garden, folder)
    return told


def main() -> None:
    """Measure, print the tables, and keep the figures if so told."""
    chosen = _options().parse_args()
    sets, begun = memory_folder(chosen.data), time.perf_counter()
    with figures.own_home() as folder:
        told = measure(chosen, sets, folder)
    told["seconds"] = round(time.perf_counter() - begun, 1)
    print(json.dumps(told, indent=1) if chosen.json else "\n".join(tables(told, verbose=chosen.verbose)))
    if chosen.save:
        print(f"saved in {figures.save('memory', told)}")


def _parts(text: str) -> list[str]:
    parts = text.split(",")
    if unknown := {*parts} - {*PARTS}:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    return parts


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with memory/, or with the sets")
    options.add_argument("--vaults", type=Path, default=None, help="folder with the packed garden, if not in the data")
    options.add_argument("--only", type=_parts, default=list(PARTS), help=f"parts of {','.join(PARTS)}")
    options.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), help="entries together, own and generated"
    )
    options.add_argument("--cues", action="store_true", help="save what each entry is about and when it matters, too")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting to try")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--verbose", action="store_true", help="list what was missed")
    options.add_argument("--json", action="store_true", help="print all figures as JSON")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/memory-<commit>.json")
    return options


if __name__ == "__main__":
    main()
