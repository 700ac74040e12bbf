"""Identities in PostgreSQL: what several daemons know together."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from commonplace.daemon.tokens import Tokens
from commonplace.errors import NotFound, VaultUnavailable
from commonplace.identity.access import Identities
from commonplace.identity.budgets import PersonBudgets, spent_by
from commonplace.identity.devices import DeviceTokens
from commonplace.identity.people import Person
from commonplace.identity.postgresql import PostgresqlIdentities
from tests.postgresql import database_url, no_people, postgresql_server

pytestmark = pytest.mark.needs("postgres")
NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def identities() -> Identities:
    """Ada, who owns a vault in the database and may spend 100 tokens a day."""
    found = Identities(no_people())
    found.people.add(Person("ada", "Ada", daily_tokens=100), now=NOW)
    found.people.share("postgresql:ada", "ada", role="owner", now=NOW)
    return found


def tokens_of(folder: Path) -> Tokens:
    """The tokens that a daemon with that folder accepts."""
    return Tokens(folder / "tokens.json", DeviceTokens(PostgresqlIdentities(postgresql_server())))


def make_token(tokens: Tokens, client: str, *, person: str = "ada") -> str:
    """A new secret."""
    return tokens.create(client, scopes=["read"], vault="", now=NOW, person=person)[1]


def test_a_token_of_a_person_counts_on_every_daemon_until_it_is_revoked_on_one(
    identities: Identities, tmp_path: Path
) -> None:
    """The daemons share no folder."""
    first, second = tokens_of(tmp_path / "a"), tokens_of(tmp_path / "b")
    secret = make_token(first, "laptop")
    found = second.find(secret)
    assert found is not None
    second.touch(found, now=NOW + timedelta(minutes=1))
    second.write_uses()
    listed = first.list()
    revoked = first.revoke("laptop", now=NOW)

    assert (found.client, found.person, found.scopes) == ("laptop", "ada", ("read",))
    assert [each.last_used for each in listed] == ["2026-03-01T09:01:00Z"]
    assert [each.client for each in revoked] == ["laptop"]
    assert second.find(secret) is None
    assert not (tmp_path / "a" / "tokens.json").exists()


def test_a_token_of_the_user_who_runs_a_daemon_counts_on_that_daemon_alone(
    identities: Identities, tmp_path: Path
) -> None:
    """It opens everything that the user may open there, and nothing elsewhere."""
    first, second = tokens_of(tmp_path / "a"), tokens_of(tmp_path / "b")
    secret = make_token(first, "codex", person="")

    assert first.find(secret) is not None
    assert second.find(secret) is None
    with pytest.raises(NotFound):
        second.revoke("codex", now=NOW)


def test_who_is_removed_loses_all_tokens(identities: Identities, tmp_path: Path) -> None:
    """Those that were made at any daemon."""
    first, second = tokens_of(tmp_path / "a"), tokens_of(tmp_path / "b")
    secrets = [make_token(first, "laptop"), make_token(second, "phone")]
    ended = second.revoke_all(person="ada", now=NOW)

    assert {each.client for each in ended} == {"laptop", "phone"}
    assert [first.find(each) for each in secrets] == [None, None]


def test_people_have_one_budget_on_all_daemons(identities: Identities) -> None:
    """A reservation of one is seen by the other; the vault is the same wherever its folder is."""
    budgets = [PersonBudgets(PostgresqlIdentities(postgresql_server()), "postgresql:ada") for _ in range(2)]
    said = [each.reserve("", tokens=60, cost=0.5, at=NOW) for each in budgets]
    budgets[1].settle("ada", tokens=-20, cost=-0.25, at=NOW)
    spent = spent_by(identities.database, "ada", at=NOW)

    assert said == ["", "ada has spent 60 of 100 tokens today"]
    assert (spent.tokens, spent.cost) == (40, 0.25)


def test_a_vault_in_a_database_is_chosen_by_its_name(identities: Identities) -> None:
    """By NAME, or by postgresql:NAME; a folder on one machine is not its name."""
    chosen = [identities.access("ada", vault=name, scopes=["read"]) for name in ("ada", "postgresql:ada", "", "/v/ada")]

    assert [each.vault if each else None for each in chosen] == ["postgresql:ada"] * 3 + [""]


def test_text_of_strangers_is_no_error_of_the_database(identities: Identities, tmp_path: Path) -> None:
    """A character that PostgreSQL does not store is in no id and in no token."""
    assert identities.grants.client("a\x00b") is None
    assert identities.grants.client("\udc80" * 32) is None
    assert identities.grants.find("cpa_\x00\udc80", now=NOW) is None
    assert tokens_of(tmp_path).find("cpl_\x00\udc80") is None
    assert identities.redeem("\x00", now=NOW) is None


def test_the_database_holds_no_secret(identities: Identities, tmp_path: Path) -> None:
    """Tokens and sign-in codes are there as hashes."""
    secrets = [make_token(tokens_of(tmp_path), "laptop"), identities.people.invite("ada", now=NOW)]
    with psycopg.connect(database_url()) as connection:
        rows = [
            str(connection.execute(f"SELECT * FROM {table}".encode()).fetchall())
            for table in ("identity_device_tokens", "identity_invites")
        ]

    assert all("ada" in each for each in rows)
    assert not any(secret in each for secret in secrets for each in rows)


def test_a_server_that_is_down_lets_nobody_in(tmp_path: Path) -> None:
    """The error says what cannot be used; no guess is answered as if it were wrong."""
    from commonplace.database.postgresql import PostgresqlServer

    server = PostgresqlServer(f"postgresql://commonplace@/x?host={tmp_path}", connections=1, partitions=0, wait=0.1)
    tokens = Tokens(tmp_path / "tokens.json", DeviceTokens(PostgresqlIdentities(server)))

    with pytest.raises(VaultUnavailable, match="list of people in PostgreSQL cannot be used"):
        tokens.find("cpl_guess")
