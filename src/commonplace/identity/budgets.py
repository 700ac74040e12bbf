"""What language models cost each person today, and whether their budget allows the next call.

A vault's own budget is that of the settings; a person's counts over all vaults. A call is charged to the person who
asked for it; what upkeep and learning ask for is charged to the owner of the vault.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from commonplace.identity.people import People, Person
from commonplace.identity.schema import IdentityDatabase

_ADD: Final = """
INSERT INTO person_spending (person, day, tokens, cost) VALUES (:person, :day, :tokens, :cost)
ON CONFLICT (person, day) DO UPDATE SET
  tokens = person_spending.tokens + excluded.tokens, cost = person_spending.cost + excluded.cost
"""
_TODAY: Final = "SELECT tokens, cost FROM person_spending WHERE person = ? AND day = ?"


@dataclass(frozen=True, slots=True)
class PersonSpending:
    """Tokens and dollars of one person on one UTC day."""

    tokens: int = 0
    cost: float = 0.0


class PersonBudgets:
    """The budgets of the people who use one vault; on a server without people nobody has one."""

    def __init__(self, database: IdentityDatabase, vault: str) -> None:
        self._database, self._vault, self._people = database, vault, People(database)

    def reserve(self, person: str, *, tokens: int, cost: float, at: datetime) -> str:
        """Add to what the person has spent today; returns why it is too much, and adds nothing then.

        Without a person, the owner of the vault pays; a vault without an owner has no budget but its own.
        """
        payer = self._payer(person)
        if payer is None:
            return ""
        with self._database.write_transaction() as connection:
            row: Any = connection.execute(_TODAY, (payer.id, _day(at))).fetchone()
            spent = PersonSpending(*row) if row else PersonSpending()
            if reason := _excess(payer, spent, tokens=tokens, cost=cost):
                return reason
            connection.execute(_ADD, {"person": payer.id, "day": _day(at), "tokens": tokens, "cost": cost})
        return ""

    def settle(self, person: str, *, tokens: int, cost: float, at: datetime) -> None:
        """Correct what was reserved by the difference, which is negative if less was used."""
        if payer := self._payer(person):
            with self._database.write_transaction() as connection:
                connection.execute(_ADD, {"person": payer.id, "day": _day(at), "tokens": tokens, "cost": cost})

    def _payer(self, person: str) -> Person | None:
        if not self._database.exists():
            return None
        owner = next((each.person for each in self._people.members(self._vault) if each.role == "owner"), "")
        return self._people.find(person or owner)


def spent_by(database: IdentityDatabase, person: str, *, at: datetime) -> PersonSpending:
    """What the person has spent on that UTC day."""
    with database.read_transaction() as connection:
        row: Any = connection.execute(_TODAY, (person, _day(at))).fetchone()
    return PersonSpending(*row) if row else PersonSpending()


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _excess(person: Person, spent: PersonSpending, *, tokens: int, cost: float) -> str:
    """Why the next call would exceed the person's budget; empty if it would not."""
    if person.daily_tokens is not None and spent.tokens + tokens > person.daily_tokens:
        return f"{person.id} has spent {spent.tokens:,} of {person.daily_tokens:,} tokens today"
    if person.daily_dollars is not None and spent.cost + cost > person.daily_dollars:
        return f"{person.id} has spent ${spent.cost:.4f} of ${person.daily_dollars:.2f} today"
    return ""
