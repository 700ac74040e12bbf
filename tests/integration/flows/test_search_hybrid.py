"""The ranking of the mode hybrid, through real flows: who said it, when, in answer to what, and what stands beside."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import ProviderFailed
from commonplace.flows.ingest.sync import rebuild, sync, sync_source
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Stores
from commonplace.model import MODES, SEARCH_UNITS, Answer, Filters, Mode, SearchUnit, Voice
from commonplace.policy.sensitivity import Audience
from commonplace.ranking.options import RANKING_PARTS, RankingPart, RetrievalOptions
from commonplace.sources.base import InMemorySource, SourceItem, SourcePassage
from tests.stores import NOW, close, make_stores, save

FIRST_OF_NOVEMBER, SUMMER = "2026-11-01T09:00:00Z", "2026-07-01T09:00:00Z"


def talk(name: str, *turns: str, at: str = SUMMER, **fields: Any) -> SourceItem:
    """A conversation of turns such as `Ann: hello`; `You` is the assistant, and a turn without a name the person."""
    passages = []
    for number, said in enumerate(turns, start=1):
        speaker, _, text = said.rpartition(": ")
        voice: Voice = "assistant" if speaker == "You" else "user"
        passages.append(
            SourcePassage(text, turn=number, voice=voice, speaker=speaker if speaker != "You" else "", at=at)
        )
    return SourceItem(name, f"Talk {name}", f"chat:{name}", tuple(passages), created=at, updated=at, **fields)


def keep(stores: Stores, *talks: SourceItem) -> None:
    """Put these conversations into the index, and nothing else of their kind; `chat` unless their kind says so."""
    sync(stores)
    for type_ in ("chat", "correction", "task"):
        source = InMemorySource(type_)
        source.put(*(each for each in talks if (each.kind or "chat") == type_))
        sync_source(source, stores)


def look(
    stores: Stores,
    text: str,
    *,
    by: SearchUnit = "chunk",
    mode: Mode = "hybrid",
    audience: Audience = "person",
    k: int = 20,
    now: datetime = NOW,
    without: tuple[RankingPart, ...] = (),
    half_life: int = 0,
    **filters: Any,
) -> Answer:
    """The answer, with nothing too far in meaning to be shown."""
    options = replace(stores.retrieval, without=without, recency_half_life_days=half_life)
    asked = SearchQuery(text, mode, k=k, min_score=0.0, filters=Filters(**filters), by=by, now=now)
    return search(asked, replace(stores, retrieval=options), audience=audience)


def turns(answer: Answer) -> list[tuple[str, int]]:
    """Which turn of which conversation, best first."""
    return [(hit.path, hit.line) for hit in answer]


def why(answer: Answer) -> dict[tuple[str, int], Mapping[str, Mapping[str, Any]]]:
    """The reasons of each hit."""
    return {(hit.path, hit.line): hit.why for hit in answer}


# Who, when, and in answer to what


def test_what_the_named_speaker_said_comes_before_what_another_did(stores: Stores) -> None:
    """Though both say the same; the answer tells whom it took to be named."""
    keep(stores, talk("1", "Ann: I bought a red bicycle today.", "Bob: I bought a red bicycle today."))
    of_bob, of_ann = (look(stores, f"Which bicycle did {name} buy?") for name in ("Bob", "Ann"))
    nobody = look(stores, "Which bicycle did Zoe buy?")

    assert (turns(of_bob)[0], turns(of_ann)[0]) == (("1", 2), ("1", 1))
    assert of_bob.understood["speakers"] == ("Bob",)
    assert of_bob.hits[0].why["speaker"]["name"] == "Bob"
    assert "speaker" not in of_bob.hits[1].why
    assert "speakers" not in nobody.understood
    assert not any("speaker" in hit.why for hit in nobody)


def test_a_question_about_a_speaker_is_put_in_their_words(stores: Stores, root: Path) -> None:
    """For what is said in a conversation; a note, which tells of them by name, is asked by that name."""
    save(root, "note.md", "Ann paddles.\n")
    keep(stores, talk("1", "Ann: My kayak is green."))
    plain, spoken = (look(stores, "What does Ann paddle?", without=each) for each in (("names",), ()))
    of_note = [why(answer)["note.md", 1] for answer in (plain, spoken)]

    assert of_note[0]["words"] == of_note[1]["words"]
    assert of_note[0]["sense"] == of_note[1]["sense"]
    assert "ann" in of_note[1]["words"]["by"]
    assert why(plain)["1", 1]["sense"] != why(spoken)["1", 1]["sense"]


def test_what_the_question_quotes_lifts_what_says_it(stores: Stores, root: Path) -> None:
    """Word by word, in any case and over the end of a line, in notes and in conversations."""
    save(root, "a.md", "# a\nThe Red\nBoat leaks.\n")
    keep(stores, talk("1", "A red boat leaks."), talk("2", "The boat is red, it leaks."))
    answer = look(stores, 'Where does the "red boat" leak?')
    quoting = {hit.path: hit.why["phrases"]["quoted"] for hit in answer if "phrases" in hit.why}

    assert quoting == {"a.md": ("red boat",), "1": ("red boat",)}
    assert answer.understood["phrases"] == ("red boat",)
    assert turns(answer)[-1] == ("2", 1)


def test_words_of_time_lift_what_was_said_then(stores: Stores) -> None:
    """Counted from the moment that is given, which need not be that of the clock."""
    keep(
        stores,
        *(talk(day, "I planted garlic in the long bed.", at=f"2026-{day}T09:00:00Z") for day in ("07-01", "11-01")),
        talk("09-15", "I planted garlic in the long bed.", at="2026-09-15T09:00:00Z"),
    )
    question = "What did I plant two weeks ago?"
    now, then = look(stores, question), look(stores, question, now=datetime(2026, 7, 15, 12, 0, tzinfo=UTC))

    assert (turns(now)[0], turns(then)[0]) == (("11-01", 1), ("07-01", 1))
    assert now.hits[0].why["time"]["said"] == ["two weeks ago"]
    assert now.understood["windows"][0]["said"] == "two weeks ago"
    assert now.understood["windows"][0]["start"] > then.understood["windows"][0]["start"]
    assert len({hit.score for hit in look(stores, question, without=("time",))}) == 1


def test_the_clock_says_what_now_is_where_nobody_does(root: Path, tmp_path: Path) -> None:
    """The clock of the stores."""
    stores = make_stores(root, tmp_path / "data", clock=lambda: NOW)
    keep(stores, talk("1", "I planted garlic.", at=FIRST_OF_NOVEMBER))
    answer = search(SearchQuery("What did I plant two weeks ago?", min_score=0.0), stores, audience="person")

    assert answer.understood["windows"][0]["start"] <= FIRST_OF_NOVEMBER < answer.understood["windows"][0]["end"]
    assert answer.hits[0].why["time"]["score"] == 1
    close(stores)


def test_a_reply_is_first_where_it_is_asked_for(stores: Stores) -> None:
    """Elsewhere the person's own turn is, though the reply says the same."""
    keep(stores, talk("1", "Which varnish suits an oak table?", "You: An oak table wants a varnish of linseed oil."))
    replied, own = (look(stores, text) for text in ("What varnish did you suggest for the oak table?", "oak varnish"))

    assert (turns(replied)[0], turns(own)[0]) == (("1", 2), ("1", 1))
    assert replied.understood["asks_reply"] is True
    assert "asks_reply" not in own.understood
    assert (replied.hits[0].why["reply"]["weight"], own.hits[1].why["reply"]["weight"]) == (0.1, -0.15)
    assert replied.hits[0].why["answers"]["score"] > 0
    assert "answers" not in own.hits[1].why


