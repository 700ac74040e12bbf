"""Everybody is copied from a file to PostgreSQL and back: every row once, all or nothing, and every secret works on."""

import json
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from commonplace.daemon.tokens import TokenFile, Tokens
from commonplace.errors import Refused, VaultUnavailable
from commonplace.identity.access import Identities
from commonplace.identity.authorization import AuthorizationRequest
from commonplace.identity.budgets import PersonBudgets, spent_by
from commonplace.identity.copy import TABLES, IdentityStore, copy_identities
from commonplace.identity.devices import TOKEN_COLUMNS, DeviceTokens
from commonplace.identity.people import Person
from commonplace.identity.postgresql import PostgresqlIdentities
from commonplace.identity.schema import SqliteIdentities
from tests.postgresql import no_people, postgresql_server

pytestmark = pytest.mark.needs("postgres")
NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
REDIRECT, RESOURCE = "http://127.0.0.1:9/cb", "https://memory.example.org/mcp"


class Place:
    """A file of people with the file of their tokens, or PostgreSQL."""

    def __init__(self, store: IdentityStore, tokens: Tokens) -> None:
        self.store, self.tokens = store, tokens
        self.identities = Identities(store.database)


def in_files(folder: Path) -> Place:
    """The files of a daemon's folder."""
    file = folder / "tokens.json"
    return Place(IdentityStore(SqliteIdentities(folder / "identity.db"), TokenFile(file)), Tokens(file))


def in_postgresql(folder: Path) -> Place:
    """The database, for a daemon with that folder."""
    database = PostgresqlIdentities(postgresql_server())
    return Place(IdentityStore(database), Tokens(folder / "tokens.json", DeviceTokens(database)))


@pytest.fixture
def files(tmp_path: Path) -> Place:
    """The daemon's files with Ada and Ben, and a database with nobody."""
    no_people()
    place = in_files(tmp_path)
    people = place.identities.people
    people.add(Person("ada", "Ada Lovelace", "owner", 100, 0.5, 20.0), now=NOW)
    people.add(Person("ben", "Ben"), now=NOW)
    people.share("/v/ada", "ada", role="owner", now=NOW)
    people.share("postgresql:garden", "ada", role="owner", now=NOW)
    people.share("postgresql:garden", "ben", role="writer", now=NOW)
    return place


def consent(place: Place) -> str:
    """The code of Ada's consent."""
    client = place.identities.grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW)
    request = AuthorizationRequest(client.id, REDIRECT, CHALLENGE, ("read",), RESOURCE)
    code = place.identities.grants.approve(request, name="Heron", person="ada", vault="/v/ada", now=NOW)
    pair = place.identities.grants.exchange(
        code, client=client.id, redirect=REDIRECT, verifier=VERIFIER, resource=RESOURCE, now=NOW
    )
    return pair.access


def device(place: Place, client: str, *, person: str) -> str:
    """The secret of a new token."""
    return place.tokens.create(client, scopes=["read", "write"], vault="", now=NOW, person=person)[1]


def test_everything_that_people_have_works_on_in_the_database_and_back_in_files(files: Place, tmp_path: Path) -> None:
    """Roles, limits, members, spending, a sign-in code, an OAuth grant, a token of a device."""
    access, invite = consent(files), files.identities.people.invite("ben", now=NOW)
    laptop, own = device(files, "laptop", person="ada"), device(files, "codex", person="")
    PersonBudgets(files.store.database, "/v/ada").reserve("ada", tokens=40, cost=0.25, at=NOW)
    rows = in_postgresql(tmp_path)
    copied = copy_identities(files.store, rows.store)
    again = copy_identities(files.store, rows.store)
    elsewhere = in_files(tmp_path / "elsewhere")
    back = copy_identities(rows.store, elsewhere.store)

    assert copied.rows == {**dict.fromkeys(("oauth_clients", "oauth_grants", "invites"), 1), **copied.rows}
    assert (copied.rows["people"], copied.rows["members"], copied.rows["device_tokens"]) == (2, 3, 1)
    assert (copied.folders, copied.replaced, copied.is_equal) == (("/v/ada",), 0, False)
    assert again.is_equal
    assert back.rows == copied.rows
    for place in (rows, elsewhere):
        assert place.identities.people.list() == files.identities.people.list()
        assert place.identities.people.members("postgresql:garden") == files.identities.people.members(
            "postgresql:garden"
        )
        assert spent_by(place.store.database, "ada", at=NOW).tokens == 40
        grant, token = place.identities.find_grant(access, now=NOW), place.tokens.find(laptop)
        assert (grant and grant.person, token and token.person) == ("ada", "ada")
        assert place.identities.redeem(invite, now=NOW) == ("ben", "")
    assert rows.tokens.find(own) is not None
    assert elsewhere.tokens.find(own) is None


