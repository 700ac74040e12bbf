"""What a page is written with: its memory, its form, rendering, redirecting, and pages of a long list."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, TypeVar
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from commonplace import __version__
from commonplace.errors import CommonplaceError, Refused, UsageError
from commonplace.identity.access import Identities
from commonplace.memory import Memory, MemoryFor
from commonplace.memory.jobs import schedule_words
from commonplace.model import Actor, Fact
from commonplace.model.change import CALLER
from commonplace.model.diagnostics import Finding
from commonplace.model.layout import entry_digits
from commonplace.model.text import counted
from commonplace.settings.harmless import SettingsEditor
from commonplace.web.job_queue import JobQueue
from commonplace.web.live_events import LiveEvents
from commonplace.web.page.charts import bar_chart, line_chart, row_chart
from commonplace.web.page.note_html import Resolve
from commonplace.web.page.sessions import (
    ASSETS,
    BASE_URL,
    PAGE_SESSION,
    SESSION_LIFE,
    Flash,
    PageSession,
    PageSessions,
    cookie_name,
)

NavigationGroup = Literal["start", "know", "told", "steer", "run"]
PER_PAGE: Final = 50
_MINUTE: Final = 60
_GROUPS: Final[Mapping[NavigationGroup, str]] = {
    "start": "",
    "know": "What is known",
    "told": "What agents get",
    "steer": "What is done",
    "run": "How it runs",
}
TRUST_WORDS: Final[Mapping[str, str]] = {
    "told": "told by you",
    "said": "said by an agent",
    "read": "read in a note",
    "mined": "mined by a job",
    "imported": "imported",
}
"""Where a fact comes from, in words for people."""
STATE_WORDS: Final[Mapping[str, str]] = {
    "current": "true now",
    "future": "not yet",
    "ended": "over",
    "superseded": "replaced",
    "expired": "out of date",
    "archived": "archived",
    "deleted": "forgotten",
    "staged": "waits for you",
}
"""How a fact stands, in words for people."""
BOND_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "update": ("older version:", "newer version:"),
    "extend": ("adds to", "more about it:"),
    "derive": ("follows from", "from it follows"),
    "contradict": ("contradicts", "contradicted by"),
    "both": ("holds beside", "holds beside"),
    "end": ("is said to end", "is said to be ended by"),
}
"""How one fact is bound to another, in words for people: by its own bond, and by one of the other fact."""
_MOST_FIELDS: Final = 2000
_ENTRY_WORDS: Final = re.compile(r"(?:Agent-Memory-[\w-]*?-?\d{4}-\d\d-)?(.+?)(?:-[0-9a-f]{6,16}){1,2}\.md", re.ASCII)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|\+00:00)")
_CODE_OR_MOMENT: Final = re.compile(rf"(`[^`]+`|{_MOMENT.pattern})")
_LINK: Final = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A page in the navigation; `key` is the letter that goes there after `g`."""

    title: str
    path: str
    group: NavigationGroup
    key: str


@dataclass(frozen=True, slots=True)
class PageHost:
    """What the daemon gives to the page: the memory of each vault, the sessions, the vaults, its own status, the
    checks that are about no vault, the queue of jobs that a person asked for, what happens at this moment, the
    settings, and the people of the server."""

    memory_for: MemoryFor
    sessions: PageSessions
    vaults: Callable[[], Sequence[Path]]
    status: Callable[[], dict[str, Any]]
    checks: Callable[[], Sequence[Finding]]
    jobs: JobQueue
    live: LiveEvents
    settings: SettingsEditor
    identities: Identities


class NotSignedIn(Refused):
    """The browser has no session."""


def page_session(request: Request) -> PageSession:
    """The session of the browser. Raises NotSignedIn."""
    session = request.scope.get(PAGE_SESSION)
    if not isinstance(session, PageSession):
        raise NotSignedIn("this browser is not signed in", hint="Run `commonplace open` in a terminal.")
    return session


def page_host(request: Request) -> PageHost:
    """What the daemon gives to the page."""
    host: PageHost = request.app.state.host
    return host


def page_memory(request: Request, session: Annotated[PageSession, Depends(page_session)]) -> Memory:
    """The memory of the vault that the browser looks at, for the person. Raises NotFound, VaultUnavailable."""
    memory = page_host(request).memory_for(request.scope[CALLER])
    return memory.acting(Actor("person", "page", session.person))


def page_vaults(request: Request, session: PageSession) -> list[str]:
    """The vaults that the browser can look at: all registered ones, or those of the person who signed in."""
    host = page_host(request)
    if not session.person:
        return [str(root) for root in host.vaults()]
    return [each.vault for each in host.identities.own_vaults(session.person)]


