"""What `bench/scale.py` asks of its tenants: clients that search, writers, and probes that must find nothing.

Clients and writers are threads in some processes, each of which has opened the library as a daemon does. A search is
the library's hybrid search, with words, vectors, links and ranking.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import psycopg
from bench.approximate import stores_of
from bench.figures import percentile
from bench.scale_tenants import VERSION, Place, Tenant, fixed, marker_words, notes, question

from commonplace.database.postgresql import PostgresqlServer, TenantDatabase
from commonplace.encoders.hashing import HashingEncoder
from commonplace.flows.search.search import SearchQuery, search_index
from commonplace.index.base import Bm25Parameters, Index
from commonplace.index.postgresql.schema import AREA
from commonplace.index.postgresql.store import PostgresqlIndex
from commonplace.model import Filters
from tests.index_documents import PathLinker, PlainRules

BEST: Final = 10
WARM: Final = 3  # questions of each process that are not counted
FIRST_WRITTEN: Final = 5_000_000  # the number of the first note that is written: no tenant has as many
_TABLES: Final = ("memory_documents", "memory_chunks", "memory_words", "memory_parts", "memory_postings")
_BM25: Final = Bm25Parameters()


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many clients in one process, for so many seconds, on one tenant; or as many tenants as there are writers."""

    place: Place
    tenants: Sequence[Tenant]
    clients: int
    seconds: float
    number: int
    search: str = "exact"


@dataclass(frozen=True, slots=True)
class Result:
    """The milliseconds of each request, the seconds that all took, and the megabytes of the process."""

    times: list[float]
    took: float
    memory_mb: float


