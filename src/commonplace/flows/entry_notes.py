"""Entries as files: a fact written as a new note, and changes laid into one that is there."""

from collections.abc import Mapping, Sequence

from commonplace.facts.entry import ORDER, changes, entry_keys
from commonplace.model import Fact
from commonplace.notes import remove_key, set_key
from commonplace.notes.document import split
from commonplace.notes.yaml_emit import emit
from commonplace.notes.yaml_values import plain_value


def entry_note(fact: Fact, *, tags: Sequence[str], slug: str) -> bytes:
    """The note of a new entry: its keys in their order, and its statement. Raises UsageError for what YAML has not."""
    keys = entry_keys(fact, tags=tags, slug=slug, created=fact.recorded)
    block = "".join(emit(key, plain_value(value, path=fact.path), inline=True) for key, value in keys.items())
    return f"---\n{block}---\n{fact.text.strip()}\n".encode()


def heir_note(raw: bytes, old: Fact, new: Fact, *, tags: Sequence[str], slug: str) -> bytes:
    """The note of a new version, made from that of the old: our keys are the new fact's, a person's own stay.

    Raises Refused when the old one's keys cannot be changed without losing something.
    """
    wanted = {**changes(old, new), "slug": slug, "created": new.recorded, **({"tags": [*tags]} if tags else {})}
    keys = with_changes(raw, wanted, path=new.path)
    head = keys[: len(keys) - len(split(keys).body.encode("utf-8", "surrogateescape"))]
    return head + f"{new.text.strip()}\n".encode()


def with_changes(raw: bytes, wanted: Mapping[str, object | None], *, path: str) -> bytes:
    """The note with these keys changed, those at None removed; all else stays byte for byte. Raises Refused."""
    for key, value in wanted.items():
        is_gone = value is None
        raw = remove_key(raw, key, path=path) if is_gone else set_key(raw, key, value, path=path, order=ORDER)
    return raw
