"""The law of memory: no words are lost, nothing is ended on a guess, and time has a direction.

Over the labelled pairs in tests/change_examples, and over restrictions, negations, numbers, names and signs that are
made up: what a statement is, who says it and in which order it comes makes no difference.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import Refused
from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import integrate
from commonplace.facts.validity import holds
from commonplace.facts.words import fingerprint, folded_words
from commonplace.flows.memory.save import save
from commonplace.memory import Memory
from commonplace.model import Actor, Candidate, EntryResult, Fact, FactClass, FactRecord, Origins, Verdict
from commonplace.model.moment import parse_moment
from commonplace.screening.narration import statement_of
from commonplace.upkeep.consolidate import DREAM
from tests.memories import Calendar, make_memory
from tests.run_length import rounds
from tests.upkeep_jobs import run_job

EXAMPLES: Final = Path(__file__).parents[1] / "change_examples"
SAME: Final = ("same", "duplicate")
RULES: Final = FactRules()
MOMENTS: Final = [f"2026-{month:02}-01T09:30:00Z" for month in range(1, 8)]
DAYS: Final = [f"{at[:10]}T00:00:00Z" for at in MOMENTS]
NOW: Final = "2026-05-15T00:00:00Z"
ACTORS: Final = (Actor("person", "cli"), Actor("agent", "codex"), Actor("job", "learn"))


class Pair(NamedTuple):
    """A known statement, a new one, and what an author said that the new one does."""

    label: str
    known: str
    new: str


def read_pairs() -> list[Pair]:
    """Every labelled pair, as a save has it."""
    lines = [json.loads(line) for file in EXAMPLES.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    return [
        Pair(line["label"], statement_of(line["known"]), statement_of(line.get("new") or line["text"]))
        for line in lines
    ]


PAIRS: Final = read_pairs()
STATEMENTS: Final = sorted({pair.known for pair in PAIRS})


def groups() -> list[list[str]]:
    """For each known statement, itself and all that are near to it."""
    near = defaultdict[str, list[str]](list)
    for pair in PAIRS:
        near[pair.known].append(pair.new)
    return [list(dict.fromkeys((known, *texts))) for known, texts in sorted(near.items())]


GROUPS: Final = groups()


def known_fact(text: str, id: str = "known") -> Fact:
    """A statement that was saved in January."""
    return Fact(id=id, path=f"{id}.md", line=0, origin="entry", text=text, recorded=MOMENTS[0])


def decide(text: str, known: str) -> Verdict:
    """What becomes of a statement beside a known one."""
    return integrate(Candidate(text=text), [FactRecord(known_fact(known), None)], rules=RULES, now=NOW)


# ---------------------------------------------------------------- 1: no words are lost


def test_no_labelled_pair_is_known_already_but_by_equal_words() -> None:
    """What says more, something else or the opposite is a new entry; so are other words for the same."""
    verdicts = {pair: decide(pair.new, pair.known) for pair in PAIRS}
    known = {pair for pair, verdict in verdicts.items() if verdict.action == "confirm"}

    assert len(PAIRS) > 2000
    assert {pair.label for pair in known} <= {*SAME}
    assert all(fingerprint(pair.new) == fingerprint(pair.known) for pair in known)
    assert all(verdicts[pair] == Verdict("insert", "", "It is not known yet.") for pair in PAIRS if pair not in known)


PLAIN: Final = (
    "the",
    "gate",
    "of",
    "Nora",
    "likes",
    "red",
    "wine",
    "(really)",
    "works",
    "at",
    "Vue/React",
    "C++",
    "why?",
)
VALUES: Final = (
    ("60 days", "sixty days", "Sixty Days"),
    ("72 kg", "seventy-two kilos", "72kg", "72 kilograms"),
    ("2,500 euros", "\u20ac2,500", "2,500 EUR"),
    ("2500 euros", "\u20ac2500", "2500 EUR"),
    ("16:00", "4 pm", "4:00 p.m."),
    ("5 May", "May 5th", "5th of MAY"),
    ("2026-05-05", "5 May 2026", "May 5, 2026"),
    ("20%", "twenty percent"),
)
SIGNS: Final = ("<", ">", "/", "?", "+", "#", "%", "$", "no")
WORDS: Final = (*SIGNS, "not", "never", "except", "17", "Amadi", "Fridays,", "if", "apparently")


@st.composite
def renderings(draw: st.DrawFn) -> tuple[str, str]:
    """A statement, written in two ways that differ in nothing that counts; a plain word stands between two values."""
    pieces = draw(st.lists(st.sampled_from(PLAIN) | st.sampled_from(VALUES), min_size=1, max_size=6))
    return tuple(_written(draw, pieces) for _ in range(2))  # type: ignore[return-value]


def _written(draw: st.DrawFn, pieces: Sequence[str | tuple[str, ...]]) -> str:
    words = []
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        if isinstance(piece, tuple):
            words += [draw(st.sampled_from(piece)), "then"]
            continue
        quote, comma = draw(st.sampled_from(("", '"', "\u201c"))), draw(st.sampled_from(("", ",")))
        close = {"\u201c": "\u201d"}.get(quote, quote)
        words += [quote + draw(st.sampled_from((piece, piece.upper()))) + close + comma]
        if isinstance(following, str):  # before a number it may be a minus
            words += draw(st.sampled_from(([], ["-"], ["\u2014"])))
    blank = draw(st.sampled_from((" ", "  ", "\n", "\u00a0")))
    return blank.join(words) + draw(st.sampled_from(("", ".", "...", " ")))


@given(renderings())
def test_case_blanks_quotes_commas_dashes_stops_and_spellings_of_values_are_folded(texts: tuple[str, str]) -> None:
    """Both ways to write it are known already; and folding what is folded changes nothing."""
    one, other = texts

    assert folded_words(one) == folded_words(other)
    assert decide(one, other).action == "confirm"
    assert folded_words(" ".join(folded_words(one))) == folded_words(one)


@st.composite
def changed_statements(draw: st.DrawFn) -> tuple[str, str]:
    """A statement, and the same with one or more words added, left out or changed, or a sign put to one."""
    known = draw(st.sampled_from(STATEMENTS))
    words = known.rstrip(".").split()
    place = draw(st.integers(0, len(words) - 1))
    match draw(st.sampled_from(("add", "restrict", "leave out", "swap", "sign"))):
        case "add":
            words.insert(place, draw(st.sampled_from(WORDS)))
        case "restrict":
            words += [",", *draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))]
        case "leave out":
            del words[place]
        case "swap":
            words[place] = draw(st.sampled_from(WORDS))
        case "sign":
            sign = draw(st.sampled_from(SIGNS[:-1]))
            words[place] = draw(st.sampled_from((f"{sign}{words[place]}", f"{words[place]}{sign}")))
    return known, " ".join(words)


@pytest.mark.requirement("X-24")
@given(changed_statements())
def test_no_restriction_negation_number_name_or_sign_is_folded_away(texts: tuple[str, str]) -> None:
    """Whatever is added to a statement, left out of it or changed in it, it is a new entry, and both stand."""
    known, new = texts
    has_other_words = new.casefold().split() != known.casefold().rstrip(".").split()

    assert not has_other_words or decide(new, known) == Verdict("insert", "", "It is not known yet.")


@given(st.sampled_from(STATEMENTS), st.integers(0, 9), st.integers(0, 9))
def test_another_digit_is_another_statement(text: str, one: int, other: int) -> None:
    """ "Invoice 13" is not "invoice 31"."""
    texts = [f"{text} Invoice {number}4{number}." for number in (one, other)]

    assert (decide(*texts).action == "confirm") == (one == other)


# ---------------------------------------------------------------- 2: nothing is ended on a guess


class Meeting(NamedTuple):
    """A candidate, a known fact, and when that was said."""

    candidate: Candidate
    known: Fact
    said: str

    @property
    def verdict(self) -> Verdict:
        """What becomes of the candidate."""
        return integrate(self.candidate, [FactRecord(self.known, None)], rules=RULES, now=NOW)

    @property
    def is_touched(self) -> bool:
        """True if the candidate ends the known fact, or is said to end it."""
        verdict = self.verdict
        return verdict.action in ("insert", "supersede") and bool(verdict.target)

    @property
    def is_known_now(self) -> bool:
        """True if the known fact holds now."""
        return holds(FactRecord(self.known, None), NOW)

    @property
    def is_same(self) -> bool:
        """True for equal triples, and for equal words."""
        return RULES.fingerprint(self.candidate) == RULES.fingerprint(self.known)

    @property
    def are_rivals(self) -> bool:
        """True for two values of `works_at` of one subject, neither an event nor with an end of its own."""
        one, other = self.candidate, self.known
        is_beside = one.fact == "event" or one.valid_until or (other.valid_until and not other.invalidated_at)
        return one.predicate == other.predicate == "works_at" and one.subject == other.subject and not is_beside


RECORDED: Final = (MOMENTS[0], MOMENTS[1].replace("09:30", "18:00"), MOMENTS[2], MOMENTS[3].replace("09:30", "18:00"))
CLASSES: Final[tuple[FactClass, ...]] = ("fact", "event")
STATES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"origin": "line"},
    {"valid_until": DAYS[6]},
    {"bonds": (("both", "other"),)},
    {"status": "superseded", "place": "archive", "valid_until": MOMENTS[4], "invalidated_at": MOMENTS[4]},
)
WORDS_OF: Final[tuple[dict[str, Any], ...]] = (
    {"text": "Ada works at Acme."},
    {"text": "Ada now works at Globex and no longer at Acme."},
    *(
        {"text": f"{subject} {predicate} {object}.", "subject": subject, "predicate": predicate, "object": object}
        for subject, predicate, object in (
            ("Ada", "works_at", "Acme"),
            ("Ada", "works_at", "Globex"),
            ("Ada", "likes", "Acme"),
            ("Ben", "works_at", "Globex"),
        )
    ),
)


def every_candidate() -> Iterator[Candidate]:
    """A statement or a triple, said now or earlier, with and without a stated time, as a fact and as an event."""
    for words, said, begins, until, each in product(
        WORDS_OF, ("", MOMENTS[1], MOMENTS[3]), ("", DAYS[0], DAYS[2]), ("", DAYS[6]), CLASSES
    ):
        yield Candidate(**words, said=said, valid_from=begins, valid_until=until, fact=each)


def every_known() -> Iterator[tuple[Fact, str]]:
    """An entry or a line, saved when it was said or learned later, that holds or was replaced since; and its moment."""
    for words, said, begins, recorded, state in product(
        (WORDS_OF[0], WORDS_OF[2], WORDS_OF[4]), ("", MOMENTS[1]), ("", DAYS[0]), RECORDED, STATES
    ):
        if said <= recorded:
            fact = known_fact(words["text"])
            fact = replace(fact, **words, recorded=recorded, valid_from=begins or said, **state)
            yield replace(fact, origins=Origins(trust="mined" if said else "told")), said or recorded


def every_meeting() -> Iterator[Meeting]:
    """Every candidate beside every known fact."""
    for candidate, (fact, said) in product(every_candidate(), every_known()):
        yield Meeting(candidate, fact, said)


@pytest.mark.requirement("X-24")
def test_only_a_single_valued_triple_or_an_end_of_the_same_touches_what_is_known() -> None:
    """Without a verdict a statement ends nothing but its own words, and a triple its own value or a rival one."""
    touching = [each for each in every_meeting() if each.is_touched]

    assert len(touching) > 500
    assert all((each.is_same and each.candidate.valid_until) or each.are_rivals for each in touching)


@settings(max_examples=rounds(8, long=80))
@given(st.data())
def test_whoever_saves_them_in_whatever_order_all_statements_stand(data: st.DataObject) -> None:
    """The person, an agent and a job save what is near to each other; none of it ends, by a save or by `dream`."""
    texts = data.draw(st.sampled_from(GROUPS).flatmap(st.permutations))
    calendar, standing = Calendar(parse_moment(NOW)), dict[str, str]()
    with tempfile.TemporaryDirectory() as folder, make_memory(Path(folder), clock=calendar) as memory:
        for text in texts:
            calendar.pass_(hours=7)
            try:
                result = memory.acting(data.draw(st.sampled_from(ACTORS))).entries.save(text, kind="fact")
            except Refused:  # it is not for memory
                continue

            assert result.ended == ()
            assert result.action == "insert" or fingerprint(result.fact.text) == fingerprint(text)
            standing |= {} if result.staged else {result.fact.id: result.fact.text}
        run_job(DREAM, memory)
        held = {each.fact.id: each.fact.text for each in memory.facts.about()}

    assert standing.items() <= held.items()


# ---------------------------------------------------------------- 3: time has a direction


@pytest.mark.requirement("X-24")
def test_what_was_said_earlier_ends_nothing_that_was_said_later() -> None:
    """By the moment of the message, or of the record where nobody knows it; unless its beginning is stated."""
    early = [each for each in every_meeting() if each.candidate.said and not each.candidate.valid_from]
    touching = [each for each in early if each.is_touched]
    older = [each for each in early if each.are_rivals and each.candidate.said < each.said]

    assert touching
    assert all(each.candidate.said >= each.said for each in touching)
    assert older
    assert all("" < each.verdict.until <= NOW for each in older if each.is_known_now and not each.is_same)


def test_what_was_said_later_replaces_what_was_said_before_though_both_are_learned_today() -> None:
    """An old conversation that is read in its order leaves its last value."""
    said = Meeting(
        Candidate(**WORDS_OF[3], said=MOMENTS[2]),
        replace(known_fact(""), **WORDS_OF[2], valid_from=MOMENTS[1], recorded=NOW, origins=Origins(trust="mined")),
        MOMENTS[1],
    )

    assert said.verdict.action == "supersede"
    assert said._replace(candidate=replace(said.candidate, said=MOMENTS[0])).verdict.until == MOMENTS[1]


def test_an_old_conversation_that_is_learned_today_leaves_its_last_value() -> None:
    """A chain of three is read in its order; what was said before the last value comes back no more."""
    with (
        tempfile.TemporaryDirectory() as folder,
        make_memory(Path(folder), clock=Calendar(parse_moment(NOW))) as memory,
    ):
        learned = [_learn(city, said, memory) for said, city in zip(MOMENTS, ("Oslo", "Bergen", "Molde"), strict=False)]
        again = _learn("Alta", "2026-02-15T09:30:00Z", memory)
        held = {each.fact.object for each in memory.facts.about()}

    assert [result.staged for result in learned] == [False] * 3
    assert [[each.object for each in result.ended] for result in (*learned, again)] == [[], ["Oslo"], ["Bergen"], []]
    assert held == {"Molde"}


def test_a_verdict_that_was_said_earlier_ends_nothing_that_was_recorded_later() -> None:
    """A model that read an old conversation says what was over then."""
    with (
        tempfile.TemporaryDirectory() as folder,
        make_memory(Path(folder), clock=Calendar(parse_moment(NOW))) as memory,
    ):
        known = memory.entries.save("The gate is green.").fact
        early = Candidate(text="The gate is red.", said=MOMENTS[0], bonds=(("update", known.id),))
        result = save(early, memory.acting(ACTORS[2])._session)
        held = {each.fact.text for each in memory.facts.about()}

    assert result.ended == ()
    assert known.text in held


def _learn(city: str, said: str, memory: Memory) -> EntryResult:
    candidate = Candidate(text="", subject="me", predicate="lives_in", object=city, said=said)
    return save(replace(candidate, origins=Origins(trust="mined")), memory.acting(ACTORS[2])._session)
