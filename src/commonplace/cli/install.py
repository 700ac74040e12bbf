"""`commonplace install | uninstall`: the hosts in which agents run."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from commonplace.cli.door import Door, door_of, print_line
from commonplace.cli.install_view import show_diffs, show_installed
from commonplace.cli.leave import leave, remove_installs
from commonplace.errors import UsageError

if TYPE_CHECKING:
    from commonplace.hosts.host import Around, Asked, Host, Reach, Transport
    from commonplace.hosts.record import Install

_HOST = "claude-code|codex|cursor|vscode"


def install(
    context: typer.Context,
    host: Annotated[str, typer.Argument(metavar=_HOST, help="The program in which your agent runs.")],
    scope: Annotated[str, typer.Option(metavar="user|project", help="For you, or in this folder alone.")] = "user",
    transport: Annotated[str, typer.Option(metavar="stdio|http", help="How its MCP client reaches us.")] = "stdio",
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="MCP alone: nothing is put before prompts or kept.")
    ] = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Put a marked block of lines into CLAUDE.md or AGENTS.md, too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="You have read what is captured, and agree.")] = False,
) -> None:
    """Let an agent's host use this memory: its MCP server, and hooks that put memory before prompts.

    Only our own entries in its files change; a copy of each file is kept beside it, and `uninstall` takes all of it
    back. With --vault the host sees that vault. With hooks, the text of conversations is kept in the history on this
    machine; the first install says so and asks, and where nobody can be asked it wants --yes. `commonplace pause` stops
    the keeping. A project's files are shared, so they hold no token: with --transport http they name the variable
    COMMONPLACE_TOKEN.

    \b
    Examples:
      commonplace install claude-code
      commonplace install codex --dry-run
      commonplace install cursor --scope project
    """
    from commonplace.hosts.known import host_named

    door, wanted = door_of(context), host_named(host)
    asked = _asked(wanted, scope, transport, hooks=not no_hooks, instructions=instructions)
    around = _around(door)
    if dry_run:
        _show_plan(door, wanted, asked, around)
        return
    _agree(door, wanted, asked, yes=yes)
    _install(door, wanted, asked, around)


def uninstall(
    context: typer.Context,
    host: Annotated[str | None, typer.Argument(metavar=f"[{_HOST}]", help="The host.")] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="user|project", help="Only yours, or only in this folder; else everywhere.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every host, the daemon with its tokens and log, and its start at login.")
    ] = False,
    with_data: Annotated[
        bool,
        typer.Option("--with-data", help="With --all: indexes, kept conversations and settings, too."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --with-data.")] = False,
) -> None:
    """Take back what `install` did: its entries, and the files and folders that it made. Your notes stay as they are.

    \b
    Examples:
      commonplace uninstall codex
      commonplace uninstall --all --dry-run
      commonplace uninstall --all
    """
    if everything == bool(host) or (with_data and not everything) or (everything and scope):
        hint = "Write `commonplace uninstall HOST [--scope ...]` or `commonplace uninstall --all [--with-data]`."
        raise UsageError("it is not clear what to uninstall", hint=hint)
    door = door_of(context)
    if host is None:
        leave(door, with_data=with_data, dry_run=dry_run, yes=yes)
    else:
        remove_installs(door, _meant(host, scope, _around(door)), dry_run=dry_run)


def _meant(host: str, scope: str | None, around: "Around") -> "tuple[Install, ...]":
    from commonplace.hosts.installing import installs_meant
    from commonplace.hosts.known import host_named
    from commonplace.hosts.record import read_record

    reach = None if scope is None else _one_of(scope, ("user", "project"), "--scope")
    return installs_meant(read_record(), host_named(host), around, reach=reach)


def _asked(host: "Host", scope: str, transport: str, *, hooks: bool, instructions: bool) -> "Asked":
    """What is asked; lines of instruction that are there already stay. Raises UsageError."""
    from commonplace.hosts.host import Asked
    from commonplace.hosts.record import read_record

    reach = cast("Reach", _one_of(scope, ("user", "project"), "--scope"))
    way = cast("Transport", _one_of(transport, ("stdio", "http"), "--transport"))
    known = read_record().find(host.name, reach, Path.cwd())
    lines = instructions or (known is not None and known.asked.instructions)
    return Asked(reach, way, hooks and host.has_hooks, lines)


def _one_of(word: str, words: tuple[str, ...], option: str) -> str:
    if word not in words:
        raise UsageError(f"{option} {word}: there is no such", hint=f"Choose from {', '.join(words)}.")
    return word


def _around(door: Door) -> "Around":
    from commonplace.daemon.registry import Registry
    from commonplace.hosts.around import around_here

    named = door.flags.get("vault.root")
    vault = str(Registry(door.flags).meant(named)) if isinstance(named, str) else ""
    return around_here(port=door.settings().settings.serve.port, vault=vault)


def _agree(door: Door, host: "Host", asked: "Asked", *, yes: bool) -> None:
    """Go on when the person knows what is captured. Raises UsageError where nobody can be asked, Exit at a no."""
    from commonplace.hosts.consent import consent_text
    from commonplace.hosts.record import read_record

    known = any(each.host == host.name and each.asked.hooks for each in read_record().installs)
    if not asked.hooks or known:
        return
    if not door.json:
        print_line(consent_text(host))
    if yes:
        return
    if door.json or not sys.stdin.isatty():
        raise UsageError(
            "conversations would be captured, and nobody has agreed to it yet; nothing was changed",
            hint=f"Add --yes to agree, or --no-hooks. `commonplace install {host.name}` on a terminal asks.",
        )
    if not typer.confirm("Install it?", default=True):
        door.aside("nothing was changed")
        raise typer.Exit(1)


def _show_plan(door: Door, host: "Host", asked: "Asked", around: "Around") -> None:
    from commonplace.hosts.access import SHOWN, secret_in_use
    from commonplace.hosts.planning import plan_install
    from commonplace.hosts.record import read_record

    secret = secret_in_use(host, asked, around)[0] or SHOWN
    known = read_record().find(host.name, asked.reach, around.project)
    plan = plan_install(host, asked, replace(around, secret=secret), known)
    show_diffs(door, plan.changes)


def _install(door: Door, host: "Host", asked: "Asked", around: "Around") -> None:
    from commonplace.hosts.access import make_token, revoke_token, secret_in_use
    from commonplace.hosts.installing import install as install_host
    from commonplace.hosts.planning import plan_install
    from commonplace.hosts.record import read_record

    now = datetime.now(UTC)
    known = read_record().find(host.name, asked.reach, around.project)
    secret = token = ""
    if asked.transport == "http" and asked.reach == "user":
        plan_install(host, asked, around, known)  # before a token is made: a file that cannot be changed is refused
        secret, token = secret_in_use(host, asked, around)
        if not secret:
            made, secret = make_token(host, vault=around.vault, now=now)
            token = made.id
    done = install_host(host, asked, replace(around, secret=secret), token=token, now=now)
    if known and known.token != token:
        revoke_token(known.token, now=now)
    show_installed(door, host, asked, done)
