"""The guard of a team server: proxies, addresses, and tokens of people."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.daemon.server.guard import client_address, is_admitted_peer, is_of_this_machine
from commonplace.daemon.server.messages import RequestHead
from commonplace.errors import UsageError
from commonplace.identity.people import Person
from commonplace.policy.options import ServeOptions
from tests.integration.daemon.test_guard import NOW, OPTIONS, House

TEAM = replace(OPTIONS, team=True, public_url="https://memory.example.org", trusted_proxies=("10.0.0.2",))
HOST = ("Host", "memory.example.org")


def head(peer: str, *forwarded: str) -> RequestHead:
    """A request from that address, with what proxies say about it."""
    headers = tuple((b"x-forwarded-for", each.encode()) for each in forwarded)
    return RequestHead("GET", "/health", headers, port=8377, size=0, peer=(peer, 5))


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A team server's guard, and Ada with a vault."""
    house = House(tmp_path, options=TEAM)
    house.identities.people.add(Person("ada", "Ada"), now=NOW)
    house.identities.people.share("/v/ada", "ada", role="owner", now=NOW)
    return house


def bearer(house: House, person: str, **more: Any) -> tuple[str, str]:
    """The header with a new token of the person."""
    scopes = more.pop("scopes", ("read", "write"))
    vault = more.pop("vault", "")
    secret = house.tokens.create("laptop", scopes=scopes, vault=vault, now=NOW, person=person)[1]
    return "Authorization", f"Bearer {secret}"


def test_with_named_proxies_no_other_machine_may_connect() -> None:
    """The proxies and this machine itself may; without names everybody may."""
    peers = ("10.0.0.2", "127.0.0.1", "10.0.0.3")

    assert [is_admitted_peer(head(peer), TEAM) for peer in peers] == [True, True, False]
    assert is_admitted_peer(head("10.0.0.3"), replace(TEAM, trusted_proxies=()))
    assert is_admitted_peer(head("10.0.0.3"), ServeOptions())


def test_a_network_of_proxies_may_be_named() -> None:
    """In containers a proxy has another address each time; IPv4 may come by a socket of IPv6."""
    options = replace(TEAM, trusted_proxies=("172.31.77.0/24", "fd00::/64"))
    peers = ("172.31.77.9", "::ffff:172.31.77.9", "fd00::7", "172.31.78.1", "fd01::7", "")

    assert [is_admitted_peer(head(peer), options) for peer in peers] == [True, True, True, False, False, False]
    assert client_address(head("172.31.77.9", "1.2.3.4"), options) == "1.2.3.4"


def test_only_a_trusted_proxy_says_from_where_a_request_comes() -> None:
    """Of a list, what the proxy itself added counts: the rest may be the caller's own words."""
    assert client_address(head("10.0.0.2", "1.2.3.4"), TEAM) == "1.2.3.4"
    assert client_address(head("10.0.0.2", "6.6.6.6, 1.2.3.4"), TEAM) == "1.2.3.4"
    assert client_address(head("10.0.0.2", "6.6.6.6", "1.2.3.4"), TEAM) == "1.2.3.4"
    assert client_address(head("10.0.0.2"), TEAM) == "10.0.0.2"
    assert client_address(head("127.0.0.1", "1.2.3.4"), TEAM) == "127.0.0.1"
    assert client_address(head("10.0.0.2", "1.2.3.4"), ServeOptions()) == "10.0.0.2"


def test_open_metrics_are_for_this_machine_alone() -> None:
    """Not for other machines, and not for whoever comes through a proxy on this one, whatever Host they name."""
    here, proxied = ServeOptions(), replace(TEAM, trusted_proxies=("127.0.0.1",))

    def asked(peer: str, host: str, *forwarded: str) -> RequestHead:
        found = head(peer, *forwarded)
        return replace(found, headers=(*found.headers, (b"host", host.encode())))

    assert is_of_this_machine(asked("127.0.0.1", "127.0.0.1:8377"), TEAM)
    assert is_of_this_machine(asked("127.0.0.1", "localhost:8377"), proxied)
    assert not is_of_this_machine(asked("127.0.0.1", "memory.example.org"), TEAM)
    assert not is_of_this_machine(asked("10.0.0.3", "127.0.0.1:8377"), TEAM)
    assert not is_of_this_machine(asked("127.0.0.1", "127.0.0.1:8377", "1.2.3.4"), proxied)
    assert is_of_this_machine(asked("127.0.0.1", "memory.example.org"), here)


def test_metrics_that_are_open_need_a_token_from_elsewhere(tmp_path: Path) -> None:
    """On a team server, under its public name."""
    house = House(tmp_path, options=replace(TEAM, trusted_proxies=(), metrics_open=True))

    assert house.ask("/metrics", HOST).status == 401


def test_a_caller_carries_its_person_and_their_vault(house: House) -> None:
    """A route sees for whom the program acts, and the vault by its path."""
    answer = house.ask("/mcp", HOST, bearer(house, "ada"))
    caller = house.inside.caller

    assert answer.status == 200
    assert (caller.name, caller.person, caller.vault) == ("laptop", "ada", "/v/ada")


def test_a_token_of_a_person_who_was_removed_or_has_no_vault_opens_nothing(house: House) -> None:
    """Removed is like an invalid token; without a vault the token is for none."""
    house.identities.people.add(Person("ben", "Ben"), now=NOW)
    ben, ada = bearer(house, "ben"), bearer(house, "ada")
    house.identities.people.remove("ada", now=NOW)

    assert house.ask("/mcp", HOST, ada).status == 401
    assert house.ask("/mcp", HOST, ben).status == 403
    assert house.ask("/mcp", HOST, bearer(house, "nobody")).status == 401


def test_a_damaged_list_of_people_lets_nobody_in(house: House, tmp_path: Path) -> None:
    """As with a damaged list of tokens: an error, and no guess."""
    token = bearer(house, "ada")
    for path in tmp_path.glob("identity.db*"):
        path.unlink()
    (tmp_path / "identity.db").write_bytes(b"not a database" * 100)

    assert house.ask("/mcp", HOST, token).status == 503


@pytest.mark.parametrize(
    "options",
    [
        ServeOptions(host="0.0.0.0"),
        ServeOptions(team=True),
        ServeOptions(team=True, public_url="ftp://memory.example.org"),
        ServeOptions(team=True, public_url="http://memory.example.org"),
        ServeOptions(team=True, public_url="https://memory.example.org/x"),
        ServeOptions(team=True, public_url="https://memory.example.org:99999"),
        ServeOptions(team=True, public_url="https://ada:secret@memory.example.org"),
        ServeOptions(team=True, public_url="https://memory.example.org", trusted_proxies=("caddy",)),
    ],
)
def test_an_unsafe_address_is_refused(options: ServeOptions) -> None:
    """What other machines can reach needs team mode and https."""
    with pytest.raises(UsageError):
        options.check_address()


@pytest.mark.parametrize(
    "options",
    [
        ServeOptions(),
        ServeOptions(host="0.0.0.0", team=True, public_url="https://memory.example.org"),
        ServeOptions(host="10.0.0.1", team=True, public_url="http://memory.lan", trusted_proxies=("10.0.0.2",)),
        ServeOptions(team=True, public_url="http://localhost:8377"),
        ServeOptions(
            team=True, public_url="https://memory.example.org:8443/", trusted_proxies=("10.0.0.0/24", "fd00::1")
        ),
    ],
)
def test_a_safe_address_is_accepted(options: ServeOptions) -> None:
    """The loopback, https, named proxies, and a test of it all on this machine."""
    options.check_address()
