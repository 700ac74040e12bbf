"""Which documents pass a filter, by plain comparison."""

import re
from typing import Final
from unicodedata import normalize

from commonplace.model import Document, Filters

_PAST: Final = ("superseded", "expired", "archived", "deleted")


def passes(document: Document, filters: Filters, *, ends_at: str) -> bool:
    """Whether the document, valid until that moment, passes the filters as far as it can be told without its links."""
    folder = filters.path.rstrip("/")
    tags = {folded(tag) for tag in document.tags}
    return (
        (not filters.sources or document.source_type in filters.sources)
        and (not filters.kinds or folded(document.kind) in map(folded, filters.kinds))
        and (not folder or document.source_id == folder or document.source_id.startswith(f"{folder}/"))
        and (not filters.tags or any(_is_below(tag, folded(asked)) for tag in tags for asked in filters.tags))
        and (not filters.topics or bool({*map(folded, document.topics)} & {*map(folded, filters.topics)}))
        and (not filters.since or document.updated >= filters.since)
        and (not filters.until or document.updated < filters.until)
        and (not filters.sensitive or document.sensitive == (filters.sensitive == "only"))
        and (filters.archived or not (is_past(document) or _is_out(document, ends_at, at=filters.at)))
    )


def is_past(document: Document) -> bool:
    """Whether the document is found only by those who ask for the archive."""
    return document.place == "archive" or document.status in _PAST


def _is_out(document: Document, ends_at: str, *, at: str) -> bool:
    """Whether the document is not valid at that moment, if there is one."""
    return bool(at) and (document.valid_from > at or bool(ends_at and ends_at <= at))


def _is_below(tag: str, asked: str) -> bool:
    return tag == asked or tag.startswith(f"{asked}/")


def folded(text: str) -> str:
    """The text in a form that is the same for capitals and small letters."""
    return normalize("NFC", plain(text).casefold())


def plain(text: str) -> str:
    """The text with a mark in place of what is no Unicode."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
