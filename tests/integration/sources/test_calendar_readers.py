"""Readers of calendars: files, addresses with their limits, and a real CalDAV server."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from commonplace.errors import CommonplaceError, ProviderFailed, Refused, UsageError
from commonplace.model.calendar import CalendarResource
from commonplace.sources.calendars.base import Reading
from commonplace.sources.calendars.caldav import CalDavReader
from commonplace.sources.calendars.files import AddressReader, FileReader
from commonplace.sources.calendars.https import CalendarServer, checked_address, is_public
from tests.calendar_servers import PASSWORD, USER, Page, Radicale, event_text, radicale, serving

TEXT = event_text("a", "DTSTART:20260303T100000Z")


def server(address: str, **changes: object) -> CalendarServer:
    """A server with the limits of tests."""
    limits: dict[str, object] = {"deadline": time.monotonic() + 20, "max_bytes": 100_000, **changes}
    return CalendarServer(address, label="the calendar work", **limits)  # type: ignore[arg-type]


def known(*readings: Reading) -> dict[str, CalendarResource]:
    """What is known after these readings."""
    resources: dict[str, CalendarResource] = {}
    for reading in readings:
        resources = {href: each for href, each in resources.items() if href not in reading.gone}
        resources |= {each.href: each for each in reading.changed}
    return resources


def test_a_file_is_read_again_only_if_it_changed(tmp_path: Path) -> None:
    """By its time and size."""
    file = tmp_path / "work.ics"
    file.write_text(TEXT)
    reader = FileReader(file, 10_000)
    first = reader.read("", {})

    assert [each.text for each in first.changed] == [TEXT]
    assert reader.read(first.mark, known(first)).is_unchanged
    file.write_text(TEXT.replace("Meeting", "Talk"))
    assert len(reader.read(first.mark, known(first)).changed) == 1


def test_a_folder_has_a_resource_for_each_file(tmp_path: Path) -> None:
    """As vdirsyncer writes them; files that are gone are told."""
    for name in ("a.ics", "b.ICS", "c.txt"):
        (tmp_path / name).write_text(TEXT)
    reader = FileReader(tmp_path, 10_000)
    first = reader.read("", {})
    (tmp_path / "a.ics").unlink()
    second = reader.read(first.mark, known(first))

    assert [*known(first)] == ["a.ics", "b.ICS"]
    assert (second.changed, second.gone) == ((), ("a.ics",))


def test_files_that_are_no_whole_calendar_are_refused(tmp_path: Path) -> None:
    """A missing, large, cut or other file must not look like an empty calendar; a pipe does not block."""
    cut, large, pipe = tmp_path / "cut.ics", tmp_path / "large.ics", tmp_path / "pipe.ics"
    cut.write_text(TEXT[: len(TEXT) // 2])
    large.write_text(TEXT * 200)
    os.mkfifo(pipe)

    for file in (tmp_path / "missing.ics", cut, large, pipe):
        with pytest.raises(CommonplaceError):
            FileReader(file, 10_000).read("", {})


def test_an_unchanged_address_costs_one_short_answer() -> None:
    """By its ETag; without one, a text that is the same is unchanged too."""
    with serving(Page(TEXT, headers={"ETag": '"1"', "Last-Modified": "Sun, 01 Mar 2026 09:00:00 GMT"})) as page:
        reader = AddressReader(lambda: server(page.address))
        first = reader.read("", {})
        second = reader.read(first.mark, known(first))
        page.headers.clear()
        third = reader.read(second.mark, known(first))

    assert known(first)[""].text == TEXT
    assert second.is_unchanged
    assert third.is_unchanged
    assert page.requests[1][1]["if-none-match"] == '"1"'
    assert page.requests[1][1]["if-modified-since"].startswith("Sun")


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_errors_never_show_the_address(status: int) -> None:
    """Google's private address is the key to the calendar."""
    with serving(Page("no", status=status)) as page, pytest.raises(ProviderFailed) as failed:
        AddressReader(lambda: server(page.address)).read("", {})

    assert str(status) in failed.value.message
    assert "private-0123" not in f"{failed.value} {failed.value!r} {server(page.address)!r}"


