"""People: their roles and limits, the vaults they may use, and the one-time codes by which they sign in.

A vault has one owner. Others see nothing of it until they are made members, as writers or readers.
"""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any, Final, Literal, TypeVar, get_args

from commonplace.client.paths import DATABASE_PREFIX
from commonplace.errors import NotFound, UsageError
from commonplace.identity.schema import IdentityConnection, IdentityDatabase, secret_hash
from commonplace.model import SCOPES, Scope
from commonplace.model.moment import moment_text

PersonRole = Literal["owner", "admin", "member", "reader"]
PERSON_ROLES: Final[tuple[PersonRole, ...]] = get_args(PersonRole)
"""What a person may do on the server: owners and admins see its status and stop it, readers write nowhere."""
VaultRole = Literal["owner", "writer", "reader"]
VAULT_ROLES: Final[tuple[VaultRole, ...]] = get_args(VaultRole)
"""What a person may do in one vault."""
_Word = TypeVar("_Word", bound=str)
INVITE_LIFE: Final = timedelta(hours=1)
_ID: Final = re.compile("[a-z0-9](?:[a-z0-9.-]{0,38}[a-z0-9])?")
_LONGEST_NAME: Final = 80
_HIGHEST_LIMIT: Final = 10**15  # both databases can store it, and it is as good as none
_SCOPES_OF: Final[Mapping[VaultRole, int]] = {"owner": 3, "writer": 2, "reader": 1}
"""How many of the scopes read, write and admin a role in a vault allows."""

_PEOPLE: Final = """
SELECT id, name, role, daily_tokens, daily_dollars, requests_per_second, created, removed FROM people
"""
_FIND: Final = f"{_PEOPLE} WHERE id = ?"
_LIST: Final = f"{_PEOPLE} ORDER BY created, id"
_ANY: Final = "SELECT 1 FROM people WHERE removed = '' LIMIT 1"
_ADD: Final = """
INSERT INTO people (id, name, role, daily_tokens, daily_dollars, requests_per_second, created)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_SAVE: Final = """
UPDATE people SET name = ?, role = ?, daily_tokens = ?, daily_dollars = ?, requests_per_second = ? WHERE id = ?
"""
_REMOVE: Final = """
UPDATE people SET removed = :now WHERE id = :id;
DELETE FROM members WHERE person = :id;
DELETE FROM invites WHERE person = :id;
UPDATE oauth_grants SET revoked = :now, why = 'the person was removed' WHERE person = :id AND revoked = '';
"""
_SHARE: Final = """
INSERT INTO members (person, vault, role, added) VALUES (?, ?, ?, ?)
ON CONFLICT (person, vault) DO UPDATE SET role = excluded.role
"""
_UNSHARE: Final = """
DELETE FROM members WHERE person = :id AND vault = :vault;
UPDATE oauth_grants SET revoked = :now, why = 'the person left the vault'
WHERE person = :id AND vault = :vault AND revoked = '';
"""
_MEMBERS: Final = "SELECT person, vault, role FROM members WHERE vault = ? ORDER BY role = 'owner' DESC, added, person"
_VAULTS: Final = "SELECT person, vault, role FROM members WHERE person = ? ORDER BY role = 'owner' DESC, added, vault"
_INVITE: Final = "INSERT INTO invites (hash, person, expires) VALUES (?, ?, ?)"
_REDEEM: Final = "DELETE FROM invites WHERE hash = ? AND expires > ? RETURNING person"
_DROP_INVITES: Final = "DELETE FROM invites WHERE expires <= ?"


@dataclass(frozen=True, slots=True)
class Person:
    """A person of this server.

    The limits are None where only those of the settings count. `removed` is empty while the person may sign in.
    """

    id: str
    name: str
    role: PersonRole = "member"
    daily_tokens: int | None = None
    daily_dollars: float | None = None
    requests_per_second: float | None = None
    created: str = ""
    removed: str = ""

    @property
    def runs_the_server(self) -> bool:
        """True if the person may see the status of the whole server, and stop it."""
        return self.role in ("owner", "admin")


@dataclass(frozen=True, slots=True)
class VaultMember:
    """A person who may use a vault, which is named by the path of its folder, or as postgresql:NAME."""

    person: str
    vault: str
    role: VaultRole


def parse_role(word: str) -> PersonRole:
    """The role of a person with that name. Raises UsageError."""
    return _chosen(word, PERSON_ROLES)


def parse_vault_role(word: str) -> VaultRole:
    """The role in a vault with that name. Raises UsageError."""
    return _chosen(word, VAULT_ROLES)


def allowed_scopes(person: Person, vault_role: VaultRole, scopes: Iterable[Scope]) -> frozenset[Scope]:
    """Those of the scopes that the person may use in a vault, with everything that each of them includes."""
    highest = max((SCOPES.index(scope) for scope in scopes), default=-1) + 1
    most = min(highest, _SCOPES_OF[vault_role], 1 if person.role == "reader" else len(SCOPES))
    return frozenset(SCOPES[:most])


def choose_vault(members: Sequence[VaultMember], named: str) -> VaultMember | None:
    """The membership whose vault has that path or folder name; for "" the person's own vault, else their first.

    None if there is none, or if several vaults have that folder name.
    """
    if not named:
        return next(iter(members), None)
    by_path = [each for each in members if each.vault == named]
    found = by_path or [each for each in members if short_name(each.vault) == named]
    return found[0] if len(found) == 1 else None


def short_name(vault: str) -> str:
    """The name by which a person chooses a vault: its folder's, or NAME of postgresql:NAME."""
    return PurePath(vault.removeprefix(DATABASE_PREFIX)).name


