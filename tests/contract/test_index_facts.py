"""Every index keeps facts, their ends, bonds and topics up to date, whatever is added, removed or changed."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonplace.index.base import Bm25Parameters, Edge, FactQuery, Index
from commonplace.model import Document, FactEdge, FactEnd, FactRecord, Filters, Origins, Topic
from tests.contract.test_index import NOW, add
from tests.contract.twins import INDEXES
from tests.index_documents import VERSION, document, entry, fact, link, numbers, paths, vector

JAN, FEB, MAR, APR = (f"2026-{month:02}-01T00:00:00Z" for month in (1, 2, 3, 4))


@pytest.fixture(params=["segments", "in-memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index; one of SQLite's is enough, for facts are not in segments."""
    opened = INDEXES[request.param](tmp_path)
    yield opened
    opened.close()


def known(index: Index, asked: FactQuery | None = None, **fields: Any) -> list[FactRecord]:
    with index.reader() as reader:
        return list(reader.facts(asked or FactQuery(**fields)))


def ids(index: Index, **fields: Any) -> list[str]:
    """The ids of the facts that fit, in the order in which they come."""
    return [each.fact.id for each in known(index, **fields)]


def ends(index: Index) -> dict[str, str]:
    """Which facts end because another begins, and by which."""
    return {each.fact.id: each.end.by for each in known(index) if each.end}


def search(index: Index, filters: Filters, word: str = "text") -> set[str]:
    with index.reader() as reader:
        return set(paths(reader, numbers(reader.match_words([word], filters, limit=99, bm25=Bm25Parameters()))))


def works_at(identity: str, place: str, begins: str = JAN, **fields: Any) -> Document:
    """An entry that says where Ann works."""
    told = {"subject": "Ann", "predicate": "works_at", "object": place, "valid_from": begins, **fields}
    return entry(identity, **told)


WHOLE = fact(
    "0199f3c2-0000-7000-8000-000000abcdef",
    "Agent/Memory/fact/2026-01/ann-abcdef.md",
    line=3,
    text="Ann works at 'Acme' é",
    kind="fact",
    fact="fact",
    always_load=True,
    importance=0.8,
    topics=("work", "people"),
    project="atlas",
    project_root="/home/ann/code/atlas",
    subject="Ann",
    predicate="works_at",
    object="[[Acme]]",
    valid_from=JAN,
    valid_until=APR,
    supersedes="older",
    superseded_by="",
    reason="a new job",
    bonds=(("extend", "one"), ("derive", "two")),
    confirmed=("2026-02-01", "2026-02-02"),
    origins=Origins("cli", "thread", "read"),
    fingerprint="f1",
)


@pytest.mark.requirement("V-27", "I-60")
def test_a_fact_comes_back_whole(index: Index) -> None:
    """Every field, dates in their own and never in the text; a document is returned without its facts."""
    add(index, document(WHOLE.path, "text", facts=(WHOLE,)), entry("bare"))

    assert [each.fact for each in known(index, ids=(WHOLE.id, "bare"))] == [WHOLE, fact("bare")]
    with index.reader() as reader:
        (number,) = numbers(reader.match_words(["text"], Filters(path=WHOLE.path), limit=1, bm25=Bm25Parameters()))
        (found,) = reader.chunks([number])
        assert found.document.facts == ()
        assert reader.chunk_attributes([number])[number].importance == 0.8


def test_invalid_unicode_in_a_fact_is_stored_with_a_replacement_character(index: Index) -> None:
    """It is not an error, neither to store it nor to query for it."""
    add(index, entry("a", text="soil \udcff", subject="\udcff", topics=("\udcff",)))

    (one,) = known(index, names=("\ufffd",))
    assert one.fact.text == "soil \ufffd"
    assert ids(index, topics=("\ud800",)) == ["a"]
    assert ids(index, prefix="\ud800") == ids(index, fingerprint="\ud800") == []


ASKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all, the last updated first": ({}, ["line", "ab", "aa", "old", "s"]),
    "ids": ({"ids": ("s", "ab", "none")}, ["ab", "s"]),
    "prefix": ({"prefix": "a"}, ["ab", "aa"]),
    "prefix that is a pattern": ({"prefix": "a%"}, []),
    "path": ({"paths": ("Notes/n.md",)}, ["line"]),
    "fingerprint": ({"fingerprint": "f1"}, ["ab", "aa"]),
    "claim": ({"claims": ("ann|works_at",)}, ["ab"]),
    "empty claim": ({"claims": ("",)}, []),
    "subject": ({"names": ("ann",)}, ["ab", "old"]),
    "object": ({"names": ("acme",)}, ["line", "ab", "old"]),
    "object of one and subject of another": ({"names": ("me", "acme")}, ["line", "ab", "aa", "old"]),
    "empty name": ({"names": ("",)}, []),
    "predicate": ({"predicate": "works_at"}, ["ab", "old"]),
    "topic": ({"topics": ("WORK",)}, ["line", "ab"]),
    "status": ({"statuses": ("superseded",)}, ["old"]),
    "two statuses": ({"statuses": ("superseded", "active"), "prefix": "o"}, ["old"]),
    "origin": ({"origins": ("line",)}, ["line"]),
    "always loaded": ({"always_load": True}, ["aa"]),
    "not sensitive": ({"sensitive": False}, ["line", "ab", "aa", "old"]),
    "staged": ({"staged": True, "prefix": "w"}, ["wait"]),
    "all of several": ({"names": ("ann",), "topics": ("work",), "statuses": ("active",)}, ["ab"]),
    "limit": ({"limit": 2}, ["line", "ab"]),
    "limit of names": ({"names": ("ann", "acme"), "limit": 2}, ["line", "ab"]),
    "nothing": ({"limit": 0}, []),
}


@pytest.mark.requirement("V-27", "I-69")
@pytest.mark.parametrize("name", ASKED)
def test_facts_are_selected_by_every_field_of_a_query(index: Index, name: str) -> None:
    """By id, path, claim, fingerprint, entity, predicate, topic, kind, status; what is staged only on request."""
    asked, expected = ASKED[name]
    job = {"subject": "Ann", "predicate": "works_at", "object": "Acme"}
    line = fact("line", "Notes/n.md", origin="line", object="Work/Acme.md", topics=("Work",), updated=APR)
    add(
        index,
        entry("old", status="superseded", **job),
        entry("ab", fingerprint="f1", topics=("work", "home"), updated=MAR, **job),
        entry("aa", fingerprint="f1", kind="event", subject="I", always_load=True, updated=FEB),
        entry("s", sensitive=True),
        entry("wait", place="staging"),
        document("Notes/n.md", "text", facts=(line,)),
    )

    assert ids(index, **asked) == expected


@pytest.mark.requirement("I-53")
def test_a_fact_ends_when_the_next_with_its_claim_begins(index: Index) -> None:
    """In whatever order they are added, one holds at any moment; a fact that is not active claims nothing."""
    add(index, works_at("b", "Beta", MAR), works_at("old", "Older", FEB, status="superseded"))
    assert ends(index) == {}
    add(index, works_at("a", "Acme", JAN), works_at("c", "Core", APR))

    assert {each.fact.id: each.end for each in known(index)} == {
        "a": FactEnd(MAR, "b"),
        "b": FactEnd(APR, "c"),
        "c": None,
        "old": None,
    }


def changed(index: Index, verb: str) -> None:
    """Take the fact `b` away, in one way or another."""
    b = works_at("b", "Beta", FEB)
    if verb == "remove":
        index.remove("vault", "b.md", now=NOW)
    elif verb == "erase":
        index.erase("vault", "b.md")
    elif verb == "touch":
        index.touch(works_at("b", "Beta", FEB, status="superseded"), now=NOW)
    elif verb == "upsert":
        add(index, document("b.md", "no fact any more"))
    elif verb == "rename":
        moved = replace(b.facts[0], path="Archive/b.md", place="archive")
        index.rename("b.md", document("Archive/b.md", b.facts[0].text, facts=(moved,), place="archive"), now=NOW)


@pytest.mark.parametrize("verb", ["remove", "erase", "touch", "upsert", "rename"])
def test_an_end_goes_with_the_fact_that_made_it(index: Index, verb: str) -> None:
    """The one before holds until the next one begins; nothing mentions the removed one."""
    add(index, *(works_at(name, name, begins) for name, begins in (("a", JAN), ("b", FEB), ("c", MAR))))
    assert ends(index) == {"a": "b", "b": "c"}

    changed(index, verb)
    assert ends(index) == {"a": "c"}
    with index.reader() as reader:
        assert [(each.loser.id, each.winner.id, each.at) for each in reader.claim_conflicts()] == [("a", "c", MAR)]


