"""An .ics file behind an address: one request, and a short answer if nothing changed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from commonplace.model.calendar import CalendarResource
from commonplace.sources.calendars.base import Reading, check_text
from commonplace.sources.calendars.https import CalendarServer

_CONDITIONS = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}


@dataclass(frozen=True, slots=True)
class AddressReader:
    """Reads the calendar behind an address. `server` opens it, with the secrets and the limits of one reading."""

    server: Callable[[], CalendarServer]

    def read(self, mark: str, known: Mapping[str, CalendarResource]) -> Reading:
        """The text, unless its server says that it is the known one."""
        server = self.server()
        versions = json.loads(mark) if mark and known else {}
        conditions = {_CONDITIONS[name]: value for name, value in versions.items()}
        response = server.send("GET", headers={"Accept": "text/calendar", **conditions})
        if response.status == 304 and conditions:
            return Reading(mark)
        if response.status != 200:
            raise server.refused(response.status)
        text = response.body.decode("utf-8-sig", errors="replace")
        check_text(text, server.label)
        found = {name: response.headers[name] for name in _CONDITIONS if response.headers.get(name)}
        resource = CalendarResource("", found.get("etag", ""), text)
        if (present := known.get("")) and present.text == text:
            return Reading(json.dumps(found))
        return Reading(json.dumps(found), (resource,))
