"""A calendar on a CalDAV server (RFC 4791), read with sync tokens (RFC 6578) where the server has them.

One request asks for the token: the same as last time means that nothing changed. Else the server lists what changed
since that token, or, if it has no tokens or no longer knows ours, every resource with its ETag; only texts that are new
are fetched. An address that is not a calendar but a server or an account leads to its one calendar.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from commonplace.errors import UsageError
from commonplace.model.calendar import CalendarResource
from commonplace.model.untrusted_text import clean_text
from commonplace.sources.calendars.base import Reading
from commonplace.sources.calendars.https import CalendarServer, Response

_D: Final = "{DAV:}"
_C: Final = "{urn:ietf:params:xml:ns:caldav}"
_OPEN: Final = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
_ABOUT: Final = f"""<?xml version="1.0"?><d:propfind {_OPEN}><d:prop><d:resourcetype/><d:displayname/><d:sync-token/>
<d:current-user-principal/><c:calendar-home-set/><c:supported-calendar-component-set/></d:prop></d:propfind>"""
_ETAGS: Final = (
    f"""<?xml version="1.0"?><d:propfind {_OPEN}><d:prop><d:getetag/><d:resourcetype/></d:prop></d:propfind>"""
)
_SYNC: Final = f"""<?xml version="1.0"?><d:sync-collection {_OPEN}><d:sync-token>{{}}</d:sync-token>
<d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>"""
_TEXTS: Final = f"""<?xml version="1.0"?><c:calendar-multiget {_OPEN}><d:prop><d:getetag/><c:calendar-data/></d:prop>
{{}}</c:calendar-multiget>"""
_SAFE: Final = "/:@?&=+$,;~!*'()"
_BATCH: Final = 100
_MOST_RESOURCES: Final = 20_000
_MOST_PAGES: Final = 50
_DOCTYPE: Final = re.compile(rb"<!(doctype|entity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One `response` of a multistatus: a resource, its status and its properties."""

    href: str
    status: int
    properties: Mapping[str, ElementTree.Element]

    def text(self, name: str) -> str:
        """The text of a property; empty without it."""
        found = self.properties.get(name)
        return (found.text or "").strip() if found is not None else ""

    def href_in(self, name: str) -> str:
        """The first address in a property."""
        found = self.properties.get(name)
        return (found.findtext(f".//{_D}href") or "").strip() if found is not None else ""

    @property
    def is_calendar(self) -> bool:
        """True if it is a collection of events."""
        kind, parts = self.properties.get(f"{_D}resourcetype"), f"{_C}supported-calendar-component-set"
        if kind is None or kind.find(f"{_C}calendar") is None:
            return False
        components = [*self.properties[parts]] if parts in self.properties else []
        return not components or any(each.get("name") == "VEVENT" for each in components)


@dataclass(frozen=True, slots=True)
class CalDavReader:
    """Reads a calendar of a CalDAV server. `server` opens it, with the secrets and the limits of one reading."""

    server: Callable[[], CalendarServer]

    def read(self, mark: str, known: Mapping[str, CalendarResource]) -> Reading:
        """The resources that are new or changed, and the names of those that are gone."""
        server = self.server()
        address, about = _find_calendar(server)
        token = about.text(f"{_D}sync-token")
        if token and token == mark:
            return Reading(mark)
        listed = _changes(server, address, mark) if mark and token else None
        if listed is None:
            etags = _all_etags(server, address)
            gone = tuple(href for href in known if href not in etags)
        else:
            etags, gone, token = listed
            gone = tuple(href for href in gone if href in known)
        new = [href for href, etag in etags.items() if href not in known or not etag or known[href].etag != etag]
        return Reading(token, tuple(_texts(server, address, new)), gone)


def _find_calendar(server: CalendarServer) -> tuple[str, _Entry]:
    """The address of the calendar and what its server says of it; asks for the account's calendars if need be.

    Raises UsageError with the names of several.
    """
    response, about = _about(server, server.address)
    if about.is_calendar:
        return response.address, about
    if not about.href_in(f"{_C}calendar-home-set"):
        principal = about.href_in(f"{_D}current-user-principal")
        if not principal:
            response, about = _about(server, urljoin(server.address, "/.well-known/caldav"))
            principal = about.href_in(f"{_D}current-user-principal")
        response, about = _about(server, _joined(server, response.address, principal))
    home = about.href_in(f"{_C}calendar-home-set")
    listed = _propfind(server, _joined(server, response.address, home), _ABOUT, depth=1)
    calendars = {_joined(server, listed[0].address, each.href): each for each in listed[1] if each.is_calendar}
    if len(calendars) == 1:
        return next(iter(calendars.items()))
    if not calendars:
        raise UsageError(f"{server.label} has no calendar at that address", hint="Give the address of the calendar.")
    names = "; ".join(f"{_name(each)} at {urlsplit(address).path}" for address, each in calendars.items())
    raise UsageError(f"{server.label} has {len(calendars)} calendars", hint=f"Give the address of one: {names}.")


def _name(entry: _Entry) -> str:
    return " ".join(clean_text(entry.text(f"{_D}displayname")).split())[:80] or "(without a name)"


