"""`commonplace calendar`: which calendars are read, and what is in them."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commonplace.cli.invocation import Invocation, invocation_of, local_zone, print_line
from commonplace.errors import CommonplaceError, NotFound, ProviderFailed, UsageError
from commonplace.model.calendar import Event
from commonplace.model.text import counted

if TYPE_CHECKING:
    from commonplace.memory.calendars import CalendarStatus, SyncResult

app = typer.Typer(
    help="Read your calendars, so that meetings are known: add, sync, list, remove.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_KEY: Final = "calendar.calendars"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The calendar's name, in small letters.")]
_Place = Annotated[
    str,
    typer.Argument(
        metavar="FILE|URL",
        help="An .ics file or a folder of them, an https:// or webcal:// address, or - for stdin.",
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Read it and say what is in it; change nothing.")]


@app.command("add")
def add(
    context: typer.Context,
    name: _Name,
    place: _Place,
    caldav: Annotated[bool, typer.Option("--caldav", help="The address is that of a CalDAV server.")] = False,
    account: Annotated[str, typer.Option(metavar="NAME", help="Your name on the CalDAV server.")] = "",
    password_file: Annotated[
        str, typer.Option(metavar="FILE", help="A file with the password, readable by you alone.")
    ] = "",
    password_env: Annotated[
        str, typer.Option(metavar="VARIABLE", help="An environment variable with the password.")
    ] = "",
    private: Annotated[bool, typer.Option("--private", help="The host is in a private network of yours.")] = False,
    dry_run: _DryRun = False,
) -> None:
    """Add a calendar, and read it for the first time. One that cannot be read is not added.

    A private address is a secret: it is kept in a file that only you can read, not in the settings. Give `-` and pipe
    it in, and it is not in your shell's history either. Without a password option, the password is asked for.

    \b
    Examples:
      commonplace calendar add work ~/Calendars/work.ics
      commonplace calendar add google - < address.txt
      commonplace calendar add team webcal://example.org/team.ics
      commonplace calendar add home https://dav.example.org/ana/home/ --caldav --account ana
    """
    invocation = invocation_of(context)
    others = _other_lines(name, invocation)
    place = sys.stdin.readline().strip() if place == "-" else place
    file = os.path.abspath(os.path.expanduser(password_file)) if password_file else ""
    words = {"user": account, "password-file": file, "password-env": password_env}
    line, secret = _line(name, place, words if caldav else {}, is_private=private, is_caldav=caldav)
    secret_file = _write_secret(name, secret, is_password=caldav) if secret else None
    if secret_file:
        line += f" {'password' if caldav else 'address'}-file={_quoted(str(secret_file))}"
    result = _add(invocation, name, (*others, line), secret_file=secret_file, is_dry=dry_run)

    def show() -> None:
        word = "would be added" if dry_run else "added"
        print_line(f"calendar {name} {word}: {counted(result.events, 'event')} in the days that are mirrored")
        for problem in result.problems:
            print_line(f"  {problem}")

    invocation.answer({"dry_run": dry_run, "calendar": name, "sync": result}, show)


@app.command("sync")
def sync(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Only this calendar.")] = "",
    dry_run: _DryRun = False,
) -> None:
    """Read the calendars now, and say what changed. The daemon does it every 15 minutes.

    \b
    Examples:
      commonplace calendar sync
      commonplace calendar sync work
      commonplace calendar sync --dry-run --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        results = memory.calendars.sync(name or None, dry_run=dry_run)

    def show() -> None:
        for result in results:
            for line in _result_lines(result, is_dry=dry_run):
                print_line(line)
        if not results:
            invocation.inform("no calendar is set; `commonplace calendar add NAME FILE|URL` adds one")

    invocation.answer({"dry_run": dry_run, "calendars": results}, show)
    if any(each.outcome == "failed" for each in results):
        raise typer.Exit(7)


@app.command("list")
def list_(
    context: typer.Context,
    start: Annotated[str | None, typer.Option("--from", metavar="DAY", help="From then on; by default now.")] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Up to then; by default a week.")] = None,
    name: Annotated[str, typer.Option("--calendar", metavar="NAME", help="Only this calendar.")] = "",
) -> None:
    """List the calendars, and their events as they were last read.

    \b
    Examples:
      commonplace calendar list
      commonplace calendar list --from 2026-03-01 --to 2026-03-31
      commonplace calendar list --from today --to today --json
    """
    invocation = invocation_of(context)
    zone = local_zone(invocation)
    with invocation.memory() as memory:
        calendars = memory.calendars.list()
        events = memory.calendars.events(start=start, end=end, calendar=name or None, zone=zone)

    def show() -> None:
        for line in (*_calendar_lines(calendars), *_event_lines(events, zone=zone)):
            print_line(line)
        if not calendars:
            invocation.inform("no calendar is set; `commonplace calendar add NAME FILE|URL` adds one")

    shapes = [_event_values(each) for each in events]
    invocation.answer({"calendars": calendars, "count": len(events), "events": shapes}, show)


