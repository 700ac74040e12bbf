"""Lint: what is wrong with entries and between facts, and what can be mended."""

from dataclasses import replace
from typing import NamedTuple

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.entry_format import read_entry
from commonplace.facts.lint import lint_entry, lint_facts, safe_fixes
from commonplace.model import Fact, FactRecord, Note, Origins, Place, Problem
from commonplace.notes import parse

ID = "0199f3c2-7c1e-7d3a-9d55-6a2f0c1b8e11"
PATH = "Agent/Memory/fix/2026-03/tabs-1b8e11.md"
KEYS = {
    "id": ID,
    "kind": "fix",
    "status": "active",
    "recorded": "2026-03-01T09:12:44Z",
    "slug": "tabs",
    "updated": "2026-03-01T09:12:44Z",
}


class Contest(NamedTuple):
    """What the index tells of two facts that claim the same."""

    loser: Fact
    winner: Fact
    at: str


def entry(keys: dict[str, str], *, path: str = PATH, place: Place = "") -> tuple[Note, Fact | None]:
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    note = parse(f"---\n{lines}---\nUse tabs.\n".encode(), path=path, mtime=0.0)
    return note, read_entry(note, place=place, sensitive=False, rules=FactRules())[0]


def linted(keys: dict[str, str], *, path: str = PATH, place: Place = "") -> list[tuple[int, str]]:
    return [(each.line, each.code) for each in lint_entry(*entry(keys, path=path, place=place))]


def fact(number: int, **fields: object) -> Fact:
    id = f"0199f3c2-0000-7000-8000-{number:012}"
    plain = Fact(id=id, path=f"Agent/Memory/fix/{number}.md", line=9, origin="entry", text="x", recorded="2026-03-01")
    return replace(plain, **fields)  # type: ignore[arg-type]


def id_of(number: int) -> str:
    return fact(number).id


def between(*facts: Fact) -> list[tuple[str, str]]:
    problems = lint_facts([FactRecord(each, None) for each in facts], twins=(), contests=())
    return [(each.path.removeprefix("Agent/Memory/fix/"), each.code) for each in problems]


def mended(*facts: Fact) -> list[tuple[str, dict[str, object]]]:
    note, _ = entry(KEYS)
    return [(each.problem.path, dict(each.keys)) for each in safe_fixes((note, each) for each in facts)]


def test_a_whole_entry_has_nothing_wrong() -> None:
    """A person's own keys may stand anywhere between ours."""
    assert linted(KEYS) == []
    assert linted({"mood": "sunny", **KEYS, "own": "x"}) == []


@pytest.mark.parametrize("key", ["kind", "status", "recorded", "slug"])
def test_a_missing_key_is_told(key: str) -> None:
    """So is one without a value, on its line."""
    without = {name: value for name, value in KEYS.items() if name != key}

    assert linted(without) == [(1, "entry-key")]
    assert linted({**KEYS, key: ""}) == [(2 + list(KEYS).index(key), "entry-key")]


@pytest.mark.parametrize("folder", ["_inbox/2026-03", "_archive/_inbox/2026-03", "_always-load"])
def test_an_entry_in_a_folder_of_ours_needs_no_kind(folder: str) -> None:
    """What has no kind yet waits in the inbox, and may go from there."""
    keys = {name: value for name, value in KEYS.items() if name != "kind"}

    assert linted(keys, path=f"Agent/Memory/{folder}/tabs-1b8e11.md") == []


def test_a_note_among_entries_without_an_id_is_told() -> None:
    """It is read as a plain note."""
    assert linted({"kind": "fix"}) == [(1, "entry-key")]


def test_our_keys_keep_their_order() -> None:
    """The key that stands too late is named."""
    assert linted({"kind": "fix", **{name: KEYS[name] for name in KEYS if name != "kind"}}) == [(3, "entry-order")]


