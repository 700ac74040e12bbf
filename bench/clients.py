"""Fifty MCP clients at once on one real daemon, reading and writing, on a vault of 10k chunks.

The vault is the one of `bench/entries.py`, one chunk an entry. Each client has a token of its own and asks one thing
after another without a pause: six searches, two recalls, one save, and now and then a note or the facts about someone.
Afterwards every text whose saving was acknowledged is looked for in the vault. The clients run in processes of their
own on the same machine, so that they take a part of its cores.

Run it as `python bench/clients.py`; `--real` for the real encoder, `--save` to keep the figures.
"""

import argparse
import json
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.clients_load import SHARES, Load, Told, run
from bench.entries_vault import build, subjects
from bench.figures import MODEL, own_home, percentile, save, say, with_model

from commonplace.client.http import call
from commonplace.client.paths import daemon_files
from commonplace.client.start import DaemonState, ensure_running
from commonplace.daemon.tokens import Tokens

PROCESSES: Final = 2
START_S: Final = 15  # until the processes of the clients have loaded what they need
CONNECT_S: Final = 0.2  # for each client, until the load begins
ERRORS_SHOWN: Final = 5
MEMORY_EVERY_S: Final = 0.5
LONGEST_INDEXING_S: Final = 900


def measure(root: Path, *, entries: int, clients: int, seconds: float) -> dict[str, Any]:
    """The figures of one run; the vault is registered, and the daemon is started and stopped here."""
    with _daemon() as state:
        _wait_until_indexed(entries)
        say(f"{clients} clients for {seconds:g} s")
        loads = _loads(root, state, entries=entries, clients=clients, seconds=seconds)
        before = worked(state.pid)
        with _watching(state.pid) as memory:
            told, took = _loaded(loads)
        spent = {who: much - before[who] for who, much in worked(state.pid).items()}
    saved = [text for each in told for text in each.saved]
    times = {tool: [ms for each in told for ms in each.times[tool]] for tool in SHARES}
    done = sum(len(each) for each in times.values())
    return {
        "clients": clients,
        "entries": entries,
        "seconds": seconds,
        "requests": done,
        "requests_per_s": round(done / took, 1),
        "all": _percentiles([ms for each in times.values() for ms in each]),
        "tools": {tool: _percentiles(each) for tool, each in times.items()},
        "errors": [error for each in told for error in each.errors],
        "late_recalls": sum(each.late for each in told),
        "writes": len(saved),
        "lost_writes": _lost(root, saved),
        "memory_mb": _memory(memory),
        "cpu_ms_per_request": {who: round(much / max(done, 1) * 1000, 1) for who, much in spent.items()},
    }


@contextmanager
def _daemon() -> Iterator[DaemonState]:
    """A real daemon, as the stdio door starts it, for this block."""
    state = ensure_running(timeout=60)
    try:
        yield state
    finally:
        stop_daemon()


def stop_daemon() -> None:
    """Stop it, and wait until it is gone."""
    call("POST", "/daemon/stop", timeout=60)
    while daemon_files().state.exists():
        time.sleep(0.05)


def _wait_until_indexed(entries: int) -> None:
    """The daemon's watcher takes the notes in by itself; what is measured comes after that."""
    say("the daemon indexes the vault")
    deadline = time.monotonic() + LONGEST_INDEXING_S
    while time.monotonic() < deadline:
        (vault,) = json.loads(call("GET", "/daemon/status", timeout=LONGEST_INDEXING_S).body)["vaults"]
        if vault.get("heard") and vault["notes"] >= entries:
            return
        time.sleep(1)
    sys.exit(f"the daemon has not indexed the vault: {vault}")


def _loads(root: Path, state: DaemonState, *, entries: int, clients: int, seconds: float) -> list[Load]:
    tokens, now = Tokens(daemon_files().tokens), datetime.now(UTC)
    secrets = {
        number: tokens.create(f"client {number}", scopes=["write"], vault="", now=now)[1] for number in range(clients)
    }
    notes = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    people, begins = subjects(entries), time.time() + START_S + clients * CONNECT_S
    return [
        Load(
            url=f"{state.url}/mcp",
            tokens={number: secret for number, secret in secrets.items() if number % PROCESSES == process},
            begins=begins,
            seconds=seconds,
            people=people,
            notes=notes,
        )
        for process in range(PROCESSES)
    ]


