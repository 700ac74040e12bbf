"""What an entry says when only a triple was given."""

from typing import Final

from commonplace.facts.entities import ME, entity_key
from commonplace.facts.predicates import predicate_key

_ENDS: Final = (".", "!", "?")


def sentence_of(subject: str, predicate: str, object: str, *, user: str = ME) -> str:
    """The triple as one short sentence; of the user without a subject. Wikilinks stay as they are."""
    said = predicate_key(predicate).replace("_", " ")
    named = "" if entity_key(subject, user=user) == ME else subject.strip()
    words = " ".join(part for part in (named, said, object.strip()) if part)
    first = words[:1].upper() + words[1:]
    return first if first.endswith(_ENDS) else f"{first}."
