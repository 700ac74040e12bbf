"""An .ics file on this machine, a folder of them, or one behind an address, which is read only if it changed."""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import ProviderFailed, UsageError
from commonplace.model.calendar import CalendarResource
from commonplace.sources.calendars.base import Reading, check_text
from commonplace.sources.calendars.https import CalendarServer

_MOST_FILES: Final = 20_000
_HINT: Final = "Check the path; `commonplace calendar remove NAME` removes a calendar that is gone for good."


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads a file, or all .ics files of a folder, at most `max_bytes` of them together."""

    path: Path
    max_bytes: int

    def read(self, mark: str, known: Mapping[str, CalendarResource]) -> Reading:
        """The files that are new or whose time or size changed, and the names of those that are gone."""
        files, left = self._files(), self.max_bytes
        changed = []
        for name, file in files.items():
            version, size = _version(file)
            left -= size
            if left < 0:
                raise _failed(f"{self.path} has more than {self.max_bytes:,} bytes (calendar.max_mb)")
            if name not in known or known[name].etag != version:
                changed.append(CalendarResource(name, version, _text(file, size)))
        gone = tuple(name for name in known if name not in files)
        versions = "\n".join(each.etag for each in changed)
        return Reading(hashlib.sha256(versions.encode()).hexdigest()[:16], tuple(changed), gone)

    def _files(self) -> dict[str, Path]:
        if not self.path.is_dir():
            return {"": self.path}
        files = sorted(each for each in self.path.iterdir() if each.suffix.lower() == ".ics")
        if len(files) > _MOST_FILES:
            raise _failed(f"{self.path} has more than {_MOST_FILES:,} files")
        return {each.name: each for each in files}


def _version(file: Path) -> tuple[str, int]:
    try:
        found = file.stat()
    except OSError as error:
        raise _failed(f"{file} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{file} is not a regular file", path=str(file), hint=_HINT)
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}", found.st_size


def _text(file: Path, size: int) -> str:
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        with open(opened, "rb") as content:
            raw = content.read(size + 1)
    except OSError as error:
        raise _failed(f"{file} cannot be read: {error.strerror}") from error
    text = raw.decode("utf-8-sig", errors="replace")
    check_text(text, str(file))
    return text


def _failed(message: str) -> ProviderFailed:
    return ProviderFailed(message, reason="unreachable", hint=_HINT)


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