@pytest.mark.parametrize(
    ("name", "line"), [("tabs.md", 1), ("tabs-000000.md", 1), ("spaces-1b8e11.md", 6), ("tabs-1b8e11 2.md", 1)]
)
def test_a_file_is_called_after_its_slug_and_id(name: str, line: int) -> None:
    """Where they differ, one of them is wrong."""
    assert linted(KEYS, path=f"Agent/Memory/fix/2026-03/{name}") == [(line, "entry-name")]


def test_the_name_of_a_staged_entry_is_not_judged() -> None:
    """It is made from the path that it is meant for."""
    path = "Agent/Memory/_staging/Agent-Memory-fix-2026-03-tabs-1b8e11-abcdef.md"

    assert linted(KEYS, path=path, place="staging") == []


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"updated": "2026-02-01"}, 7),
        ({"valid_from": "2026-03-02", "valid_until": "2026-03-01"}, 6),
        ({"superseded_at": "2026-02-01"}, 6),
        ({"deleted_at": "2026-02-01"}, 6),
    ],
)
def test_times_follow_each_other(keys: dict[str, str], line: int) -> None:
    """Nothing ends, changes or is replaced before it begins."""
    order = ("id", "kind", "status", "valid_from", "valid_until", "recorded", "superseded_at", "deleted_at")
    given = {**KEYS, **keys}
    ordered = {name: given[name] for name in (*order, "slug", "updated") if name in given}

    assert linted(ordered) == [(line, "entry-date")]


def test_a_kind_that_nobody_named_is_told() -> None:
    """A person's own kinds are known."""
    note, known = entry({**KEYS, "kind": "recipe"})

    assert [(each.line, each.code) for each in lint_entry(note, known)] == [(3, "entry-kind")]
    assert lint_entry(note, known, kinds=("recipe",)) == ()


@pytest.mark.parametrize(
    ("status", "place", "codes"),
    [
        ("active", "archive", ["entry-place"]),
        ("superseded", "", ["entry-place"]),
        ("archived", "inbox", ["entry-place"]),
        ("superseded", "archive", []),
        ("deleted", "", []),
        ("expired", "", []),
        ("active", "inbox", []),
        ("active", "staging", []),
    ],
)
def test_status_and_folder_agree(status: str, place: Place, codes: list[str]) -> None:
    """What is put away stands in the archive, and nothing else does."""
    assert [code for _, code in linted({**KEYS, "status": status}, place=place)] == codes


def test_versions_that_name_each_other_have_nothing_wrong() -> None:
    """A chain of three, and a bond."""
    first = fact(1, superseded_by=id_of(2), superseded_at="2026-04-01")
    second = fact(2, supersedes=id_of(1), superseded_by=id_of(3), superseded_at="2026-05-01")

    assert between(first, second, fact(3, supersedes=id_of(2), bonds=(("extend", id_of(1)),))) == []


@pytest.mark.parametrize(
    "fields",
    [{"supersedes": id_of(7)}, {"superseded_by": id_of(7)}, {"bonds": (("derive", id_of(7)),)}],
)
def test_an_id_of_no_fact_is_told(fields: dict[str, object]) -> None:
    """Whatever the key that names it."""
    assert between(fact(1, **fields)) == [("1.md", "chain-dangling")]


def test_two_heirs_of_one_fact_are_a_fork() -> None:
    """It is told where the chain forks, and the link that cannot be both ways as well; a person must choose."""
    first = fact(1, superseded_by=id_of(2))
    facts = (first, fact(2, supersedes=id_of(1)), fact(3, supersedes=id_of(1)))

    assert between(*facts) == [("1.md", "chain-one-sided"), ("1.md", "chain-fork")]
    assert mended(*facts) == []


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_chain_that_runs_in_a_circle_is_told_once(length: int) -> None:
    """However long it is, and although every link is there both ways."""
    following = {number: number % length + 1 for number in range(1, length + 1)}
    before = {after: number for number, after in following.items()}
    facts = [fact(each, supersedes=id_of(before[each]), superseded_by=id_of(following[each])) for each in following]

    assert between(*facts) == [("1.md", "chain-cycle")]


