"""Fifty MCP clients at once on one real daemon, reading and writing, on a vault of 10k chunks, with the real encoder.

The vault is the one of `bench/entries.py`, one chunk an entry. Each client has a token of its own and asks one thing
after another: six searches, two recalls, one save, and now and then a note or the facts about someone. Without a pause
first, which is the most that the daemon can do; then with `--pace` requests a second of each, as a crowd that it can
keep up with. Afterwards every text whose saving was acknowledged is looked for in the vault. The clients run in a
process of their own on the same machine, and take a part of its cores.

Run it as `python bench/clients.py`; `--workers 0` for one process, `--cache FOLDER` to index the vault only once,
`--save` to keep the figures.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.clients_load import SHARES, Load, Told
from bench.clients_load import run as run_load
from bench.entries_vault import build, subjects
from bench.figures import MODEL, own_home, percentile, save, say, use_home, with_model

from commonplace.client.http import call
from commonplace.client.paths import daemon_files
from commonplace.client.start import DaemonState, ensure_running
from commonplace.daemon.tokens import Tokens

PROCESSES: Final = 1
WARM_S: Final = 10.0  # of load that is not counted: the workers start in it
START_S: Final = 3.0  # until the process of the clients has loaded what it needs
CONNECT_S: Final = 0.02  # for each client, until the load begins
LIBRARY_S: Final = 20.0  # the same for FastMCP's clients
ERRORS_SHOWN: Final = 5
MEMORY_EVERY_S: Final = 0.5
LONGEST_INDEXING_S: Final = 900


def measure(
    root: Path, *, entries: int, clients: int, seconds: float, paces: Sequence[float], library: bool
) -> dict[str, Any]:
    """The figures of one daemon under each pace. The vault is registered; the daemon is started and stopped here."""
    with _daemon() as state:
        _wait_until_indexed(entries)
        make = partial(_loads, root, state, entries=entries, clients=clients, library=library)
        say("warming up")
        saved = [text for each in _loaded(make(seconds=WARM_S, pace=0.0))[0] for text in each.saved]
        runs = []
        for pace in paces:
            say(f"{clients} clients for {seconds:g} s, {f'{pace:g} requests a second each' if pace else 'no pause'}")
            runs.append(_measure(make(seconds=seconds, pace=pace), state, clients=clients, pace=pace))
        saved += [text for run in runs for text in run.pop("saved")]
    told = {"clients": clients, "entries": entries, "seconds": seconds, "runs": runs, "library": library}
    return {**told, "writes": len(saved), "lost_writes": _lost(root, saved)}


def _measure(loads: Sequence[Load], state: DaemonState, *, clients: int, pace: float) -> dict[str, Any]:
    before = {pid: worked(pid) for pid in _processes(state)}
    with _watching(state) as memory:
        told, took = _loaded(loads)
    times = {tool: [ms for each in told for ms in each.times[tool]] for tool in SHARES}
    done = sum(len(each) for each in times.values())
    spent = {
        "daemon": _spent(state.pid, before)["daemon"],
        "workers": sum(_spent(pid, before)["daemon"] for pid in _processes(state) if pid != state.pid),
        "git": _spent(state.pid, before)["git"],
        "clients": sum(each.computed for each in told),
    }
    return {
        "pace": pace,
        "requests": done,
        "requests_per_s": round(done / took, 1),
        "asked_per_s": round(clients * pace, 1),
        "all": _percentiles([ms for each in times.values() for ms in each]),
        "tools": {tool: _percentiles(each) for tool, each in times.items()},
        "errors": [error for each in told for error in each.errors],
        "late_recalls": sum(each.late for each in told),
        "memory_mb": {str(place): round(max(each)) for place, each in memory.items()},
        "cpu_ms_per_request": {who: round(much / max(done, 1) * 1000, 1) for who, much in spent.items()},
        "load": os.getloadavg()[0],
        "saved": [text for each in told for text in each.saved],
    }


def _processes(state: DaemonState) -> list[int]:
    """The daemon's process, and then those of its workers."""
    status = json.loads(call("GET", "/daemon/status", timeout=60).body)
    return [state.pid, *(each["pid"] for each in status.get("workers", ()))]