def test_a_reply_that_shares_no_word_is_found_by_the_turn_it_answers(stores: Stores) -> None:
    """Though hundreds of other turns are nearer to the question than the reply is."""
    others = [f"The varnish of shelf {number} is dull." for number in range(250)]
    keep(stores, talk("1", "Which varnish suits an oak table?", "You: Linseed."), talk("2", *others))
    answer = look(stores, "What varnish did you suggest for the oak table?", k=32)

    assert ("1", 2) in turns(answer)
    assert why(answer)["1", 2]["answers"]["score"] > 0
    assert ("1", 2) not in turns(look(stores, "Which varnish suits the oak table?", k=32))


def test_the_reply_to_the_last_turn_is_never_of_another_conversation(stores: Stores) -> None:
    """What stands next in the index is of a document that the filters may leave out."""
    keep(
        stores,
        talk("1", "Which varnish suits an oak table?", "You: Linseed."),
        talk("2", "You: Shellac.", "You: Teak oil.", at=FIRST_OF_NOVEMBER),
    )
    question = "What varnish did you suggest for the oak table?"
    answer = look(stores, question, until="2026-10-01T00:00:00Z")

    assert {path for path, _ in turns(answer)} == {"1"}
    assert {path for path, _ in turns(look(stores, question))} == {"1", "2"}