def test_an_address_that_does_not_answer_is_not_shown_either() -> None:
    """Nor in the chain of exceptions."""
    with serving(Page(TEXT)) as page:
        pass
    with pytest.raises(ProviderFailed) as failed:
        AddressReader(lambda: server(page.address)).read("", {})

    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    assert "private-0123" not in str(failed.value)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page("<html>Sign in</html>"), "not a whole calendar"),
        (Page(TEXT * 2000), "more than 100,000 bytes"),
        (Page(TEXT, headers={"Content-Encoding": "gzip"}), "compressed"),
        (Page("", status=302, headers={"Location": "http://localhost:1/"}), "without https"),
        (Page("", status=302, headers={"Location": "file:///etc/passwd"}), "not an https"),
        (Page("", status=302, headers={"Location": "/again"}), "redirects more than"),
    ],
)
def test_answers_beyond_the_limits_are_refused(page: Page, said: str) -> None:
    """A sign-in page, a huge text, a compressed one, and redirects elsewhere."""
    with serving(page), pytest.raises(CommonplaceError, match=said):
        AddressReader(lambda: server(page.address)).read("", {})


def test_private_networks_are_refused_unless_the_person_named_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads into one is refused; with --private it is allowed, and an IP address says what it is."""
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 9))])
    named = "https://calendar.example.org/x"

    with pytest.raises(Refused, match="private network"):
        server(named).send("GET", headers={})
    with pytest.raises(Refused, match="private network"):  # a redirect of an allowed host
        server("https://other.example.org/", allows_private=True).send("GET", named, headers={})
    with pytest.raises(ProviderFailed):
        server(named, allows_private=True).send("GET", headers={})


def test_an_unencrypted_address_of_the_internet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everyone on the way could read it."""
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("93.184.216.34", 80))])

    with pytest.raises(Refused, match="without encryption"):
        server("http://calendar.example.org/").send("GET", headers={})


def test_addresses_are_checked() -> None:
    """`webcal` is https; files, passwords in addresses and nonsense are refused without being repeated."""
    assert checked_address("webcal://example.org/a.ics").geturl() == "https://example.org/a.ics"
    for wrong in ("file:///etc/passwd", "https://me:secret@example.org/", "https://", "https://[", "x", "https://a/\n"):
        with pytest.raises(UsageError) as refused:
            checked_address(wrong if wrong.strip() == wrong else f"{wrong}b")
        assert "secret" not in str(refused.value)
    private = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%eth0", "0.0.0.0", "x")
    assert not any(map(is_public, private))
    assert is_public("93.184.216.34")


