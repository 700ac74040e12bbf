"""Typed links: what the words before a link say."""

import pytest

from commonplace.facts.line_facts import RELATION_PHRASES, relation_before, spellings, typed_links
from commonplace.notes import parse


def relations_of(text: str) -> list[tuple[str, str]]:
    note = parse(text.encode(), path="Daily/2026-03-01.md", mtime=0.0)
    return [(link.target, link.relation) for link in typed_links(note)]


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("Ada works at ", "works_at"),
        ("is working for the ", "works_at"),
        ("She used to work at ", "worked_at"),
        ("**Depends on:** ", "depends_on"),
        ("- part of ", "part_of"),
        ("a draft based\non ", "based_on"),
        ("Old. See also ", "see_also"),
        ("(cf. ", "see_also"),
        ("This supersedes ", "supersedes"),
        ("was superseded by ", "superseded_by"),
        ("it contradicts ", "contradicts"),
        ("Reported by ", "reported_by"),
        ("I met with ", "met_with"),
        ("He lives in ", "lives_in"),
        ("caused by ", "caused_by"),
        ("still blocked by our ", "blocked_by"),
        ("arbeitet bei ", "works_at"),
        ("arbeitet beim ", "works_at"),
        ("Das hängt von ", "depends_on"),
        ("ist Teil vom ", "part_of"),
        ("Siehe auch ", "see_also"),
        ("wurde ersetzt durch ", "superseded_by"),
        ("wohnt in der ", "lives_in"),
        ("ha\u0308ngt ab von ", "depends_on"),
    ],
)
def test_the_words_before_a_link_say_how_the_notes_stand(words: str, relation: str) -> None:
    """A table of phrases decides, in English and German: the same words always say the same."""
    assert relation_before(words) == relation


@pytest.mark.parametrize(
    "words",
    [
        "",
        "about ",
        "I like ",
        "works at Acme. ",
        "works at, ",
        "works at\n\n",
        "homeworks at ",
        "no longer works at ",
        "does not depend on ",
        "doesn’t use ",
        "hängt nicht ab von ",
        "[[Ada]] works at ",
        "[[Ada]], who also works at ",
        "[[Bug]] is blocked by ",
    ],
)
def test_words_that_say_nothing_of_the_two_notes_give_no_relation(words: str) -> None:
    """Nor do words that deny it, of another sentence, or of another link that stands right before them."""
    assert relation_before(words) == ""


def test_a_sentence_about_the_note_itself_may_name_others_first() -> None:
    """Only a link that the cue speaks of takes it away."""
    assert relation_before("[[Ada]] and I met with ") == "met_with"


@pytest.mark.requirement("A-19")
def test_links_of_a_body_are_typed_and_others_stay_as_they_are() -> None:
    """Properties, embeds, code and Markdown links keep no relation; order and number of links stay."""
    text = '---\nup: "[[Up]]"\n---\nIt depends on [[A]], see ![[B]], [C](C.md), `uses [[D]]`.\n\n[[E]] uses [[F]]\n'

    assert relations_of(text) == [("Up", ""), ("A", "depends_on"), ("B", ""), ("C.md", ""), ("E", ""), ("F", "")]


def test_what_is_said_of_the_first_of_a_list_is_said_of_all() -> None:
    """A list ends where other words or another line of a list begin."""
    text = "Met with [[A]], [[B]] and **[[C]]**, then [[D]].\n- uses [[E]] [[F]]\n* [[G]]\n\n[[H]]\n"

    assert relations_of(text) == [
        ("A", "met_with"),
        ("B", "met_with"),
        ("C", "met_with"),
        ("D", ""),
        ("E", "uses"),
        ("F", "uses"),
        ("G", ""),
        ("H", ""),
    ]


def test_a_structured_line_says_it_by_its_predicate() -> None:
    """Any predicate counts there, not only those of the table; a line of an ordinary list has none."""
    assert relations_of("- plays chess with [[Bob]] #fun\n") == [("Bob", "plays_chess_with")]
    assert relations_of("- a [[person]]\n- met [[Eve]]\n") == [("person", ""), ("Eve", "met_with")]


def test_each_phrase_says_one_thing() -> None:
    """The table is the same whatever its order: no words stand under two relations."""
    spelled = [words for phrases in RELATION_PHRASES.values() for phrase in phrases for words in spellings(phrase)]

    assert len(spelled) == len(set(spelled))
    assert len(RELATION_PHRASES) >= 40