def _loaded(loads: Sequence[Load]) -> tuple[list[Told], float]:
    """What came of all of them, and the seconds from the common beginning to the last answer."""
    with ProcessPoolExecutor(len(loads), mp_context=multiprocessing.get_context("spawn")) as pool:
        told = list(pool.map(run, loads))
    return told, max(each.ended for each in told) - loads[0].begins


@contextmanager
def _watching(pid: int) -> Iterator[list[float]]:
    """Megabytes of that process in memory, again and again, until the block ends."""
    seen: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(MEMORY_EVERY_S):
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
            seen.append(int(found[1]) / 1024 if found else 0.0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def worked(pid: int) -> dict[str, float]:
    """Seconds that the process has computed, and those of the programs that it ran, which are git's."""
    own, system, theirs, their_system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    tick = os.sysconf("SC_CLK_TCK")
    return {"daemon": (int(own) + int(system)) / tick, "git": (int(theirs) + int(their_system)) / tick}


def _memory(seen: Sequence[float]) -> dict[str, int]:
    return {
        "start": round(seen[0]),
        "middle": round(seen[len(seen) // 2]),
        "end": round(seen[-1]),
        "most": round(max(seen)),
    }


def _lost(root: Path, saved: Sequence[str]) -> list[str]:
    """The acknowledged texts that stand in no note of the vault."""
    say(f"looking for {len(saved)} texts in the vault")
    everything = "\n".join(path.read_text(errors="replace") for path in root.rglob("*.md"))
    return [text for text in saved if text not in everything]


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {"n": len(times), **{name: round(percentile(times, at), 1) for name, at in shares.items() if times}}


def show(told: Mapping[str, Any]) -> None:
    """Print the figures, with what must not be."""
    where = f"{told['entries']} entries, {told['encoder']} encoder"
    print(f"{told['clients']} MCP clients for {told['seconds']:g} s on {where}: {told['requests_per_s']} requests/s")
    for tool, each in {**told["tools"], "all": told["all"]}.items():
        if each["n"]:
            print(f"  {tool:15}{each['n']:>7}   p50 {each['p50']:>7} ms   p95 {each['p95']:>7}   p99 {each['p99']:>7}")
    memory = ", ".join(f"{when} {much}" for when, much in told["memory_mb"].items())
    spent = ", ".join(f"{who} {much}" for who, much in told["cpu_ms_per_request"].items())
    print(f"  resident memory of the daemon, MB: {memory}; computing for each request, ms: {spent}")
    wrong = "  MISSED" if told["errors"] or told["lost_writes"] else ""
    lost = f"lost writes {len(told['lost_writes'])} of {told['writes']}"
    print(f"  errors {len(told['errors'])}, {lost}, recalls with a late part {told['late_recalls']}{wrong}")
    for error in [*told["errors"][:ERRORS_SHOWN], *told["lost_writes"][:ERRORS_SHOWN]]:
        print(f"    {error}")


def main() -> None:
    """Make the vault, load the daemon, and print what came of it; the exit code is 1 for an error or a lost write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clients", type=int, default=50, help="MCP clients at once")
    options.add_argument("--seconds", type=float, default=60.0, help="how long they ask")
    options.add_argument("--notes", type=int, default=10_000, help="entries in the vault, one chunk each")
    options.add_argument("--real", action="store_true", help="with the real encoder, not the hashing one")
    options.add_argument("--model", type=Path, default=MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/clients-<commit>.json")
    chosen = options.parse_args()
    if chosen.real:
        os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(with_model(chosen.model)["embedding.model_folder"])
    else:
        os.environ["COMMONPLACE_EMBEDDING__PROVIDER"] = "hashing"
    with own_home() as home:
        say(f"making a vault of {chosen.notes} entries")
        build(home / "vault", chosen.notes)
        subprocess.run(
            [sys.executable, "-m", "commonplace", "-q", "init", str(home / "vault")],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        told = measure(home / "vault", entries=chosen.notes, clients=chosen.clients, seconds=chosen.seconds)
    told = {"encoder": "real" if chosen.real else "hashing", **told}
    show(told)
    if chosen.save:
        print(f"saved in {save('clients', told)}")
    sys.exit(bool(told["errors"] or told["lost_writes"]))


if __name__ == "__main__":
    main()
