"""People in notes that templates write: the link to a person, and a short note for one who has none.

A link never creates a note. Before a note is written, the writer creates a stub for each of its people who has no note
of that name or alias anywhere in the vault (`skills.person_stubs`); what exists is never touched.
"""

import re
from collections.abc import Iterable
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.memory.facts import people_by_first_name
from commonplace.flows.notes.write import write_note
from commonplace.flows.read import locate, stat_or_none
from commonplace.flows.stores import Session
from commonplace.model import Terms
from commonplace.model.layout import PEOPLE
from commonplace.model.note_words import plain_words
from commonplace.model.template import AUTHOR, KEY, SECTIONS, SOURCE_VERSION, TEMPLATE, WRITTEN_BY
from commonplace.model.untrusted_text import clean_text
from commonplace.notes import set_key
from commonplace.templates.sections import marks_of
from commonplace.vault.base import ABSENT

PROFILE: Final = "person_profile"
"""The template of a note about a person; a stub is the beginning of such a note."""
_UNFIT: Final = re.compile(r"[\[\]|#^\\/:*?\"<>\x00-\x1f]+")
_LONGEST_NAME: Final = 60
_MOST: Final = 20  # stubs that one note makes


def person_name(text: str) -> str:
    """The name as a file can have it; empty for what is no name, such as an address."""
    name = " ".join(_UNFIT.sub(" ", plain_words(clean_text(text))).split()).strip(". ")
    is_name = any(each.isalpha() for each in name) and "@" not in name and len(name) <= _LONGEST_NAME
    return name if is_name else ""


def person_target(name: str, session: Session) -> str:
    """What a link to that person points to: `People/NAME` if that note exists, else the one note of that name or alias.

    A first name is enough if only one person in `People` has it. The name alone if there is no such note, or several.
    """
    named = person_name(name)
    path, stores = f"{PEOPLE}/{named}.md", session.stores
    if not named or stat_or_none(path, stores.vault):
        return path.removesuffix(".md") if named else plain_words(name)
    with stores.index.reader() as reader:
        paths = reader.notes_named(stores.rules.entity(named))
    paths = paths or people_by_first_name(session).get(stores.rules.entity(named), ())
    return paths[0].removesuffix(".md") if len(paths) == 1 and stat_or_none(paths[0], stores.vault) else named


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


def profile_key(name: str) -> str:
    """The idempotency key of the note about a person."""
    return f"{PROFILE}:{name}"


def _stub(name: str) -> bytes:
    """A note about a person of whom nothing is told yet; the skill `person_profile` completes it."""
    own, body = {"type": "person"}, f"# {name}\n"
    keys = {
        **own,
        TEMPLATE: PROFILE,
        KEY: profile_key(name),
        SOURCE_VERSION: "stub",
        WRITTEN_BY: AUTHOR,
        SECTIONS: [*marks_of(body, own)],
    }
    content = body.encode()
    for key, value in keys.items():
        content = set_key(content, key, value, path=f"{PEOPLE}/{name}.md")
    return content
