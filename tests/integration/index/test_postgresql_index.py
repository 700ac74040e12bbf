"""What only an index in PostgreSQL has: tenants, builds side by side, locks on every machine, statements rewritten."""

import random
import threading
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from commonplace.app import open_memory
from commonplace.database.postgresql import TenantDatabase
from commonplace.errors import CommonplaceError, UsageError, VaultUnavailable
from commonplace.index.base import Bm25Parameters, FactQuery, Index, VectorMatch
from commonplace.index.postgresql.builds import NamedBuilds
from commonplace.index.postgresql.schema import AREA, COLUMNS
from commonplace.index.postgresql.store import PostgresqlIndex
from commonplace.memory import Memory
from commonplace.model import Filters
from tests.index_documents import VERSION, document, fact, link, vector, vectors
from tests.postgresql import new_tenant, postgresql_server
from tests.postgresql_index import new_postgresql_index, postgresql_settings
from tests.vaults import make_vault

NOW = 1_800_000_000.0


def add(index: Index, *paths: str, text: str = "soil and rain") -> None:
    for path in paths:
        told = (fact(f"f-{path}", path, subject="Ann", topics=("soil",)),)
        note = document(path, f"{text} {path}", facts=told, links=(link("a"),), topics=("soil",))
        index.upsert(note, vectors(note), now=NOW)


def paths_found(index: Index, word: str = "soil") -> list[str]:
    with index.reader() as reader:
        matches = reader.match_words([word], Filters(), limit=99, bm25=Bm25Parameters()).matches
        return sorted(each.document.source_id for each in reader.chunks([match.number for match in matches]))


def rows_of(tenant: str) -> dict[str, int]:
    """How many rows each table has of the tenant."""
    with TenantDatabase(postgresql_server(), AREA, tenant=tenant).read_transaction() as connection:
        counted = {
            table: connection.execute(f"SELECT count(*) FROM {table} WHERE tenant = %s".encode(), (tenant,)).fetchone()
            for table in COLUMNS
        }
    return {table: int(str(row[0])) for table, row in counted.items() if row}


# ---------------------------------------------------------------- tenants


@pytest.mark.requirement("X-22")
def test_random_probes_of_another_tenant_find_nothing() -> None:
    """Whatever is asked, by words, vectors, numbers, ids, names or paths, it is answered from one's own rows."""
    chance = random.Random(3)
    mine, other = new_postgresql_index(), new_postgresql_index()
    add(mine, *(f"mine{number}.md" for number in range(5)), text="clay")
    add(other, *(f"other{number}.md" for number in range(5)), text="secret")
    with other.reader() as reader:
        numbers = [match.number for match in reader.match_words(["secret"], Filters(), limit=9, bm25=_BM25).matches]
        attributes = reader.chunk_attributes(numbers)
    with mine.reader() as reader:
        for _ in range(50):
            number = chance.choice(range(1, 200))
            path = f"other{chance.randrange(5)}.md"

            assert reader.match_words(["secret", path], Filters(), limit=9, bm25=_BM25).matches == ()
            assert all("mine" in each.document.source_id for each in reader.chunks([number]))
            assert all("mine" in each.path for each in reader.chunk_attributes([number]).values())
            assert reader.facts(FactQuery(ids=(f"f-{path}",))) == () == reader.facts(FactQuery(paths=(path,)))
            assert reader.edges([path]) == ()
            assert mine.stamp("vault", path) is None
            near = reader.match_vector(vector(f"secret {path}"), Filters(), version=VERSION, limit=99)
            assert len(near) == 5
        assert sum(reader.score_documents(["secret"], [*attributes.values()], bm25=_BM25)) == 0


_BM25 = Bm25Parameters()


@pytest.mark.requirement("X-22")
def test_two_vaults_of_one_database_do_not_see_each_other(tmp_path: Path) -> None:
    """The same notes, questions and names, through the library."""
    memories = [_memory(tmp_path / name, text) for name, text in (("a", "Ada likes clay."), ("b", "Bo likes sand."))]
    found = [
        {hit.text for word in ("likes", "clay", "sand", "Ada", "Bo") for hit in memory.search(word).hits}
        for memory in memories
    ]
    for memory in memories:
        memory.close()

    assert "clay" in str(found[0])
    assert "sand" in str(found[1])
    assert "sand" not in str(found[0])
    assert "clay" not in str(found[1])


def _memory(folder: Path, text: str) -> Memory:
    make_vault(folder)
    settings = {"data": f"{folder}-data", "embedding.provider": "hashing", **postgresql_settings()}
    memory = open_memory(folder, settings=settings)
    memory.entries.save(text)
    return memory


