"""What may be shown where."""

from typing import get_args

import pytest

from commonplace.policy.sinks import SENSITIVE_TEXT, Shown, Sink, shown


@pytest.mark.parametrize(
    ("sink", "how"),
    [
        ("person", "whole"),
        ("prompt", "title_only"),
        ("mcp", "title_only"),
        ("model", "title_only"),
        ("remote_encoder", "title_only"),
        ("export", "ask"),
    ],
)
def test_sensitive_text_stays_with_its_owner(sink: Sink, how: Shown) -> None:
    """Whole in a person's own search; title and path for prompts, MCP, models, remote encoders; asked for on export."""
    assert shown(True, sink) == how


@pytest.mark.parametrize("sink", get_args(Sink))
def test_other_text_is_shown_everywhere(sink: Sink) -> None:
    """Nothing is withheld that was not marked."""
    assert shown(False, sink) == "whole"


def test_every_sink_is_in_the_table() -> None:
    """A new sink cannot be forgotten."""
    assert set(SENSITIVE_TEXT) == set(get_args(Sink))
