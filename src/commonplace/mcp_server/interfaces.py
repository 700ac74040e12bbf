"""The program in which something was said, as one word: what provenance keeps of a caller."""

import re
from typing import Final

UNKNOWN: Final = "unknown"

_HOSTS: Final = (
    ("claude-code", ("claude-code", "claudecode")),
    ("claude-ai", ("claude-ai", "claude-desktop", "claude")),
    ("chatgpt", ("chatgpt", "openai-mcp")),
    ("codex", ("codex",)),
    ("cursor", ("cursor",)),
    ("perplexity", ("perplexity",)),
    ("gemini", ("gemini",)),
    ("opencode", ("opencode",)),
    ("vscode", ("vscode", "visual-studio-code", "github-copilot")),
    ("obsidian", ("obsidian",)),
)
"""The word for each host, and what the names that it gives itself contain; the first that fits counts."""

_NAMELESS: Final = frozenset({"", "socket", "stdio", "mcp", "mcp-client", "client", "python", "unknown"})
"""Names that say nothing of the program: the way it came, and what client libraries call themselves by default."""

_LONGEST: Final = 40


def interface_of(*names: str) -> str:
    """The word for the program with these names, the most telling first; `unknown` where none says anything.

    A host that is known by one of them counts before any other name.
    """
    words = [_word(name) for name in names]
    known = (host for word in words for host, marks in _HOSTS if any(mark in word for mark in marks))
    told = (word for word in words if word not in _NAMELESS)
    return next(known, None) or next(told, UNKNOWN)


def _word(name: str) -> str:
    """The name in small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:_LONGEST].rstrip("-")
