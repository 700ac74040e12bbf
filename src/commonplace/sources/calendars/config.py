"""One calendar as the settings name it: `NAME KEY=VALUE ...`.

    work    path=/home/me/work.ics                          a file, or a folder with .ics files
    google  address-file=/home/me/.config/.../google        an address, alone in a file that nobody else may read
    team    address-env=TEAM_CALENDAR                       an address in an environment variable
    home    caldav=https://dav.example.org/me/home/ user=me password-file=/home/me/.dav

`private=yes` allows a host in a private network. Values with spaces are quoted as in a shell.
"""

import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

Kind = Literal["file", "address", "caldav"]
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_KEYS: Final = ("path", "address-file", "address-env", "caldav", "user", "password-file", "password-env", "private")
_PLACES: Final = ("path", "address-file", "address-env", "caldav")
_EXAMPLE: Final = "such as `work path=/home/me/work.ics`"


@dataclass(frozen=True, slots=True)
class CalendarConfig:
    """One calendar. Of a secret only its place is here: a file or an environment variable."""

    name: str
    path: str = ""
    caldav: str = ""
    user: str = ""
    secret_file: str = ""
    secret_env: str = ""
    allows_private: bool = False

    @property
    def kind(self) -> Kind:
        """Where it is read."""
        if self.path:
            return "file"
        return "caldav" if self.caldav else "address"

    @property
    def host(self) -> str:
        """The host of a CalDAV server; empty for others."""
        return urlsplit(self.caldav).hostname or ""

    @property
    def identity(self) -> str:
        """Changes with the place that the calendar is read from."""
        parts = (self.path, self.caldav, self.user, self.secret_file, self.secret_env)
        return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]

    def text(self) -> str:
        """The line in the settings. `parse_calendar` gives the same calendar for it."""
        secret = "password" if self.caldav else "address"
        values = {
            "path": self.path,
            "caldav": self.caldav,
            "user": self.user,
            f"{secret}-file": self.secret_file,
            f"{secret}-env": self.secret_env,
            "private": "yes" if self.allows_private else "",
        }
        return " ".join([self.name, *(shlex.quote(f"{key}={value}") for key, value in values.items() if value)])


def parse_calendars(lines: Sequence[str]) -> tuple[CalendarConfig, ...]:
    """The calendars of the settings. Raises ValueError for one that cannot be read, and for a name that is there twice.

    No message has an address: whoever wrote one into the settings does not want it in a log.
    """
    calendars = tuple(parse_calendar(line) for line in lines)
    names = [each.name for each in calendars]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two calendars are called {twice[0]}", "Give one of them another name.")
    return calendars


def parse_calendar(line: str) -> CalendarConfig:
    """The calendar of one line. Raises ValueError."""
    try:
        name, *words = shlex.split(line)
    except ValueError:
        raise ValueError("a calendar is a name and where to read it", f"Write it {_EXAMPLE}.") from None
    check_name(name)
    values = dict(word.partition("=")[::2] for word in words)
    if unknown := [key for key in values if key not in _KEYS]:
        word = unknown[0] if unknown[0].isalnum() else "what follows it"
        raise ValueError(f"the calendar {name}: {word} is not one of {', '.join(_KEYS)}", f"Write it {_EXAMPLE}.")
    if len([key for key in _PLACES if values.get(key)]) != 1:
        raise ValueError(f"the calendar {name} needs one of {', '.join(_PLACES)}", f"Write it {_EXAMPLE}.")
    return _checked(
        CalendarConfig(
            name,
            path=values.get("path", ""),
            caldav=values.get("caldav", ""),
            user=values.get("user", ""),
            secret_file=values.get("address-file") or values.get("password-file") or "",
            secret_env=values.get("address-env") or values.get("password-env") or "",
            allows_private=values.get("private") == "yes",
        )
    )


def check_name(name: str) -> str:
    """The name of a calendar. Raises ValueError."""
    if not _NAME.fullmatch(name):
        hint = "Use up to 40 small letters, digits, _ and -."
        raise ValueError("the name of a calendar is made of small letters, digits, _ and -", hint)
    return name


def _checked(config: CalendarConfig) -> CalendarConfig:
    if config.kind != "caldav":
        return config
    try:
        parts = urlsplit(config.caldav)
        is_plain = parts.username is None and parts.hostname and parts.scheme in ("http", "https")
    except ValueError:
        is_plain = False
    if not is_plain:
        hint = "Write caldav=https://HOST/PATH, with the name in user= and the password in a file or variable."
        raise ValueError(f"the calendar {config.name} has no CalDAV address without a password in it", hint)
    if bool(config.user) != bool(config.secret_file or config.secret_env):
        hint = "Write user=NAME and password-file=FILE or password-env=VARIABLE."
        raise ValueError(f"the calendar {config.name} needs both a user and a password, or neither", hint)
    return config
