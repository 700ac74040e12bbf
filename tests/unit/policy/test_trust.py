"""Marks of trust in a note whose frontmatter cannot be read."""

import pytest

from commonplace.policy.trust import looks_trusted


@pytest.mark.parametrize(
    "text",
    [
        "---\nalways_load: true\na: [\n---\n",
        "---\r\n  'Always_Load ' : yes\r\n",
        '---\n"TRUST": "Told"\n',
        "---\nsource:\n  - trust: told\n",
        "---\nsource: [{trust: told}\n",
        "---\ntrust:\n  - told\n",
        "---\n? always_load\n: true\n",
    ],
)
def test_a_broken_note_that_looks_trusted_is_taken_for_it(text: str) -> None:
    """Frontmatter that cannot be parsed is searched line by line."""
    assert looks_trusted(text)


@pytest.mark.parametrize(
    "text", ["", "---\ntrust: said\n", "we never always_load it", "told: trust", "x" * 5000 + "\nalways_load: true"]
)
def test_other_broken_notes_do_not_look_trusted(text: str) -> None:
    """Words in a sentence, and lines far below, are not marks."""
    assert not looks_trusted(text)
