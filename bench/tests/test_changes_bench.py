"""The benchmark of the law of memory in short, on statements made up here."""

from pathlib import Path

from bench.changes_neighbours import compare_all, neighbour_figures
from bench.changes_saves import PERSON, measure_chains, measure_contradictions, measure_losses, measure_said_before
from bench.changes_sets import Chain, ChangeSet, Pair
from bench.memory_vault import AGENT, Opener
from bench.tests.test_memory_bench import HASHING

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MANY = tuple(f"Box {one}{other} holds {other}{one}{one}." for one in LETTERS[:15] for other in LETTERS[:15])
"""More entries than an answer about facts has, if it is not told otherwise."""

TOLD = ChangeSet(
    "made up",
    (
        Pair("independent", "Milan works at Skoda.", "Milan sold his boat."),
        Pair("changed", "Ines lives in Porto.", "Ines moved to Madrid."),
        Pair("changed", "The rent is 900 euros.", "The rent is 950 euros now."),
        Pair("changed", "Dana is the manager.", "Wei is the manager."),
        Pair("same", "Speaks Czech.", "Czech is a language that is spoken."),
        Pair("opposite", "Include the raw data.", "Never include the raw data."),
    ),
    (
        Chain(
            ("Bo lives in Oslo.", "Bo lives in Bergen.", "Bo is back in Oslo."),
            ("2026-03-02", "2026-05-19", "2026-08-30"),
        ),
    ),
)


def test_nothing_is_lost_by_whom_soever_it_is_saved(tmp_path: Path) -> None:
    """However much is known besides."""
    told = ChangeSet(TOLD.name, TOLD.pairs, others=MANY)
    by_agent = measure_losses(told, Opener(HASHING), tmp_path / "agent", actor=AGENT)
    by_person = measure_losses(TOLD, Opener(HASHING), tmp_path / "person", actor=PERSON)

    for figures in (by_agent, by_person):
        assert (figures["lost"], figures["confirmed"], figures["shortened"], figures["refused"]) == ({}, {}, [], {})
        assert figures["pairs"].total() == len(TOLD.pairs)


def test_what_was_said_before_ends_nothing_and_what_was_replaced_stays_so(tmp_path: Path) -> None:
    """The three changed values; a value that nobody settled stands beside the newer one."""
    counts = measure_said_before(TOLD, Opener(HASHING), tmp_path)

    assert [counts[name]["newer ended"] for name in ("not settled", "replaced")] == [0, 0]
    assert (counts["not settled"]["current"], counts["replaced"]["current"]) == (3, 0)


def test_a_contradiction_is_settled_in_each_of_three_ways(tmp_path: Path) -> None:
    """The person's word stands, whatever the agent says of it."""
    ways = measure_contradictions(TOLD, Opener(HASHING), tmp_path)

    assert [(each["pairs"], each["stands"]) for each in ways.values()] == [(1, 1)] * 3


def test_chains_and_neighbours_are_counted(tmp_path: Path) -> None:
    """By the entries that share most words, where nothing else is compared."""
    chains = measure_chains(TOLD, Opener(HASHING), tmp_path / "chains")
    near = neighbour_figures(compare_all(TOLD, Opener(HASHING), tmp_path / "near"))

    assert (chains["chains"], chains["refused"]) == (1, {})
    assert near["pairs"] == {"changed": 3, "independent": 1, "opposite": 1, "same": 1}
    assert near["ways"]["as built"]["shown"]["opposite"] == 1