def test_a_removed_document_has_no_facts_until_it_is_back(index: Index) -> None:
    """Neither facts nor bonds nor names; a touch brings all of it."""
    note = entry("a", subject="Ann", bonds=(("extend", "b"),), topics=("work",))
    add(index, note, entry("b"))
    index.remove("vault", "a.md", now=NOW)

    with index.reader() as reader:
        assert (reader.facts(FactQuery(names=("ann",))), reader.bonds(["a", "b"])) == ((), ())
        assert (reader.edges(), reader.topics(), reader.entity_names("ann")) == ((), (), frozenset({"ann"}))
    index.purge(before=NOW - 1)
    index.touch(replace(note, chunks=()), now=NOW)
    assert ids(index, names=("ann",)) == ["a"]
    with index.reader() as reader:
        assert reader.bonds(["b"]) == (FactEdge("a", "extend", "b"),)
        assert reader.topics() == (Topic("work", 1),)


def test_a_claim_conflict_names_both_facts_in_the_order_of_the_losers(index: Index) -> None:
    """Two active facts with one claim are one conflict; facts with other claims are not part of it."""
    here, there = (
        fact(name, "n.md", origin="line", fingerprint="same", recorded=at) for name, at in (("x", JAN), ("y", FEB))
    )
    add(index, works_at("b", "Beta", FEB), works_at("a", "Acme", JAN), document("n.md", "text", facts=(here, there)))

    with index.reader() as reader:
        contests = reader.claim_conflicts()
    assert [(each.loser.id, each.winner.id, each.at) for each in contests] == [("a", "b", FEB), ("x", "y", FEB)]
    assert contests[0].loser == works_at("a", "Acme", JAN).facts[0]


def test_facts_are_found_by_the_folder_they_are_in(index: Index) -> None:
    """By the beginning of their path; a folder with a longer name is another one."""
    add(index, entry("a", "Agent/one/a.md"), entry("b", "Agent/one/deep/b.md"), entry("c", "Agent/one-more/c.md"))

    assert sorted(ids(index, folder="Agent/one/")) == ["a", "b"]
    assert ids(index, folder="Agent/two/") == []
    assert ids(index, folder="Agent/one/", limit=1) == ["a"]


LONG = "0199f3c2-0000-7000-8000-000000abcdef"


def test_of_two_paths_with_one_id_the_one_that_is_named_for_it_counts(index: Index) -> None:
    """Each id is returned once and competes once; the other path is reported, and counts once the first is gone."""
    first, named = entry(LONG, "A/copy.md", text="text one"), entry(LONG, "B/ann-abcdef.md", text="text two")
    add(index, first)
    assert [each.fact.text for each in known(index)] == ["text one"]
    add(index, named, entry("other"))

    assert [each.fact.text for each in known(index, ids=(LONG,))] == ["text two"]
    with index.reader() as reader:
        assert reader.duplicate_ids() == ((LONG, ("B/ann-abcdef.md", "A/copy.md")),)
        assert reader.claim_conflicts() == ()
    assert ids(index, paths=("A/copy.md",)) == []
    index.remove("vault", "B/ann-abcdef.md", now=NOW)
    assert [each.fact.text for each in known(index, ids=(LONG,))] == ["text one"]
    with index.reader() as reader:
        assert reader.duplicate_ids() == ()


def test_of_two_paths_that_are_not_named_for_an_id_the_first_in_order_counts(index: Index) -> None:
    """And only its claim and its bonds do."""
    copy = works_at("a", "Acme", JAN, path="z.md", bonds=(("extend", "b"),))
    add(index, copy, works_at("b", "Beta", FEB), entry("a", "y.md"), entry("c", bonds=(("derive", "a"),)))
    derived = (Edge("c.md", "a", "y.md", 0, "derive"),)

    assert ends(index) == {}
    with index.reader() as reader:
        assert reader.duplicate_ids() == (("a", ("y.md", "z.md")),)
        assert reader.bonds(["a"]) == (FactEdge("c", "derive", "a"),)
        assert (reader.edges(), reader.edges(["y.md"]), reader.edges(["z.md"])) == (derived, derived, ())
    index.erase("vault", "y.md")
    assert ends(index) == {"a": "b"}
    with index.reader() as reader:
        assert reader.bonds(["a"]) == (FactEdge("a", "extend", "b"), FactEdge("c", "derive", "a"))


