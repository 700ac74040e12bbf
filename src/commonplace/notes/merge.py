"""An incoming note laid over the one that is there."""

from commonplace.errors import Refused
from commonplace.notes.document import render, split
from commonplace.notes.edit import set_key
from commonplace.notes.frontmatter import read


def merge_note(existing: bytes | None, incoming: bytes, *, path: str) -> bytes:
    """The incoming body under both frontmatters: incoming keys win, existing keys survive when they are left out.

    The existing block is edited key by key, so a person's comments, order and quoting stay.
    Raises Refused when a block is broken, or when a key cannot be changed without losing something.
    """
    if existing is None:
        return incoming
    old, new = split(existing), split(incoming)
    if old.unclosed or new.unclosed:
        which = "the note that is there" if old.unclosed else "the incoming note"
        raise Refused(
            f"the frontmatter of {which} is never closed", path=path, hint="Close it with a line of three dashes."
        )
    if not old.opening:
        return incoming
    merged = render(old)[: len((old.bom + old.head).encode("utf-8", "surrogateescape"))]
    for key, value in _keys(new.block, path=path).items():
        merged = set_key(merged, key, value, path=path)
    return merged + new.body.encode("utf-8", "surrogateescape")


def _keys(block: str, *, path: str) -> dict[str, object]:
    keys, problems = read(block, path=path)
    if problems:
        raise Refused(
            f"the incoming note is broken at line {problems[0].line}: {problems[0].message}",
            path=path,
            hint="Mend its frontmatter and write again.",
        )
    return keys