def set_session_cookie(request: Request, response: Response, secret: str) -> None:
    """Let the browser keep the secret of its session, for this address alone; over https where the address is."""
    response.set_cookie(
        cookie_name(request.scope["server"][1]),
        secret,
        max_age=int(SESSION_LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=str(request.scope.get(BASE_URL, "")).startswith("https:"),
    )


class SentForm:
    """The fields of a form that the page itself sent."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str, default: str = "") -> str:
        """The value of a field without spaces around it; the default if it is missing."""
        return self._fields.get(name, [default])[0].strip()

    def raw(self, name: str) -> str:
        """The value of a field as it was typed, with line feeds alone at the ends of lines."""
        return self._fields.get(name, [""])[0].replace("\r\n", "\n")

    def required(self, name: str) -> str:
        """The value of a field. Raises UsageError if it is empty or missing."""
        if value := self.text(name):
            return value
        raise UsageError(f"{name} is empty", hint=f"Go back and fill in {name}.")

    def values(self, name: str) -> list[str]:
        """Every value of a field, such as of checkboxes with one name."""
        return self._fields.get(name, [])

    def is_set(self, name: str) -> bool:
        """True if a checkbox is ticked, or a button of that name was pressed."""
        return bool(self.text(name))


async def sent_form(request: Request, session: Annotated[PageSession, Depends(page_session)]) -> SentForm:
    """The form of a POST, with the session's CSRF token in its field `csrf` or in the header X-CSRF.

    Raises Refused without it, UsageError for what is not a form.
    """
    try:
        text = (await request.body()).decode("utf-8")
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise UsageError("this is not a form", hint="Reload the page, and send it again.") from error
    token = request.headers.get("x-csrf") or fields.get("csrf", [""])[0]
    if not session.fits(token):
        hint = "Reload the page, and send the form again."
        raise Refused("the form is not from this session of the page", hint=hint)
    return SentForm(fields)


PageMemory = Annotated[Memory, Depends(page_memory)]
PageForm = Annotated[SentForm, Depends(sent_form)]


@dataclass(frozen=True, slots=True)
class Paged(Generic[_T]):
    """One page of a long list: its items, and where the neighbours are."""

    items: Sequence[_T]
    number: int
    pages: int
    total: int


def paged(items: Sequence[_T], number: int, *, size: int = PER_PAGE) -> Paged[_T]:
    """The page of that number, from 1; the nearest one if there is no such page."""
    pages = max(1, -(-len(items) // size))
    number = min(max(1, number), pages)
    return Paged(items[(number - 1) * size : number * size], number, pages, len(items))


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """The template as a page; `title` is one of the values. What every page needs is added."""
    found = request.scope.get(PAGE_SESSION)
    session = found if isinstance(found, PageSession) else None
    is_in = session is not None
    navigation: tuple[NavigationEntry, ...] = request.app.state.navigation if is_in else ()
    vaults = page_vaults(request, session) if session else []
    shown = {
        "request": request,
        "is_signed_in": is_in,
        "csrf": session.csrf if session else "",
        "take_flashes": session.take_flashes if session else list,
        "navigation": navigation,
        "navigation_groups": [
            (_GROUPS[name], [*entries]) for name, entries in groupby(navigation, key=lambda each: each.group)
        ],
        "count_waiting": lambda: _count_waiting(request, session) if session and vaults else 0,
        "vaults": vaults,
        "vault": session.vault or next(iter(vaults), "") if session else "",
        "here": request.url.path,
        "query": request.url.query,
        "version": __version__,
    }
    return HTMLResponse(_environment().get_template(template).render({**shown, **values}), status)


def _count_waiting(request: Request, session: PageSession) -> int:
    """How many things wait for the person's review; 0 if the vault cannot say it now: the page itself says why."""
    try:
        return page_memory(request, session).reviews.count()
    except CommonplaceError:
        return 0


def note_resolver(memory: Memory) -> Resolve:
    """Finds the note that a link of a text names which is in no note yet, by its path or its name."""
    paths = [stat.path for stat in memory.notes.list()]
    names = {path.removesuffix(".md").rpartition("/")[2].casefold(): path for path in reversed(paths)}
    names |= {path.removesuffix(".md").casefold(): path for path in paths}
    return lambda target: names.get(target.removesuffix(".md").casefold())


def redirect(
    request: Request,
    to: str,
    message: str = "",
    *,
    undo: str | None = None,
    undo_to: str | None = None,
    undo_form: tuple[str, Mapping[str, str]] | None = None,
    undo_label: str = "Undo",
) -> Response:
    """Go to another page, which shows the message once, with an Undo button if there is something to undo.

    `undo` is the commit that it reverts, and `undo_to` the page to go to then, if not the same; for what is in no
    commit, `undo_form` is the address and the fields that it sends.
    """
    if message:
        after = undo_to or urlsplit(to).path
        action, fields = undo_form or (("/undo", {"commit": undo, "back": after}) if undo else ("", {}))
        page_session(request).add_flash(Flash(message, action, fields, undo_label))
    return RedirectResponse(local_path(to), 303)


def local_path(path: str) -> str:
    """The path if it is one of this page, else the start: nobody may be sent elsewhere by a link."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and path.isascii()
    return path if is_ours else "/"


def note_path(path: str) -> str:
    """The address of the page of a note."""
    return f"/notes/{quote(path)}"


def ago(moment: str | datetime | float | None) -> Markup:
    """How long ago that was, with the exact time as its title; empty for no moment."""
    if not moment:
        return Markup("")
    try:
        at = _as_time(moment)
    except ValueError:
        return Markup("{}").format(moment)
    exact = at.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), exact, _distance(at))


def ahead(moment: str | datetime | None) -> Markup:
    """How long it takes until that, such as the next run of a job; `now` for what is due."""
    if not moment:
        return Markup("")
    seconds = (_as_time(moment) - datetime.now(UTC)).total_seconds()
    return Markup("now") if seconds <= 0 else Markup("in a moment") if seconds < _MINUTE else ago(moment)


def day(moment: str | datetime | None) -> str:
    """The day of a moment, such as 2026-03-01."""
    return str(moment or "")[:10]


def said(fact: Fact) -> str:
    """What a fact says; a line of a note leaves out its subject, which stands before it here."""
    if fact.origin == "line" and fact.predicate:
        return without_links(f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}")
    return fact.text


def without_links(text: str) -> str:
    """The text of a line with the names that its links show."""
    return _LINK.sub(r"\1", text)


def note_title(path: str) -> str:
    """The name of a note for people: its path without the ending, or the words in the name of an entry."""
    if not entry_digits(path):
        return path.removesuffix(".md")
    words = _ENTRY_WORDS.fullmatch(path.rpartition("/")[2])
    return words[1].replace("-", " ").capitalize() if words else path.removesuffix(".md")


def message(text: str) -> Markup:
    """A message of the program with its `words` between backticks as code, and its moments as relative times."""
    return Markup("").join(_message_part(each) for each in _CODE_OR_MOMENT.split(text))


def _message_part(part: str) -> Markup:
    if _MOMENT.fullmatch(part):
        return ago(part)
    is_code = len(part) > 2 and part[0] == part[-1] == "`"
    return Markup("<code>{}</code>").format(part[1:-1]) if is_code else Markup.escape(part)


def to_you(text: str) -> str:
    """A reason that the program gives, as the person themselves reads it: `your approval`, not `the person's`."""
    return (
        text.replace("a note of the person", "a note of yours")
        .replace("the person's", "your")
        .replace("the person", "you")
    )


def job_title(name: str) -> str:
    """The name of a job or a template as a title: `Sleep channels`."""
    return name.replace("_", " ").replace("-", " ").capitalize()


def _as_time(moment: str | datetime | float) -> datetime:
    if isinstance(moment, float | int):
        return datetime.fromtimestamp(moment, UTC)
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _distance(at: datetime) -> str:
    seconds = (datetime.now(UTC) - at).total_seconds()
    unit, size = next(
        ((name, size) for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)) if abs(seconds) >= size),
        ("", 0),
    )
    if not unit:
        return "just now"
    if abs(seconds) > 30 * 86400:
        return at.strftime("%-d %b %Y")
    number = counted(int(abs(seconds) // size), unit)
    return f"{number} ago" if seconds > 0 else f"in {number}"


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Every asset by its name: the content, and the address with its hash."""
    folder = files("commonplace.web.page") / "assets"
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {
        name: (content, f"{ASSETS}{hashlib.sha256(content).hexdigest()[:12]}/{name}")
        for name, content in contents.items()
    }


def asset_address(name: str) -> str:
    """The address of an asset, which changes with its content."""
    return assets()[name][1]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("commonplace.web.page", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ago": ago,
        "ahead": ahead,
        "day": day,
        "note_path": note_path,
        "counted": counted,
        "said": said,
        "without_links": without_links,
        "message": message,
        "note_title": note_title,
        "to_you": to_you,
        "job_title": job_title,
        "schedule_words": schedule_words,
        "urlencoded": urlencode,
    }
    environment.globals |= {
        "asset": asset_address,
        "bar_chart": bar_chart,
        "line_chart": line_chart,
        "row_chart": row_chart,
        "trust_words": TRUST_WORDS,
        "state_words": STATE_WORDS,
        "bond_words": BOND_WORDS,
    }
    return environment