@pytest.mark.requirement("V-05")
def test_bonds_are_returned_from_both_ends(index: Index) -> None:
    """A fact that replaces another is bound to it; a bond to a missing fact is returned too."""
    add(
        index,
        entry("old", status="superseded", superseded_by="new", place="archive"),
        entry("new", supersedes="old", bonds=(("contradict", "gone"), ("update", "old"))),
        entry("more", bonds=(("extend", "new"), ("derive", "old"))),
        entry("alone"),
    )

    with index.reader() as reader:
        assert reader.bonds(["old"]) == (FactEdge("more", "derive", "old"), FactEdge("new", "update", "old"))
        assert reader.bonds(["gone"]) == (FactEdge("new", "contradict", "gone"),)
        assert len(reader.bonds(["new", "more"])) == 4
        assert reader.bonds(["alone"]) == reader.bonds([]) == ()
    assert ids(index, bond="contradict") == ids(index, bond="update", text="new") == ["new"]
    assert ids(index, bond="derive", statuses=("superseded",)) == ids(index, bond="end") == []


@pytest.mark.requirement("A-51", "V-11")
def test_edges_are_links_with_what_they_say_and_bonds_between_entries(index: Index) -> None:
    """A bond leads from note to note after all links, where both are there; none leads to the note itself."""
    own = (fact("x", "n.md", origin="line", bonds=(("extend", "y"),)), fact("y", "n.md", origin="line"))
    add(
        index,
        document("n.md", "text", facts=own, links=(link("a", 2, "works_at"), link("nobody", 3))),
        entry("a", bonds=(("extend", "b"), ("derive", "nobody"), ("derive", "y"))),
        entry("b", supersedes="a"),
    )
    links = (Edge("n.md", "a", "a.md", 2, "works_at"), Edge("n.md", "nobody", None, 3))
    bonds = (
        Edge("a.md", "b", "b.md", 0, "extend"),
        Edge("a.md", "y", "n.md", 0, "derive"),
        Edge("b.md", "a", "a.md", 0, "update"),
    )

    with index.reader() as reader:
        assert reader.edges() == (*links, *bonds)
        assert reader.edges(["n.md"]) == (*links, bonds[1])
        assert reader.edges(["b.md"]) == (bonds[0], bonds[2])
        assert reader.edges(["n.md", "a.md"], among=True) == (links[0], bonds[1])
        assert reader.edges(["a.md", "b.md"], among=True) == (bonds[0], bonds[2])
        assert (reader.edges(["n.md"], among=True), reader.edges(among=True)) == ((), ())
        assert (reader.counts().links, reader.counts().unresolved) == (2, 1)
    index.remove("vault", "b.md", now=NOW)
    with index.reader() as reader:
        assert reader.edges() == (*links, bonds[1])


def test_edges_of_other_sources_have_their_ids(index: Index) -> None:
    """A task links to a note; a query for either returns the link."""
    add(index, document("t1", "x", source="task", links=(link("b"),)), document("b.md", "y"))

    with index.reader() as reader:
        assert reader.edges(["t1"]) == reader.edges(["b.md"]) == (Edge("t1", "b", "b.md", 1),)


def test_an_entity_has_the_names_of_the_notes_that_it_names(index: Index) -> None:
    """Title, file name and aliases, as entities compare; those of another note are not among them."""
    add(index, document("People/ann.md", "x", title="Ann Smith", aliases=("I", "Annie")), document("Acme.md", "x"))

    with index.reader() as reader:
        assert reader.entity_names("ANNIE") == {"ann", "ann smith", "annie"}
        assert reader.entity_names("me") == {"me"}  # a note that calls itself so is not the person
        assert reader.entity_names("nobody") == {"nobody"}
        assert reader.entity_names("") == frozenset()
    index.touch(document("People/ann.md", "x", title="Ann Smith"), now=NOW)
    with index.reader() as reader:
        assert reader.entity_names("Ann") == {"ann", "ann smith"}
        assert reader.entity_names("annie") == {"annie"}
    index.rename("Acme.md", document("Core.md", "x"), now=NOW)
    with index.reader() as reader:
        assert reader.entity_names("acme") == {"acme"}
        assert reader.entity_names("core") == {"core"}