@pytest.fixture(scope="module")
def dav(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    """A running Radicale."""
    with radicale(tmp_path_factory.mktemp("radicale")) as running:
        yield running


def dav_reader(address: str, password: str = PASSWORD) -> CalDavReader:
    """A reader of that calendar."""
    return CalDavReader(lambda: server(address, user=USER, password=password))


def test_caldav_tells_what_is_new_changed_and_gone_by_its_token(dav: Radicale) -> None:
    """A real Radicale: created, changed and deleted events, and nothing twice."""
    reader = dav_reader(dav.address)
    dav.put("a", TEXT)
    dav.put("b ü", event_text("b", "DTSTART:20260303T110000Z"))
    first = reader.read("", {})
    again = reader.read(first.mark, known(first))
    dav.put("a", TEXT.replace("T100000Z", "T120000Z"))
    dav.delete("b ü")
    dav.put("c", event_text("c", "DTSTART:20260303T110000Z"))
    second = reader.read(first.mark, known(first))
    names = {each.href.rpartition("/")[2] for each in second.changed}
    dav.delete("a")
    dav.delete("c")

    assert len(first.changed) == 2
    assert first.mark
    assert again.is_unchanged
    assert names == {"a.ics", "c.ics"}
    assert [href.rpartition("/")[2] for href in second.gone] == ["b ü.ics"]
    assert "T120000Z" in next(each.text for each in second.changed if each.href.endswith("/a.ics"))


def test_an_unknown_token_means_reading_by_etags(dav: Radicale) -> None:
    """A server that forgot our token, or has none: texts that are known are not fetched again."""
    reader = dav_reader(dav.address)
    dav.put("d", TEXT)
    first = reader.read("", {})
    second = reader.read("http://radicale.org/ns/sync/" + "0" * 64, known(first))
    dav.delete("d")
    third = reader.read("garbage <&>", known(first))

    assert second.is_unchanged
    assert [href.rpartition("/")[2] for href in third.gone] == ["d.ics"]


def test_the_address_of_a_server_leads_to_its_one_calendar(dav: Radicale) -> None:
    """With several, the person is told which there are."""
    dav.put("e", TEXT)
    root = f"http://127.0.0.1:{dav.port}/"
    found = dav_reader(root).read("", {})
    dav.send("MKCALENDAR", f"/{USER}/home/")
    with pytest.raises(UsageError) as several:
        dav_reader(root).read("", {})
    dav.send("DELETE", f"/{USER}/home/")
    dav.delete("e")

    assert [each.href for each in found.changed] == [f"/{USER}/work/e.ics"]
    assert f"/{USER}/home/" in (several.value.hint or "")


def test_a_wrong_password_is_told_and_not_shown(dav: Radicale) -> None:
    """Radicale answers 401."""
    with pytest.raises(ProviderFailed, match="401") as failed:
        dav_reader(dav.address, password="wrong horse").read("", {})

    assert failed.value.reason == "auth"
    assert "horse" not in f"{failed.value} {server(dav.address, user=USER, password='wrong horse')!r}"


@pytest.mark.parametrize("body", ['<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>', "<x", "no"])
def test_xml_that_is_not_caldav_is_refused(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entities could make a small text a huge one."""
    from commonplace.sources.calendars.https import Response

    monkeypatch.setattr(CalendarServer, "send", lambda *_, **__: Response(207, {}, body.encode(), "https://x/"))

    with pytest.raises(ProviderFailed):
        dav_reader("https://example.org/").read("", {})


def test_a_server_may_name_a_host_of_its_own_domain_and_no_other() -> None:
    """As iCloud does; the password goes there alone, over https."""
    icloud = server("https://caldav.icloud.com/", user=USER, password=PASSWORD)

    assert icloud.admits("https://p42-caldav.icloud.com:443/123/calendars/")
    for other in ("https://icloud.com.evil.org/", "http://p42-caldav.icloud.com/", "https://evil.org/", "https://com/"):
        assert not icloud.admits(other)
    assert icloud.siblings == [("https", "p42-caldav.icloud.com", 443)]
    assert not server("https://example.org/").admits("https://evil.org/")


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that connects nobody, and the first line and headers of what it was asked."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        heard: list[bytes] = []

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://me:pass@127.0.0.1:{listener.getsockname()[1]}", heard


def test_a_proxy_of_the_environment_is_asked_for_the_host_and_for_no_private_one(
    proxy: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the host and its own login, never the path; a calendar on this machine is asked directly."""
    address, heard = proxy
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ProviderFailed, match="the proxy did not connect"):
        AddressReader(lambda: server("https://calendar.invalid/secret-1234.ics")).read("", {})
    with serving(Page(TEXT)) as page:
        assert AddressReader(lambda: server(page.address)).read("", {}).changed
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="HTTPS_PROXY"):
        AddressReader(lambda: server("https://calendar.invalid/secret-1234.ics")).read("", {})

    (request,) = heard
    assert request.startswith(b"CONNECT calendar.invalid:443")
    assert b"Proxy-Authorization: Basic bWU6cGFzcw==" in request
    assert b"secret" not in request
