"""An entry as a Fact, and a Fact as the keys of an entry: ARCHITECTURE.md 3 has the format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.claims import FactRules
from commonplace.facts.keys import Keys, id_of
from commonplace.facts.moments import id_moment, shortest
from commonplace.facts.predicates import predicate_key
from commonplace.facts.routes import ALWAYS_LOAD, folder_of, importance_of, is_entry_path
from commonplace.model import FACT_CLASSES, STATUSES, TRUSTS, Bond, Fact, Note, Origins, Place, Problem

ORDER: Final = (
    "id",
    "kind",
    "fact",
    "status",
    "always_load",
    "importance",
    "topics",
    "subject",
    "predicate",
    "object",
    "valid_from",
    "valid_until",
    "invalidated",
    "recorded",
    "supersedes",
    "superseded_by",
    "superseded_at",
    "reason",
    "deleted_at",
    "relations",
    "derived_from",
    "source",
    "confirmed",
    "tags",
    "slug",
    "created",
    "updated",
)
"""Our keys, in the order in which they stand in an entry."""

_RELATIONS: Final[tuple[Bond, ...]] = ("extend", "derive", "contradict")


def is_entry(note: Note) -> bool:
    """Whether the note is an entry: it stands among them and has an id of its own."""
    return is_entry_path(note.path) and bool(id_of(note.frontmatter.get("id")))


def fact_of(note: Note, *, place: Place, sensitive: bool, rules: FactRules) -> tuple[Fact | None, tuple[Problem, ...]]:
    """The fact that an entry is, and what is odd about its keys; no fact for a note that is no entry."""
    keys = Keys(note)
    if is_entry(note):
        fact = _read(note, keys, place=place, sensitive=sensitive)
        mark = rules.fingerprint(subject=fact.subject, predicate=fact.predicate, object=fact.object, text=fact.text)
        return replace(fact, fingerprint=mark), keys.problems
    if is_entry_path(note.path) and note.frontmatter.get("id") is not None:
        keys.blame("id", "`id` must be an id such as commonplace writes: the note is read as a plain note")
    return None, keys.problems


def entry_keys(fact: Fact, *, tags: Sequence[str], slug: str, created: str) -> dict[str, object]:
    """The keys of the fact's entry in their order, those without a value left out; a midnight is only its day."""
    keys = {**_keys_of(fact), "tags": list(tags), "slug": slug, "created": created}
    return {key: keys[key] for key in ORDER if keys[key] not in ("", [], {}, None)}


def changes(old: Fact, new: Fact) -> dict[str, object | None]:
    """The keys in which the entries of two facts differ, in their order, with the new value; None for a key to remove.

    The body, which holds the text, is no key.
    """
    before = entry_keys(old, tags=(), slug="", created="")
    after = entry_keys(new, tags=(), slug="", created="")
    return {key: after.get(key) for key in ORDER if before.get(key) != after.get(key)}


def _read(note: Note, keys: Keys, *, place: Place, sensitive: bool) -> Fact:
    """The fact of an entry, without its fingerprint."""
    id = id_of(note.frontmatter["id"])
    fact_class = keys.one_of("fact", words=FACT_CLASSES, absent="", odd="")
    subject, predicate, object = _triple(keys)
    recorded = keys.moment("recorded") or keys.moment("created") or id_moment(id)
    return Fact(
        id=id,
        path=note.path,
        line=_first_line(note),
        origin="entry",
        text=note.body.strip(),
        kind=keys.word("kind"),
        fact=fact_class,
        status=keys.one_of("status", words=STATUSES, absent="active", odd="active"),
        place=place,
        sensitive=sensitive,
        always_load=keys.flag("always_load") or folder_of(note.path) == ALWAYS_LOAD,
        importance=keys.share("importance", absent=importance_of(fact_class)),
        topics=keys.names("topics") or keys.names("topic"),
        subject=subject,
        predicate=predicate,
        object=object,
        valid_from=keys.moment("valid_from"),
        valid_until=keys.moment("valid_until"),
        recorded=recorded,
        updated=keys.moment("updated") or recorded,
        supersedes=keys.id("supersedes"),
        superseded_by=keys.id("superseded_by"),
        superseded_at=keys.moment("superseded_at"),
        deleted_at=keys.moment("deleted_at"),
        invalidated_at=keys.moment("invalidated", "at") if keys.inner("invalidated") else "",
        was_valid_until=keys.moment("invalidated", "was"),
        reason=keys.text("reason"),
        bonds=_bonds(keys),
        confirmed=keys.days("confirmed"),
        origins=_origins(keys),
    )


def _keys_of(fact: Fact) -> Mapping[str, object]:
    bonds: dict[str, list[str]] = {bond: [id for its, id in fact.bonds if its == bond] for bond in _RELATIONS}
    derived = bonds.pop("derive")
    origins = fact.origins
    return {
        "id": fact.id,
        "kind": fact.kind,
        "fact": fact.fact,
        "status": fact.status,
        "always_load": fact.always_load or None,
        "importance": fact.importance,
        "topics": list(fact.topics),
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": shortest(fact.valid_from),
        "valid_until": shortest(fact.valid_until),
        "invalidated": _said({"at": fact.invalidated_at, "was": shortest(fact.was_valid_until)}),
        "recorded": fact.recorded,
        "supersedes": fact.supersedes,
        "superseded_by": fact.superseded_by,
        "superseded_at": fact.superseded_at,
        "reason": fact.reason,
        "deleted_at": fact.deleted_at,
        "relations": _said(bonds),
        "derived_from": derived,
        "source": _said({"interface": origins.interface, "conversation": origins.conversation, "trust": origins.trust}),
        "confirmed": list(fact.confirmed),
        "updated": fact.updated,
    }


def _said(inner: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in inner.items() if value not in ("", [])}


def _triple(keys: Keys) -> tuple[str, str, str]:
    """Subject, predicate and object; half a triple is a Problem and counts as a plain statement."""
    subject, predicate, object = keys.text("subject"), predicate_key(keys.text("predicate")), keys.text("object")
    if bool(predicate) == bool(object) and (subject or not predicate):
        return subject, predicate, object
    present = "predicate" if predicate else "object"
    message = "`subject`, `predicate` and `object` belong together: give all three, or only a subject"
    keys.blame(present, message)
    return subject, "", ""


def _bonds(keys: Keys) -> tuple[tuple[Bond, str], ...]:
    for name in keys.inner("relations"):
        if name not in _RELATIONS:
            keys.blame("relations", f"`relations` has keys for {', '.join(_RELATIONS)} alone: others are left out")
    found: set[tuple[Bond, str]] = {("derive", id) for id in keys.ids("derived_from")}
    found |= {(bond, id) for bond in _RELATIONS for id in keys.ids("relations", bond)}
    return tuple(sorted(found))


def _origins(keys: Keys) -> Origins:
    """Where it comes from. Without a word of it, it is what somebody wrote into a note; a strange word counts least."""
    if not keys.inner("source"):
        return Origins(trust="read")
    return Origins(
        interface=keys.text("source", "interface"),
        conversation=keys.text("source", "conversation"),
        trust=keys.one_of("source", "trust", words=TRUSTS, absent="read", odd="imported"),
    )


def _first_line(note: Note) -> int:
    blank = len(note.body) - len(note.body.lstrip())
    return note.body_line + note.body.count("\n", 0, blank)