# Documents


def test_of_each_document_one_hit_is_given(stores: Stores, root: Path) -> None:
    """Its best passage, in every mode; as many documents as are wanted."""
    for name in ("a", "b", "c"):
        save(
            root,
            f"{name}.md",
            f"# Quince\nThe quince of {name}.\n# Jam\nA jam of quince, made by {name}.\n# Else\nNo.\n",
        )
    keep(stores, talk("1", "I made quince jam.", "The quince jam is good."))

    for mode in MODES:
        chunks, documents = (look(stores, "quince jam", mode=mode, by=by) for by in SEARCH_UNITS)
        assert len(chunks) > 4, mode
        assert sorted(hit.path for hit in documents) == ["1", "a.md", "b.md", "c.md"], mode
        assert {hit.heading_path for hit in documents if hit.path != "1"} == {("Jam",)}, mode
        assert len(look(stores, "quince jam", mode=mode, by="document", k=2)) == 2, mode
        assert [hit.score for hit in documents] == sorted((hit.score for hit in documents), reverse=True), mode


def test_a_document_with_more_of_it_is_first(stores: Stores, root: Path) -> None:
    """Two whose best passage is the same are told apart by the others and by their words together."""
    save(root, "one.md", "# a\nquince jam\n# b\nsomething else\n# c\nand again\n")
    save(root, "two.md", "# a\nquince jam\n# b\nmore quince\n# c\nmore jam\n")
    sync(stores)
    answer = look(stores, "quince jam", by="document")

    assert [hit.path for hit in answer] == ["two.md", "one.md"]
    assert answer.hits[0].why.keys() >= {"best", "second", "third", "whole"}
    assert answer.hits[0].why["whole"]["score"] > answer.hits[1].why["whole"]["score"]


def test_linked_notes_lift_each_other(stores: Stores, root: Path) -> None:
    """Whichever of them has the link; a link to what was not found lifts nothing."""
    save(root, "a.md", "# a\nThe quince, see [[b]].\n")
    save(root, "b.md", "# b\nThe quince.\n")
    save(root, "c.md", "# c\nThe quince, see [[nowhere]].\n")
    save(root, "d.md", "# d\nThe quince, see [[d]].\n")
    sync(stores)
    linked, plain = (look(stores, "quince", by="document", without=each) for each in ((), ("links",)))
    gaining = {hit.path for hit in linked if "links" in hit.why}
    scores = {hit.path: hit.score for hit in plain}

    assert gaining == {"a.md", "b.md"}
    assert {hit.path for hit in linked if hit.score > scores[hit.path]} == {"a.md", "b.md"}
    assert {hit.path for hit in linked if hit.score == scores[hit.path]} == {"c.md", "d.md"}