def test_a_vault_without_a_database_says_which_setting_is_missing(tmp_path: Path) -> None:
    """A backend in PostgreSQL needs an address."""
    data = str(tmp_path.with_name("data"))

    with pytest.raises(UsageError, match=r"postgresql.url"):
        open_memory(tmp_path, settings={"data": data, "index.backend": "postgresql"})


# ---------------------------------------------------------------- approximate search


def test_approximate_search_finds_nearly_all_and_never_starves() -> None:
    """Through an HNSW index, which goes with its build; where a filter leaves few, the comparison is exact."""
    index = new_postgresql_index(search="approximate", approximate_from=100, min_chunks=50)
    exact = new_postgresql_index(tenant=index._database.tenant)
    for number in range(60):
        note = document(f"{number}.md", *(f"text {number} {each}" for each in range(5)), tags=("rare",) * (number < 2))
        index.put(note, vectors(note), now=NOW)
    index.optimize(check=True)
    names = [_near(index), _near(exact)]
    shares, rare = [], []
    for number in range(20):
        near, right = ({each.number for each in _nearest(one, f"text {number} 9")} for one in (index, exact))
        shares.append(len(near & right) / len(right))
        rare.append(
            _nearest(index, f"text {number} 9", tags=("rare",)) == _nearest(exact, f"text {number} 9", tags=("rare",))
        )
    with index.replacement():
        pass

    assert names == [1, 1]
    assert sum(shares) / len(shares) > 0.95
    assert all(rare)
    assert _near(index) == 0


def _nearest(index: PostgresqlIndex, text: str, tags: tuple[str, ...] = ()) -> tuple[VectorMatch, ...]:
    with index.reader() as reader:
        return reader.match_vector(vector(text), Filters(tags=tags), version=VERSION, limit=10)


def _near(index: PostgresqlIndex) -> int:
    """How many HNSW indexes the builds of the tenant have."""
    with index._reading() as connection:
        rows = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'memory\\_near%'").fetchall()
    return sum(index._database.tenant in definition for (definition,) in rows)


# ---------------------------------------------------------------- builds


def test_searches_go_on_while_a_replacement_is_built() -> None:
    """The old index answers until the new one is whole; a reader that began before sees the old one to its end."""
    index = new_postgresql_index()
    add(index, "old.md")
    with index.reader() as before, index.replacement() as fresh:
        add(fresh, "new.md")
        during = paths_found(index)
        documents = before.counts().documents
    tenant = index._database.tenant

    assert (during, documents) == (["old.md"], {"vault": 1})
    assert paths_found(index) == ["new.md"]
    assert rows_of(tenant)["memory_documents"] == rows_of(tenant)["memory_state"] == 1


def test_a_replacement_that_fails_leaves_nothing() -> None:
    """Nor does one whose process was killed, once the next begins."""
    index = new_postgresql_index()
    add(index, "old.md")
    killed = index.named("vault.new")
    add(killed, "left.md")
    with suppress(ZeroDivisionError), index.replacement() as fresh:
        add(fresh, "new.md")
        raise ZeroDivisionError

    assert paths_found(index) == ["old.md"]
    assert rows_of(index._database.tenant)["memory_documents"] == 1


def test_one_replacement_at_a_time() -> None:
    """Another one is refused after a while."""
    tenant, refused = new_tenant(), []
    index, other = new_postgresql_index(tenant=tenant), new_postgresql_index(tenant=tenant)
    other._server.wait = 0.05

    def replace() -> None:
        try:
            with other.replacement():
                pass
        except VaultUnavailable as error:
            refused.append(error.reason)

    try:
        with index.replacement():
            thread = threading.Thread(target=replace)
            thread.start()
            thread.join(60)
    finally:
        other._server.wait = 10.0

    assert refused == ["locked"]


def test_past_indexes_are_few_and_temporary_ones_leave_nothing() -> None:
    """The least recently used is dropped; what a killed process left is found by its free lock."""
    index = new_postgresql_index()
    database = TenantDatabase(postgresql_server(), AREA, tenant=index._database.tenant)
    builds = NamedBuilds(database, index.named, "form")
    for number in range(10):
        add(builds.past(f"{number}" * 40), "past.md")
    with builds.temporary() as scratch:
        add(scratch, "scratch.md")
        inside = rows_of(database.tenant)["memory_documents"]
    add(index.named("scratch/left"), "left.md")
    with builds.temporary() as held:
        add(held, "held.md")
        builds.forget()
        after = (paths_found(held), rows_of(database.tenant)["memory_documents"])

    assert inside == 9
    assert after == (["held.md"], 1)
    assert rows_of(database.tenant) == dict.fromkeys(COLUMNS, 0)


