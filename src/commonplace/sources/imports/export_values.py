"""What the exports of chat programs have in common: which files hold conversations, and values that may be anything."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.sources.imports.base import ImportFiles, ImportItem, ImportProblem, ImportSkip
from commonplace.sources.imports.json_stream import ByteStream, Outline, array_items, outline

ConversationOf = Callable[[Mapping[str, Any], str], ImportItem | None]
"""Makes an item of one conversation as it is in an export, and of its place; None if it holds nothing that was said."""

LISTS: Final = ("conversations", "threads")
"""The keys of the list of conversations in an export that is an object."""

_MILLISECONDS: Final = 1e11  # a number from here on is in milliseconds: in seconds it would be the year 5138
_FIRST_YEAR: Final = 2000  # no chat program is older: an earlier time is a mistake


def select_json(
    files: ImportFiles, is_ours: Callable[[frozenset[str]], bool], *, lists: Sequence[str] = LISTS
) -> Sequence[str]:
    """The JSON files that hold conversations, by the keys of the first one: an array of them, a list, or just one."""
    is_alone = len(files.paths()) == 1  # one file may have any name
    paths = (path for path in files.paths() if is_alone or path.lower().endswith(".json"))
    return [path for path in paths if is_ours(_outline(files, path, lists).keys)]


def _outline(files: ImportFiles, path: str, lists: Sequence[str]) -> Outline:
    try:
        with files.open(path) as stream:
            return outline(stream, lists=lists)
    except (UsageError, OSError):
        return Outline()


def read_conversations(
    files: ImportFiles, paths: Sequence[str], read: ConversationOf, *, lists: Sequence[str] = LISTS
) -> Iterator[ImportItem]:
    """The conversations in these files, as `select_json` chose them."""
    for path in paths:
        found = _outline(files, path, lists)
        try:
            with files.open(path) as stream:
                is_one = not found.is_array and not found.key
                yield from _items(_Listed(stream) if is_one else stream, found.key, path, read)
        except UsageError as error:  # a zip that is damaged in the middle
            yield ImportProblem(path, error.message)
        except OSError as error:
            yield ImportProblem(path, f"the file cannot be read: {error.strerror}")


def _items(stream: ByteStream, key: str, path: str, read: ConversationOf) -> Iterator[ImportItem]:
    for item in array_items(stream, key=key):
        where = f"{path}, conversation {item.number}"
        if item.problem:
            yield ImportProblem(where, item.problem)
        elif not isinstance(item.value, dict):
            yield ImportProblem(where, f"a conversation must be an object, not {type(item.value).__name__}")
        else:
            yield read(item.value, where) or ImportSkip(where, "nothing was said in it")


class _Listed:
    """A stream with one JSON object, as an array with that object in it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream, self._before, self._after = stream, b"[", b"]"

    def read(self, size: int) -> bytes:
        """The next bytes."""
        before, self._before = self._before, b""
        content = before + self._stream.read(size).removeprefix(b"\xef\xbb\xbf")
        if not content:
            content, self._after = self._after, b""
        return content


def time_of(value: object) -> datetime | None:
    """The moment in seconds or milliseconds since 1970 or as ISO 8601, in UTC if it has no zone; None for any other.

    Exports have null, 0 and negative numbers where no time is known.
    """
    try:
        if isinstance(value, str):
            value = float(value) if value.strip().replace(".", "", 1).isdecimal() else value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            at = datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS else value, UTC)
        elif isinstance(value, str) and value:
            at = datetime.fromisoformat(value)
        else:
            return None
        at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at.year >= _FIRST_YEAR else None


def text_of(value: object) -> str:
    """The text, stripped; empty for anything but text."""
    return value.strip() if isinstance(value, str) else ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """The mapping; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def mappings_in(value: object) -> list[Mapping[str, Any]]:
    """The mappings in a list; none for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