@app.command("remove")
def remove(context: typer.Context, name: _Name, dry_run: _DryRun = False) -> None:
    """Remove a calendar: its settings, the secret that `add` stored, and its events. Notes about them stay.

    \b
    Examples:
      commonplace calendar remove work
      commonplace calendar remove work --dry-run
    """
    invocation = invocation_of(context)
    lines, _ = _lines(invocation)
    rest = tuple(line for line in lines if line.split()[0] != name)
    if len(rest) == len(lines):
        names = ", ".join(line.split()[0] for line in lines) or "none yet"
        raise NotFound(f"no calendar is called {name!r}", hint=f"Calendars: {names}.")
    count = 0
    if not dry_run:
        _save(invocation, rest)
        for is_password in (False, True):
            _remove_secret(_secret_file(name, is_password=is_password))
        with invocation.memory() as memory:
            count = memory.calendars.forget(name)

    def show() -> None:
        print_line(
            f"calendar {name} would be removed"
            if dry_run
            else f"calendar {name} removed, with {counted(count, 'event')}"
        )

    invocation.answer({"dry_run": dry_run, "calendar": name, "events": count}, show)


def _other_lines(name: str, invocation: Invocation) -> tuple[str, ...]:
    """The calendars that the settings have. Raises UsageError if the name is taken, or cannot be one."""
    if not _NAME.fullmatch(name):  # it becomes the name of a file
        raise UsageError("not a name for a calendar", hint="Use up to 40 small letters, digits, _ and -.")
    lines, _ = _lines(invocation)
    if any(line.split()[0] == name for line in lines):
        raise UsageError(f"a calendar is called {name} already", hint=f"`commonplace calendar remove {name}` first.")
    return lines


def _add(
    invocation: Invocation, name: str, lines: tuple[str, ...], *, secret_file: Path | None, is_dry: bool
) -> "SyncResult":
    """Read the calendar of that name, and save the lines unless it `is_dry`. What is not added leaves no secret."""
    try:
        result = _try(invocation, name, lines)
        if not is_dry:
            _save(invocation, lines)
            result = _synced(invocation, name, lines)
    except CommonplaceError:
        _remove_secret(secret_file)
        raise
    if is_dry:
        _remove_secret(secret_file)
    return result


def _line(name: str, place: str, words: dict[str, str], *, is_private: bool, is_caldav: bool) -> tuple[str, str | None]:
    """The line of the settings without its secret, and the secret to store. Raises UsageError."""
    if is_caldav:
        _refuse_google(place)
        secret = _asked_password(words)
        parts = {"caldav": place, **words}
    elif "://" in place:
        secret, parts = _checked_url(place), {}
    else:
        secret, parts = None, {"path": os.path.abspath(os.path.expanduser(place))}
    if is_private:
        parts["private"] = "yes"
    return " ".join([name, *(f"{key}={_quoted(value)}" for key, value in parts.items() if value)]), secret


def _asked_password(words: dict[str, str]) -> str | None:
    """A password to store; None if a file or a variable holds it, or if there is no user."""
    if not words["user"] or words["password-file"] or words["password-env"]:
        return None
    if not sys.stdin.isatty():
        raise UsageError("no password", hint="Give --password-file FILE or --password-env VARIABLE.")
    return str(typer.prompt("Password", hide_input=True, err=True))


def _refuse_google(place: str) -> None:
    """Raises UsageError for Google's CalDAV, which takes no password."""
    from urllib.parse import urlsplit

    host = (urlsplit(place).hostname or "").lower()
    if host.endswith((".google.com", ".googleusercontent.com", ".googleapis.com")):
        hint = "Add the calendar by its `Secret address in iCal format`, without --caldav (docs/guide/calendar.md)."
        raise UsageError("Google's CalDAV wants OAuth, which is not supported", hint=hint)


def _checked_url(place: str) -> str:
    """The address. Raises UsageError for any other scheme, such as file://."""
    if place.partition("://")[0].lower() not in ("https", "http", "webcal", "webcals"):
        raise UsageError("not an https:// or webcal:// address", hint="Give a file by its path, without file://.")
    return place


