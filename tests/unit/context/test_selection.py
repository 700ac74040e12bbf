"""What may go into a context."""

import time
from importlib import resources

import pytest

from commonplace.context.selection import (
    ENTRY_RULE,
    PASSAGE_RULE,
    EntryMatch,
    EntryRule,
    fitting_entries,
    holds_nothing,
    holds_only_links,
    passage_threshold,
    passage_title,
    strip_own_heading,
    strip_sources,
)
from commonplace.model.context import Need

NEEDS: tuple[Need, ...] = ("personal", "task", "general", "idle")
RULE = EntryRule(idle=0.8, general=0.6, task=0.4, personal=0.2, words=1.0, most=3, beside_best=0.5, for_ten_times=0.1)


def near(**cosines: float) -> dict[str, EntryMatch]:
    return {name: EntryMatch(cosine, 0.0) for name, cosine in cosines.items()}


def test_the_less_a_prompt_is_about_the_person_the_nearer_an_entry_must_be() -> None:
    """The same entry fits what the person says of themselves, and not a question that anybody could ask."""
    thresholds = [ENTRY_RULE.threshold(need, count=35) for need in NEEDS]
    fits = [need for need in NEEDS if fitting_entries(near(a=0.5), need=need, count=35, rule=RULE)]

    assert thresholds == sorted(thresholds)
    assert len({*thresholds}) == len(NEEDS)
    assert fits == ["personal", "task"]


def test_among_more_entries_one_must_be_nearer() -> None:
    """By as much for each ten times as many; below the number that the rule was chosen on nothing is gained."""
    few, many, more = (RULE.threshold("task", count=count) for count in (35, 350, 3500))

    assert (few, many, more) == pytest.approx((0.4, 0.5, 0.6))
    assert RULE.threshold("task", count=0) == few
    assert fitting_entries(near(a=0.45), need="task", count=35, rule=RULE) == ["a"]
    assert fitting_entries(near(a=0.45), need="task", count=350, rule=RULE) == []


def test_a_prompt_in_the_words_of_one_entry_leaves_room_for_others() -> None:
    """What it repeats may have become what the others say; the best score counts as a plain one at most."""
    said = {"old": EntryMatch(1.0, 0.8), **near(new=0.65, far=0.55)}

    assert fitting_entries(said, need="personal", count=35, rule=RULE) == ["old", "new"]


def test_the_newest_of_a_group_is_there_whenever_an_older_one_is() -> None:
    """In the place of one that gives way, if it fits at all; else beside it, so that nothing is lost for it."""
    newest = {"c": "x", "b": "a", "d": "a"}
    crowd = near(a=0.5, b=0.6, c=0.7, d=0.55)

    def fitting(giving_way: set[str], **cosines: float) -> list[str]:
        return fitting_entries(
            near(**cosines) if cosines else crowd,
            need="personal",
            count=35,
            newest=newest,
            giving_way=giving_way,
            rule=RULE,
        )

    assert fitting({"b", "c", "d"}) == ["c", "b", "a", "x"]
    assert fitting({"b"}) == ["c", "b", "d", "a", "x"]
    assert fitting({"b", "c", "d"}, a=0.9, b=0.8) == ["a", "b"]
    assert fitting({"b"}, z=0.9) == ["z"]


def test_the_best_few_entries_fit_and_only_those_beside_the_best() -> None:
    """At most three of 35, the best first; what has less than half of the best score says something else."""
    crowd = near(a=0.5, b=0.6, c=0.7, d=0.55)
    alone = near(a=0.9, b=0.44, c=0.46)

    assert fitting_entries(crowd, need="personal", count=35, rule=RULE) == ["c", "b", "d"]
    assert fitting_entries(alone, need="personal", count=35, rule=RULE) == ["a", "c"]
    assert fitting_entries({}, need="personal", count=0, rule=RULE) == []


def test_words_count_beside_meaning_and_alone_without_vectors() -> None:
    """A cosine below 0 counts as none; the score is said for people."""
    assert EntryMatch(0.3, 0.2).score(RULE) == pytest.approx(0.5)
    assert EntryMatch(None, 0.2).score(RULE) == EntryMatch(-0.4, 0.2).score(RULE) == pytest.approx(0.2)
    assert str(EntryMatch(0.31, 0.0)) == "score 0.31, cosine 0.31"
    assert "cosine" not in str(EntryMatch(None, 0.2))


def test_what_harms_if_missed_fits_sooner_but_not_out_of_nowhere() -> None:
    """The bonus decides where the score is just below; an entry with neither words nor meaning gets none."""
    least = RULE.threshold("task", count=35)
    match = EntryMatch(least - 0.02, 0.0)
    constraint = EntryMatch(least - 0.02, 0.0, is_constraint=True)

    assert fitting_entries({"a": match, "b": constraint}, need="task", count=35, rule=RULE) == ["b"]
    assert EntryMatch(0.0, 0.0, is_constraint=True).score(RULE) == 0.0


