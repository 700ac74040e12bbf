"""Ignore globs: which paths no command lists."""

from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache
from re import IGNORECASE, Pattern, compile

Ignores = Callable[[str], bool]


def ignores(globs: Iterable[str]) -> Ignores:
    """A test for paths relative to the vault; a folder's path ends in a slash.

    `*` and `?` stay within one component, `**` stands for any number of them, `Folder/**` covers the folder itself.
    Case does not count: a vault may live on a file system where `.Obsidian` and `.obsidian` are one folder.
    """
    patterns = [tuple(glob.strip("/").split("/")) for glob in globs]
    return lambda path: any(_matches(pattern, path.rstrip("/").split("/")) for pattern in patterns)


def _matches(pattern: tuple[str, ...], names: list[str]) -> bool:
    """Whether the components fit, walked once from the left; only the last `**` is ever gone back to.

    That is enough, because an earlier one could not fit more than a later one does, and it keeps the time linear:
    a vault's own settings may name globs, and must not be able to stop the program with one.
    """
    at = name = 0
    star, resume = -1, 0
    while name < len(names):
        if at < len(pattern) and pattern[at] == "**":
            star, resume = at, name
            at += 1
        elif at < len(pattern) and _component(pattern[at]).match(names[name]):
            at, name = at + 1, name + 1
        elif star >= 0:
            resume += 1
            at, name = star + 1, resume
        else:
            return False
    return all(part == "**" for part in pattern[at:])


@lru_cache(maxsize=1024)
def _component(glob: str) -> Pattern[str]:
    """One component as a regular expression; fnmatch writes it with atomic groups, so it cannot run away."""
    return compile(translate(glob), IGNORECASE)
