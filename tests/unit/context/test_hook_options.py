"""The settings of hooks: which host has its own use of notes."""

import pytest

from commonplace.context.hook_options import HookOptions


def test_a_host_may_have_its_own_use_of_notes() -> None:
    """The last line about a host counts; another host has none."""
    options = HookOptions(notes=("codex off", "claude-code asked", " Codex  Auto "))

    assert [options.notes_for(host) for host in ("codex", "claude-code", "cursor")] == ["auto", "asked", ""]


@pytest.mark.parametrize("line", ["", "codex", "off", "codex never", "codex off now"])
def test_a_line_without_a_host_and_a_mode_is_refused(line: str) -> None:
    """With what would be right."""
    with pytest.raises(ValueError, match="one of auto, always, asked, off"):
        HookOptions(notes=(line,))
