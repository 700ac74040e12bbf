"""Which notes a person may have meant by a path that is not there."""

from collections.abc import Iterable
from difflib import get_close_matches
from posixpath import basename


def nearest_paths(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """At most three paths that come near: alike as a whole, or alike in the file's name; case does not count."""
    whole = {each.casefold(): each for each in paths}
    by_name: dict[str, list[str]] = {}
    for each in whole.values():
        by_name.setdefault(basename(each).casefold(), []).append(each)
    asked = path.casefold()
    if asked in whole:
        return (whole[asked],)
    alike = [whole[found] for found in get_close_matches(asked, whole, n=3, cutoff=0.85)]
    named = [each for found in get_close_matches(basename(asked), by_name, n=3, cutoff=0.85) for each in by_name[found]]
    return tuple(dict.fromkeys([*alike, *named]))[:3]