def test_entries_that_link_to_a_note_are_facts_about_it(index: Index) -> None:
    """Those of other notes are not, though their note links to it; one that no longer leads there is not."""
    named = link("Annie")
    add(
        index,
        document("People/ann.md", "x", aliases=("Annie",)),
        replace(entry("linked"), links=(named,)),
        document("n.md", "text", facts=(fact("line", "n.md", origin="line"),), links=(named,)),
        entry("subject", subject="Ann"),
    )

    assert ids(index, names=("ann",)) == ["linked", "subject"]
    assert ids(index, names=("annie",), limit=1) == ["linked"]
    index.touch(document("People/ann.md", "x"), now=NOW)
    assert ids(index, names=("ann",)) == ["subject"]


def test_an_entity_filter_keeps_what_has_a_fact_about_it(index: Index) -> None:
    """As subject or object, under any name of the note."""
    add(
        index,
        document("People/ann.md", "text", aliases=("Annie",)),
        entry("subject", subject="Annie"),
        document("n.md", "text", facts=(fact("x", "n.md", origin="line", object="Ann"),)),
        entry("other", subject="Bob"),
    )

    for name in ("ann", "Annie"):
        assert search(index, Filters(entities=(name,))) == {"People/ann.md", "subject.md", "n.md"}
        with index.reader() as reader:
            assert reader.count_documents(Filters(entities=(name,))) == 3
    assert search(index, Filters(entities=("bob",))) == {"other.md"}


AT: dict[str, tuple[str, set[str]]] = {
    "no moment": ("", {"always.md", "window.md", "a.md", "b.md"}),
    "before all": ("2025-01-01T00:00:00Z", {"always.md", "window.md", "a.md", "b.md"}),
    "first of the window": (JAN, {"always.md", "window.md", "a.md", "b.md"}),
    "just before another begins": ("2026-02-28T23:59:59Z", {"always.md", "window.md", "a.md", "b.md"}),
    "another begins": (MAR, {"always.md", "window.md", "b.md"}),
    "the window is over": (APR, {"always.md", "b.md"}),
    "long after": ("2030-01-01T00:00:00Z", {"always.md", "b.md"}),
}


@pytest.mark.requirement("I-12")
@pytest.mark.parametrize("name", AT)
def test_what_is_not_valid_at_the_moment_is_not_found(index: Index, name: str) -> None:
    """From its end on, by itself or by another fact; what is yet to begin is found, and all of it with the archive."""
    at, expected = AT[name]
    window = document("window.md", "text", valid_from=JAN, valid_until=APR)
    add(index, document("always.md", "text"), window, works_at("a", "Acme", JAN), works_at("b", "Beta", MAR))

    assert search(index, Filters(at=at)) == expected
    assert len(search(index, Filters(at=at, archived=True))) == 4
    assert search(index, Filters(at=at, path="window.md")) == expected & {"window.md"}
    with index.reader() as reader:
        assert reader.count_documents(Filters(at=at)) == len(expected)
        near = reader.match_vector(vector("text"), Filters(at=at), version=VERSION, limit=9)
        assert set(paths(reader, [match.number for match in near])) == expected


def test_an_entry_that_ends_while_an_index_is_open_is_found_no_longer(index: Index) -> None:
    """The answer before its end is not kept for the moment after; nor that before a change for the one after it."""
    add(index, entry("a", valid_until=MAR), entry("b"))
    moments = ("2026-02-28T00:00:00Z", "2026-02-28T23:59:59Z", MAR, APR)

    assert [search(index, Filters(at=each)) for each in moments] == [{"a.md", "b.md"}] * 2 + [{"b.md"}] * 2
    index.touch(replace(entry("a"), chunks=()), now=NOW)
    assert search(index, Filters(at=APR)) == {"a.md", "b.md"}


@pytest.mark.parametrize("until", ["document", "fact"])
def test_the_earlier_of_two_ends_counts(index: Index, until: str) -> None:
    """Its own, or that by another fact."""
    own = works_at("a", "Acme", JAN, valid_until=FEB)
    own = replace(own, valid_until="") if until == "fact" else replace(own, facts=works_at("a", "Acme", JAN).facts)
    add(index, works_at("b", "Beta", MAR), own)

    assert [search(index, Filters(at=at)) for at in (JAN, FEB, MAR)] == [{"a.md", "b.md"}, {"b.md"}, {"b.md"}]


def told(index: Index) -> list[tuple[str, int]]:
    with index.reader() as reader:
        return [(topic.name, topic.documents) for topic in reader.topics()]


