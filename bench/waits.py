"""How long people and hosts wait: until a save is found, until the tools are listed, and for a hook without an answer.

A real daemon watches a small vault, with the hashing encoder. A note is written, changed, and put into a new folder,
again and again; another process searches by words until it finds each. The tools are listed by MCP over the daemon's
socket. At last a daemon that takes connections and never answers stands in for it, and hooks are run as hosts run them.

Run it as `python bench/waits.py`; `--rounds 50` for more of each, `--save` to keep the figures.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.clients import stop_daemon
from bench.figures import own_home, percentile, register, save, say
from bench.quality_tables import table

from commonplace.app import open_memory
from commonplace.client.http import call
from commonplace.client.paths import daemon_files
from commonplace.client.start import ensure_running
from commonplace.memory import Memory

TARGETS_MS: Final = {
    "a new note": 1500,
    "a changed note": 1500,
    "a note in a new folder": 1500,
    "tools/list": 50,
    "hook session-start": 800,
    "hook prompt": 500,
    "hook stop": 300,
}
"""D-85 for a save, A-40 and A-41 for the hooks: the deadlines of whole processes, an interpreter's start included."""
HOOKS: Final = ("session-start", "prompt", "stop")
LONGEST_S: Final = 60.0
HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}
LIST: Final = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()


def measure(folder: Path, *, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every try, by what was waited for."""
    vault = folder / "vault"
    vault.mkdir()
    register(vault)
    ensure_running(timeout=60)
    try:
        with open_memory(vault) as memory:
            saves = [_saves(vault, memory, number) for number in range(rounds)]
        lists = [_milliseconds(_list_tools) for _ in range(rounds)]
    finally:
        stop_daemon()
    with _silent_daemon():
        hooks = {f"hook {event}": [_milliseconds(lambda: _hook(event)) for _ in range(rounds)] for event in HOOKS}  # noqa: B023
    return {name: [each[name] for each in saves] for name in saves[0]} | {"tools/list": lists} | hooks


def _milliseconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def _saves(vault: Path, memory: Memory, number: int) -> dict[str, float]:
    """Milliseconds until a search finds each of three saves."""

    def until_found(path: str, word: str) -> float:
        (vault / path).parent.mkdir(exist_ok=True)
        (vault / path).write_text(f"# Fruit\n\nAll about the {word}.\n")
        return _milliseconds(lambda: _wait_for(memory, word, path))

    return {
        "a new note": until_found(f"new{number}.md", f"quince{number}"),
        "a changed note": until_found(f"new{number}.md", f"medlar{number}"),
        "a note in a new folder": until_found(f"folder{number}/new.md", f"sloe{number}"),
    }


def _wait_for(memory: Memory, word: str, path: str) -> None:
    deadline = time.monotonic() + LONGEST_S
    while path not in [hit.path for hit in memory.search(word, mode="words").hits]:
        if time.monotonic() > deadline:
            sys.exit(f"{path} is not found within {LONGEST_S:g} seconds")
        time.sleep(0.005)


def _list_tools() -> None:
    reply = call("POST", "/mcp", body=LIST, headers=HEADERS, timeout=LONGEST_S)
    if reply.status != 200:
        sys.exit(f"tools/list: {reply.status} {reply.body!r}")


@contextmanager
def _silent_daemon() -> Iterator[None]:
    """A daemon that takes every connection and never answers."""
    file = daemon_files().socket
    file.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(file))
        listening.listen(16)
        yield


def _hook(event: str) -> None:
    command = [sys.executable, "-m", "commonplace", "hook", event, "--host", "codex"]
    ran = subprocess.run(command, input=b'{"prompt": "x"}', capture_output=True, check=True)
    if b"in time" not in ran.stderr and b"too long" not in ran.stderr:
        sys.exit(f"hook {event}: {ran.stderr!r}")


def tables(told: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """The figures, with what misses its target."""
    heads = ["waited for", "tries", "best / p50 / p95 ms", "target, p50"]
    yield from table(heads, [_row(name, times) for name, times in told.items()])


def _row(name: str, times: Sequence[float]) -> list[object]:
    middle, target = percentile(times, 0.5), TARGETS_MS[name]
    spread = f"{min(times):.0f} / {middle:.0f} / {percentile(times, 0.95):.0f}"
    return [name, len(times), spread, f"{target} {'met' if middle <= target else 'MISSED'}"]


def main() -> None:
    """Measure and print; see the top of this module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--save", action="store_true")
    chosen = parser.parse_args()
    os.environ["COMMONPLACE_EMBEDDING__PROVIDER"] = "hashing"
    with own_home() as folder:
        say(f"{chosen.rounds} times each")
        told: dict[str, Any] = {**measure(folder, rounds=chosen.rounds)}
    print("\n".join(tables(told)))
    if chosen.save:
        say(f"kept in {save('waits', {'rounds': chosen.rounds, 'milliseconds': told})}")


if __name__ == "__main__":
    main()
