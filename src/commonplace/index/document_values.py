"""Values that every index derives from a document and its facts, and text in the form in which it is stored."""

import re
from dataclasses import replace
from typing import Final

from commonplace.index.base import VAULT_SOURCE, Rules
from commonplace.model import Bond, Document, Fact, FactEnd
from commonplace.model.layout import ARCHIVE_FOLDER, STAGING_FOLDER
from commonplace.model.text import fold_stored

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def valid_unicode(text: str) -> str:
    """The text with U+FFFD for each surrogate, such as from bytes of a note that are not UTF-8."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def fold_label(text: str) -> str:
    """The text as tags, topics, kinds and titles compare: without case."""
    return fold_stored(valid_unicode(text))


def note_name(path: str) -> str:
    """The name of the note's file as it compares: without folder and case."""
    return fold_label(path.rpartition("/")[2])


def line_identity(fact: Fact) -> Fact:
    """The fact without what may change while its line stays the same: its place in the note, and the note's date."""
    return replace(fact, line=0, updated="")


def entry_fact(document: Document) -> Fact | None:
    """The fact that the document holds as an entry; None if it is not an entry."""
    return next((fact for fact in document.facts if fact.origin == "entry"), None)


def document_importance(document: Document) -> float:
    """The importance of the document's entry, or 0."""
    entry = entry_fact(document)
    return entry.importance if entry else 0.0


def ends_at(document_until: str, entry: Fact | None, end: FactEnd | None) -> str:
    """When a document stops being valid: by itself, by its entry, or because another fact replaces it.

    The earliest of these; empty if there is none.
    """
    moments = (document_until, entry.valid_until if entry else "", end.at if end else "")
    return min(filter(None, moments), default="")


def id_precedence(identity: str, path: str) -> tuple[bool, bool, str]:
    """A sort key: of several paths with a fact of this id, the first one's fact is the one that counts.

    Notes outside archive and staging come first, then files whose name ends in the id's last six digits.
    """
    *folders, name = path.split("/")
    is_aside = bool({ARCHIVE_FOLDER, STAGING_FOLDER} & {folder.casefold() for folder in folders})
    return is_aside, not name.removesuffix(".md").endswith(identity[-6:]), path


def fact_bonds(fact: Fact) -> set[tuple[Bond, str]]:
    """The bonds of the fact to others, with `update` for the one it supersedes."""
    return {*fact.bonds, *([("update", fact.supersedes)] if fact.supersedes else ())}


def note_entity_names(document: Document, rules: Rules) -> frozenset[str]:
    """The normalized names of the note as an entity: title, file name, aliases.

    Empty for documents that are not notes, and for entries, which are about an entity but are none. No note is
    called "me": that name is the person's.
    """
    if document.source_type != VAULT_SOURCE or entry_fact(document):
        return frozenset()
    names = (document.title, document.source_id.rpartition("/")[2], *document.aliases)
    return frozenset(filter(None, map(rules.entity, names))) - {rules.entity("me")}
