"""The prompts, one file for each version: `NAME.vN.md`. A changed prompt is a new file: logs tell them apart."""

import hashlib
import re
from pathlib import Path
from typing import Final, NamedTuple

from commonplace.errors import UsageError

_FILE: Final = re.compile(r"([a-z_]+)\.v(\d+)\.md")
_MAX_BYTES: Final = 64 << 10


class PromptText(NamedTuple):
    """A prompt and its version, such as `judge.v1`; of a person's own file `judge.` and a hash of its text."""

    text: str
    version: str


def load_prompt(name: str, *, file: Path | None = None) -> PromptText:
    """The newest prompt of that name, or the one in a person's own file. Raises UsageError if that cannot be read."""
    if file:
        return _own_prompt(name, file)
    from importlib.resources import files  # not needed by whoever has no model

    folder = files("commonplace.llm.prompts")
    versions = [
        int(match[2]) for each in folder.iterdir() if (match := _FILE.fullmatch(each.name)) and match[1] == name
    ]
    version = f"{name}.v{max(versions)}"
    return PromptText(folder.joinpath(f"{version}.md").read_text(encoding="utf-8"), version)


def _own_prompt(name: str, file: Path) -> PromptText:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        said = f"the prompt file cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        raise UsageError(said, path=str(file), hint=f"Correct llm.{name}.prompt_file.") from error
    if len(content) > _MAX_BYTES or not text.strip():
        said = f"the prompt file is {'larger than 64 KiB' if text.strip() else 'empty'}"
        raise UsageError(said, path=str(file), hint=f"Correct llm.{name}.prompt_file.")
    return PromptText(text, f"{name}.{hashlib.sha256(content).hexdigest()[:12]}")