@pytest.mark.requirement("V-07")
def test_topics_are_counted_from_the_first_document_on(index: Index) -> None:
    """In any spelling, under the first in order; sensitive, staged and archived documents do not count."""
    assert told(index) == []
    add(index, entry("a", topics=("water", "Water", "work")))
    assert told(index) == [("Water", 1), ("work", 1)]
    add(
        index,
        entry("b", topics=("WATER",)),
        entry("c", topics=("soil",), sensitive=True),
        entry("d", topics=("soil",), place="staging"),
        entry("e", topics=("soil",), place="archive"),
        entry("f", topics=("soil",), status="superseded"),
        document("g.md", "text", topics=("Work",), version=""),
    )
    assert told(index) == [("WATER", 2), ("Work", 2)]

    index.remove("vault", "b.md", now=NOW)
    assert told(index) == [("Water", 1), ("Work", 2)]
    index.rename("g.md", document("h.md", "text", topics=("garden",), version=""), now=NOW)
    index.touch(entry("f", topics=("soil",)), now=NOW)
    assert told(index) == [("garden", 1), ("soil", 1), ("Water", 1), ("work", 1)]
    for path in ("a.md", "f.md", "h.md"):
        index.erase("vault", path)
    assert told(index) == []


def middle(texts: Iterable[str]) -> Any:
    """The direction of the sum of these texts' vectors."""
    total = sum(vector(text).astype(float) for text in texts)
    return total / np.linalg.norm(total)


def test_a_centroid_is_the_mean_direction_of_the_documents_about_a_topic(index: Index) -> None:
    """By the first part of the first chunk that has a vector, one version apart from another; it moves with them."""
    long = document("long.md", "hidden", "rain", "sun", parts=[(), ("rain", "x"), ("sun",)], topics=("water",))
    add(index, long, entry("a", text="soil", topics=("water", "work")), entry("b", text="sea", topics=("Water",)))
    add(index, document("other.md", "y", topics=("other",), version="test@2"))
    add(index, document("bare.md", "z", topics=("bare",), version=""))

    def centroids(version: str = VERSION) -> dict[str, Any]:
        with index.reader() as reader:
            found = reader.centroids(version)
        assert {each.version for each in found} <= {version}
        return {each.topic: each.vector for each in found}

    assert [*centroids()] == ["Water", "work"]
    assert [*centroids("test@2")] == ["other"]
    assert centroids("test@3") == {}
    assert centroids()["Water"] == pytest.approx(middle(["rain", "soil", "sea"]), abs=2e-2)
    assert np.linalg.norm(centroids()["Water"]) == pytest.approx(1, abs=1e-6)
    index.remove("vault", "b.md", now=NOW)
    add(index, entry("a", text="sand", topics=("water",)))
    assert [*centroids()] == ["water"]
    assert centroids()["water"] == pytest.approx(middle(["rain", "sand"]), abs=2e-2)


def test_a_fact_is_named_by_the_end_of_its_id(index: Index) -> None:
    """Six characters are enough, more are allowed, and patterns have no meaning."""
    add(index, entry("0199-aaaaaa-31d9a1"), entry("0199-bbbbbb-31d9a1"), entry("0199-cccccc-70fb79"))

    assert ids(index, suffix="70fb79") == ["0199-cccccc-70fb79"]
    assert sorted(ids(index, suffix="31d9a1")) == ["0199-aaaaaa-31d9a1", "0199-bbbbbb-31d9a1"]
    assert ids(index, suffix="bbbbbb-31d9a1") == ["0199-bbbbbb-31d9a1"]
    assert ids(index, suffix="%0fb79") == []


def test_a_name_leads_to_the_notes_that_have_it(index: Index) -> None:
    """By title, file name or alias; a removed note has no name."""
    add(index, document("People/ann.md", "x", title="Ann Smith", aliases=("Annie",)), document("Annie.md", "x"))

    with index.reader() as reader:
        assert reader.notes_named("ANNIE") == ("Annie.md", "People/ann.md")
        assert reader.notes_named("ann smith") == ("People/ann.md",)
        assert reader.notes_named("nobody") == reader.notes_named("") == ()
    index.remove("vault", "Annie.md", now=NOW)
    with index.reader() as reader:
        assert reader.notes_named("annie") == ("People/ann.md",)