def test_a_link_that_only_the_newer_has_is_mended_in_the_older() -> None:
    """With the moment at which the newer was recorded."""
    facts = (fact(1), fact(2, supersedes=id_of(1), recorded="2026-04-01T00:00:00Z"))

    assert between(*facts) == [("1.md", "chain-one-sided")]
    assert mended(*facts) == [
        ("Agent/Memory/fix/1.md", {"superseded_by": id_of(2), "superseded_at": "2026-04-01T00:00:00Z"})
    ]


def test_a_link_that_only_the_older_has_is_mended_in_the_newer() -> None:
    """Nothing else changes."""
    facts = (fact(1, superseded_by=id_of(2)), fact(2))

    assert between(*facts) == [("2.md", "chain-one-sided")]
    assert mended(*facts) == [("Agent/Memory/fix/2.md", {"supersedes": id_of(1)})]


@pytest.mark.parametrize(
    "facts",
    [
        (fact(1, superseded_by=id_of(2)), fact(2, bonds=(("derive", id_of(1)),))),
        (fact(1, superseded_by=id_of(3)), fact(2, superseded_by=id_of(3)), fact(3)),
        (fact(1, superseded_by=id_of(2)), fact(2, recorded="2026-01-01")),
    ],
    ids=["made of it", "one for two", "known before"],
)
def test_an_entry_that_took_the_place_of_others_need_not_name_them(facts: tuple[Fact, ...]) -> None:
    """`supersedes` is for the next version of one entry: jobs that merge entries leave no problem behind."""
    assert between(*facts) == []
    assert mended(*facts) == []


@pytest.mark.parametrize(
    "facts",
    [
        (fact(1, supersedes=id_of(2)), fact(2, supersedes=id_of(1))),
        (fact(1, superseded_by=id_of(3)), fact(2), fact(3, supersedes=id_of(2))),
        (fact(1), fact(1, path="Agent/Memory/fix/copy.md"), fact(2, supersedes=id_of(1))),
    ],
    ids=["a circle", "two olds", "an id twice"],
)
def test_a_chain_in_which_a_person_must_choose_is_left_alone(facts: tuple[Fact, ...]) -> None:
    """Only what has one answer is mended."""
    assert mended(*facts) == []


def test_what_waits_for_a_person_replaces_nothing_yet() -> None:
    """Its one-sided link is meant so, until it is let in."""
    waiting = fact(2, supersedes=id_of(1), place="staging")

    assert between(fact(1), waiting) == []
    assert mended(fact(1), waiting) == []


def test_a_missing_slug_is_mended_from_the_name_of_the_file() -> None:
    """From the text where the name is of another making."""
    keys = {name: value for name, value in KEYS.items() if name != "slug"}
    named = entry(keys)
    odd = entry(keys, path="Agent/Memory/fix/My note.md")
    found = safe_fixes((note, known) for note, known in (named, odd) if known)

    assert [(each.problem.path, each.problem.code, dict(each.keys)) for each in found] == [
        (PATH, "entry-key", {"slug": "tabs"}),
        ("Agent/Memory/fix/My note.md", "entry-key", {"slug": "use-tabs"}),
    ]


def test_what_two_devices_learned_from_the_same_words_ends_on_both() -> None:
    """If one was replaced or forgotten, so is the other, unless the person made it their own or it follows."""
    said = Origins("claude-code", "c-1", "mined", extractor="rules", turn=3)
    at = "2026-03-02T09:00:00Z"
    gone = fact(1, origins=said, status="deleted", deleted_at=at)
    old = fact(1, origins=said, status="superseded", superseded_by=id_of(9), superseded_at=at, place="archive")
    twin, other = fact(2, origins=said), fact(3, origins=replace(said, turn=4))
    own, words = fact(4, origins=replace(said, trust="told")), fact(5, origins=said, fingerprint="other")
    heir = fact(9, origins=said, supersedes=id_of(1))
    end = {"status": "superseded", "superseded_by": id_of(9), "superseded_at": at}

    assert mended(gone, twin, other, own, words) == [(twin.path, {"status": "deleted", "deleted_at": at})]
    assert mended(old, twin, other, own, words, heir) == [(twin.path, end)]
    assert mended(fact(1, origins=said), twin) == []