def test_what_is_there_is_not_replaced_without_being_asked(files: Place, tmp_path: Path) -> None:
    """A dry run says how many rows that would be, and changes nothing."""
    rows = in_postgresql(tmp_path)
    rows.identities.people.add(Person("eve", "Eve"), now=NOW)
    device(rows, "phone", person="eve")
    with pytest.raises(Refused, match="not empty: it has 2 rows"):
        copy_identities(files.store, rows.store)
    planned = copy_identities(files.store, rows.store, is_dry=True)
    before = [each.id for each in rows.identities.people.list()]
    done = copy_identities(files.store, rows.store, replaces=True)

    assert (planned.replaced, before) == (2, ["eve"])
    assert done.replaced == 2
    assert [each.id for each in rows.identities.people.list()] == ["ada", "ben"]
    assert rows.tokens.list() == ()


def test_nobody_replaces_nobody(tmp_path: Path) -> None:
    """An empty place is most likely the wrong one."""
    no_people()
    with pytest.raises(Refused, match="nobody to copy"):
        copy_identities(in_files(tmp_path).store, in_postgresql(tmp_path).store, replaces=True)

    assert not (tmp_path / "identity.db").exists()


def test_a_row_that_is_refused_leaves_everything_as_it_was(files: Place, tmp_path: Path) -> None:
    """The name of a token's client that PostgreSQL cannot store."""
    device(files, "laptop", person="ada")
    file = tmp_path / "tokens.json"
    values = json.loads(file.read_text())
    values["tokens"][0]["client"] = "lap\x00top"
    file.write_text(json.dumps(values))
    rows = in_postgresql(tmp_path)
    with pytest.raises(VaultUnavailable):
        copy_identities(files.store, rows.store)

    assert rows.identities.people.list() == ()


def test_tokens_of_people_in_the_file_do_not_count_beside_those_in_the_database(files: Place, tmp_path: Path) -> None:
    """A token that another daemon revoked would go on working by the copy in the file."""
    laptop = device(files, "laptop", person="ada")
    first, second = in_postgresql(tmp_path), in_postgresql(tmp_path / "second")
    before = first.tokens.find(laptop)
    copy_identities(files.store, first.store)
    copied, listed = first.tokens.find(laptop), first.tokens.list()
    second.tokens.revoke("laptop", now=NOW)
    revoked = first.tokens.revoke("laptop", now=NOW)

    assert (before, copied and copied.client, len(listed)) == (None, "laptop", 1)
    assert first.tokens.find(laptop) is None
    assert (len(revoked), files.tokens.find(laptop)) == (1, None)


def test_every_column_is_copied(files: Place, tmp_path: Path) -> None:
    """Those of the file and of the database; a column that is added later must be added to the copy."""
    connection = apsw.Connection(str(tmp_path / "identity.db"))
    in_file = {
        table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    connection.close()
    with PostgresqlIdentities(postgresql_server()).read_transaction() as statements:
        rows = statements.execute(
            "SELECT substr(table_name, 10), column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND starts_with(table_name, 'identity_')"
        )
        in_database: dict[str, set[str]] = {}
        for table, column in rows:
            in_database.setdefault(table, set()).add(column)

    assert {name: {*columns} for name, columns in TABLES.items()} == in_file
    assert in_database == in_file | {"device_tokens": {*TOKEN_COLUMNS}}
