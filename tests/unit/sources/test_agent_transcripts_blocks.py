"""What programs put into a person's message goes; what the person wrote stays."""

import pytest

from commonplace.context.fence import Fence
from commonplace.model import CONTEXT_SECTIONS
from commonplace.sources.transcripts import strip_injected, strip_memory


@pytest.mark.parametrize(
    "block",
    [
        "<system-reminder>\nThe file changed.\n</system-reminder>",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<bash-input>ls</bash-input>\n<bash-stdout>a</bash-stdout>\n<bash-stderr></bash-stderr>",
        '<skill name="recall">\nSearch first.\n</skill>',
        "[Request interrupted by user for tool use]",
    ],
)
def test_a_block_of_the_host_is_not_what_the_person_said(block: str) -> None:
    """Alone it leaves nothing; beside words it leaves the words."""
    assert strip_injected(block) == ""
    assert strip_injected(f"{block}\nWhy is it cold?") == "Why is it cold?"
    assert strip_injected(f"Why is it cold?\n{block}") == "Why is it cold?"


@pytest.mark.parametrize(
    "text",
    [
        "What does <system-reminder> mean?",
        "Write `<command-name>x</command-name>` in the docs.",
        "<system-reminder>\nThis never ends.",
        "<skills>\nmine\n</skills>",
        "Is <memory-card> a tag? </memory-card>",
        "Between memory and forgetting: marks.",
    ],
)
def test_what_only_looks_like_a_block_stays(text: str) -> None:
    """A person may write about such things."""
    assert strip_injected(text) == text


def test_an_assistant_may_speak_of_the_blocks_of_a_host() -> None:
    """Only memory goes from what it says."""
    text = "<system-reminder>\nlike this\n</system-reminder>"

    assert strip_memory(text) == text


@pytest.mark.parametrize("is_followed", [True, False])
def test_the_fence_of_the_composer_is_the_one_that_is_taken_out(*, is_followed: bool) -> None:
    """What `Fence` writes today, with its line before and each section."""
    fence = Fence("0a1b2c3d")
    context = "\n".join(
        [
            fence.intro(is_followed=is_followed),
            *(f"{fence.opening(section)}\nAda has a boat.\n{fence.closing}" for section in CONTEXT_SECTIONS),
        ]
    )

    assert strip_injected(f"{context}\nWhere is it?") == "Where is it?"
    assert strip_memory(f"You wrote:\n{context}") == "You wrote:"


def test_memory_that_a_host_cut_off_goes_up_to_the_end() -> None:
    """Its closing mark is what was cut."""
    assert strip_injected("Hello.\n<memory-0a1b2c3d facts>\nAda has a bo") == "Hello."
