"""How an entry of ours is known among those of others, whichever version of us wrote it."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

NAME: Final = "commonplace"
TOKEN_INPUT: Final = "commonplace-token"  # noqa: S105 (the name of a question that VS Code asks)
OWNED: Final = frozenset(
    ("type", "command", "args", "env_vars", "url", "headers", "http_headers", "bearer_token_env_var")
)
"""The keys of a server's entry that we write; a person's others stay."""

SECRET: Final = re.compile(r"cpl_[A-Za-z0-9_-]+")
"""A token of ours, wherever it stands."""

_PROGRAM: Final = re.compile(r"(?:^|[\\/])commonplace(?:\.exe)?$")
_HOOK: Final = re.compile(r"(?<![\w.-])commonplace(?:\.exe)?[\"']?\s+hook\s+[a-z-]+\s+--host\s")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def is_our_server(entry: Any) -> bool:
    """Whether this MCP server is Commonplace: by the program that is run, or by the address that is asked."""
    if not isinstance(entry, Mapping):
        return False
    if isinstance(url := entry.get("url"), str):
        parts = urlsplit(url)
        return parts.hostname in _LOOPBACK and parts.path == "/mcp"
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else [])]
    named = any(isinstance(word, str) and _PROGRAM.search(word) for word in words)
    return named and "mcp" in words


def is_our_leaf(value: Any) -> bool:
    """Whether this is a hook that calls us, or the question for our token."""
    if not isinstance(value, Mapping):
        return False
    command = value.get("command")
    return value.get("id") == TOKEN_INPUT or (isinstance(command, str) and _HOOK.search(command) is not None)
