"""The profile: groups, whom a statement is about, and what is chosen when not everything fits."""

from random import Random
from typing import Any

import pytest

from commonplace.facts.profile import (
    MAX_LINE,
    ProfileRanking,
    choose_profile,
    group_of,
    is_about_person,
    is_constraint,
    person_names,
)
from commonplace.model import Fact, FactSnapshot

ROBIN = frozenset({"robin"})


def fact(text: str, kind: str = "fact", **more: Any) -> Fact:
    """An entry, whose id is its text."""
    return Fact(id=text, path="e.md", line=1, origin="entry", text=text, kind=kind, **more)


def known(text: str, kind: str = "fact", *, importance: float = 0.5, **more: Any) -> FactSnapshot:
    return FactSnapshot(fact(text, kind, **more), "current", "", "", importance)


def chosen(*snapshots: FactSnapshot, budget: int, project: str = "") -> list[str]:
    lines, left_out = choose_profile(ProfileRanking().rank(snapshots, project=project, user=""), budget=budget)
    assert len(lines) + len(left_out) == len(snapshots)
    return [line.snapshot.fact.text for line in lines]


@pytest.mark.parametrize(
    ("kind", "text", "group"),
    [
        ("constraint", "Meetings only after ten.", "Constraints"),
        ("fact", "Is allergic to walnuts.", "Constraints"),
        ("preference", "Is vegan, also at work.", "Constraints"),
        ("event", "Broke an arm in May; may not lift anything until August.", "Constraints"),
        ("fact", "The gate must not be left open.", "People, projects, things"),
        ("identity", "Nurse on a children's ward.", "The person"),
        ("fact", "Lives on a houseboat.", "The person"),
        ("preference", "Dark roast, no sugar.", "Preferences"),
        ("feedback", "Shorter answers, please.", "Preferences"),
        ("event", "Is getting married in June.", "Events and plans"),
        ("fact", "Joan runs the bakery on the corner.", "People, projects, things"),
        ("workflow", "Release: tag, build, push.", "How to"),
        ("fix", "ENOSPC: clear the cache.", "How to"),
        ("decision", "We keep the old barn.", "Decisions"),
        ("idea", "A library of seeds.", "Ideas"),
    ],
)
def test_every_statement_belongs_to_one_group(kind: str, text: str, group: str) -> None:
    """By words about health, diet and bans before anything else, then by kind, then by whom it is about."""
    assert group_of(fact(text, kind)) == group
    assert is_constraint(fact(text, kind)) == (group == "Constraints")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("fact", "Lives in a houseboat on the Spree."),
        ("fact", "Has two daughters."),
        ("fact", "Has run three marathons."),
        ("fact", "I moved to Graz in May."),
        ("fact", "My sister keeps a bakery."),
        ("fact", "The user rides a recumbent bike."),
        ("fact", "Robin grew up in Wales."),
        ("event", "Is getting married in June."),
        ("fact", "Born in Trieste."),
        ("fact", "Never drinks coffee after noon."),
        ("fact", "We are moving house next month."),
        ("fact", "Can't stand open-plan offices."),
        ("fact", "Doesn't own a car."),
        ("fact", "Speaks Portuguese with the neighbours."),
        ("fact", "Her mother is a judge."),
        ("fact", "is left-handed"),
        ("preference", "Dark roast, no sugar."),
        ("feedback", "Too many bullet points."),
        ("constraint", "Severe hay fever in spring."),
        ("identity", "Nurse on a children's ward."),
        ("workflow", "I run the linter before each push."),
    ],
)
def test_a_statement_about_the_person_needs_no_subject(kind: str, text: str) -> None:
    """The kind says it, a name or pronoun at its beginning, or a verb without a subject."""
    assert is_about_person(fact(text, kind), names=ROBIN)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("fact", "Backups run nightly at two."),
        ("fact", "Tests use pytest."),
        ("fact", "Redis caches the sessions for an hour."),
        ("fact", "Kubernetes needs version 1.29."),
        ("fact", "Logs are shipped to Loki."),
        ("fact", "The staging server has 4 GB of memory."),
        ("fact", "Atlas is written in Rust."),
        ("fact", "Joan lives in Bath."),
        ("fact", "Sam's brother teaches physics."),
        ("fact", "There is no staging environment."),
        ("decision", "We store events in Postgres."),
        ("decision", "Our API hides deleted notes."),
        ("decision", "Uses Alembic for migrations."),
        ("fix", "Fails with ENOSPC when the disk is full: clear the cache."),
        ("workflow", "Releases go out on Tuesdays."),
        ("workflow", "Deploys with `make ship`."),
        ("domain-reference", "Requests over 5 MB are refused by the proxy."),
    ],
)
def test_a_statement_about_something_else_is_not_the_persons(kind: str, text: str) -> None:
    """Other people, plurals and names before their verb, and how a project is worked on, whoever `we` are."""
    assert not is_about_person(fact(text, kind), names=ROBIN)


def test_a_triple_is_about_its_subject() -> None:
    """Its text may begin with the predicate, as that of a line in a note does; one of identity is the person's."""
    assert not is_about_person(fact("works_at Acme", subject="Ada", predicate="works_at", object="Acme"))
    assert is_about_person(fact("lives_in Bergen", subject="me", predicate="lives_in", fact="identity"))


