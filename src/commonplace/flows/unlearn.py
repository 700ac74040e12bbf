"""Erasing an entry: its note, all that is derived from it, and what this device knows of its use."""

from commonplace.errors import UsageError
from commonplace.flows.erase import erase_note
from commonplace.flows.keeper import Keeper, named_fact
from commonplace.model import Erased, Terms


def erase_entry(name: str, keeper: Keeper) -> Erased:
    """Remove the entry for good. Raises NotFound, Refused for who is no person, UsageError for a line of a note."""
    with keeper.turn():
        with keeper.shelf().index.reading() as reading:
            fact = named_fact(name, reading, sensitive=keeper.tells_all).fact
        if fact.origin == "line":
            hint = "Remove the line in the note; `commonplace note erase` removes the whole note."
            raise UsageError(f"this fact is line {fact.line} of {fact.path}", path=fact.path, hint=hint)
        erased = erase_note(fact.path, keeper.desk, Terms())
        keeper.desk.history.forget_uses([fact.id])
        return erased