class People:
    """The people in one database. Changes by other programs are seen at the next call."""

    def __init__(self, database: IdentityDatabase) -> None:
        self._database = database

    def add(self, person: Person, *, now: datetime) -> Person:
        """Store a new person. Raises UsageError for an invalid value, or an id that was used before."""
        _check(person)
        with self._database.write_transaction() as connection:
            if known := _find(connection, person.id):
                what = "was removed; the history names the id, so choose another" if known.removed else "exists already"
                raise UsageError(f"the person {person.id} {what}", hint="`commonplace person list` shows all.")
            values = (*_limits(person), moment_text(now))
            connection.execute(_ADD, (person.id, person.name, person.role, *values))
            return _found(connection, person.id)

    def save(self, person: Person) -> Person:
        """Store another name, role or limits. Raises NotFound, UsageError for an invalid value."""
        _check(person)
        with self._database.write_transaction() as connection:
            _active(connection, person.id)
            connection.execute(_SAVE, (person.name, person.role, *_limits(person), person.id))
            return _found(connection, person.id)

    def find(self, id: str) -> Person | None:
        """The person with that id; None if there is none, or if they were removed."""
        with self._database.read_transaction() as connection:
            person = _find(connection, id)
        return person if person and not person.removed else None

    def require(self, id: str) -> Person:
        """The person with that id. Raises NotFound."""
        with self._database.read_transaction() as connection:
            return _active(connection, id)

    def list(self) -> tuple[Person, ...]:
        """All people, including those who were removed, oldest first."""
        with self._database.read_transaction() as connection:
            return tuple(Person(*row) for row in connection.execute(_LIST))

    def has_any(self) -> bool:
        """True if somebody may sign in."""
        with self._database.read_transaction() as connection:
            return connection.execute(_ANY).fetchone() is not None

    def remove(self, id: str, *, now: datetime) -> Person:
        """Shut the person out: their memberships, invites and OAuth grants end. Raises NotFound.

        Their vaults stay as they are, without an owner.
        """
        with self._database.write_transaction() as connection:
            _active(connection, id)
            connection.execute(_REMOVE, {"id": id, "now": moment_text(now)})
            return _found(connection, id)

    def share(self, vault: str, person: str, *, role: VaultRole, now: datetime) -> VaultMember:
        """Let the person use the vault in that role. Raises NotFound, UsageError if the vault has another owner."""
        with self._database.write_transaction() as connection:
            _active(connection, person)
            owner = next((each.person for each in _members(connection, _MEMBERS, vault) if each.role == "owner"), "")
            if role == "owner" and owner not in ("", person):
                hint = f"Remove the owner first: `commonplace person unshare {vault} {owner}`."
                raise UsageError(f"{vault} belongs to {owner}; a vault has one owner", hint=hint)
            connection.execute(_SHARE, (person, vault, role, moment_text(now)))
        return VaultMember(person, vault, role)

    def unshare(self, vault: str, person: str, *, now: datetime) -> VaultMember:
        """Take the vault from the person; their OAuth grants for it end. Raises NotFound."""
        with self._database.write_transaction() as connection:
            member = next((each for each in _members(connection, _MEMBERS, vault) if each.person == person), None)
            if member is None:
                raise NotFound(f"{person} does not use {vault}", hint=f"Run `commonplace person show {person}`.")
            connection.execute(_UNSHARE, {"id": person, "vault": vault, "now": moment_text(now)})
        return member

    def members(self, vault: str) -> tuple[VaultMember, ...]:
        """Who may use the vault, its owner first."""
        with self._database.read_transaction() as connection:
            return _members(connection, _MEMBERS, vault)

    def vaults_of(self, person: str) -> tuple[VaultMember, ...]:
        """The vaults that the person may use, their own first."""
        with self._database.read_transaction() as connection:
            return _members(connection, _VAULTS, person)

    def with_vaults(self, id: str) -> tuple[Person | None, tuple[VaultMember, ...]]:
        """The person as `find` gives them, and their vaults, both of one moment."""
        with self._database.read_transaction() as connection:
            person = _find(connection, id)
            members = _members(connection, _VAULTS, id)
        return (person, members) if person and not person.removed else (None, ())

    def invite(self, person: str, *, now: datetime, life: timedelta = INVITE_LIFE) -> str:
        """A new code by which the person signs in once, within `life`. Only its hash is stored. Raises NotFound."""
        code = secrets.token_urlsafe(24)
        with self._database.write_transaction() as connection:
            _active(connection, person)
            connection.execute(_DROP_INVITES, (moment_text(now),))
            connection.execute(_INVITE, (secret_hash(code), person, moment_text(now + life)))
        return code

    def redeem(self, code: str, *, now: datetime) -> Person | None:
        """The person whose code this is; the code is then used up. None if it was used, is too old or unknown."""
        with self._database.write_transaction() as connection:
            row: Any = connection.execute(_REDEEM, (secret_hash(code), moment_text(now))).fetchone()
            person = _find(connection, row[0]) if row else None
        return person if person and not person.removed else None


