"""Prompts are files with a version, and a person's own file replaces one."""

from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.llm.options import TASKS, Task
from commonplace.llm.prompts import load_prompt


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_prompt_with_a_version(task: Task) -> None:
    """The newest one, and it says that what it gets is data."""
    prompt = load_prompt(task)

    assert prompt.version.startswith(f"{task}.v")
    assert "data" in prompt.text


@pytest.mark.requirement("X-07")
def test_a_persons_own_file_replaces_ours(tmp_path: Path) -> None:
    """Its version is a hash of its words: a changed file is another version in the log."""
    file = tmp_path / "mine.md"
    file.write_text("Judge as I do.")
    first = load_prompt("judge", file=file)
    file.write_text("Judge as I do now.")

    assert first.text == "Judge as I do."
    assert first.version.startswith("judge.")
    assert load_prompt("judge", file=file).version != first.version


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe", b"x" * 70_000])
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """The error names the setting."""
    file = tmp_path / "mine.md"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(UsageError, match="prompt_file"):
        load_prompt("judge", file=file)
