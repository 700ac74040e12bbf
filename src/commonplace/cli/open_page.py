"""`commonplace open`: opens the page of the memory in the browser, by a link that works once."""

import json
import webbrowser
from typing import Annotated
from urllib.parse import quote

import typer

from commonplace.cli.invocation import invocation_of, print_line
from commonplace.client.paths import DATABASE_PREFIX, Unreachable
from commonplace.errors import UsageError, VaultUnavailable


def open_page(
    context: typer.Context,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link; open no browser.")] = False,
) -> None:
    """Open your memory in the browser: what is new, what waits, search, facts and settings.

    The link works once, within five minutes, and signs this browser in for two weeks or until the daemon stops. The
    daemon is started if it is not running. The vault is --vault, else the default one; the page can switch.

    \b
    Examples:
      commonplace open
      commonplace open --no-browser
      commonplace open --vault ~/Notes --json
    """
    invocation = invocation_of(context)
    vault = invocation.flags.get("vault.root")
    link = page_link(vault if isinstance(vault, str) else "")
    is_opened = not no_browser and webbrowser.open(link)

    def show() -> None:
        print_line(
            "opened in the browser; if it did not open, this link works once:"
            if is_opened
            else "open this link, which works once:"
        )
        print_line(link)

    invocation.answer({"url": link, "opened": is_opened}, show)


def page_link(vault: str) -> str:
    """A link that signs one browser in to the page of that vault; the daemon is started if it is not running.

    Raises VaultUnavailable if it cannot be reached, UsageError if it refuses.
    """
    from commonplace.client.http import call
    from commonplace.client.start import ensure_running

    headers = {"Commonplace-Client": "cli", **({"Commonplace-Vault": quote(_absolute(vault))} if vault else {})}
    try:
        ensure_running()
        reply = call("POST", "/daemon/page-link", headers=headers)
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="Run `commonplace serve` to see its output.") from error
    values = json.loads(reply.body)
    if reply.status != 200:
        raise UsageError(values["error"]["message"], hint=values["error"].get("hint"))
    return str(values["url"])


def _absolute(vault: str) -> str:
    from pathlib import Path

    return vault if vault.startswith(DATABASE_PREFIX) else str(Path(vault).expanduser().absolute())
