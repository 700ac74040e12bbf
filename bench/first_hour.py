"""What a new user waits for, on the garden of 748 notes: the first answer, search by meaning, and the bytes they cost.

Every step is a fresh process of the command line with an empty home, as a person types it: `init`, the first `search`
(which indexes by words), `sync` (which encodes the rest), a `search` by meaning, and the first search `--as-of` a day.
Computing time is that of the process; the wall clock depends on what else the machine does.

Run it as `python bench/first_hour.py`; `--save` keeps the figures.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say

FIRST_ANSWER_S: Final = 30.0
QUESTION: Final = "how do people coordinate without a central authority?"
STEPS: Final = {
    "init": ("init", "{vault}", "--yes"),
    "first search, by words": ("search", QUESTION, "--json"),
    "sync": ("sync", "--json"),
    "search by meaning": ("search", QUESTION, "--json"),
    "first search as of today": ("search", QUESTION, "--as-of", "today", "--json"),
    "the same again": ("search", QUESTION, "--as-of", "today", "--json"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One command: seconds by the clock, seconds of computing, and its answer."""

    clock_s: float
    computed_s: float
    answer: dict[str, Any]


def take(words: tuple[str, ...], environ: dict[str, str]) -> Step:
    """The command, run to its end. Ends the program if it fails."""
    before, start = _children_s(), time.perf_counter()
    ran = subprocess.run([sys.executable, "-m", "commonplace", *words], env=environ, capture_output=True, text=True)
    clock = time.perf_counter() - start
    if ran.returncode:
        sys.exit(f"commonplace {' '.join(words)}: {ran.stdout}{ran.stderr}")
    answer = json.loads(ran.stdout) if "--json" in words else {}
    return Step(round(clock, 2), round(_children_s() - before, 2), answer)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sizes(folder: Path) -> dict[str, float]:
    """Megabytes of each file and folder below the vault's data folder."""
    found: dict[str, float] = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            name = file.relative_to(folder).parts[0]
            found[name] = found.get(name, 0.0) + file.stat().st_size / 1e6
    return {name: round(size, 1) for name, size in sorted(found.items())}


def text_megabytes(vault: Path) -> float:
    """Megabytes of notes."""
    return round(sum(note.stat().st_size for note in vault.rglob("*.md")) / 1e6, 2)


def measure(vault: Path, home: Path, model: Path) -> dict[str, Any]:
    """All figures."""
    environ = {**os.environ, "COMMONPLACE_EMBEDDING__MODEL_FOLDER": str(model), "COMMONPLACE_VAULT": str(vault)}
    taken: dict[str, Step] = {}
    for name, words in STEPS.items():
        say(name)
        taken[name] = take(tuple(word.format(vault=vault) for word in words), environ)
    (data,) = (folder for folder in (home / "data" / "commonplace").iterdir() if folder.name.startswith(vault.name))
    stored = sizes(data)
    return {
        "steps": {name: {k: v for k, v in asdict(step).items() if k != "answer"} for name, step in taken.items()},
        "first_answer_s": round(sum(taken[name].clock_s for name in ("init", "first search, by words")), 2),
        "first_hits": taken["first search, by words"].answer["count"],
        "texts_encoded": taken["sync"].answer["encoded"],
        "notes_mb": text_megabytes(vault),
        "stored_mb": {**stored, "all": round(sum(stored.values()), 1)},
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"{'step':28} {'clock s':>8} {'computed s':>11}")
    for name, step in found["steps"].items():
        print(f"{name:28} {step['clock_s']:8.2f} {step['computed_s']:11.2f}")
    print(f"first answer after {found['first_answer_s']} s (target {FIRST_ANSWER_S:.0f}), {found['first_hits']} hits")
    print(f"{found['texts_encoded']} texts encoded; {found['notes_mb']} MB of notes, stored: {found['stored_mb']} MB")


def main() -> None:
    """Run the benchmark."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, default=figures.DATA)
    arguments.add_argument("--model", type=Path, default=figures.MODEL)
    arguments.add_argument("--save", action="store_true")
    given = arguments.parse_args()
    figures.with_model(given.model)
    with figures.own_home() as home:
        vault = figures.garden(given.data, home / "vault")
        if vault is None:
            return
        found = measure(vault, home, given.model)
    show(found)
    if given.save:
        figures.save("first_hour", found)


if __name__ == "__main__":
    main()
