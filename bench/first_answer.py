"""How long a host waits for the first answers of `commonplace mcp`: with no daemon running, and with one.

A host starts the stdio door and asks `initialize`, `tools/list` and one search, one after the other.
Cold is without a daemon: the door starts it, and the real encoder is still being loaded when the search comes. The
seconds that the daemon has computed by its first answer tell what it would be on a machine that does nothing else.

Run it as `python bench/first_answer.py`; `--save` keeps the figures.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.clients import stop_daemon, worked
from bench.figures import MODEL, own_home, save, say, with_model

from commonplace.app import copy_sample, put_under_git
from commonplace.client.paths import daemon_files
from commonplace.client.start import read_state

COLD_S: Final = 2.0
LIST_MS: Final = 50.0
COLD_RUNS: Final = 5
WARM_RUNS: Final = 10
HELLO: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
ASKED: Final[dict[str, dict[str, Any]]] = {
    "initialize": HELLO,
    "tools/list": {},
    "tools/call": {"name": "memory_search", "arguments": {"query": "permit for the tank", "verbose": True}},
}


def ask() -> dict[str, float]:
    """Seconds from the start of a door to each answer, and what the daemon had computed by the first of them."""
    begun, told = time.perf_counter(), dict[str, float]()
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as door:
        if not (door.stdin and door.stdout):
            sys.exit("the door has no pipes")
        for method, params in ASKED.items():
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            door.stdin.write(line.encode() + b"\n")
            door.stdin.flush()
            answer = json.loads(door.stdout.readline())
            told[method] = time.perf_counter() - begun
            if "result" not in answer:
                sys.exit(f"{method} was answered with {answer}")
            state = read_state(daemon_files().state)
            if method == "initialize" and state:
                told["computed"] = worked(state.pid)["daemon"]
        told["mode"] = answer["result"]["structuredContent"]["mode"] == "hybrid"
    return told


def measure() -> dict[str, Any]:
    """The figures of doors that find no daemon, and of doors that find one."""
    cold, warm = [], []
    for number in range(COLD_RUNS):
        say(f"cold start {number + 1} of {COLD_RUNS}")
        cold.append(ask())
        warm += [ask() for _ in range(WARM_RUNS // COLD_RUNS)]
        stop_daemon()
    return {"cold": _middle(cold), "warm": _middle(warm)}


def _middle(runs: list[dict[str, float]]) -> dict[str, float]:
    first = {method: statistics.median(run[method] for run in runs) for method in ASKED}
    between = {
        "list_ms": statistics.median(run["tools/list"] - run["initialize"] for run in runs) * 1000,
        "search_ms": statistics.median(run["tools/call"] - run["tools/list"] for run in runs) * 1000,
    }
    told = {
        "runs": len(runs),
        "first_answer_s": first["initialize"],
        "worst_s": max(run["initialize"] for run in runs),
        **between,
        "with_meaning": sum(run["mode"] for run in runs),
        "daemon_computed_s": statistics.median(run["computed"] for run in runs),
    }
    return {name: round(value, 3) for name, value in told.items()}


def show(told: dict[str, Any]) -> None:
    """Print the figures, with what misses its target."""
    for name, each in (("no daemon", told["cold"]), ("a daemon", told["warm"])):
        late = "  MISSED" if name == "no daemon" and each["first_answer_s"] > COLD_S else ""
        slow = "  MISSED" if name == "a daemon" and each["list_ms"] > LIST_MS else ""
        print(
            f"{name}: first answer {each['first_answer_s']} s (worst {each['worst_s']}){late}, "
            f"then tools/list {each['list_ms']} ms{slow}, then a search {each['search_ms']} ms, "
            f"by meaning in {each['with_meaning']} of {each['runs']}"
        )
    computed = told["cold"]["daemon_computed_s"]
    print(f"  targets: {COLD_S} s without a daemon, {LIST_MS} ms for tools/list with one")
    print(f"  the daemon computes for {computed} s until its first answer")


def main() -> None:
    """Register the sample vault, and start doors one after another."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, default=MODEL, help="folder with the encoder's weights")
    options.add_argument(
        "--save", action="store_true", help="keep the figures in bench/results/first_answer-<commit>.json"
    )
    chosen = options.parse_args()
    os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(with_model(chosen.model)["embedding.model_folder"])
    with own_home() as home:
        copy_sample(home / "vault")
        put_under_git(home / "vault")
        command = [sys.executable, "-m", "commonplace", "-q", "init", str(home / "vault")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ask()  # the index is made here, and what is compiled is kept
        stop_daemon()
        told = measure()
    show(told)
    if chosen.save:
        print(f"saved in {save('first_answer', told)}")


if __name__ == "__main__":
    main()
