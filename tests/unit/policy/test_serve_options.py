"""Which hosts and pages may come in."""

import pytest

from commonplace.policy.options import ServeOptions

OPTIONS = ServeOptions(allowed_origins=("app://obsidian.md",))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "127.0.0.1:8377", "localhost:8377", "[::1]:8377", "LocalHost:8377"]
)
def test_the_names_of_this_machine_are_ours(host: str) -> None:
    """With our port or without one."""
    assert OPTIONS.admits_host(host, port=8377)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8377",
        "localhost.evil.example:8377",
        "127.0.0.1.nip.io:8377",
        "127.0.0.1:9999",
        "127.0.0.1:",
        "127.0.0.1:8377:8377",
        "127.0.0.1:8377@evil.example",
        "user@127.0.0.1:8377",
        "0.0.0.0:8377",
        "127.1:8377",
        "2130706433:8377",
        "[::ffff:127.0.0.1]:8377",
        "localhost.:8377",
        "127.0.0.1:٨٣٧٧",
        " 127.0.0.1",
        "127.0.0.1\n",
    ],
)
def test_every_other_host_is_not(host: str) -> None:
    """A name that a page has pointed at us, another port, and other spellings of the address."""
    assert not OPTIONS.admits_host(host, port=8377)


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:8377", "http://localhost:8377", "http://[::1]:8377", "app://obsidian.md"]
)
def test_our_own_pages_and_allowed_ones_may_call(origin: str) -> None:
    """Whatever the browser says of where the request came from."""
    assert OPTIONS.admits_origin(origin, port=8377)
    assert OPTIONS.admits_fetch("cross-site", origin=origin, port=8377)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "https://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:9999",
        "https://127.0.0.1:8377",
        "http://localhost:8377.evil.example",
        "http://localhost:8377/",
        "app://obsidian.md.evil",
        "APP://OBSIDIAN.MD",
    ],
)
def test_every_other_page_may_not(origin: str) -> None:
    """Another site, another port, another scheme, something that only begins like one of ours."""
    assert not OPTIONS.admits_origin(origin, port=8377)
    assert not OPTIONS.admits_fetch("same-origin", origin=origin, port=8377)


def test_null_may_not_call_even_where_someone_allowed_it() -> None:
    """Every sandboxed page and every file has this origin, so it says nothing."""
    assert not ServeOptions(allowed_origins=("null",)).admits_origin("null", port=8377)


@pytest.mark.parametrize(
    ("site", "admitted"),
    [("", True), ("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False), ("x", False)],
)
def test_without_an_origin_the_site_decides(site: str, *, admitted: bool) -> None:
    """A picture or a link on a hostile page sends no origin; a program sends neither."""
    assert OPTIONS.admits_fetch(site, origin=None, port=8377) is admitted


def test_on_the_socket_no_page_is_our_own() -> None:
    """There is no port, so there is no page of ours; those that are allowed stay so."""
    assert not OPTIONS.admits_origin("http://127.0.0.1:8377", port=None)
    assert not OPTIONS.admits_origin("http://localhost:None", port=None)
    assert OPTIONS.admits_origin("app://obsidian.md", port=None)
