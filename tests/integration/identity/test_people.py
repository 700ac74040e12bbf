"""People and their grants in the database: what is stored, what ends, and what expires."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError, VaultUnavailable
from commonplace.identity.access import Identities
from commonplace.identity.authorization import AuthorizationRequest, OAuthError
from commonplace.identity.grants import (
    ACCESS_LIFE,
    CODE_LIFE,
    MOST_CLIENTS,
    MOST_OF_NETWORK,
    REFRESH_LIFE,
    OAuthGrants,
    TokenPair,
    network_of,
)
from commonplace.identity.people import INVITE_LIFE, Person
from commonplace.identity.schema import IdentityConnection, SqliteIdentities
from tests.postgresql import no_people

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
# The example of RFC 7636, appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
REDIRECT, RESOURCE = "http://127.0.0.1:9/cb", "https://memory.example.org/mcp"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgres"))])
def identities(tmp_path: Path, request: pytest.FixtureRequest) -> Identities:
    """Ada with a vault."""
    found = Identities(SqliteIdentities(tmp_path / "identity.db") if request.param == "sqlite" else no_people())
    found.people.add(Person("ada", "Ada"), now=NOW)
    found.people.share("/v/ada", "ada", role="owner", now=NOW)
    return found


def code_for(identities: Identities, client: str) -> str:
    """The code of Ada's consent."""
    request = AuthorizationRequest(client, REDIRECT, CHALLENGE, ("read",), RESOURCE)
    return identities.grants.approve(request, name="Heron", person="ada", vault="/v/ada", now=NOW)


def exchange(identities: Identities, client: str, code: str, *, now: datetime = NOW) -> TokenPair:
    """The tokens for a code."""
    return identities.grants.exchange(
        code, client=client, redirect=REDIRECT, verifier=VERIFIER, resource=RESOURCE, now=now
    )


def test_a_server_without_people_makes_no_file(tmp_path: Path) -> None:
    """Looking for a person, a token or a code leaves nothing behind."""
    identities = Identities(SqliteIdentities(tmp_path / "identity.db"))

    assert not identities.has_people
    assert identities.find("ada") is None
    assert identities.redeem("guess", now=NOW) is None
    assert identities.local_owner() == ""
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("id", ["", "Ada", "a b", "ada/ben", "-ada", "a" * 41, "adä", "ada\n"])
def test_an_id_is_plain_because_commits_and_headers_name_it(identities: Identities, id: str) -> None:
    """Lower-case letters, digits, dots and dashes."""
    with pytest.raises(UsageError):
        identities.people.add(Person(id, "Somebody"), now=NOW)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[31m", "x" * 81])
def test_a_name_is_one_printable_line(identities: Identities, name: str) -> None:
    """It is shown on pages and terminals."""
    with pytest.raises(UsageError):
        identities.people.add(Person("ben", name), now=NOW)


@pytest.mark.parametrize(
    "person",
    [
        Person("ben", "Ben", requests_per_second=float("inf")),
        Person("ben", "Ben", requests_per_second=float("nan")),
        Person("ben", "Ben", requests_per_second=0),
        Person("ben", "Ben", daily_dollars=-0.5),
        Person("ben", "Ben", daily_tokens=10**23),
    ],
)
def test_a_limit_is_a_number_that_can_be_counted_to(identities: Identities, person: Person) -> None:
    """No database could store some of them, and no request of the person could be answered."""
    with pytest.raises(UsageError, match="must be"):
        identities.people.add(person, now=NOW)


def test_a_vault_has_one_owner(identities: Identities) -> None:
    """A second one is refused; a member may become the owner when there is none."""
    identities.people.add(Person("ben", "Ben"), now=NOW)
    with pytest.raises(UsageError, match="belongs to ada"):
        identities.people.share("/v/ada", "ben", role="owner", now=NOW)
    identities.people.unshare("/v/ada", "ada", now=NOW)
    identities.people.share("/v/ada", "ben", role="owner", now=NOW)

    assert [each.person for each in identities.people.members("/v/ada")] == ["ben"]
    assert getattr(identities.access("ada", vault="", scopes=("read",)), "vault", None) == ""


def test_a_code_to_sign_in_works_once_and_in_time(identities: Identities) -> None:
    """A second use, a late one and one of a removed person fail."""
    used, late, removed = (identities.people.invite("ada", now=NOW) for _ in range(3))
    first, second = identities.redeem(used, now=NOW), identities.redeem(used, now=NOW)
    too_late = identities.redeem(late, now=NOW + INVITE_LIFE)
    identities.people.remove("ada", now=NOW)

    assert first == ("ada", "/v/ada")
    assert (second, too_late, identities.redeem(removed, now=NOW)) == (None, None, None)
    with pytest.raises(NotFound):
        identities.people.invite("ada", now=NOW)


def test_codes_and_tokens_expire(identities: Identities) -> None:
    """A code after minutes, an access token after an hour, a refresh token after a month without use."""
    grants, client = identities.grants, identities.grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW).id
    pair = exchange(identities, client, code_for(identities, client))
    late = code_for(identities, client)
    with pytest.raises(OAuthError):
        exchange(identities, client, late, now=NOW + CODE_LIFE)
    in_time = grants.find(pair.access, now=NOW + ACCESS_LIFE - timedelta(seconds=1))
    with pytest.raises(OAuthError):
        grants.refresh(pair.refresh, client=client, resource="", now=NOW + REFRESH_LIFE)

    assert in_time is not None
    assert grants.find(pair.access, now=NOW + ACCESS_LIFE) is None
    assert grants.find(pair.refresh, now=NOW) is None


