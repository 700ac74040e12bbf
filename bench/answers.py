"""How many characters an agent reads: the list of tools, and the answers to common calls of `commonplace mcp`.

The vault is the sample vault with 24 facts about it. An answer is counted as it goes over the wire to the host: its
text, and its structured content if it has any. Hosts differ in which of the two they give to the model.

Run it as `python bench/answers.py`; `--save` keeps the figures.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.clients import stop_daemon
from bench.figures import MODEL, own_home, save, with_model
from bench.first_answer import HELLO

from commonplace import open_memory
from commonplace.app import copy_sample

PEOPLE: Final = ("Ada Lindqvist", "Jonas Weber", "Priya Raman", "Tomas Okafor")
RELATIONS: Final = {"lives in": "Lund", "plays": "the cello", "drives": "a van", "likes": "tea", "reads": "atlases"}
FACTS: Final = [
    (who, verb, f"{what} {number}") for number, who in enumerate(PEOPLE) for verb, what in RELATIONS.items()
]
PREFERENCES: Final = ("tea without milk", "short answers", "trains to planes", "early meetings")
CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "24 facts": ("memory_facts", {}),
    "a search, 8 hits": ("memory_search", {"query": "greenhouse"}),
    "a recall": ("memory_recall", {"prompt": "Which board do the sensors use?"}),
    "a note": ("note_read", {"path": "People/Ada Lindqvist.md"}),
    "a wrong path": ("note_read", {"path": "People/Ada.md"}),
}


def fill(vault: Path) -> None:
    """The sample vault with its facts, indexed and registered."""
    copy_sample(vault)
    command = [sys.executable, "-m", "commonplace", "-q", "init", str(vault)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open_memory(vault) as memory:
        for fact in FACTS:
            memory.facts.add(*fact)
        for preference in PREFERENCES:
            memory.entries.save(f"Prefers {preference}.", kind="preference")
        memory.index.sync()


def measure() -> dict[str, dict[str, int]]:
    """Characters of the list of tools and of each answer."""
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:

        def ask(method: str, params: dict[str, Any]) -> Any:
            if not (server.stdin and server.stdout):
                sys.exit("the server has no pipes")
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            server.stdin.write(line.encode() + b"\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]

        ask("initialize", HELLO)
        tools = ask("tools/list", {})["tools"]
        told = {f"the list of {len(tools)} tools": {"text": _length(tools), "structured": 0}}
        for name, (tool, arguments) in CALLS.items():
            answer = ask("tools/call", {"name": tool, "arguments": arguments})
            structured = answer.get("structuredContent")
            text = sum(len(each["text"]) for each in answer["content"])
            told[name] = {"text": text, "structured": _length(structured) if structured else 0}
    return told


def _length(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def main() -> None:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, default=MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/answers-<commit>.json")
    chosen = options.parse_args()
    os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(with_model(chosen.model)["embedding.model_folder"])
    with own_home() as home:
        fill(home / "vault")
        told = measure()
        stop_daemon()
    for name, each in told.items():
        print(f"{name:24} text {each['text']:7,}  structured {each['structured']:7,}")
    if chosen.save:
        print(f"saved in {save('answers', {'characters': told})}")


if __name__ == "__main__":
    main()