def people_who_share(database: IdentityDatabase, vault: str) -> frozenset[str]:
    """The ids of the people who may use the vault, if they are several; none for a vault of one person."""
    members = People(database).members(vault) if database.exists() else ()
    return frozenset(each.person for each in members) if len(members) > 1 else frozenset()


def _find(connection: IdentityConnection, id: str) -> Person | None:
    row: Any = connection.execute(_FIND, (id,)).fetchone()
    return Person(*row) if row else None


def _found(connection: IdentityConnection, id: str) -> Person:
    person = _find(connection, id)
    if person is None:
        raise NotFound(f"no person {id}", hint="`commonplace person list` shows all.")
    return person


def _active(connection: IdentityConnection, id: str) -> Person:
    person = _found(connection, id)
    if person.removed:
        raise NotFound(f"the person {id} was removed", hint="`commonplace person list` shows all.")
    return person


def _members(connection: IdentityConnection, query: str, of: str) -> tuple[VaultMember, ...]:
    return tuple(VaultMember(*row) for row in connection.execute(query, (of,)))


def _limits(person: Person) -> tuple[int | None, float | None, float | None]:
    return person.daily_tokens, person.daily_dollars, person.requests_per_second


def _chosen(word: str, among: Sequence[_Word]) -> _Word:
    for each in among:
        if each == word:
            return each
    raise UsageError(f"no such role: {word!r}", hint=f"Choose from {', '.join(among)}.")


def _check(person: Person) -> None:
    if not _ID.fullmatch(person.id):
        hint = "Use 1 to 40 lower-case letters, digits, dots and dashes, such as ada or ada.lovelace."
        raise UsageError(f"{person.id!r} is not a valid id for a person", hint=hint)
    if not 0 < len(person.name) <= _LONGEST_NAME or not person.name.isprintable() or not person.name.strip():
        raise UsageError("this is not a valid name", hint=f"Use 1 to {_LONGEST_NAME} printable characters.")
    if any(limit is not None and not 0 <= limit <= _HIGHEST_LIMIT for limit in _limits(person)):
        message = f"a limit must be from 0 to {_HIGHEST_LIMIT:,}"
        raise UsageError(message, hint="Leave it out for no limit of the person's own.")
    if person.requests_per_second == 0:
        raise UsageError("requests per second must be more than 0", hint="`commonplace person remove` shuts them out.")
