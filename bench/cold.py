"""What `commonplace search` costs as a fresh process, on the garden of 749 notes, and where that time goes.

The whole process is timed, ten times, in turns with `python -c pass`. One more process says what it did when: imports,
opening, the search with the encoder's loading in it; another says which packages the imports are.

Run it as `python bench/cold.py`; `--save` keeps the figures.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say

from commonplace.app import open_memory, put_under_git

TARGET_S: Final = 0.5
RUNS: Final = 10
QUESTION: Final = "how do people coordinate without a central authority?"
STEPS: Final = """
import json, sys, time
begun = time.perf_counter()
import commonplace.cli.main
import commonplace.cli.search
imported = time.perf_counter()
from commonplace import open_memory
vault, settings, question = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
memory = open_memory(vault, settings=settings)
opened = time.perf_counter()
answer = memory.search(question)
first = time.perf_counter()
memory.search(question)
again = time.perf_counter()
steps = {"imports of the command line": imported - begun, "open": opened - imported, "first search": first - opened}
steps |= {f"  of it {stage}": took / 1000 for stage, took in answer.times.items()}
print(json.dumps({**steps, "the same search again": again - first}))
"""


def measure(vault: Path, settings: dict[str, object]) -> dict[str, Any]:
    """All figures; the vault is indexed already."""
    command = _command(vault, settings)
    ours, plain = [], []
    for _ in range(RUNS + 1):
        plain.append(_timed([sys.executable, "-c", "pass"]))
        ours.append(_timed(command))
    asked = [sys.executable, "-c", STEPS, str(vault), json.dumps(settings), QUESTION]
    steps = [json.loads(_run(asked).stdout) for _ in range(3)]
    return {
        "runs": RUNS,
        "search_s": round(statistics.median(ours[1:]), 3),
        "search_worst_s": round(max(ours[1:]), 3),
        "words_s": round(statistics.median(_timed([*command, "--mode", "words"]) for _ in range(RUNS)), 3),
        "python_s": round(statistics.median(plain[1:]), 3),
        "steps_ms": {step: round(statistics.median(each[step] for each in steps) * 1000, 1) for step in steps[0]},
        "imports_ms": _imports(command),
    }


def _command(vault: Path, settings: dict[str, object]) -> list[str]:
    assigned = [word for key, value in settings.items() if key != "data" for word in ("--set", f"{key}={value}")]
    named = ["--vault", str(vault), "--data", str(settings["data"]), *assigned]
    return [sys.executable, "-m", "commonplace", *named, "search", QUESTION]


def _imports(command: Sequence[str]) -> dict[str, float]:
    """Milliseconds that each package's own modules took, the dearest first; importtime itself adds some."""
    said = _run([command[0], "-X", "importtime", *command[1:]]).stderr
    sums: Counter[str] = Counter()
    for own, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", said):
        sums[name.split(".")[0]] += int(own)
    return {name: round(micros / 1000, 1) for name, micros in sums.most_common(14)}


def _timed(command: Sequence[str]) -> float:
    begun = time.perf_counter()
    _run(command)
    return time.perf_counter() - begun


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} ... failed: {done.stderr.strip()[-500:]}")
    return done


def _environment() -> dict[str, str]:
    """With compiled modules kept, as they are for an installed program, but not beside the sources."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": f"{os.environ['XDG_CACHE_HOME']}/compiled"}


def show(told: dict[str, Any]) -> None:
    """Print the figures."""
    missed = "" if told["search_s"] <= TARGET_S else "  MISSED"
    print(
        f"`commonplace search` as a fresh process, median of {told['runs']}: {told['search_s']} s "
        f"(target {TARGET_S}; worst {told['search_worst_s']}; by words alone {told['words_s']}; "
        f"`python -c pass` {told['python_s']}){missed}"
    )
    print("  steps, ms: " + ", ".join(f"{step.strip()} {took}" for step, took in told["steps_ms"].items()))
    print("  imports, ms: " + ", ".join(f"{name} {took}" for name, took in told["imports_ms"].items()))


def main() -> None:
    """Index the garden, then ask in fresh processes."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/cold-<commit>.json")
    chosen = options.parse_args()
    with figures.own_home() as home:
        vault = figures.garden(chosen.data, home / "garden")
        if vault is None:
            return
        put_under_git(vault)
        settings = {"data": str(home / "kept"), **figures.with_model(chosen.model)}
        say("indexing the garden")
        with open_memory(vault, settings=settings) as memory:
            memory.index.sync()
        told = measure(vault, settings)
    show(told)
    if chosen.save:
        print(f"saved in {figures.save('cold', told)}")


if __name__ == "__main__":
    main()
