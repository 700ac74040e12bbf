"""Probes: questions from a note's own words, and the note without those words and with all others."""

import pytest

from commonplace.model import Note
from commonplace.notes import LinkResolver, parse
from commonplace.notes.probes import (
    AliasRemoval,
    Probe,
    TextRemoval,
    Vocabulary,
    hold_out,
    link_probes,
    probes_of,
    sample_probes,
)

STOPS = {"the", "a", "of", "in", "it", "this", "there"}
DEFINED = "A cistern is a tank that keeps the rain for dry weeks."


def words(text: str) -> list[str]:
    bare = (word.strip(".,:;!?()").lower() for word in text.split())
    return [word for word in bare if word and word not in STOPS]


def made(text: str, path: str = "Water.md") -> Note:
    return parse(text.encode(), path=path, mtime=0.0)


def vault(**texts: str) -> dict[str, Note]:
    return {f"{name}.md": made(text, f"{name}.md") for name, text in texts.items()}


def vocabulary_of(notes: dict[str, Note], *, unusable: str = "") -> Vocabulary:
    return Vocabulary(notes.values(), words, is_usable=lambda note: note.path != unusable)


def own(text: str, **others: str) -> list[tuple[str, str, str | None]]:
    """The kind, the question and what is left of the note, for each probe of the note."""
    notes = {"Water.md": made(text), **vault(**others)}
    probes = probes_of(notes["Water.md"], vocabulary_of(notes))
    return [(each.kind, each.question, left(notes["Water.md"], each)) for each in probes]


def probes_from_links(notes: dict[str, Note], *, unusable: str = "") -> list[Probe]:
    return list(link_probes(notes, vocabulary_of(notes, unusable=unusable), resolver=LinkResolver.of(notes)))


def left(note: Note, probe: Probe) -> str | None:
    without = hold_out(note, [each for each in probe.removals if each.path == note.path])
    return without.text if without else None


@pytest.mark.parametrize(
    ("text", "question", "then"),
    [
        ("## Where rain goes\nDown.\n", "Where rain goes", "\nDown.\n"),
        ("# Water\r\n\r\n### Where *rain* goes ##\r\nDown.\r\n", "Where rain goes", "# Water\r\n\r\n\r\nDown.\r\n"),
        ("\ufeffUp.\n## See [[Rain|the rain]]\n", "See the rain", "\ufeffUp.\n\n"),
        ("## Where rain goes", "Where rain goes", ""),
    ],
)
def test_a_heading_is_asked_and_its_line_is_held_out(text: str, question: str, then: str) -> None:
    """Only the line goes, its end stays: all below keeps its number."""
    assert own(text) == [("heading", question, then)]


@pytest.mark.parametrize(
    "text",
    [
        "# Where rain goes\n",
        "## Rain\n",
        "## The rain\n",
        "Where rain goes\n---\nDown.\n",
        "```\n## Where rain goes\n```\n",
        "## Where rain goes\n## where rain goes\n",
        "## Deep wells\n",
        f"## {'rain ' * 50}\n",
        "## See https://example.org now\n",
    ],
)
def test_a_heading_that_is_no_question_is_not_asked(text: str) -> None:
    """The title, one word, an underlined one, code, one that occurs twice, another note's name, one without an end."""
    assert own(text, Other="---\naliases: [deep wells]\n---\n") == []


@pytest.mark.parametrize(
    ("aliases", "then"),
    [
        ("aliases: [Cistern, Tank]", "aliases: [Tank]"),
        ("aliases:\n  - Tank\n  - Cistern # old", None),
        ("aliases:\n  - Tank\n  - Cistern", "aliases:\n  - Tank"),
        ("alias: cistern, Tank", "alias: Tank"),
        ("aliases: [Cistern, CISTERN, Tank]", "aliases: [Tank]"),
    ],
)
def test_an_alias_is_held_out_of_the_frontmatter(aliases: str, then: str | None) -> None:
    """In whatever case it is written; where that would touch a comment, the note is left alone."""
    note = made(f"---\ntitle: Water\n{aliases}\n---\nDeep.\n")
    without = hold_out(note, [AliasRemoval("Water.md", "Cistern")])

    assert (without.text if without else None) == (then and f"---\ntitle: Water\n{then}\n---\nDeep.\n")


def test_a_last_alias_takes_its_key_with_it() -> None:
    """No empty list is left behind, and all other keys are."""
    assert own("---\naliases: [Cistern]\nkind: x # y\n---\nDeep.\n") == [
        ("alias", "Cistern", "---\nkind: x # y\n---\nDeep.\n")
    ]


