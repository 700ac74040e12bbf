"""What every index takes from the facts of a document, whatever it keeps them in."""

from commonplace.index.base import LINKED, Rules
from commonplace.model import Bond, Document, End, Fact


def entry_of(document: Document) -> Fact | None:
    """The fact for which the document stands; None where it is no entry."""
    return next((fact for fact in document.facts if fact.origin == "entry"), None)


def importance_of(document: Document) -> float:
    """That of the fact for which the document stands, or 0."""
    entry = entry_of(document)
    return entry.importance if entry else 0.0


def earliest(*moments: str) -> str:
    """The first of the moments that are known; empty when none is."""
    return min(filter(None, moments), default="")


def ends_at(document_until: str, entry: Fact | None, end: End | None) -> str:
    """When a document is no longer worth finding: as it says, as its entry says, or when another fact takes over."""
    return earliest(document_until, entry.valid_until if entry else "", end.at if end else "")


def keeping(identity: str, path: str) -> tuple[bool, bool, str]:
    """Of several paths with a fact of this id, the one for which this is least keeps it.

    What stands keeps it before what is put away or waits, then a file that is named for it.
    """
    *folders, name = path.split("/")
    is_aside = bool({"_archive", "_staging"} & {folder.casefold() for folder in folders})
    return is_aside, not name.removesuffix(".md").endswith(identity[-6:]), path


def bonds_of(fact: Fact) -> set[tuple[Bond, str]]:
    """What the fact says of others: its bonds, and `update` where it supersedes one."""
    return {*fact.bonds, *([("update", fact.supersedes)] if fact.supersedes else ())}


def entity_names(document: Document, rules: Rules) -> frozenset[str]:
    """The names of a note as those of entities compare: its title, its file's name, its aliases.

    What is no note has none, nor has an entry: it tells of an entity and is none.
    """
    if document.source_type != LINKED or entry_of(document):
        return frozenset()
    names = (document.title, document.source_id.rpartition("/")[2], *document.aliases)
    return frozenset(filter(None, map(rules.entity, names))) - {rules.entity("me")}  # nobody else is the person
