"""A few tenants of `bench/scale.py`, in short: loaded as a first index is, searched, written to and probed."""

from pathlib import Path

import pytest
from bench.approximate import stores_of
from bench.scale_clients import Crowd, probe, search_crowd, write_crowd
from bench.scale_tenants import SENTENCES, Place, Tenant, load, marker_words, notes, tenants_of

from commonplace.flows.search.search import SearchQuery, search_index
from tests.components import require
from tests.postgresql import database_url, new_tenant
from tests.vaults import make_vault


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A database, and a vault without notes."""
    require("postgres")
    return Place(database_url(), make_vault(tmp_path / "vault"))


def test_tenants_have_the_sizes_that_were_asked_for() -> None:
    """A large one, a middle one, and the rest evenly."""
    sizes = [each.chunks for each in tenants_of(6, chunks=3000, large=1200, middle=300)]

    assert sizes == [1200, 300, 375, 375, 375, 375]


def test_the_same_tenant_has_the_same_notes_again() -> None:
    """All its passages, each with a vector for the whole and each sentence; only the first has the tenant's word."""
    tenant = Tenant("one", 20)
    made = [*notes(tenant, user="me")]

    assert made[0][0] == next(notes(tenant, user="me"))[0]
    assert sum(len(note.chunks) for note, _ in made) == 20
    assert {len(own) for _, vectors in made for own in vectors} == {1 + SENTENCES}
    (stem,) = marker_words([tenant]).values()
    assert [stem in chunk.words for chunk in made[0][0].chunks] == [True, *[False] * 5]


def test_tenants_are_loaded_searched_written_and_do_not_see_each_other(place: Place) -> None:
    """Probes by words, by vectors and in SQL find nothing, while owners find their own."""
    tenants = [Tenant(new_tenant(), 30) for _ in range(3)]
    for tenant in tenants:
        load(place, tenant)
    words = next(notes(tenants[0], user="me"))[0].chunks[0].text.split()
    with place.memory(tenants[0].name) as memory:
        answer = search_index(SearchQuery(" ".join(words[:5])), stores_of(memory), "person").answer
    searched = search_crowd(Crowd(place, tenants[:1], clients=2, seconds=0.1, number=0))
    written = write_crowd(Crowd(place, tenants, clients=2, seconds=0.1, number=0))
    told = probe(place, tenants, 12, partitions=2)

    assert answer.hits
    assert searched.times
    assert written.times
    assert told == {"probes": 12, "leaks": 0, "asked_of_owners": 1, "found_by_owners": 1}