def test_what_has_ended_is_forgotten_in_time(identities: Identities) -> None:
    """Grants whose codes and tokens are too old are removed, and with many clients the oldest without a grant."""
    grants = identities.grants
    used = grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW).id
    exchange(identities, used, code_for(identities, used))
    first = grants.register("Egret", [REDIRECT], address="127.0.0.1", now=NOW).id
    with identities.database.write_transaction() as connection:
        rows = [(f"{number:032x}", "2026-03-01T09:00:01Z") for number in range(MOST_CLIENTS)]
        add = "INSERT INTO oauth_clients (id, name, redirects, created) VALUES (?, 'x', '[]', ?)"
        connection.executemany(add, rows)
    grants.register("Crane", [REDIRECT], address="192.0.2.1", now=NOW + timedelta(seconds=2))
    request = AuthorizationRequest(used, REDIRECT, CHALLENGE, ("read",), RESOURCE)
    grants.approve(request, name="New", person="ada", vault="/v/ada", now=NOW + REFRESH_LIFE)

    assert grants.client(first) is None
    assert grants.client(used) is not None
    assert [each.name for each in grants.list("ada")] == ["New"]


def test_clients_that_one_network_registers_displace_no_others(identities: Identities) -> None:
    """Somebody who is about to consent goes on, whoever registers clients without end from elsewhere."""
    grants = identities.grants
    waiting = grants.register("Egret", [REDIRECT], address="192.0.2.1", now=NOW).id
    flood = [
        grants.register("Crane", [REDIRECT], address=f"2001:db8::{number:x}", now=NOW + timedelta(seconds=number)).id
        for number in range(MOST_OF_NETWORK + 5)
    ]
    exchange(identities, waiting, code_for(identities, waiting))

    assert grants.client(waiting) is not None
    assert [grants.client(each) is None for each in (flood[0], flood[4], flood[5], flood[-1])] == [
        *(True, True),
        *(False, False),
    ]


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "unix", False),
    ],
)
def test_a_network_is_an_address_or_the_first_half_of_one(first: str, second: str, is_one: bool) -> None:
    """It is stored as a hash; what is no address counts as itself."""
    assert (network_of(first) == network_of(second)) is is_one
    assert first == "" or first not in network_of(first)


def test_uses_of_grants_are_written_later(identities: Identities) -> None:
    """A request waits for no disk."""
    grants, client = identities.grants, identities.grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW).id
    grant = exchange(identities, client, code_for(identities, client)).grant
    grants.touch(grant, now=NOW)
    before = grants.list("ada")[0].last_used

    assert before == ""
    assert grants.write_uses() == 1
    assert grants.list("ada")[0].last_used == "2026-03-01T09:00:00Z"
    assert grants.write_uses() == 0


def test_uses_that_could_not_be_written_are_written_later(identities: Identities) -> None:
    """A database that is away for a while loses none."""
    client = identities.grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW).id
    grant = exchange(identities, client, code_for(identities, client)).grant
    away = OAuthGrants(DatabaseThatIsAway())
    away.touch(grant, now=NOW)
    with pytest.raises(VaultUnavailable):
        away.write_uses()
    with pytest.raises(VaultUnavailable):
        away.write_uses()


class DatabaseThatIsAway:
    """A database that no transaction reaches."""

    is_remote = True

    def exists(self) -> bool:
        """True, as far as anybody knows."""
        return True

    def read_transaction(self) -> AbstractContextManager[IdentityConnection]:
        """None."""
        raise VaultUnavailable("the database is away")

    write_transaction = read_transaction


@pytest.mark.parametrize("identities", ["sqlite"], indirect=True)
def test_the_file_is_private_and_holds_no_secret(identities: Identities, tmp_path: Path) -> None:
    """Invitations, codes and tokens are there as hashes."""
    client = identities.grants.register("Heron", [REDIRECT], address="127.0.0.1", now=NOW).id
    code, invitation = code_for(identities, client), identities.people.invite("ada", now=NOW)
    pair = exchange(identities, client, code)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert (tmp_path / "identity.db").stat().st_mode & 0o077 == 0
    assert not any(secret.encode() in content for secret in (code, invitation, pair.access, pair.refresh))