def test_what_is_on_topic_comes_first_but_fits_no_sooner() -> None:
    """The topics of a conversation order what fits; a wrong topic brings nothing."""
    least = RULE.threshold("task", count=35)
    near, on_topic = EntryMatch(least + 0.02, 0.0), EntryMatch(least + 0.01, 0.0, is_on_topic=True)
    far = EntryMatch(least - 0.01, 0.0, is_on_topic=True)

    assert fitting_entries({"a": near, "b": on_topic, "c": far}, need="task", count=35, rule=RULE) == ["b", "a"]


def test_a_passage_must_be_nearer_than_the_noise_of_its_vault() -> None:
    """In a quiet vault a fixed score is enough; in a noisy one it must be clearly above; more for what anybody asks."""
    quiet, noisy = (PASSAGE_RULE.threshold(noise=noise, need="task") for noise in (0.1, 0.5))

    assert quiet == PASSAGE_RULE.threshold(noise=0.0, need="task")
    assert noisy > 0.5
    assert all(
        PASSAGE_RULE.threshold(noise=noise, need="general") > PASSAGE_RULE.threshold(noise=noise, need="task")
        for noise in (0.1, 0.5)
    )


def test_a_hit_must_reach_the_least_score_and_a_part_of_the_best() -> None:
    """Where nothing scores high the least score counts; beside a very good hit a middling one says little."""
    assert passage_threshold([0.4, 0.2], least=0.3) == 0.3
    assert passage_threshold([0.9, 0.2], least=0.3) == pytest.approx(0.54)
    assert passage_threshold([], least=0.3) == 0.3


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("[[2026-10-05 Kickoff]], [[2026-10-19 Review]]", True),
        ("Part of [[Greenhouse#Plan]]. Spending rule: [[Greenhouse#^approval]].", True),
        ("- uses [[MQTT broker]] #electronics", True),
        ("![[bed-layout.png|400]]", True),
        ("Lives in Oslo.", False),
        ("Waiting for photos of the [[Greenhouse]]. Posters by [[Tomas]].", False),
        ("[[温室]]の建設は十月に始まる", False),
        ("12 34", True),
    ],
)
def test_a_passage_of_links_with_hardly_a_word_beside_them_leads_elsewhere(text: str, *, only: bool) -> None:
    """A short passage without links may say much."""
    assert holds_only_links(text) is only


@pytest.mark.parametrize("unit", ["[", "[[", "![", "[]([", "[a](", "[[a", "(", "#", "https:/", "[a]"])
def test_looking_for_links_takes_time_in_proportion(unit: str) -> None:
    """Eight times the text takes about eight times as long: 25 kB of `[` took 4 s, 100 kB 98 s."""

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        holds_only_links(text)
        return time.process_time() - start

    short, long = (min(seconds(size) for _ in range(2)) for size in (20_000, 160_000))

    assert long < 24 * max(short, 0.002)


def test_the_name_of_a_note_is_not_said_twice() -> None:
    """Neither as the title beside its path nor as the first heading of its text."""
    assert passage_title("Projects/Sensors.md", ["Sensors", "Which board"]) == "Which board"
    assert passage_title("Reviews/2026-W42.md", ["Week 42", "Went well"]) == "Week 42 > Went well"
    assert strip_own_heading("# Rules\n\nAsk first.", path="Agent/Rules.md") == "Ask first."
    assert strip_own_heading("# Robin\n\nAsk first.", path="Agent/USER.md") == "# Robin\n\nAsk first."


def test_a_dated_note_repeats_no_entry_and_shows_no_block_ids() -> None:
    """Entries reach a prompt as entries; what a person wrote into the note stays as it is."""
    bullets = "- Chose drip irrigation. #garden ^c-b2f27cf0f86f-2\n- Saved: Likes tea. ^e-3f9a1c\n"

    assert (
        strip_sources(f"{bullets}\nMy own line, 2 ^e-3 = 1.\n")
        == "- Chose drip irrigation. #garden\n\nMy own line, 2 ^e-3 = 1."
    )
    assert strip_sources("- Saved: Likes tea. ^e-3f9a1c") == ""


@pytest.mark.parametrize(
    ("text", "is_empty"),
    [
        ("Nothing recorded.", True),
        ("## Known\n\nNothing recorded.\n\n## Meetings\n\nNo meetings recorded.", True),
        ("## Known\n\nNothing recorded.\n\n## Meetings\n\n- 2026-11-02 Budget", False),
        ("Nothing recorded, she said.", False),
        ("## Known", False),
        ("", False),
    ],
)
def test_a_section_in_which_a_template_had_nothing_to_say_is_recognised(text: str, is_empty: bool) -> None:
    """With its headings, and with other such sections; not with one that says something."""
    assert holds_nothing(text) is is_empty


def test_every_way_in_which_our_templates_say_nothing_is_known() -> None:
    """A template that words it otherwise would bring its empty sections before a prompt."""
    lines = [
        line
        for each in resources.files("commonplace.templates").iterdir()
        if each.name.endswith(".md")
        for line in each.read_text(encoding="utf-8").splitlines()
    ]
    said = {line for line in lines if line.startswith(("Nothing", "No ", "None")) and "{" not in line}

    assert len(said) > 2
    assert all(map(holds_nothing, said))