def test_the_names_of_the_person_come_from_the_settings_and_from_identity() -> None:
    """Only first names, and no word that is none."""
    entries = [
        fact("Ada Byron is a nurse.", "identity"),
        fact("The user is called Ada.", "identity"),
        fact("My name is Ada.", "identity"),
        fact("Tim is a plumber."),
    ]

    assert person_names(entries, user="Robin Hale") == {"robin", "ada"}
    assert person_names((), user="") == frozenset()


def test_while_all_of_it_fits_all_of_it_is_there_constraints_first() -> None:
    """Whatever it is and however unimportant; nothing is left out for being alike."""
    snapshots = [
        known("A library of seeds.", "idea", importance=0.05),
        known("Likes tea.", "preference"),
        known("Likes tea a lot.", "preference"),
        known("Is allergic to walnuts.", "fact", importance=0.4),
        known("Works as a nurse.", "identity"),
    ]

    assert chosen(*snapshots, budget=3000) == [
        "Is allergic to walnuts.",
        "Works as a nurse.",
        "Likes tea a lot.",
        "Likes tea.",
        "A library of seeds.",
    ]


def test_the_more_important_comes_first_and_what_harms_if_missed_before_it() -> None:
    """Importance is that after aging and use; a constraint outranks a more important preference."""
    snapshots = [
        known("Reads the paper on paper.", "preference", importance=0.4),
        known("Writes with a fountain pen.", "preference", importance=0.7),
        known("Carries an inhaler against asthma.", "fact", importance=0.5),
    ]

    assert chosen(*snapshots, budget=3000) == [
        "Carries an inhaler against asthma.",
        "Writes with a fountain pen.",
        "Reads the paper on paper.",
    ]
    assert chosen(*snapshots, budget=70) == ["Carries an inhaler against asthma.", "Writes with a fountain pen."]


def test_no_group_takes_more_than_its_share_while_another_has_something_to_say() -> None:
    """Eight preferences leave room for one how-to, less important though it is; then they fill what is left."""
    liked = ["green tea", "dark rye", "heavy rain", "old maps", "barn owls", "wet moss", "slow jazz", "sour plums"]
    preferences = [known(f"Likes {words}.", "preference", importance=0.9) for words in liked]
    how_to = known("Release: tag, build and push the image.", "workflow", importance=0.2)

    texts = chosen(*preferences, how_to, budget=120)

    assert how_to.fact.text in texts
    assert len(texts) == 6
    assert sum(map(len, texts)) <= 120


def test_what_a_newer_entry_may_contradict_waits_until_the_rest_had_its_turn() -> None:
    """The older one of a group comes last, however important it is; what only has other words does not wait."""
    snapshots = [
        known("Prefers tabs over spaces in Python code.", "preference", importance=0.9),
        known("In Python code prefers tabs over spaces.", "preference", importance=0.8),
        known("Books seats on the aisle of a train.", "preference", importance=0.5),
    ]
    ranked = ProfileRanking().rank(snapshots, project="", user="me")
    older, _ = choose_profile(ranked, budget=100, older={snapshots[1].fact.id})

    assert chosen(*snapshots, budget=100) == [snapshots[0].fact.text, snapshots[1].fact.text]
    assert [line.snapshot for line in older] == [snapshots[0], snapshots[2]]


def test_entries_of_the_project_at_hand_come_before_others() -> None:
    """Of two equally important ones; where no project is at hand it makes no difference."""
    snapshots = [
        known("Bake bread on Sundays, early.", "workflow", importance=0.6),
        known("Ship with the script `ship.sh`.", "workflow", project="atlas"),
    ]

    assert chosen(*snapshots, budget=45, project="atlas") == ["Ship with the script `ship.sh`."]
    assert chosen(*snapshots, budget=45) == ["Bake bread on Sundays, early."]


def test_a_long_statement_counts_for_no_more_than_its_line() -> None:
    """The rest of it comes when a prompt is about it."""
    long = known(f"Bake bread: {'knead, rest, ' * 100}", "procedural")
    short = known("Likes tea.", "preference")

    assert len(chosen(long, short, budget=MAX_LINE + 10)) == 2


def test_the_choice_does_not_depend_on_the_order_in_which_entries_come() -> None:
    """Equal scores are ordered by id."""
    snapshots = [known(f"Likes {word}.", "preference") for word in ("tea", "rye", "rain", "maps", "owls", "moss")]

    assert chosen(*snapshots, budget=40) == chosen(*reversed(snapshots), budget=40)


def test_a_ranking_that_goes_on_from_the_last_one_is_the_same_as_a_new_one() -> None:
    """After facts are added, removed, and change in importance; for two projects, and with a name of the person."""
    random, kept = Random(3), ProfileRanking()
    kinds = ("fact", "preference", "constraint", "decision", "identity")
    facts = {number: known(f"Likes {number} cups.", kinds[number % 5], project="shed") for number in range(90)}
    for step in range(60):
        for number in random.sample(range(140), random.choice((0, 1, 3, 60))):
            if number in facts and random.random() < 0.5:
                del facts[number]
            else:
                importance = random.choice((0.1, 0.5, 0.9))
                facts[number] = known(f"Likes {number} cups.", kinds[number % 5], importance=importance, project="shed")
        asked = {"project": random.choice(("", "shed")), "user": "Robin" if step > 30 else ""}
        given = random.sample([*facts.values()], len(facts))

        assert kept.rank(given, **asked) == ProfileRanking().rank([*facts.values()], **asked)
