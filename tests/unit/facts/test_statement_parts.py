"""The parts of a statement: who or what it is about, its verb, its names and numbers, its words of change."""

import pytest

from commonplace.facts.statement_parts import parts_of, root_of, verb_of


@pytest.mark.parametrize(
    ("text", "subject", "verb"),
    [
        ("Lives in Ulm.", (), "live"),
        ("The user prefers answers in Welsh.", (), "prefer"),
        ("The mail relay runs on Debian.", ("mail", "relay"), "run"),
        ("Reports go to Petra.", ("report",), "go"),
        ("Prefers answers in Welsh.", (), "prefer"),
        ("The parser is written in Rust.", ("parser",), "be write"),
        ("Her sister Anouk has moved to Ghent.", ("sister", "anouk"), "move"),
        ("Editor: Kakoune.", ("editor",), "be"),
        ("As of version 5 the settings file is TOML.", ("set", "file"), "be"),
        ("The fair takes place in Turin.", ("fair",), "happen"),
        ("Vegan.", (), ""),
    ],
)
def test_the_subject_ends_where_the_verb_begins(text: str, subject: tuple[str, ...], verb: str) -> None:
    """A statement without a subject is about the user; a label before a colon is a subject."""
    assert (parts_of(text).main.subject, parts_of(text).main.verb) == (subject, verb)


@pytest.mark.parametrize(
    ("text", "is_person"),
    [
        ("Anouk is a baker.", True),
        ("My brother is a baker.", True),
        ("Is a baker.", True),
        ("The oven is a Miele.", False),
        ("CI is slow.", False),
        ("Invoices are slow.", False),
    ],
)
def test_people_are_told_from_things(text: str, is_person: bool) -> None:
    """A name, a word for a relative and the user are people; what has an article or a plural is a thing."""
    assert parts_of(text).main.is_person is is_person


def test_whose_thing_it_is_is_known() -> None:
    """The owner of the subject is not the subject."""
    assert parts_of("Milan's cousin works at Tatra.").main.owner == "milan"
    assert parts_of("Milan works at Tatra.").main.owner == ""


def test_a_clause_that_begins_with_a_verb_is_about_the_same() -> None:
    """Clauses are parted by stops, and by `and` before a verb; titles such as Dr. part nothing."""
    parts = parts_of("The shop opens at nine and closes at six; the baker is Dr. Toma.")

    assert [(clause.subject, clause.verb) for clause in parts.clauses] == [
        (("shop",), "open"),
        (("shop",), "close"),
        (("baker",), "be"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No longer drinks coffee.", "ends"),
        ("Doesn't drink coffee any more.", "ends"),
        ("The tower clock was sold.", "ends"),
        ("Now drinks tea.", "turns"),
        ("From June on the ferry is hourly.", "turns"),
        ("Switched from gas to a heat pump.", "turns"),
        ("The new caretaker is Ines.", "hints"),
        ("Also speaks Czech.", "adds"),
    ],
)
def test_words_of_change_are_found(text: str, found: str) -> None:
    """That something is over, is otherwise, may be otherwise, or is added."""
    assert getattr(parts_of(text), found)


@pytest.mark.parametrize("text", ["Works from home on Fridays.", "Writes with the left hand.", "Knows her way around."])
def test_words_that_only_look_like_change_are_not_taken_for_it(text: str) -> None:
    """`from home on Fridays` begins nothing."""
    parts = parts_of(text)

    assert (parts.ends, parts.turns) == (False, False)


def test_what_is_over_is_known_by_name() -> None:
    """The words after `sold`, `no longer` and `switched from`; not those after any other `from`."""
    assert root_of("gas") in parts_of("Switched from gas to a heat pump.").past
    assert root_of("boat") in parts_of("Sold the boat.").past
    assert not parts_of("Buys flour from the mill.").past


def test_numbers_days_and_months_are_found() -> None:
    """In whatever spelling they are told."""
    assert parts_of("Meets at ten.").numbers == parts_of("Meets at 10:00.").numbers == {"10"}
    assert parts_of("Pays 1,200 on the third Monday in June.").numbers == {"1200", "3", "day 0", "month 6"}
    assert not parts_of("Everyone may push.").numbers


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The user's wife is a nurse.", "My wife is a nurse."),
        ("The boat's name is Albatros.", "The boat is called Albatros."),
        ("The name of the boat is Albatros.", "the boat is called Albatros."),
        ("We've a cabin.", "We have a cabin."),
        ("She's moved to Ulm.", "She has moved to Ulm."),
    ],
)
def test_whose_and_which_have_one_wording(text: str, other: str) -> None:
    """Short forms are written out, and what is the user's is mine."""
    assert parts_of(text).words == parts_of(other).words


def test_a_role_is_known_with_its_holder() -> None:
    """Someone who is the treasurer: the treasurer is that one. A friend or a trade is no role."""
    assert parts_of("Olga is the treasurer of the club.").clauses[-1].subject == ("treasur", "club")
    assert len(parts_of("Olga is the sister of Imre.").clauses) == len(parts_of("Olga is a baker.").clauses) == 1


def test_where_or_when_a_statement_holds_is_its_scope() -> None:
    """`In 2023` and `For offers` are scopes, `Since 2023` is none."""
    assert parts_of("In 2023 the harvest was poor.").main.scope == {"2023"}
    assert parts_of("Since 2023 the harvest is poor.").main.scope == frozenset()


@pytest.mark.parametrize(("word", "verb"), [("lives", "live"), ("moved", "move"), ("ran", "run"), ("table", "")])
def test_verbs_are_known_in_their_forms(word: str, verb: str) -> None:
    """Regular endings and a table of the others."""
    assert verb_of(word) == verb


def test_words_for_the_same_thing_have_one_root() -> None:
    """Spelling, endings and common synonyms do not make another word."""
    assert root_of("stand-up") == root_of("standup")
    assert root_of("replies") == root_of("answer")
    assert root_of("Tatra's".casefold()) == root_of("tatra")