def test_an_alias_that_is_the_title_or_another_note_is_not_asked() -> None:
    """It would ask for text that is still in the note, or have two answers."""
    text = "---\ntitle: Deep Water\naliases: [deep water, water, Well, Cistern]\n---\n"

    assert [question for _, question, _ in own(text, Well="")] == ["Cistern"]


@pytest.mark.parametrize(
    ("text", "question", "then"),
    [
        (f"{DEFINED} Ours leaks.\n", "tank that keeps the rain for dry weeks", "Ours leaks.\n"),
        (f"- {DEFINED}\n- More.\n", "tank that keeps the rain for dry weeks", "- \n- More.\n"),
        (f"# Water\n\n{DEFINED}\n\n## Rain\n", "tank that keeps the rain for dry weeks", "# Water\n\n\n\n## Rain\n"),
        (
            "**Cisterns** are [[Tank|tanks]]\nbelow the house, e.g. of stone. More.\n",
            "tanks below the house, e.g. of stone",
            "\nMore.\n",
        ),
        ("## Rain\nRain means water that falls for free\n", "water that falls for free", "## Rain\n\n"),
        ("Grey water refers to what a bath leaves.\n", "what a bath leaves", "\n"),
    ],
)
def test_a_definition_is_asked_without_what_it_defines(text: str, question: str, then: str) -> None:
    """The first sentence of a note or a section goes whole, over its lines; what follows it stays."""
    assert own(text) == [("definition", question, then)]


@pytest.mark.parametrize(
    "text",
    [
        "It is a tank that keeps rain for weeks.\n",
        "A cistern is a tank.\n",
        "Ours leaks. A cistern is a tank that keeps rain.\n",
        "    A cistern is a tank that keeps the rain\n",
        "> A cistern is a tank that keeps the rain.\n",
        "- [ ] A cistern is a tank that keeps the rain.\n",
        "| A cistern is a tank that keeps the rain |\n|---|\n",
        "A cistern is a tank | that keeps the rain\n---|---\n",
        "<!-- A cistern is a tank that keeps the rain. -->\n",
        "%%\nA cistern is a tank that keeps the rain.\n%%\n",
        "A cistern is a `tank` that keeps rain for weeks.\n",
        "Both cisterns are leaking since the storm in March.\n",
        "Rain is falling since the storm in March.\n",
        f"A cistern is a tank {'that keeps rain ' * 30}.\n",
        "a. " * 5000,
    ],
)
def test_what_only_looks_like_a_definition_is_not_asked(text: str) -> None:
    """A pronoun, too few words, a later sentence, code, a quote, a task, a table, a comment, a state, one too long."""
    assert own(text) == []


@pytest.mark.parametrize(
    ("link", "then"),
    [
        ("[[Tank|what keeps rain]]", "[[Tank]]"),
        ("[[Tank#Size|what keeps rain]]", "[[Tank#Size]]"),
        ("| [[Tank\\|what keeps rain]] |\n|---|", "| [[Tank]] |\n|---|"),
        ("[what keeps rain](Tank.md#Size)", "[Tank](Tank.md#Size)"),
        ("[**what** keeps rain]( <Tank.md> 'x')", "[Tank]( <Tank.md> 'x')"),
    ],
)
def test_the_words_of_a_link_are_asked_and_held_out_of_it(link: str, then: str) -> None:
    """The link leads where it led, and shows the name of the note."""
    notes = vault(Tank="Stone.\n", Garden=f"See {link}\n" if "---" not in link else f"{link}\n")
    (probe,) = probes_from_links(notes)

    assert (probe.kind, probe.question, probe.path) == ("link", "what keeps rain", "Tank.md")
    assert left(notes["Garden.md"], probe) == notes["Garden.md"].text.replace(link, then)


def test_the_same_words_are_held_out_of_every_link_that_shows_them() -> None:
    """Else the others would give the answer away."""
    notes = vault(Tank="", A="[[Tank|what keeps rain]] and [[Tank|What keeps rain]]\n", B="[[Tank|what keeps rain]]\n")
    (probe,) = probes_from_links(notes)

    assert (left(notes["A.md"], probe), left(notes["B.md"], probe)) == ("[[Tank]] and [[Tank]]\n", "[[Tank]]\n")


@pytest.mark.parametrize(
    "text",
    [
        "[[Tank|tank]] [[Tank|here]] [[Tank|stone basin]]",
        "[[Tank|what keeps rain]] [[Well|what keeps rain]]",
        "[[Nowhere|what keeps rain]] [[plan.png|what keeps rain]] ![[Tank|what keeps rain]]",
        "![what keeps rain](Tank.md) [what keeps rain](https://example.org/Tank.md)",
        "[[#Size|what keeps rain]] `[[Tank|what keeps rain]]`",
    ],
)
def test_a_link_that_asks_nothing_is_left(text: str) -> None:
    """The note's own names, one word, words for two notes, no note, a picture, a web page, the note itself, code."""
    assert probes_from_links(vault(Tank="---\naliases: [Stone basin]\n---\n", Well="", Garden=text)) == []