def test_of_many_names_those_are_known_that_a_note_has_or_a_fact_is_about(index: Index) -> None:
    """However many names are given; unknown names are left out, and removed notes have no names."""
    add(index, document("People/ann.md", "x", title="Ann Smith", aliases=("Annie",)))
    add(index, entry("one", subject="Bob", predicate="knows", object="Eve"))
    asked = ["annie", "ann smith", "bob", "eve", "", "me", *(f"nobody {number}" for number in range(2000))]

    with index.reader() as reader:
        assert reader.existing_names(asked) == {"annie", "ann smith", "bob", "eve"}
        assert [known.fact.id for known in reader.facts(FactQuery(names=tuple(asked)))] == ["one"]
    index.remove("vault", "People/ann.md", now=NOW)
    with index.reader() as reader:
        assert reader.existing_names(asked) == {"bob", "eve"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"text": "TEA 100%"}, ["b1"]),
        ({"text": "tea_"}, []),
        ({"kinds": ("preference",)}, ["b1"]),
        ({"trusts": ("mined",)}, ["a1"]),
        ({"trusts": ("told",)}, ["c1", "b1"]),
        ({"recorded_from": FEB, "recorded_until": MAR}, ["b1"]),
        ({"after": (MAR, "b1")}, ["a1"]),
        ({"after": (APR, "")}, ["c1", "b1", "a1"]),
        ({"staged": True, "only_staged": True}, ["d1"]),
    ],
)
def test_facts_are_looked_through_by_what_people_filter_by(
    index: Index, asked: dict[str, Any], found: list[str]
) -> None:
    """A page goes on after a fact of the same moment; a wildcard is a character."""
    add(
        index,
        entry("a1", kind="fact", text="walks", recorded=JAN, updated=FEB, origins=Origins(trust="mined")),
        entry("b1", kind="preference", text="likes tea 100%", recorded=FEB, updated=MAR),
        entry("c1", kind="fact", text="runs", recorded=MAR, updated=APR),
        entry("d1", kind="fact", text="waits", place="staging", recorded=MAR, updated=APR),
    )

    assert ids(index, **asked) == found


def test_facts_and_entities_are_counted(index: Index) -> None:
    """By kind, trust and topic; names as they compare, each with its subjects and objects; notes with their names."""
    add(
        index,
        works_at("a1", "Acme", kind="fact", topics=("Work",), updated=JAN),
        works_at("b1", "Beta", kind="event", topics=("work", "city"), updated=FEB),
        works_at("s1", "Secret", sensitive=True),
        document("People/Ann.md", "text", title="Ann", aliases=("Annie",), kind="person"),
    )
    with index.reader() as reader:
        counts = reader.count_facts(FactQuery(sensitive=False, limit=1))
        about = reader.count_facts(FactQuery(names=("acme",)))
        entities = {each.name: each for each in reader.entity_counts(sensitive=False)}
        rows = reader.note_rows()
        mentions = reader.mentions(sensitive=False)

    assert (counts.total, counts.kinds, counts.topics) == (2, {"event": 1, "fact": 1}, {"city": 1, "work": 2})
    assert (counts.trusts, about.total) == ({"told": 2}, 1)
    assert sorted(entities) == ["acme", "ann", "beta"]
    assert entities["ann"][1:] == ("Ann", 2, 0, FEB)
    ann = next(each for each in rows if each.title == "Ann")
    assert (ann.is_entry, sorted(ann.names)) == (False, ["ann", "annie"])
    assert len(rows) == 4
    assert {name for _, name in mentions} == {"acme", "ann", "beta"}


def test_titles_and_names_are_found_by_a_part_of_them(index: Index) -> None:
    """Folded, each once and sorted; not those of staged documents, nor of sensitive ones unless asked for."""
    add(
        index,
        document("People/Ann.md", "text", title="Ann ÄRGER", aliases=("Annie 100%",)),
        document("Notes/Plan.md", "text", title="Planning with ann"),
        document("Notes/Secret.md", "text", title="Ann's secret", sensitive=True),
        document("Agent/Memory/_staging/a.md", "text", title="Ann waits", place="staging"),
    )
    with index.reader() as reader:
        every = reader.titles_with("Ann", sensitive=True)
        public = reader.titles_with("ann", sensitive=False)
        signs = [reader.titles_with(each, sensitive=True) for each in ("ärg", "0%", "_", "zzz")]

    assert every == ("ann", "ann ärger", "ann's secret", "annie 100%", "planning with ann")
    assert public == tuple(each for each in every if "secret" not in each)
    assert signs == [("ann ärger",), ("annie 100%",), (), ()]
