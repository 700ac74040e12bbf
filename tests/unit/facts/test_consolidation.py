"""What several entries make together: the checks of a model's words."""

import pytest

from commonplace.facts.consolidation import wording
from tests.index_documents import fact

FACTS = [
    fact("00", text="Ada runs the linter before each commit to Atlas."),
    fact("00", text="Before each commit to Atlas, Ada runs the linter."),
    fact("00", text="The linter is run by Ada before every commit to Atlas."),
]


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ("Ada runs the linter before every commit to Atlas.", True),
        ("The linter runs before each commit to Atlas.", True),
        ("Bea runs the linter before each commit to Atlas.", False),
        ("Ada runs the linter before each commit to Boreas.", False),
        ("Ada runs the linter 5 times before each commit to Atlas.", False),
        ("Ada runs the linter before each commit to Atlas on Mondays.", False),
        ("Ada never runs the linter before each commit to Atlas.", False),
        ("Ada startet den Linter vor jedem Commit.", False),
        ("Ada likes tea.", False),
        ("Ada runs the linter before each commit to Atlas, see https://example.org.", False),
        ("Ada runs the linter before each commit to Atlas" + " and the linter" * 20, False),
        ("", False),
    ],
)
def test_a_models_words_say_no_more_than_the_sources(text: str, *, is_accepted: bool) -> None:
    """No new name, number, day, address or denial; the same language; no longer than needed."""
    assert bool(wording(FACTS, {"text": text})) == is_accepted
