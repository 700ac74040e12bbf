"""People in notes that templates write: the link to a person, and a short note for one who has none.

A link never creates a note. After a note was written, the writer creates a stub for each of its people who has no note
of that name or alias anywhere in the vault (`skills.person_stubs`); what exists is never touched.
"""

import re
from collections.abc import Iterable
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.notes.write import write_note
from commonplace.flows.read import locate, stat_or_none
from commonplace.flows.stores import Session
from commonplace.model import Terms
from commonplace.model.note_words import plain_words
from commonplace.model.untrusted_text import clean_text
from commonplace.vault.base import ABSENT

PEOPLE: Final = "People"
_UNFIT: Final = re.compile(r"[\[\]|#^\\/:*?\"<>\x00-\x1f]+")
_LONGEST_NAME: Final = 60
_MOST: Final = 20  # stubs that one note makes


def person_name(text: str) -> str:
    """The name as a file can have it; empty for what is no name, such as an address."""
    name = " ".join(_UNFIT.sub(" ", plain_words(clean_text(text))).split()).strip(". ")
    is_name = any(each.isalpha() for each in name) and "@" not in name and len(name) <= _LONGEST_NAME
    return name if is_name else ""


def person_target(name: str, session: Session) -> str:
    """What a link to that person points to: `People/NAME` if that note exists, else the name alone."""
    named = person_name(name)
    path = f"{PEOPLE}/{named}.md"
    return (
        path.removesuffix(".md") if named and stat_or_none(path, session.stores.vault) else named or plain_words(name)
    )


def create_person_stubs(names: Iterable[str], session: Session) -> tuple[str, ...]:
    """Create a note for each of these people who has none; returns the new paths. What goes wrong is an event.

    A person who has a note or an alias of that name anywhere, or is the person themselves, gets none.
    """
    stores, created = session.stores, list[str]()
    for name in [*dict.fromkeys(filter(None, map(person_name, names)))][:_MOST]:
        path = f"{PEOPLE}/{name}.md"
        with stores.index.reader() as reader:
            is_known = bool(reader.notes_named(stores.rules.entity(name)))
        if is_known or stores.rules.entity(name) == "me" or stat_or_none(path, stores.vault):
            continue
        try:
            locate(path, stores.vault)
            terms = Terms(message=f"autowrite: person {name}", expected=ABSENT)
            changed = write_note(path, _stub(name), session, terms)
        except CommonplaceError as error:  # a note about a meeting is not undone by a stub that cannot be written
            emit("person_stub_failed", level="warning", path=path, reason=error.message)
            continue
        created += [changed.path]
        emit("person_stub_written", path=changed.path, commit=changed.commit)
    return tuple(created)


def _stub(name: str) -> bytes:
    return f"---\ntype: person\nautowritten_by: commonplace\n---\n# {name}\n".encode()
