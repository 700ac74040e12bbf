"""The calendars of the settings, each with its reader. Nothing is read here; secrets are read when a calendar is."""

import os
import time
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Final

from commonplace.app.models import key_in_file
from commonplace.errors import UsageError
from commonplace.settings.schema import Settings
from commonplace.sources.calendars.base import CalendarReader, CalendarSource, CalendarSources
from commonplace.sources.calendars.config import CalendarConfig, parse_calendars
from commonplace.sources.calendars.https import CalendarServer, checked_address
from commonplace.sources.calendars.options import CalendarOptions
from commonplace.upkeep.schedule import machine_zone, named_zone

_MB: Final = 1_000_000


def make_calendars(settings: Settings) -> CalendarSources:
    """The calendars that the settings name."""
    options = settings.calendar
    configs = parse_calendars(options.calendars)
    sources = tuple(CalendarSource(each, partial(_reader, each, options)) for each in configs)
    return CalendarSources(sources, options, _zone(settings) if sources else CalendarSources().zone)


def _zone(settings: Settings) -> tzinfo:
    return named_zone(settings.upkeep.zone) if settings.upkeep.zone else machine_zone()


def _reader(config: CalendarConfig, options: CalendarOptions) -> CalendarReader:
    """The reader of a calendar. Raises UsageError if its secret cannot be read."""
    if config.kind == "file":
        from commonplace.sources.calendars.files import FileReader

        return FileReader(Path(config.path).expanduser(), int(options.max_mb * _MB))
    secret = _secret(config)
    if config.kind == "caldav":
        from commonplace.sources.calendars.caldav import CalDavReader

        return CalDavReader(partial(_server, config, options, address=config.caldav, password=secret))
    from commonplace.sources.calendars.address import AddressReader

    return AddressReader(partial(_server, config, options, address=secret))


def _server(config: CalendarConfig, options: CalendarOptions, *, address: str, password: str = "") -> CalendarServer:
    """The server for one reading, whose limits begin now. Its label has the host alone."""
    return CalendarServer(
        address,
        label=f"the calendar {config.name} at {checked_address(address).hostname}",
        deadline=time.monotonic() + options.timeout_seconds,
        max_bytes=int(options.max_mb * _MB),
        user=config.user,
        password=password,
        allows_private=config.allows_private,
    )


def _secret(config: CalendarConfig) -> str:
    """The address or the password; empty for a server without one. Raises UsageError."""
    again = f"Remove the calendar and add it again: `commonplace calendar remove {config.name}`."
    if config.secret_file:
        return key_in_file(Path(config.secret_file).expanduser(), hint=again)
    if not config.secret_env:
        return ""
    if secret := os.environ.get(config.secret_env, "").strip():
        return secret
    message = f"the environment variable {config.secret_env} of the calendar {config.name} is empty"
    raise UsageError(
        message, hint="Set it, or add the calendar again with a file: a service has no variables of yours."
    )