def measure_crowd(run: Callable[[Crowd], Result], crowd: Crowd, *, processes: int) -> dict[str, Any]:
    """The clients of the crowd, divided among the processes: percentiles, requests a second, memory."""
    used = min(processes, crowd.clients)
    parts = [
        Crowd(
            crowd.place,
            crowd.tenants[number::used] or crowd.tenants,
            crowd.clients // used + (number < crowd.clients % used),
            crowd.seconds,
            number,
            crowd.search,
        )
        for number in range(used)
    ]
    with ProcessPoolExecutor(used, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = [*pool.map(run, parts)]
    times = [each for result in results for each in result.times]
    return {
        "clients": crowd.clients,
        "processes": used,
        "requests": len(times),
        "per_s": round(sum(len(each.times) / each.took for each in results), 1),
        "p50_ms": round(percentile(times, 0.5), 1),
        "p95_ms": round(percentile(times, 0.95), 1),
        "process_mb": round(max(each.memory_mb for each in results)),
    }


def search_crowd(crowd: Crowd) -> Result:
    """Clients that ask one question after another, as the library does; there are no files to compare the hits with."""
    (tenant,) = crowd.tenants
    with crowd.place.memory(tenant.name, search=crowd.search, connections=crowd.clients + 4) as memory:

        def ask(source: np.random.Generator) -> None:
            search_index(SearchQuery(question(source), k=BEST), stores_of(memory), "person")

        return _run(ask, crowd)


def write_crowd(crowd: Crowd) -> Result:
    """Writers that index one note after another, each in a tenant of its own."""
    opened = [crowd.place.memory(tenant.name, connections=4) for tenant in crowd.tenants[: crowd.clients]]
    waiting = [*range(len(opened))]
    places = threading.local()
    count = threading.Lock()

    def write(source: np.random.Generator) -> None:
        if not hasattr(places, "own"):
            with count:
                places.own = waiting.pop() if waiting else 0
        stores = stores_of(opened[places.own])
        first = FIRST_WRITTEN + int(source.integers(0, 2**31))
        ((note, vectors),) = notes(crowd.tenants[places.own], user=stores.rules.user, first=first, count=1)
        stores.index.upsert(note, vectors, now=time.time())
        stores.index.optimize()

    try:
        return _run(write, crowd)
    finally:
        for memory in opened:
            memory.close()


def save_crowd(crowd: Crowd) -> Result:
    """One writer that saves entries through the library: the note in the vault with its commit, and the index."""
    with crowd.place.memory(crowd.tenants[0].name) as memory:

        def save(source: np.random.Generator) -> None:
            memory.entries.save(f"{question(source)} {source.integers(0, 2**40)}.", kind="fact")

        return _run(save, crowd)


def _run(request: Callable[[np.random.Generator], None], crowd: Crowd) -> Result:
    """Send requests from all clients at once until the time is over."""
    ready = threading.Barrier(crowd.clients)

    def client(number: int) -> tuple[list[float], float, float]:
        source, times = np.random.default_rng([crowd.number, number, crowd.clients]), list[float]()
        try:
            for _ in range(WARM):
                request(source)
        except BaseException:
            ready.abort()  # else the others would wait for this one forever
            raise
        ready.wait()
        began = time.perf_counter()
        while time.perf_counter() - began < crowd.seconds:
            start = time.perf_counter()
            request(source)
            times.append((time.perf_counter() - start) * 1000)
        return times, began, time.perf_counter()

    with ThreadPoolExecutor(crowd.clients) as pool:
        results = [*pool.map(client, range(crowd.clients))]
    took = max(ended for *_, ended in results) - min(began for _, began, _ in results)
    return Result([ms for times, *_ in results for ms in times], took, _resident_mb())


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


# ---------------------------------------------------------------- approximate search


def recall(exact: Index, approximate: Index, *, questions: int) -> dict[str, float]:
    """The share of the ten nearest passages that approximate search also returns, and the times of both."""
    source, encoder = np.random.default_rng(7), HashingEncoder()
    vectors = [*fixed(encoder.encode([question(source) for _ in range(questions)]))]
    found = {name: _nearest(index, vectors) for name, index in (("exact", exact), ("approximate", approximate))}
    pairs = zip(found["exact"][0], found["approximate"][0], strict=True)
    shares = [len({*one} & {*other}) / len(one) for one, other in pairs if one]
    told = {"recall_at_10": round(sum(shares) / len(shares), 3), "least": round(min(shares), 2)}
    for name, (_, times) in found.items():
        told |= {
            f"{name}_p50_ms": round(percentile(times, 0.5), 1),
            f"{name}_p95_ms": round(percentile(times, 0.95), 1),
        }
    return told


def _nearest(index: Index, vectors: Sequence[Any]) -> tuple[list[list[int]], list[float]]:
    found, times = [], []
    for vector in vectors:
        start = time.perf_counter()
        with index.reader() as reader:
            matches = reader.match_vector(vector, Filters(), version=VERSION, limit=BEST)
        times.append((time.perf_counter() - start) * 1000)
        found.append([match.number for match in matches[:BEST]])
    return found, times


# ---------------------------------------------------------------- isolation


def probe(place: Place, tenants: Sequence[Tenant], count: int, *, partitions: int) -> dict[str, int]:
    """Ask as one tenant for what is another's, by words, by vectors and in SQL; counts probes and leaks.

    `found_by_owners` of `asked_of_owners` shows that the words exist.
    """
    source, markers = np.random.default_rng(11), marker_words(tenants)
    server = PostgresqlServer(place.url, connections=4, partitions=partitions, wait=60)
    kinds = (_by_words, _by_vector, _by_sql)
    told = {"probes": 0, "leaks": 0, "asked_of_owners": 0, "found_by_owners": 0}
    with place.memory(tenants[0].name) as memory:
        user = stores_of(memory).rules.user
    for number in range(count):
        asking, other = (tenants[int(each)] for each in source.choice(len(tenants), 2, replace=False))
        told["leaks"] += kinds[number % len(kinds)](server, asking, other, user=user, marker=markers[other.name])
        told["probes"] += 1
        if number % 100 == 0:
            told["asked_of_owners"] += 1
            told["found_by_owners"] += _by_words(server, other, other, user=user, marker=markers[other.name])
    server.close()
    return told


def _index(server: PostgresqlServer, tenant: Tenant, user: str) -> PostgresqlIndex:
    return PostgresqlIndex(server, tenant=tenant.name, user=user, linker=PathLinker(), rules=PlainRules())


def _by_words(server: PostgresqlServer, asking: Tenant, other: Tenant, *, user: str, marker: str) -> bool:
    """True if a search for the other tenant's word finds something."""
    with _index(server, asking, user).reader() as reader:
        return bool(reader.match_words([marker], Filters(), limit=BEST, bm25=_BM25).matches)


def _by_vector(server: PostgresqlServer, asking: Tenant, other: Tenant, *, user: str, marker: str) -> bool:
    """True if the vector of the other tenant's first note, whose word is in it, finds a passage with that word."""
    ((_, vectors),) = notes(other, user=user, count=1)
    with _index(server, asking, user).reader() as reader:
        matches = reader.match_vector(vectors[0][0], Filters(), version=VERSION, limit=BEST)
        return any(other.marker in each.chunk.text for each in reader.chunks([match.number for match in matches]))


def _by_sql(server: PostgresqlServer, asking: Tenant, other: Tenant, *, user: str, marker: str) -> bool:
    """True if SQL in the transaction of one tenant reads or changes a row of the other, or adds one."""
    seen = 0
    with TenantDatabase(server, AREA, tenant=asking.name).read_transaction() as connection:
        for table in _TABLES:
            statement = f"SELECT 1 FROM {table} WHERE tenant = %s LIMIT 1"
            seen += len(connection.execute(cast(Any, statement), (other.name,)).fetchall())
    with TenantDatabase(server, AREA, tenant=asking.name).write_transaction() as connection:
        seen += connection.execute("UPDATE memory_state SET generation = 0 WHERE tenant = %s", (other.name,)).rowcount
        try:
            with connection.transaction():
                connection.execute("INSERT INTO memory_syncs VALUES (%s, 1, 'x', 'x')", (other.name,))
                seen += 1
        except psycopg.errors.InsufficientPrivilege:
            pass
    return bool(seen)