def _about(server: CalendarServer, address: str) -> tuple[Response, _Entry]:
    response, entries = _propfind(server, address, _ABOUT, depth=0)
    if not entries:
        raise server.failed("did not say what is at that address", "malformed")
    return response, entries[0]


def _changes(server: CalendarServer, address: str, token: str) -> tuple[dict[str, str], tuple[str, ...], str] | None:
    """ETags of what changed since the token, names of what is gone, and the new token; None if it is not known."""
    etags: dict[str, str] = {}
    gone: dict[str, None] = {}
    for _ in range(_MOST_PAGES):
        body = _SYNC.format(escape(token)).encode()
        response = server.send("REPORT", address, headers=_headers("0"), body=body)
        if response.status in (400, 403, 404, 405, 409, 412, 415, 501, 507):
            return None
        entries, token = _entries(server, response)
        for each in entries:
            if each.status == 404:
                etags.pop(each.href, None)
                gone[each.href] = None
            elif each.status < 400 and not _is_collection(each, address):
                gone.pop(each.href, None)
                etags[each.href] = each.text(f"{_D}getetag")
        if not any(each.status == 507 for each in entries):
            return etags, tuple(gone), token
    return None


def _all_etags(server: CalendarServer, address: str) -> dict[str, str]:
    """The ETag of every resource of the calendar, by name."""
    _, entries = _propfind(server, address, _ETAGS, depth=1)
    found = {each.href: each.text(f"{_D}getetag") for each in entries if not _is_collection(each, address)}
    if len(found) > _MOST_RESOURCES:
        raise server.failed(f"has more than {_MOST_RESOURCES:,} events", "too_long")
    return found


def _texts(server: CalendarServer, address: str, hrefs: list[str]) -> Iterable[CalendarResource]:
    """The texts of these resources. One that is gone since it was listed is left out: the next reading sees it."""
    for first in range(0, len(hrefs), _BATCH):
        listed = "".join(
            f"<d:href>{escape(quote(href, safe=_SAFE))}</d:href>" for href in hrefs[first : first + _BATCH]
        )
        response = server.send("REPORT", address, headers=_headers("1"), body=_TEXTS.format(listed).encode())
        for each in _entries(server, response)[0]:
            if each.status < 400 and (text := each.text(f"{_C}calendar-data")):
                yield CalendarResource(each.href, each.text(f"{_D}getetag"), text)


def _propfind(server: CalendarServer, address: str, body: str, *, depth: int) -> tuple[Response, list[_Entry]]:
    response = server.send("PROPFIND", address, headers=_headers(str(depth)), body=body.encode())
    return response, _entries(server, response)[0]


def _entries(server: CalendarServer, response: Response) -> tuple[list[_Entry], str]:
    """The entries of a multistatus and its sync token. Raises ProviderFailed for any other response."""
    if response.status == 200:
        error = server.failed("is not a CalDAV server at that address", "malformed")
        error.hint = "Check the address; leave out --caldav for the address of an .ics file."
        raise error
    if response.status != 207:
        raise server.refused(response.status)
    if _DOCTYPE.search(response.body):  # entities could make a small text a huge one
        raise server.failed("responded with a document type, which CalDAV does not have", "malformed")
    try:
        root = ElementTree.fromstring(response.body)  # noqa: S314 - without document types it has no entities
    except ElementTree.ParseError:
        raise server.failed("responded with something that is not XML", "malformed") from None
    entries = [_entry(each) for each in root.iter(f"{_D}response")]
    return entries, (root.findtext(f"{_D}sync-token") or "").strip()


def _entry(element: ElementTree.Element) -> _Entry:
    """Properties that were found, by name; the status is that of the resource, 200 if only properties have one."""
    properties: dict[str, ElementTree.Element] = {}
    for part in element.iter(f"{_D}propstat"):
        if _status(part) < 400:
            properties |= {each.tag: each for prop in part.iter(f"{_D}prop") for each in prop}
    href = unquote((element.findtext(f"{_D}href") or "").strip())
    return _Entry(urlsplit(href).path if "://" in href else href, _status(element), properties)


def _status(element: ElementTree.Element) -> int:
    word = (element.findtext(f"{_D}status") or "HTTP/1.1 200 OK").split()
    return int(word[1]) if len(word) > 1 and word[1].isdigit() else 200


def _is_collection(entry: _Entry, address: str) -> bool:
    kind = entry.properties.get(f"{_D}resourcetype")
    is_named = kind is not None and kind.find(f"{_D}collection") is not None
    return is_named or entry.href.rstrip("/") == unquote(urlsplit(address).path).rstrip("/")


def _headers(depth: str) -> dict[str, str]:
    return {"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}


def _joined(server: CalendarServer, base: str, href: str) -> str:
    """The address of an href of this server or a sibling. Raises ProviderFailed without one, UsageError for another."""
    address = urljoin(base, quote(unquote(href), safe=_SAFE) if href else "")
    if not href:
        raise server.failed("did not say where its calendars are", "malformed")
    if not server.admits(address):  # the password is for the host that the person named
        host = clean_text(urlsplit(address).hostname or "")[:200]
        hint = f"Give the address of the calendar on {host}."
        raise UsageError(f"{server.label} keeps its calendars on another host", hint=hint)
    return address