def test_facts_that_claim_the_same_are_told_at_the_one_that_lost() -> None:
    """The winner and the moment are named."""
    (problem,) = lint_facts([], twins=(), contests=[Contest(fact(1), fact(2), "2026-04-01T00:00:00Z")])

    assert problem == Problem("Agent/Memory/fix/1.md", 9, problem.message, "competing-claims")
    assert "fix/2.md" in problem.message
    assert "2026-04-01" in problem.message


def test_a_task_that_was_copied_from_note_to_note_is_no_problem() -> None:
    """Meetings have the same action items week after week."""
    old, new = (fact(number, subject="Ada", predicate="committed_to", object="send the offer") for number in (1, 2))

    assert lint_facts([], twins=(), contests=[Contest(old, new, "2026-04-01T00:00:00Z")]) == ()


def test_an_id_at_two_paths_is_told_at_each_that_does_not_keep_it() -> None:
    """The one that keeps it is named."""
    problems = lint_facts([], twins=[(ID, ("a.md", "b.md", "c.md"))], contests=())

    assert [(each.path, each.code) for each in problems] == [("b.md", "same-id"), ("c.md", "same-id")]
    assert all("a.md" in each.message for each in problems)


def fixes(keys: dict[str, str], *, path: str = PATH, place: Place = "") -> list[tuple[str, dict[str, object], str]]:
    note, known = entry(keys, path=path, place=place)
    assert known
    return [(each.problem.code, dict(each.keys), each.moved_to) for each in safe_fixes([(note, known)])]


@pytest.mark.requirement("X-10")
def test_what_the_note_itself_tells_is_mended() -> None:
    """Keys that are missing, a slug unlike the file name, and the folder of another month."""
    without = {key: value for key, value in KEYS.items() if key not in ("status", "kind")}

    assert fixes(KEYS) == []
    assert fixes(without) == [("entry-key", {"status": "active"}, ""), ("entry-key", {"kind": "fix"}, "")]
    assert fixes({**KEYS, "slug": "spaces"}) == [("entry-name", {"slug": "tabs"}, "")]
    assert fixes({**KEYS, "recorded": "2026-04-02T08:00:00Z"}) == [
        ("entry-month", {}, "Agent/Memory/fix/2026-04/tabs-1b8e11.md")
    ]


def test_status_and_place_follow_a_chain_that_is_plain_and_no_other() -> None:
    """The replaced one is superseded and in the archive; a fork, a circle or a lone claim is for the person."""
    note, _ = entry(KEYS)
    old = fact(1, superseded_by=id_of(2), path="Agent/Memory/fix/2026-03/a-000001.md", recorded="2026-03-01")
    new = fact(2, supersedes=id_of(1))

    def found(*facts: Fact) -> list[tuple[dict[str, object], str]]:
        all_fixes = safe_fixes((note, each) for each in facts)
        return [
            (dict(each.keys), each.moved_to)
            for each in all_fixes
            if each.problem.code in ("entry-status", "entry-place")
        ]

    assert found(old, new) == [({"status": "superseded"}, "Agent/Memory/_archive/fix/2026-03/a-000001.md")]
    assert found(replace(old, status="superseded"), new) == [({}, "Agent/Memory/_archive/fix/2026-03/a-000001.md")]
    assert found(old) == []
    assert found(old, new, fact(3, supersedes=id_of(1))) == []
    assert found(old, replace(new, status="deleted")) == []
