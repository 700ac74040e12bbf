"""Who a credential stands for: the person, the vault and the scopes that it opens now."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from commonplace.identity.grants import OAuthGrant, OAuthGrants
from commonplace.identity.people import People, Person, VaultMember, allowed_scopes, choose_vault
from commonplace.identity.schema import IdentityDatabase
from commonplace.model import Scope


@dataclass(frozen=True, slots=True)
class PersonAccess:
    """What a person may do with one credential in one vault; `vault` is empty if it is not one of theirs."""

    person: Person
    vault: str
    scopes: frozenset[Scope]


class Identities:
    """The people of a server and their grants. Without people it has no file, and none is made."""

    def __init__(self, database: IdentityDatabase) -> None:
        self.database = database
        self.people, self.grants = People(database), OAuthGrants(database)

    @property
    def has_people(self) -> bool:
        """True if somebody may sign in."""
        return self.database.exists() and self.people.has_any()

    def find(self, person: str) -> Person | None:
        """The person with that id; None if there is none, or if they were removed."""
        return self.people.find(person) if person and self.database.exists() else None

    def access(self, person: str, *, vault: str, scopes: Iterable[Scope]) -> PersonAccess | None:
        """What the person may do in that vault, or in their own if it is empty; None if there is no such person.

        Raises VaultUnavailable if the list of people cannot be read.
        """
        known, members = self.people.with_vaults(person) if self.database.exists() else (None, ())
        if known is None:
            return None
        member = choose_vault(members, vault)
        if member is None:
            return PersonAccess(known, "", frozenset())
        return PersonAccess(known, member.vault, allowed_scopes(known, member.role, scopes))

    def find_grant(self, token: str, *, now: datetime) -> OAuthGrant | None:
        """The valid grant of that OAuth access token; None for any other text."""
        return self.grants.find(token, now=now) if self.database.exists() else None

    def local_owner(self) -> str:
        """The id of the first person with the role owner: who the user that runs the daemon is; empty if nobody is."""
        people = self.people.list() if self.database.exists() else ()
        return next((each.id for each in people if each.role == "owner" and not each.removed), "")

    def own_vaults(self, person: str) -> tuple[VaultMember, ...]:
        """The vaults that belong to the person."""
        return tuple(each for each in self.people.vaults_of(person) if each.role == "owner")

    def redeem(self, code: str, *, now: datetime) -> tuple[str, str] | None:
        """The person whose sign-in code this is, and the vault they begin with; None if the code is not valid."""
        person = self.people.redeem(code, now=now) if self.database.exists() else None
        if person is None:
            return None
        return person.id, next((each.vault for each in self.own_vaults(person.id)), "")