def _quoted(value: str) -> str:
    import shlex

    return shlex.quote(value)


def _lines(invocation: Invocation) -> tuple[tuple[str, ...], str]:
    """The calendars of the settings, and the file that has them; an empty name for none."""
    loaded = invocation.settings()
    return tuple(loaded.value(_KEY)), loaded.origins.get(_KEY, "")


def _save(invocation: Invocation, lines: tuple[str, ...]) -> None:
    """Write the calendars where they are, else into the person's file for this vault, else into their own file."""
    from commonplace.hosts.own_settings import remove_setting, save_setting
    from commonplace.settings.load import user_settings_file, user_vault_file

    root, (_, origin) = invocation.settings().settings.vault.root, _lines(invocation)
    is_own = origin == str(user_settings_file()) or root is None or user_vault_file(root) is None
    vault = None if is_own else root
    if lines:
        save_setting(_KEY, list(lines), vault=vault)
    else:
        remove_setting(_KEY, vault=vault)


def _try(invocation: Invocation, name: str, lines: tuple[str, ...]) -> "SyncResult":
    """Read the calendar without a change. Raises ProviderFailed and UsageError if it cannot be read."""
    trial = replace(invocation, flags={**invocation.flags, _KEY: list(lines)})
    with trial.memory() as memory:
        return _checked(memory.calendars.sync(name, dry_run=True)[0])


def _synced(invocation: Invocation, name: str, lines: tuple[str, ...]) -> "SyncResult":
    now = replace(invocation, flags={**invocation.flags, _KEY: list(lines)})
    with now.memory() as memory:
        return memory.calendars.sync(name)[0]


def _checked(result: "SyncResult") -> "SyncResult":
    if result.outcome == "failed":
        raise ProviderFailed(result.reason, hint=result.hint or None)
    return result


def _secret_file(name: str, *, is_password: bool) -> Path:
    import platformdirs

    folder = platformdirs.user_config_path("commonplace") / "calendars"
    return folder / f"{name}.{'password' if is_password else 'address'}"


def _write_secret(name: str, secret: str, *, is_password: bool) -> Path:
    """Store a secret in a new file that only the person can read. Raises UsageError."""
    file = _secret_file(name, is_password=is_password)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.unlink(missing_ok=True)
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(opened, "w", encoding="utf-8") as content:
            content.write(f"{secret}\n")
    except OSError as error:
        message = f"the secret cannot be stored: {error.strerror}"
        raise UsageError(message, path=str(file), hint="Check the permissions of the folder.") from error
    return file


def _remove_secret(file: Path | None) -> None:
    with suppress(OSError):
        if file:
            file.unlink(missing_ok=True)


def _result_lines(result: "SyncResult", *, is_dry: bool) -> Iterator[str]:
    if result.outcome == "failed":
        yield f"{result.calendar}: not read: {result.reason}"
        return
    changes = result.changes
    counts = {"added": changes.added, "changed": changes.changed, "removed": changes.removed}
    parts = [f"{len(ids)} {word}" for word, ids in counts.items() if ids]
    said = "read only" if is_dry else ", ".join(parts) or "unchanged"
    yield f"{result.calendar}: {counted(result.events, 'event')}, {said}"
    yield from (f"  {problem}" for problem in result.problems)


def _calendar_lines(calendars: "Sequence[CalendarStatus]") -> Iterator[str]:
    for each in calendars:
        yield f"{each.name:<15}  {each.place}: {each.said}"


def _event_lines(events: Sequence[Event], *, zone: tzinfo) -> Iterator[str]:
    day = ""
    for event in events:
        start = event.start.astimezone(zone)
        if f"{start:%Y-%m-%d}" != day:
            day = f"{start:%Y-%m-%d}"
            yield f"{start:%A} {day}"
        mark = f" ({event.status})" if event.status != "confirmed" else ""
        people = f", with {counted(len(event.attendees), 'attendee')}" if event.attendees else ""
        yield f"  {_time_text(event, zone=zone):<13}  {event.title or '(no title)'}{mark}{people}  [{event.calendar}]"


def _time_text(event: Event, *, zone: tzinfo) -> str:
    if event.all_day:
        return "all day"
    return f"{event.start.astimezone(zone):%H:%M} - {event.end.astimezone(zone):%H:%M}"


def _event_values(event: Event) -> dict[str, object]:
    """The event for JSON, with moments as text."""
    from dataclasses import asdict

    from commonplace.model.moment import moment_text

    values = asdict(event)
    return {key: moment_text(value) if isinstance(value, datetime) else value for key, value in values.items()}
