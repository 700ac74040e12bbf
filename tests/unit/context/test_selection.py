"""What may go into a context."""

import pytest

from commonplace.context.selection import holds_only_links, passage_threshold, passage_title, strip_own_heading


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


def test_the_name_of_a_note_is_not_said_twice() -> None:
    """Neither as the title beside its path nor as the first heading of its text."""
    assert passage_title("Projects/Sensors.md", ["Sensors", "Which board"]) == "Which board"
    assert passage_title("Reviews/2026-W42.md", ["Week 42", "Went well"]) == "Week 42 > Went well"
    assert strip_own_heading("# Rules\n\nAsk first.", path="Agent/Rules.md") == "Ask first."
    assert strip_own_heading("# Robin\n\nAsk first.", path="Agent/USER.md") == "# Robin\n\nAsk first."