# ---------------------------------------------------------------- changes


def test_an_erased_document_leaves_no_row() -> None:
    """Its words are gone from the segments, too."""
    index = new_postgresql_index(min_chunks=1)
    add(index, "kept.md", "gone.md")
    index.optimize()
    erased = index.erase("vault", "gone.md")
    tenant = index._database.tenant
    with index._reading() as connection:
        postings = [row[0] for row in connection.execute("SELECT chunks FROM memory_segments")]
        texts = connection.execute("SELECT content FROM memory_chunks").fetchall()

    assert erased
    assert (paths_found(index), paths_found(index, "gone.md")) == (["kept.md"], [])
    assert rows_of(tenant)["memory_facts"] == rows_of(tenant)["memory_words"] == sum(postings) == 1
    assert "gone" not in str(texts)


def test_writers_on_two_machines_take_turns_and_lose_nothing() -> None:
    """Each has its own connections; numbers and keys are never given twice."""
    tenant = new_tenant()
    failed: list[CommonplaceError] = []

    def write(name: str) -> None:
        try:
            index = new_postgresql_index(tenant=tenant, min_chunks=2)
            for number in range(8):
                add(index, f"{name}{number}.md")
                index.optimize()
        except CommonplaceError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failed == []
    assert len(paths_found(new_postgresql_index(tenant=tenant))) == 16


def test_another_process_sees_a_change_at_once() -> None:
    """What is kept in memory is of one state of the index."""
    tenant = new_tenant()
    one, other = new_postgresql_index(tenant=tenant), new_postgresql_index(tenant=tenant)
    add(one, "a.md")
    before = paths_found(other)
    add(one, "b.md")
    one.remove("vault", "a.md", now=NOW)

    assert (before, paths_found(other)) == (["a.md"], ["b.md"])


def test_a_nul_in_a_text_is_kept_and_in_a_fact_replaced() -> None:
    """PostgreSQL has no text with a NUL in it."""
    index = new_postgresql_index()
    note = document("a.md", "soil \0 rain", facts=(fact("f1", "a.md", text="one \0 two", subject="Ann"),))
    index.put(note, vectors(note), now=NOW)
    with index.reader() as reader:
        (chunk,) = reader.chunks([1])
        facts = [record.fact.text for record in reader.facts(FactQuery(text="ONE"))]

    assert chunk.chunk.text == "soil \0 rain"
    assert facts == ["one \ufffd two"]


def test_every_query_names_its_tenant() -> None:
    """The planner looks at one partition of each table, and no query relies on row-level security alone."""
    index = new_postgresql_index(min_chunks=1)
    add(index, "a.md", "b.md")
    index.optimize()
    statements = _statements_of(index)

    assert len(statements) > 20
    assert [each for each in statements if "memory_" in each and "tenant = " not in each] == []


def _statements_of(index: PostgresqlIndex) -> list[str]:
    """The text of every statement of some searches and changes, as the driver sends it."""
    sent: list[str] = []
    plain = psycopg.Cursor.execute

    def execute(self: object, query: object, *rest: object, **options: object) -> object:
        sent.append(query.decode() if isinstance(query, bytes) else str(query))
        return plain(self, query, *rest, **options)  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", execute)
        add(index, "c.md")
        index.remove("vault", "b.md", now=NOW)
        paths_found(index)
        with index.reader() as reader:
            reader.match_vector(vector("rain"), Filters(entities=("Ann",)), version=VERSION, limit=3)
            reader.facts(FactQuery(names=("ann",)))
            reader.counts()
    return [each for each in sent if not each.lstrip().startswith("INSERT")]


def test_the_locks_of_a_vault_hold_on_every_machine(tmp_path: Path) -> None:
    """Two memories with data folders of their own and one tenant: while one encodes, the other does not."""
    settings = {"embedding.provider": "hashing", **postgresql_settings(new_tenant())}
    one, other = (
        open_memory(tmp_path, settings={**settings, "data": str(tmp_path.with_name(name))}) for name in ("d1", "d2")
    )
    stores = [memory._session.stores for memory in (one, other)]
    with stores[0].encode_lock() as first, stores[1].encode_lock() as second:
        held = [first, second]

    with stores[1].encode_lock() as again:
        held.append(again)

    assert held == [True, False, True]
