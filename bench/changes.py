"""What a new statement does to a known one: nothing true is lost, nothing is ended on a guess, neighbours are shown.

The table of the law of memory, on sets whose authors had not seen the program, and on pairs for development. Parts:

- losses: saving every new statement of the sets, one after the other: what is lost, taken for known, or shortened;
- development: the same with the development pairs;
- said_before: what was said earlier and is learned later the same day;
- contradictions: what an agent says against the person's own word;
- neighbours, development_neighbours: whether a save shows the entry that it is about; the curves of the floors;
- chains: values that nobody settles;
- queue: what waits for one person of `memory2` at the end of each of four weeks;
- walk: the functions and files of ours that one save runs.

Run it as `python bench/changes.py`; `--only neighbours,chains` for parts, `--verbose` lists what went wrong, `--save`
keeps the figures. Without the data folder the development parts are left out.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.changes_neighbours import compare_all, neighbour_figures
from bench.changes_queue import measure_queue
from bench.changes_saves import PERSON, measure_chains, measure_contradictions, measure_losses, measure_said_before
from bench.changes_sets import deciding_set, development_memory, development_sets
from bench.changes_tables import tables
from bench.memory_vault import AGENT, Opener, settings_of

from tools import trace

PARTS: Final = (
    "losses",
    "development",
    "said_before",
    "contradictions",
    "neighbours",
    "development_neighbours",
    "chains",
    "queue",
    "walk",
)


def measure(chosen: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Any]]:
    """The figures of the chosen parts, each as soon as it is measured."""
    model = figures.with_model(chosen.model)
    opener, told = Opener(settings_of(model, chosen.set)), deciding_set(chosen.authors, cues=chosen.cues)
    development = development_sets(chosen.data)
    everything = development_memory(development, chosen.data)
    makers: dict[str, Callable[[], Any]] = {
        "losses": lambda: {
            actor.kind: measure_losses(told, opener, folder / f"by-{actor.kind}", actor=actor)
            for actor in (AGENT, PERSON)
        },
        "development": lambda: {
            each.name: measure_losses(each, opener, folder / each.name, actor=AGENT) for each in development
        },
        "said_before": lambda: measure_said_before(told, opener, folder / "said-before"),
        "contradictions": lambda: measure_contradictions(told, opener, folder / "contradictions"),
        "neighbours": lambda: neighbour_figures(compare_all(told, opener, folder / "neighbours")),
        "development_neighbours": lambda: neighbour_figures(compare_all(everything, opener, folder / "development")),
        "chains": lambda: measure_chains(told, opener, folder / "chains"),
        "queue": lambda: measure_queue(chosen.data, opener, folder / "queue"),
        "walk": lambda: _walk(model),
    }
    for part in chosen.only:
        if development or not part.startswith(("development", "queue")):
            figures.say(part)
            yield part, makers[part]()


def _walk(model: dict[str, object]) -> dict[str, int]:
    """What `commonplace save` runs in a process of its own, on the sample vault with the encoder."""
    os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(model["embedding.model_folder"])
    counted = trace.measure(("save",))["save"]
    return {"functions": counted["functions"], "files": counted["files"]}


def main() -> None:
    """Measure, print the tables, and keep the figures if so told."""
    chosen, told = _options().parse_args(), dict[str, Any]()
    with figures.own_home() as folder:
        for part, measured in measure(chosen, folder):
            told[part] = measured
            if chosen.save:
                _keep(_name(chosen), part, measured)
    print("\n".join(tables([told], verbose=chosen.verbose)))


def _name(chosen: argparse.Namespace) -> str:
    """The name of the figures: of other authors than the first two, and with cues, they are kept apart."""
    return "_".join(filter(None, ("changes", chosen.authors.replace("ab", ""), "cues" if chosen.cues else "")))


def _keep(name: str, part: str, measured: Any) -> None:
    """Save the part beside those that were measured before at this commit: all together take long."""
    file = figures.HERE / f"results/{name}-{figures.CODE['commit']}.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    parts = {name: before[name] for name in PARTS if name in before}
    figures.say(f"saved in {figures.save(name, {**parts, part: measured})}")


def _parts(text: str) -> list[str]:
    parts = text.split(",")
    if unknown := {*parts} - {*PARTS}:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    return parts


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", type=_parts, default=list(PARTS), help=f"parts of {','.join(PARTS)}")
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with judgement/ and memory2/")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting to try")
    options.add_argument(
        "--authors", default="ab", help="whose sets decide: letters of the files in bench/sets/changes"
    )
    options.add_argument(
        "--cues", action="store_true", help="save what each statement is about and when it matters, too"
    )
    options.add_argument("--verbose", action="store_true", help="list what went wrong")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/changes-<commit>.json")
    return options


if __name__ == "__main__":
    main()
