"""Ignore globs: which paths no command lists."""

import re
from collections.abc import Callable, Iterable

Ignores = Callable[[str], bool]


def ignores(globs: Iterable[str]) -> Ignores:
    """A test for paths relative to the vault; a folder's path ends in a slash.

    `*` and `?` stay within one component, `**` crosses them, `Folder/**` covers the folder itself.
    Case does not count: a vault may live on a file system where `.Obsidian` and `.obsidian` are one folder.
    """
    patterns = [_regex(glob) for glob in globs]
    if not patterns:
        return lambda path: False
    whole = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    return lambda path: whole.fullmatch(path) is not None


def _regex(glob: str) -> str:
    glob = glob.strip("/")
    tokens = re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]/]*\]|[^*?\[/]+|.", glob)
    return "".join(_TOKENS.get(token) or _class_or_text(token) for token in tokens) + "/?"


_TOKENS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _class_or_text(token: str) -> str:
    """A character class such as `[0-9]` as it is, with `!` for not; anything else as plain text."""
    if len(token) > 2 and token[0] == "[":
        negated = token[1] in "!^" and len(token) > 3
        inside = token[2 if negated else 1 : -1].replace("\\", r"\\")
        return f"[{'^' if negated else ''}{inside}]"
    return re.escape(token)
