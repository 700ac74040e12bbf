"""Many tenants in one PostgreSQL: loading, search for a middle and a large tenant, writes, isolation, disk and memory.

A real server with fsync is filled with generated notes (`bench/scale_tenants.py`) by the path of a first index. Then
clients ask through the library in two reader processes, one tenant at a time; writers index single notes; every table
is measured; and probes ask as one tenant for what is another's, all of which must find nothing. The large tenant is
also searched approximately, with recall@10 against exact search. The projection to a billion passages from these
figures: docs/scale.md.

Run it as `python bench/scale.py`, for the full size `--chunks 2000000`; `--folder` keeps the data, so that a second
run with the same sizes does not load it again; `--save` keeps the figures.
"""

import argparse
import atexit
import json
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.approximate import stores_of
from bench.figures import say
from bench.scale_clients import Crowd, measure_crowd, probe, recall, save_crowd, search_crowd, write_crowd
from bench.scale_tenants import SERVER, Place, Tenant, load, tenants_of

from commonplace.app import put_under_git
from tests.postgresql import TestServer

LEAST_FOR_HNSW: Final = 50_000
QUESTIONS: Final = 100
WRITERS: Final = (1, 8)
PARTITIONS: Final = 16
_SIZES: Final = """
SELECT coalesce(i.inhparent, c.oid)::regclass::text AS name, sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))
FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC
"""
_NEAR: Final = "SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE relname ^@ 'memory_near_'"


@contextmanager
def running(folder: Path) -> Iterator[TestServer]:
    """The server of that folder, created if there is none; stopped at the end, its data stays."""
    server = TestServer(folder, options=SERVER)
    if server.data.exists():
        server.resume()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        server.start()
        atexit.unregister(server.remove)  # the data stays for a further run
    try:
        yield server
    finally:
        server.stop()


def load_all(place: Place, tenants: Sequence[Tenant], *, loaders: int) -> dict[str, float]:
    """Load all tenants by so many processes; the passages a second."""
    start, done, chunks = time.perf_counter(), 0, sum(each.chunks for each in tenants)
    with ProcessPoolExecutor(loaders, mp_context=multiprocessing.get_context("spawn")) as pool:
        for tenant, took in zip(tenants, pool.map(partial(load, place), tenants), strict=True):
            done += tenant.chunks
            if tenant.chunks > chunks // 20 or not tenant.name.endswith(tuple("123456789")):
                say(f"{done} passages after {time.perf_counter() - start:.0f} s ({tenant.name}: {took:.1f} s)")
    took = time.perf_counter() - start
    return {"seconds": round(took, 1), "chunks_per_s": round(chunks / took), "loaders": loaders}