@pytest.mark.parametrize("unusable", ["Tank.md", "Garden.md"])
def test_a_note_that_may_not_be_used_is_in_no_question(unusable: str) -> None:
    """Neither is it asked for, nor are its words shown."""
    notes = vault(Tank=f"{DEFINED}\n", Garden=f"[[Tank|what keeps rain]]\n\n## Beds of stone\n{DEFINED}\n")
    vocabulary = vocabulary_of(notes, unusable=unusable)

    assert probes_from_links(notes, unusable=unusable) == []
    assert list(probes_of(notes[unusable], vocabulary)) == []


@pytest.mark.parametrize("text", ["---\na: [\n---\n## Where rain goes\n", "---\na: b\n## Where rain goes\n"])
def test_a_note_with_a_problem_is_left_alone(text: str) -> None:
    """The offsets in it are not certain."""
    note = made(text)

    assert own(text) == []
    assert hold_out(note, [TextRemoval("Water.md", 0, 1)]) is None


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("abc def\n", [(0, 4), (3, 5)]),
        ("See [[Tank]] now\n", [(0, 6)]),
        ("one. # Not a heading\n", [(0, 5)]),
        ("---\nkind: x\n---\nText\n", [(4, 12)]),
        ("## See [[Tank|the tank]]\n", [(13, 22)]),
    ],
)
def test_a_cut_that_would_change_more_is_not_made(text: str, cuts: list[tuple[int, int]]) -> None:
    """Cuts that meet, half a link, text that would become a heading, a key, a heading's own words."""
    assert hold_out(made(text), [TextRemoval("Water.md", *cut) for cut in cuts]) is None


Chosen = tuple[list[Probe], dict[str, str]]


def chosen(notes: dict[str, Note], *, count: int = 100, seed: int = 0, least: int = 0) -> Chosen:
    """The probes, and the texts of the notes that are changed by them."""
    vocabulary = vocabulary_of(notes)
    probes = [probe for note in notes.values() for probe in probes_of(note, vocabulary)] + probes_from_links(notes)
    choice = sample_probes(probes, notes, count=count, seed=seed, is_large=lambda note: len(words(note.body)) >= least)
    return choice.probes, {path: note.text for path, note in choice.without.items()}


def rich(name: str) -> str:
    """A note with two headings, an alias and a definition."""
    defined = f"A cistern {name} is a tank that keeps rain {name}."
    return f"---\nkind: x\naliases: [Cistern {name}]\n---\n# {name}\n\n{defined}\n\n## Rain {name}\n\n## Wind {name}\n"


def test_kinds_take_turns_and_a_note_has_one_probe_of_each() -> None:
    """All that is chosen is held out of the note at once."""
    probes, without = chosen(vault(One=rich("one")))
    kept = {"Rain one": "\n\n## Wind one", "Wind one": "## Rain one\n\n"}[probes[0].question]

    assert [probe.kind for probe in probes] == ["heading", "alias", "definition"]
    assert without == {"One.md": f"---\nkind: x\n---\n# one\n\n\n\n{kept}\n"}


def test_the_seed_chooses_and_the_same_seed_chooses_the_same() -> None:
    """Whatever the order in which the notes are read."""
    notes = vault(**{name: rich(name.lower()) for name in ("One", "Two", "Three", "Four", "Five")})
    backwards = dict(reversed(notes.items()))

    assert chosen(notes, count=7) == chosen(backwards, count=7)
    assert len(chosen(notes, count=7)[0]) == 7
    assert chosen(notes, count=7, seed=1)[0] != chosen(notes, count=7)[0]


def test_a_note_of_which_too_little_is_left_is_not_asked_for() -> None:
    """It could not be found by anything."""
    notes = vault(Small="## Where rain goes\nDown again\n", Large="## Where wind goes\nUp and down and up again\n")

    assert [probe.path for probe in chosen(notes, least=5)[0]] == ["Large.md"]


def test_equal_questions_of_one_note_are_sampled_the_same_in_whatever_order_they_come() -> None:
    """A note that defines a word twice gives two probes with one question; which is taken must not hang on order."""
    first, second = (
        Probe("definition", "box that keeps rain", "B.md", (TextRemoval("B.md", start, start + 5, ""),))
        for start in (0, 10)
    )
    notes = {"B.md": parse(b"0123456789012345 and more", path="B.md", mtime=0.0)}
    samples = [
        sample_probes(probes, notes, count=1, seed=0, is_large=lambda note: True).probes
        for probes in ((first, second), (second, first))
    ]

    assert samples[0] == samples[1] != []
