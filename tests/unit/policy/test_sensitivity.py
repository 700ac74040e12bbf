"""Which notes are sensitive."""

import pytest

from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive


@pytest.mark.parametrize(
    ("frontmatter", "sensitive"),
    [
        ({"sensitive": True}, True),
        ({"sensitive": "yes"}, True),
        ({"sensitive": "no"}, False),
        ({"sensitive": False}, False),
        ({"sensitive": None}, False),
        ({"memory": "local-only"}, True),
        ({"memory": "Local-Only "}, True),
        ({"memory": "shared"}, False),
        ({"donna": "local-only"}, True),
        ({"donna_sensitive": True}, True),
        ({}, False),
    ],
)
@pytest.mark.requirement("D-87", "D-09")
def test_either_marker_makes_a_note_sensitive(frontmatter: dict[str, object], sensitive: bool) -> None:
    """`memory: local-only` or a truthy `sensitive`; the names that older vaults use count too."""
    assert is_sensitive(frontmatter, SafetyOptions()) is sensitive


def test_the_keys_are_settings() -> None:
    """A vault that already uses other words keeps them."""
    options = SafetyOptions(sensitive_frontmatter_key="secret", local_only_frontmatter_key="scope")

    assert is_sensitive({"secret": True}, options)
    assert is_sensitive({"scope": "local-only"}, options)
    assert not is_sensitive({"sensitive": True}, options)