def test_equal_notes_are_found_in_one_order_whatever_came_first(root: Path, tmp_path: Path) -> None:
    """Also where there are more of them than are looked at."""
    told = []
    for number, order in enumerate((1, -1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        stores = make_stores(folder, tmp_path / f"data{number}")
        for name in [*range(150)][::order]:
            save(folder, f"{name}.md", f"---\ntitle: One of many\nupdated: {SUMMER}\n---\nThe quince.\n")
            if name % 50 == 0:
                sync(stores)
        sync(stores)
        told.append([(hit.path, hit.score) for hit in look(stores, "quince", k=8)])
        close(stores)

    assert told[0] == told[1]


@pytest.mark.requirement("V-12")
def test_of_equal_notes_the_one_updated_last_comes_first(stores: Stores, root: Path) -> None:
    """Among more than are looked at, in every mode, and the same once the index is built anew from the notes."""
    for number in range(150):
        day = f"2026-{number % 9 + 1:02}-{number % 27 + 1:02}"
        save(root, f"{number:03}.md", f"---\ntitle: One of many\nupdated: {day}\n---\nThe quince.\n")
    save(root, "newest.md", "---\ntitle: One of many\nupdated: 2026-10-01\n---\nThe quince.\n")
    sync(stores)
    before = {mode: [(hit.path, hit.score) for hit in look(stores, "quince", mode=mode, k=8)] for mode in MODES}
    rebuild(stores)
    after = {mode: [(hit.path, hit.score) for hit in look(stores, "quince", mode=mode, k=8)] for mode in MODES}

    for mode in MODES:
        assert before[mode][0][0] == "newest.md", mode
        assert {path for path, _ in before[mode][1:6]} == {"026.md", "053.md", "080.md", "107.md", "134.md"}, mode
    assert before == after


@pytest.mark.requirement("V-12")
def test_of_equal_entries_the_more_important_comes_first(stores: Stores, root: Path) -> None:
    """Though the other was updated later; the same once the index is built anew from the notes."""
    for number, (importance, day) in enumerate(((0.3, "03"), (0.9, "01"), (0.5, "02"))):
        id_ = f"0199f3c2-7a4e-7c31-9d53-b1f20c6a11e{number}"
        says = f"subject: me\npredicate: likes\nobject: quince {number}\nimportance: {importance}"
        path = f"Agent/Memory/preference/2026-01/quince-6a11e{number}.md"
        save(root, path, f"---\nid: {id_}\ntitle: Quince\n{says}\nupdated: 2026-01-{day}\n---\nThe quince.\n")
    sync(stores)
    before = {mode: [hit.path[-4] for hit in look(stores, "quince", mode=mode)] for mode in MODES}
    rebuild(stores)
    after = {mode: [hit.path[-4] for hit in look(stores, "quince", mode=mode)] for mode in MODES}

    assert before == after == {mode: ["1", "2", "0"] for mode in MODES}


def test_the_order_of_equals_follows_a_note_that_is_updated(stores: Stores, root: Path) -> None:
    """Though nothing but its frontmatter has changed, so that its chunks are kept."""
    told = []
    for day in ("2026-01-01", "2026-03-01"):
        for name, updated in (("a.md", day), ("b.md", "2026-02-01")):
            save(root, name, f"---\ntitle: One of two\nupdated: {updated}\n---\nThe quince.\n")
        sync(stores)
        told.append([hit.path for hit in look(stores, "quince")])

    assert told == [["b.md", "a.md"], ["a.md", "b.md"]]


# Age, where a person wants it weighed


@pytest.mark.requirement("I-11")
def test_where_age_is_weighed_what_was_told_lately_comes_before_better_words(stores: Stores) -> None:
    """Of two that speak of the same thing; the reasons tell how much older the other is."""
    keep(
        stores,
        talk("old", "My quince tree stands in the garden here.", at="2025-11-15T09:00:00Z"),
        talk("new", "Now my old quince tree stands in the garden here.", at=FIRST_OF_NOVEMBER),
    )
    question = "Where in the garden stands my quince tree?"
    plain, aged = look(stores, question), look(stores, question, half_life=180)

    assert [hit.path for hit in plain] == ["old", "new"]
    assert [hit.path for hit in aged] == ["new", "old"]
    assert [hit.why["age"]["days"] for hit in aged] == [0, 351]
    assert not any("age" in hit.why for hit in plain)


def test_a_document_gains_by_the_age_of_its_best_chunk(stores: Stores) -> None:
    """Of two conversations that say the same, the later one; without it they are told apart by nothing."""
    keep(stores, *(talk(day, "The quince is ripe.", at=f"2026-{day}T09:00:00Z") for day in ("03-01", "11-14", "07-01")))
    plain, aged = (look(stores, "ripe quince", by="document", half_life=days) for days in (0, 90))

    assert len({hit.score for hit in plain}) == 1
    assert [hit.path for hit in aged] == ["11-14", "07-01", "03-01"]


def test_a_question_about_a_time_is_answered_alike_whether_age_is_weighed_or_not(stores: Stores) -> None:
    """Age decay would lower what was told then."""
    keep(stores, talk("1", "I planted garlic."), talk("2", "I planted garlic in the bed.", at=FIRST_OF_NOVEMBER))
    question = "What did I plant in July 2026?"
    plain, aged = (look(stores, question, half_life=days) for days in (0, 30))

    assert plain.hits == aged.hits
    assert plain.hits[0].path == "1"


# What each part is worth


@pytest.fixture
def full(stores: Stores, root: Path) -> Stores:
    """Notes and conversations, to which a question can be put that every part has a say in."""
    save(root, "a.md", "# Varnish\nThe oak table has its varnish. It dries slowly in the cold shed. See [[b]].\n")
    save(root, "b.md", "# Oak\nAn oak table, and its varnish.\n# Beech\nA beech table.\n# Pine\nA varnish for pine.\n")
    keep(
        stores,
        talk(
            "1",
            "Ann: Which varnish suits my oak table? It stands in the long hall.",
            "You: Linseed oil.",
            at=FIRST_OF_NOVEMBER,
            kind="task",
        ),
        talk(
            "2",
            "Bob: My oak table has a varnish. I like how it shines at night.",
            "You: The varnish is good.",
            kind="correction",
        ),
        talk("3", "Bob: My oak table has a new varnish. I like how it shines at night.", at=FIRST_OF_NOVEMBER),
    )
    return stores


QUESTION = 'Which varnish did you suggest to Ann for the "oak table" two weeks ago?'
OWN: dict[RankingPart, set[str]] = {
    "sentences": set(),
    "whole": {"document", "whole", "second", "third"},
    "names": {"speaker"},
    "phrases": {"phrases"},
    "time": {"time"},
    "replies": {"reply", "answers"},
    "opening": {"opening"},
    "kinship": {"kinship"},
    "links": {"links"},
    "age": {"age"},
    "length": {"length"},
    "halves": {"halves"},
    "sources": {"correction", "task"},
}
"""The terms that each part brings."""
TIMELESS = QUESTION.removesuffix(" two weeks ago?") + "?"
"""The same without its time, so that age is weighed."""
OTHER_WORDING: dict[RankingPart, set[str]] = {"names": {"words", "sense", "whole"}, "sentences": {"sense"}}
"""The terms that each part puts otherwise."""
SUMS = {"best", "second", "third", "document", "answers", "links", "kinship"}
"""The terms that are made of other scores, or of which documents have the best, and so change with them."""


@pytest.mark.parametrize("by", ["chunk", "document"])
@pytest.mark.parametrize("part", RANKING_PARTS)
def test_a_part_that_is_left_out_takes_its_terms_and_no_other(full: Stores, part: RankingPart, by: SearchUnit) -> None:
    """Of every hit; terms that do not hang on others keep their numbers."""
    question = TIMELESS if part == "age" else QUESTION
    every = {hit.chunk_id: hit.why for hit in look(full, question, by=by, half_life=90)}
    fewer = {hit.chunk_id: hit.why for hit in look(full, question, by=by, half_life=90, without=(part,))}
    both = every.keys() & fewer.keys()
    changing = SUMS | OTHER_WORDING.get(part, set())

    assert both
    assert by == "document" or every.keys() == fewer.keys()
    for each in both:
        assert fewer[each].keys() == every[each].keys() - OWN[part], part
        for name in fewer[each].keys() - changing:
            assert fewer[each][name] == every[each][name], name


def test_every_part_takes_part(full: Stores) -> None:
    """Else leaving it out would show nothing."""
    asked = (QUESTION, TIMELESS, "varnish for an oak table, and a long dark hall")
    reasons = [hit.why for by in SEARCH_UNITS for each in asked for hit in look(full, each, by=by, half_life=90)]
    sentences = look(full, QUESTION), look(full, QUESTION, without=("sentences",))
    cosines = [{hit.chunk_id: hit.why["sense"].get("sentence") for hit in answer} for answer in sentences]

    assert {name for each in reasons for name in each} >= set().union(*OWN.values())
    assert cosines[0] != cosines[1]
    assert all(hit.why["sense"]["sentence"] == hit.why["sense"]["best"] for hit in sentences[1])


def test_parts_may_be_left_out_in_the_settings(full: Stores) -> None:
    """All of them: what remains is words and meaning, for chunks and for documents."""
    chunks = look(full, QUESTION, without=RANKING_PARTS)
    documents = look(full, QUESTION, without=RANKING_PARTS, by="document")

    assert RetrievalOptions().without == ()
    assert all(hit.why.keys() <= {"words", "sense"} for hit in chunks)
    assert all(hit.why.keys() <= {"words", "sense", "best"} for hit in documents)
    assert "speakers" not in chunks.understood


@pytest.mark.parametrize("by", ["chunk", "document"])
@pytest.mark.parametrize("question", [QUESTION, TIMELESS])
def test_a_score_is_the_sum_of_its_reasons(full: Stores, by: SearchUnit, question: str) -> None:
    """Each score times its weight."""
    for hit in look(full, question, by=by, half_life=90):
        parts = sum(reason["score"] * reason["weight"] for reason in hit.why.values())
        assert hit.score == pytest.approx(min(1.0, max(0.0, parts)), abs=3e-4), hit.why


# How sure it is, and what was understood


def test_an_answer_says_how_sure_it_is(stores: Stores, root: Path) -> None:
    """Surer of a question that the notes answer than of one that they do not; in other modes it is not known."""
    save(root, "a.md", "The oak table has a varnish of linseed oil.\n")
    save(root, "b.md", "Bees like thyme.\n")
    sync(stores)
    sure = look(stores, "Which varnish has the oak table?").confidence
    unsure = look(stores, "When does the train to Lisbon leave?").confidence

    assert sure is not None
    assert unsure is not None
    assert 0 <= unsure < 0.2 < 0.5 < sure <= 1
    assert look(stores, "Is it the one that has it?").confidence is None
    assert look(stores, "oak", path="Nowhere").confidence == 0
    assert [look(stores, "oak", mode=mode).confidence for mode in MODES if mode != "hybrid"] == [None] * 5
    assert look(stores, "Which varnish has the oak table?", by="document").confidence == sure


def test_what_was_understood_is_told_and_nothing_else(stores: Stores) -> None:
    """Names, phrases, times, replies, several places; a plain question says nothing beside its words."""
    keep(stores, talk("1", "Ann: hello there"))
    answer = look(stores, 'How many times did you mention "linseed oil" to Ann in March 2026 and to Ben Okri?')

    assert answer.understood.keys() == {"speakers", "names", "phrases", "windows", "asks_reply", "asks_many"}
    assert answer.understood["phrases"] == ("linseed oil",)
    assert answer.understood["windows"][0]["start"] == "2026-03-01T00:00:00Z"
    assert look(stores, "varnish of tables").understood == {}


# What an agent may not see


def answers(
    folder: Path, notes: Mapping[str, str], talks: tuple[SourceItem, ...], question: str, *, k: int = 20
) -> list[Any]:
    """All that an agent is told, with these notes and conversations."""
    (folder / "vault").mkdir(parents=True)
    stores = make_stores(folder / "vault", folder / "data")
    for path, text in notes.items():
        save(folder / "vault", path, text)
    keep(stores, *talks)
    told = []
    for by in SEARCH_UNITS:
        answer = look(stores, question, by=by, k=k, audience="prompt")
        hits = [replace(hit, updated="", metadata={}) for hit in answer]
        told.append((hits, answer.confidence, answer.understood, answer.empty, answer.degraded))
    close(stores)
    return told


SECRET = "---\nsensitive: true\ntitle: Locked\n---\n"
PUBLIC = {"a.md": "# a\nThe quince is ripe.\n", "b.md": "# b\nA quince for jam.\n", "c.md": "# c\nA quince tree.\n"}


def test_the_links_of_a_sensitive_note_lift_nothing(tmp_path: Path) -> None:
    """Neither those that it has nor those that lead to it: an agent is told the same, wherever they lead."""
    told = [
        answers(tmp_path / str(number), {**PUBLIC, "s.md": f"{SECRET}See {links}.\n"}, (), "ripe quince")
        for number, links in enumerate(("[[a]] and [[b]]", "[[b]] and [[c]]", "[[s]] and [[s]]"))
    ]

    assert told[0] == told[1] == told[2]


def test_what_a_sensitive_note_means_has_no_kin(tmp_path: Path) -> None:
    """Documents are alike, or not, among those that may be seen."""
    told = [
        answers(tmp_path / str(number), {**PUBLIC, "s.md": f"{SECRET}{text}\n"}, (), "ripe fruit")
        for number, text in enumerate(("Medlars rot slowly.", "Lobsters sing loudly."))
    ]

    assert told[0] == told[1]


@pytest.mark.parametrize("question", ["What did Xanthe say about the boat?", "the boat of Xanthe"])
def test_who_speaks_in_a_sensitive_conversation_is_not_told(tmp_path: Path, question: str) -> None:
    """A guess at the name is understood no better than any other, and changes no score."""
    told = [
        answers(
            tmp_path / str(number),
            {},
            (
                talk("1", "Ann: My boat is called Argo.", "Bob: I say the boat leaks."),
                talk("2", f"{name}: Nothing to say.", sensitive=True),
            ),
            question,
        )
        for number, name in enumerate(("Xanthe", "Yannick"))
    ]

    assert told[0] == told[1]
    assert not any("Xanthe" in str(understood.get("speakers")) for _, _, understood, *_ in told[0])


def test_a_person_is_still_told_who_speaks_in_a_sensitive_conversation(stores: Stores) -> None:
    """It is theirs."""
    keep(stores, talk("2", "Xanthe: My boat is called Argo.", sensitive=True))
    question = "What is the boat of Xanthe called?"

    assert look(stores, question).understood["speakers"] == ("Xanthe",)
    assert "speakers" not in look(stores, question, audience="prompt").understood


def test_a_reply_in_a_sensitive_conversation_stays_there(tmp_path: Path) -> None:
    """Also where it stands next to what an agent may see: it does not even take the place of a hit."""
    question = "What varnish did you suggest for the oak table?"
    told = [
        answers(
            tmp_path / str(number),
            {},
            (
                talk("1", "Hello there.", "Which varnish suits an oak table?", "You: Linseed."),
                talk("2", f"You: {secret}.", "You: More.", sensitive=True),
            ),
            question,
            k=3,
        )
        for number, secret in enumerate(("Oaktable varnishesque tablex", "Lobster songs nightly"))
    ]

    assert told[0] == told[1]
    assert len(told[0][0][0]) == 3


@pytest.mark.parametrize("mode", ["hybrid", "words", "sense"])
def test_a_document_with_very_many_chunks_does_not_hide_the_others(stores: Stores, root: Path, mode: Mode) -> None:
    """Where documents are ranked, as many come as are asked for, if there are as many."""
    save(root, "long.md", "".join(f"# Part {number}\n\nThe apple orchard blooms.\n\n" for number in range(400)))
    for number in range(9):
        save(root, f"{number}.md", f"An apple a day, and much else on page {number} about the weather.\n")
    sync(stores)
    answer = look(stores, "apple orchard", by="document", mode=mode, k=10)

    assert len(answer) == 10
    assert answer.hits[0].path == "long.md"


def test_what_a_named_speaker_said_is_found_by_the_name_alone(stores: Stores) -> None:
    """It shares no word with the question, and the name is not among its words."""
    keep(stores, talk("1", "Ada: The quote came today.", "Ben: Forty euro is fine."))
    options = replace(stores.retrieval, min_score=0.9)
    answer = search(SearchQuery("Ben", k=5, now=NOW), replace(stores, retrieval=options), audience="person")

    assert turns(answer) == [("1", 2)]


def test_an_encoder_that_fails_at_the_second_wording_is_told(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """What people said is then compared with the question's own wording."""
    keep(stores, talk("1", "Ann: I bought a red bicycle today."))
    encoder = stores.encoders.current
    assert encoder is not None
    encode = encoder.encode

    def failing(texts: Any, **fields: Any) -> Any:
        if any("Ann" not in text for text in texts):
            raise ProviderFailed("the encoder is gone")
        return encode(texts, **fields)

    monkeypatch.setattr(encoder, "encode", failing)
    answer = look(stores, "Which bicycle did Ann buy?")

    assert answer.degraded == ("search by meaning: the encoder is gone",)
    assert answer.mode == "hybrid"
    assert "sense" in answer.hits[0].why