def _spent(pid: int, before: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    return {who: much - before.get(pid, {}).get(who, 0.0) for who, much in worked(pid).items()}


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


def _loads(
    root: Path, state: DaemonState, *, entries: int, clients: int, seconds: float, pace: float, library: bool
) -> list[Load]:
    tokens, now = Tokens(daemon_files().tokens), datetime.now(UTC)
    secrets = {
        number: tokens.create(f"client {number} {now:%H%M%S}", scopes=["write"], vault="", now=now)[1]
        for number in range(clients)
    }
    notes = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    people, begins = subjects(entries), time.time() + (LIBRARY_S if library else START_S + clients * CONNECT_S)
    return [
        Load(
            port=state.port,
            tokens={number: secret for number, secret in secrets.items() if number % PROCESSES == process},
            begins=begins,
            seconds=seconds,
            people=people,
            notes=notes,
            pace=pace,
            library=library,
        )
        for process in range(PROCESSES)
    ]


def _loaded(loads: Sequence[Load]) -> tuple[list[Told], float]:
    """What came of all of them, and the seconds from the common beginning to the last answer."""
    with ProcessPoolExecutor(len(loads), mp_context=multiprocessing.get_context("spawn")) as pool:
        told = list(pool.map(run_load, loads))
    return told, max(each.ended for each in told) - loads[0].begins


@contextmanager
def _watching(state: DaemonState) -> Iterator[dict[int, list[float]]]:
    """Megabytes of each of the daemon's processes, again and again, until the block ends."""
    processes = _processes(state)
    seen: dict[int, list[float]] = {place: [] for place in range(len(processes))}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(MEMORY_EVERY_S):
            for place, pid in enumerate(processes):
                found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
                seen[place].append(int(found[1]) / 1024 if found else 0.0)

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
    where = f"{told['entries']} entries, {told['encoder']} encoder, {'FastMCP' if told['library'] else 'plain'} clients"
    print(f"{told['clients']} MCP clients for {told['seconds']:g} s on {where}")
    for run in told["runs"]:
        _show_run(run)
    wrong = "  MISSED" if told["lost_writes"] else ""
    print(f"  lost writes {len(told['lost_writes'])} of {told['writes']}{wrong}")


def _show_run(run: Mapping[str, Any]) -> None:
    asked = f"{run['asked_per_s']} asked for" if run["pace"] else "without a pause"
    print(f"  {asked}: {run['requests_per_s']} requests/s, p95 {run['all']['p95']} ms (load {run['load']:.1f})")
    for tool, each in {**run["tools"], "all": run["all"]}.items():
        if each["n"]:
            print(
                f"    {tool:15}{each['n']:>7}   p50 {each['p50']:>7} ms   p95 {each['p95']:>7}   p99 {each['p99']:>7}"
            )
    memory = ", ".join(
        f"{'worker ' + place if int(place) else 'daemon'} {mb}" for place, mb in run["memory_mb"].items()
    )
    spent = ", ".join(f"{who} {much}" for who, much in run["cpu_ms_per_request"].items())
    print(f"    resident memory, MB: {memory}; computing for each request, ms: {spent}")
    print(f"    errors {len(run['errors'])}{'  MISSED' if run['errors'] else ''}, late recalls {run['late_recalls']}")
    for error in run["errors"][:ERRORS_SHOWN]:
        print(f"      {error}")


@contextmanager
def _home(cache: Path | None, notes: int) -> Iterator[Path]:
    """A home with a registered vault of so many entries; a copy of the one in the cache, if there is a cache."""
    if cache is None:
        with own_home() as home:
            _make_vault(home, notes)
            yield home
        return
    home, kept = cache / "home", cache / f"kept-{notes}"
    use_home(home)
    shutil.rmtree(home, ignore_errors=True)
    if kept.is_dir():
        shutil.copytree(kept, home, symlinks=True)
    else:
        home.mkdir(parents=True)
        _make_vault(home, notes)
        subprocess.run([sys.executable, "-m", "commonplace", "-q", "sync"], check=True)
        shutil.copytree(home, kept, symlinks=True)
    yield home


def _make_vault(home: Path, notes: int) -> None:
    say(f"making a vault of {notes} entries")
    build(home / "vault", notes)
    command = [sys.executable, "-m", "commonplace", "-q", "init", str(home / "vault")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Make the vault, load the daemon, and print what came of it; the exit code is 1 for an error or a lost write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clients", type=int, default=50, help="MCP clients at once")
    options.add_argument("--seconds", type=float, default=60.0, help="how long they ask")
    options.add_argument("--notes", type=int, default=10_000, help="entries in the vault, one chunk each")
    options.add_argument("--pace", type=float, default=2.2, help="requests a second of each client in the second run")
    options.add_argument("--workers", type=int, help="worker processes; unset as the daemon chooses")
    options.add_argument("--library", action="store_true", help="FastMCP's client instead of plain ones")
    options.add_argument("--hashing", action="store_true", help="the hashing encoder, not the real one")
    options.add_argument("--model", type=Path, default=MODEL, help="folder with the encoder's weights")
    options.add_argument("--cache", type=Path, help="folder in which the indexed vault is kept for the next run")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/clients-<commit>.json")
    chosen = options.parse_args()
    if chosen.hashing:
        os.environ["COMMONPLACE_EMBEDDING__PROVIDER"] = "hashing"
    else:
        os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(with_model(chosen.model)["embedding.model_folder"])
    if chosen.workers is not None:
        os.environ["COMMONPLACE_SERVE__WORKERS"] = str(chosen.workers)
    with _home(chosen.cache, chosen.notes) as home:
        told = measure(
            home / "vault",
            entries=chosen.notes,
            clients=chosen.clients,
            seconds=chosen.seconds,
            paces=(0.0, chosen.pace) if chosen.pace else (0.0,),
            library=chosen.library,
        )
    told = {"encoder": "hashing" if chosen.hashing else "real", "workers": chosen.workers, **told}
    show(told)
    if chosen.save:
        print(f"saved in {save('clients', told)}")
    sys.exit(bool(told["lost_writes"] or any(run["errors"] for run in told["runs"])))


if __name__ == "__main__":
    main()
