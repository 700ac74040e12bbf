"""What is worth a place before a prompt."""

import pytest

from commonplace.recalling.worth import (
    has_only_little_words,
    holds_only_links,
    least_score,
    title_beside,
    without_own_heading,
)


def test_a_hit_must_reach_the_least_score_and_a_part_of_the_best() -> None:
    """Where nothing scores high the least score counts; beside a very good hit a middling one says little."""
    assert least_score([0.4, 0.2], least=0.3) == 0.3
    assert least_score([0.9, 0.2], least=0.3) == pytest.approx(0.54)
    assert least_score([], least=0.3) == 0.3


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


@pytest.mark.parametrize(
    ("prompt", "little"),
    [("What can you do?", True), ("No, not like that.", True), ("Where is Ada?", False), ("42", False)],
)
def test_a_prompt_of_little_words_names_nothing_to_look_for(prompt: str, *, little: bool) -> None:
    """Whatever it is about was said before."""
    assert has_only_little_words(prompt) is little


def test_the_name_of_a_note_is_not_said_twice() -> None:
    """Neither as the title beside its path nor as the first heading of its text."""
    assert title_beside("Projects/Sensors.md", ["Sensors", "Which board"]) == "Which board"
    assert title_beside("Reviews/2026-W42.md", ["Week 42", "Went well"]) == "Week 42 > Went well"
    assert without_own_heading("# Rules\n\nAsk first.", path="Agent/Rules.md") == "Ask first."
    assert without_own_heading("# Robin\n\nAsk first.", path="Agent/USER.md") == "# Robin\n\nAsk first."