def disk(url: str, *, chunks: int) -> dict[str, Any]:
    """Bytes of each table and its indexes for each passage, and those of the HNSW indexes."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(_SIZES).fetchall()
        near = int((connection.execute(_NEAR).fetchone() or (0,))[0])
    tables = {name: {"rows": int(own) / chunks, "indexes": int(indexes) / chunks} for name, own, indexes in rows}
    total = sum(each["rows"] + each["indexes"] for each in tables.values())
    large = {name: _rounded(each) for name, each in tables.items() if each["rows"] + each["indexes"] > 1}
    return {"bytes_per_chunk": round(total - near / chunks), "hnsw_bytes": near, "tables": large}


def _rounded(sizes: Mapping[str, float]) -> dict[str, int]:
    return {name: round(each) for name, each in sizes.items()}


def server_mb(server: TestServer) -> float:
    """The megabytes of all processes of the server, shared memory counted once."""
    first = int((server.data / "postmaster.pid").read_text().split()[0])
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            if status.parent.name == str(first) or f"PPid:\t{first}\n" in text:
                found = re.search(r"^Pss:\s+(\d+)", status.with_name("smaps_rollup").read_text(), re.MULTILINE)
                total += int(found[1]) if found else 0
        except OSError:  # it has ended, or is another user's
            continue
    return total / 1024


def measure(place: Place, server: TestServer, tenants: Sequence[Tenant], chosen: argparse.Namespace) -> dict[str, Any]:
    """Everything about a server that is loaded."""
    large, middle, *others = tenants
    chunks = sum(each.chunks for each in tenants)
    crowd = partial(Crowd, place, seconds=chosen.seconds, number=0)
    told: dict[str, Any] = {"disk": disk(server.url("commonplace", "commonplace"), chunks=chunks), "search": {}}
    for name, tenant, search in (
        ("middle", middle, "exact"),
        ("large", large, "exact"),
        ("large", large, "approximate"),
    ):
        if search == "approximate":
            if large.chunks < LEAST_FOR_HNSW:
                continue
            told["hnsw"] = _approximate(place, large, server)
        for clients in chosen.clients:
            say(f"{name} tenant, {search}, {clients} clients")
            asked = crowd(tenants=[tenant], clients=clients, search=search)
            row = measure_crowd(search_crowd, asked, processes=chosen.daemons)
            told["search"].setdefault(f"{name}, {search}", []).append({**row, "chunks": tenant.chunks})
    say("writing")
    told["writes"] = [
        measure_crowd(write_crowd, crowd(tenants=others[:count], clients=count), processes=chosen.daemons)
        for count in WRITERS
        if count <= len(others)
    ]
    told["saves"] = measure_crowd(save_crowd, crowd(tenants=others[-1:], clients=1), processes=1)
    told["server_mb"] = round(server_mb(server))
    say(f"{chosen.probes} probes")
    told["isolation"] = probe(place, tenants, chosen.probes, partitions=PARTITIONS)
    return told


def _approximate(place: Place, large: Tenant, server: TestServer) -> dict[str, Any]:
    """Build the HNSW index of the large tenant, and compare approximate with exact search."""
    say("building the HNSW index")
    with place.memory(large.name) as exact, place.memory(large.name, search="approximate") as approximate:
        start = time.perf_counter()
        stores_of(approximate).index.optimize(check=True)
        took = time.perf_counter() - start
        indexes = stores_of(exact).index, stores_of(approximate).index
        told = {"built_s": round(took, 1), **recall(*indexes, questions=QUESTIONS)}
    size = disk(server.url("commonplace", "commonplace"), chunks=large.chunks)["hnsw_bytes"]
    return {**told, "bytes_per_chunk": round(size / large.chunks)}


def show(told: Mapping[str, Any]) -> None:
    """Print the figures as tables."""
    print(f"{told['tenants']} tenants, {told['chunks']} passages; server: {', '.join(SERVER)}")
    if told["load"]:
        print(f"loaded in {told['load']['seconds']} s, {told['load']['chunks_per_s']} passages/s")
    print("\n| tenant | passages | clients | p50 ms | p95 ms | requests/s | MB of a process |")
    print("|---|---|---|---|---|---|---|")
    for name, rows in told["search"].items():
        for row in rows:
            print(
                f"| {name} | {row['chunks']} | {row['clients']} | {row['p50_ms']} | {row['p95_ms']} | {row['per_s']}"
                f" | {row['process_mb']} |"
            )
    print("\n| writers | notes/s | p50 ms | p95 ms |\n|---|---|---|---|")
    for row in told["writes"]:
        print(f"| {row['clients']} (index) | {row['per_s']} | {row['p50_ms']} | {row['p95_ms']} |")
    saves = told["saves"]
    print(f"| {saves['clients']} (save, with its commit) | {saves['per_s']} | {saves['p50_ms']} | {saves['p95_ms']} |")
    print("\n| table | bytes for each passage | and indexes |\n|---|---|---|")
    for name, sizes in told["disk"]["tables"].items():
        print(f"| {name} | {sizes['rows']} | {sizes['indexes']} |")
    print(f"\nall tables {told['disk']['bytes_per_chunk']} bytes a passage; server {told['server_mb']} MB resident")
    if "hnsw" in told:
        print(f"HNSW: {told['hnsw']}")
    wrong = told["isolation"]["leaks"] or told["isolation"]["found_by_owners"] != told["isolation"]["asked_of_owners"]
    print(f"isolation: {told['isolation']}{'  MISSED' if wrong else ''}")


def run(folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Load what is not loaded and measure; the figures."""
    tenants = tenants_of(chosen.tenants, chunks=chosen.chunks, large=chosen.large, middle=chosen.middle)
    sizes = {"tenants": len(tenants), "chunks": sum(each.chunks for each in tenants)}
    vault, kept = folder / "vault", folder / "loaded.json"
    with running(folder / "postgresql") as server:
        place = Place(server.url("commonplace", "commonplace"), vault)
        if not kept.exists():
            vault.mkdir()
            put_under_git(vault)
            loaded = load_all(place, tenants, loaders=chosen.loaders)
            kept.write_text(json.dumps({**sizes, "load": loaded}))
        told = json.loads(kept.read_text())
        if {name: told[name] for name in sizes} != sizes:
            sys.exit(f"{folder} was loaded with other sizes: {told}")
        return {**told, **measure(place, server, tenants, chosen)}


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tenants", type=int, default=1000)
    options.add_argument("--chunks", type=int, default=2_000_000, help="passages of all tenants")
    options.add_argument("--large", type=int, default=200_000, help="passages of the large tenant")
    options.add_argument("--middle", type=int, default=2000, help="passages of the middle tenant")
    options.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    options.add_argument("--daemons", type=int, default=2, help="reader processes among which clients are divided")
    options.add_argument("--loaders", type=int, default=2, help="processes that load")
    options.add_argument("--seconds", type=float, default=10.0, help="for each number of clients")
    options.add_argument("--probes", type=int, default=10_000)
    options.add_argument("--folder", type=Path, help="where the data is kept for a further run")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/scale-<commit>.json")
    return options.parse_args(arguments)


def main() -> None:
    """Measure, print, and keep the figures."""
    chosen = parsed(sys.argv[1:])
    with figures.own_home() as home:
        home.chmod(0o755)  # the server runs as another user
        told = run(chosen.folder.resolve() if chosen.folder else home / "scale", chosen)
    show(told)
    if chosen.save:
        print(f"saved in {figures.save('scale', told)}")


if __name__ == "__main__":
    main()
