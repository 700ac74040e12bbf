"""`commonplace install`: our entries in the files of an agent's host."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from urllib.parse import urlsplit

import typer

from commonplace.cli.completion import hosts, offer
from commonplace.cli.invocation import Invocation, invocation_of, print_line, printable
from commonplace.cli.setup import WELCOME
from commonplace.daemon.tokens import holder_of
from commonplace.errors import Refused, UsageError
from commonplace.hosts.registry import HOSTS, host_named

if TYPE_CHECKING:
    from commonplace.hosts.file_changes import FileChange
    from commonplace.hosts.host import Environment, Host, InstallOptions, InstallScope, Transport
    from commonplace.hosts.install import InstallResult
    from commonplace.hosts.install_record import Install


def show_installed(
    invocation: Invocation,
    host: "Host",
    options: "InstallOptions",
    environment: "Environment",
    result: "InstallResult",
) -> None:
    """What was done, what the host sees now, which vault it serves, and what a person should know."""
    from commonplace.hosts.install import install_notes, served_vault, what_host_sees

    notes = install_notes(host, options, environment)
    sees = what_host_sees(host, options, environment, changes=result.changes)
    vault, is_default = served_vault(environment)

    def show() -> None:
        if not any(change.has_effect for change in result.changes):
            print_line(f"{host.title}: already installed, nothing to change")
        show_changes(result.changes)
        for copy in result.backups:
            print_path(f"backup: {copy}")
        print_line(f"{host.title} sees: {sees}")
        if vault:
            print_path(f"vault: {vault}{' (the default one)' if is_default else ''}")
        for note in (*notes, ": ".join(WELCOME)) if any(change.has_effect for change in result.changes) else ():
            invocation.inform(note)

    shown = {"host": host.name, **asdict(options), "sees": sees, "vault": str(vault) if vault else None}
    copies = [str(copy) for copy in result.backups]
    invocation.answer({**shown, "files": file_shapes(result.changes), "backups": copies, "notes": notes}, show)


def show_changes(changes: "Sequence[FileChange]") -> None:
    """A line for each file that changed, and for each that is a person's own and stays."""
    for change in changes:
        if change.has_effect:
            print_path(f"{_verb(change)}: {change.path}")
        elif change.is_foreign:
            print_path(f"left alone: {change.path} (your own file or link, or changed by you)")


def print_path(line: str) -> None:
    """Print a line with a path, also into a pipe without control characters: a folder may have any name."""
    print_line(printable(line))


def show_diffs(invocation: Invocation, changes: "Sequence[FileChange]") -> None:
    """What would change, as diffs."""
    from commonplace.hosts.file_changes import unified_diff

    def show() -> None:
        for change in changes:
            if change.has_effect:
                print_path(unified_diff(change) or f"{change.path}: permissions restricted to your user")
        if not any(change.has_effect for change in changes):
            print_line("nothing to change")

    shapes = [
        {**shape, "diff": unified_diff(change)} for shape, change in zip(file_shapes(changes), changes, strict=True)
    ]
    invocation.answer({"dry_run": True, "files": shapes}, show)


def file_shapes(changes: "Sequence[FileChange]") -> list[dict[str, Any]]:
    """The files for programs: where they are, and what becomes of them."""
    return [{"path": str(change.path), "change": _verb(change)} for change in changes]


def _verb(change: "FileChange") -> Literal["left", "unchanged", "removed", "made", "changed"]:
    if not change.has_effect:
        return "left" if change.is_foreign else "unchanged"
    return "removed" if change.after is None else "made" if change.before is None else "changed"


HOST_NAMES = ", ".join(HOSTS)


_HostName = Annotated[
    str, typer.Argument(metavar="HOST", help=f"The program your agent runs in: {HOST_NAMES}.", autocompletion=hosts)
]
_Scope = Annotated[
    str,
    typer.Option(
        metavar="user|project",
        help="For you everywhere, or for this folder only.",
        autocompletion=offer("user", "project"),
    ),
]
_Transport = Annotated[
    str,
    typer.Option(metavar="stdio|http", help="How its MCP client connects.", autocompletion=offer("stdio", "http")),
]
_NoHooks = Annotated[bool, typer.Option("--no-hooks", help="MCP only: no memory before prompts, no recording.")]
_Instructions = Annotated[
    bool, typer.Option("--instructions", help="Also add a marked block to CLAUDE.md or AGENTS.md.")
]
_Skills = Annotated[
    bool | None,
    typer.Option(
        "--skills/--no-skills",
        help="Skills and commands, such as /recall. [default: as in the last install, or yes]",
    ),
]
_AllowReading = Annotated[
    bool | None,
    typer.Option(
        "--allow-reading/--ask-before-reading",
        help="Whether the host may call tools that only read without asking you. "
        "[default: asks once in a terminal, otherwise no]",
    ),
]


def install(
    context: typer.Context,
    host: _HostName,
    scope: _Scope = "user",
    transport: _Transport = "stdio",
    no_hooks: _NoHooks = False,
    instructions: _Instructions = False,
    skills: _Skills = None,
    allow_reading: _AllowReading = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Consent to the recording without being asked.")] = False,
) -> None:
    """Install this memory in an agent's host: an MCP server, hooks and skills.

    Only entries of Commonplace in its files change; a backup of each file is kept next to it, and `uninstall` reverts
    everything. With --vault the host uses that vault, until another install names another one.
    With hooks, conversations are recorded on this machine; the first install says so and asks, or requires --yes
    where it cannot ask. `commonplace pause` stops recording.
    A project's files are shared, so they hold no token: with --transport http they use $COMMONPLACE_TOKEN.

    \b
    Examples:
      commonplace install claude-code
      commonplace install codex --dry-run
      commonplace install cursor --scope project
    """
    from commonplace.hosts.host import InstallOptions

    invocation, chosen = invocation_of(context), host_named(host)
    if allow_reading:
        _check_reading(chosen)
    options = InstallOptions(
        cast("InstallScope", one_of(scope, ("user", "project"), "--scope")),
        cast("Transport", one_of(transport, ("stdio", "http"), "--transport")),
        hooks=not no_hooks and chosen.has_hooks,
        instructions=instructions,
        allow_reading=bool(allow_reading),
        skills=skills is not False,
    )
    said = {"allow_reading": allow_reading is not None, "skills": skills is not None}
    options, environment = _with_previous(chosen, options, environment_of(invocation), said=said)
    if dry_run:
        _show_plan(invocation, chosen, options, environment)
        return
    _check_port(invocation, options, environment)
    _check_files(chosen, options, environment)
    _ask_consent(invocation, chosen, options, yes=yes)
    if allow_reading is None and not yes:
        options = _ask_about_reading(invocation, chosen, options, environment)
    _install(invocation, chosen, options, environment)


def _check_reading(host: "Host") -> None:
    """Raise UsageError if the host cannot allow single tools."""
    if not host.allows_reading:
        hint = "Install it without --allow-reading; it has its own way to decide which tools it asks for."
        raise UsageError(f"{host.title} has no setting that allows single tools", hint=hint)


def _with_previous(
    host: "Host", options: "InstallOptions", environment: "Environment", *, said: Mapping[str, bool]
) -> "tuple[InstallOptions, Environment]":
    """Both as an earlier install had them, where nobody says otherwise now; without skills that the plugin has.

    `said` tells which of the options the person has named. The vault is kept as well.
    """
    from commonplace.hosts.plugin import find_plugin

    if previous := _previous(host, options, environment):
        earlier = previous.options
        options = replace(
            options,
            instructions=options.instructions or earlier.instructions,
            allow_reading=options.allow_reading if said["allow_reading"] else earlier.allow_reading,
            skills=options.skills if said["skills"] else not previous.declined_skills,
        )
        environment = replace(environment, vault=environment.vault or previous.vault)
    has_skills = options.scope == "user" and find_plugin(host.agent, environment) is not None
    return replace(options, skills=options.skills and not has_skills), environment


def _previous(host: "Host", options: "InstallOptions", environment: "Environment") -> "Install | None":
    """The install that this one replaces; None if it is the first."""
    from commonplace.hosts.install_record import install_key, read_record

    return read_record().find(install_key(host, options.scope, environment))


def _check_files(host: "Host", options: "InstallOptions", environment: "Environment") -> None:
    """Raise what the install would raise for a file that it cannot change; nothing is asked or created before."""
    from commonplace.hosts.plan import plan_install

    plan_install(host, options, environment, _previous(host, options, environment))


def _check_port(invocation: Invocation, options: "InstallOptions", environment: "Environment") -> None:
    """Raise UsageError if the daemon's address, which the entry would name, changes at its next start.

    Raises Refused if another program holds it: no token is given to whoever listens there.
    """
    port = invocation.settings().settings.serve.port
    if options.transport == "http" and urlsplit(environment.url).port != port:
        raise UsageError(
            f"the daemon is at {environment.url} now, but at port {port} when it is started again",
            hint=f"Run `commonplace settings set serve.port {urlsplit(environment.url).port}`, or restart the daemon.",
        )
    if options.transport == "http" and holder_of(port) == "another":
        raise Refused(
            f"another program listens on port {port}, and would be sent the token of this host",
            hint="End that program, restart the daemon if it is an older one, or choose another port: "
            "`commonplace settings set serve.port N`.",
        )


def _ask_about_reading(
    invocation: Invocation, host: "Host", options: "InstallOptions", environment: "Environment"
) -> "InstallOptions":
    """The options with the person's answer, asked once on a terminal; a no where nobody can be asked."""
    from commonplace.hosts.install import reading_question

    is_known = _previous(host, options, environment) is not None
    if not host.allows_reading or is_known or invocation.json or not sys.stdin.isatty():
        return options
    return replace(options, allow_reading=typer.confirm(reading_question(host), default=False))


def one_of(word: str, words: tuple[str, ...], option: str) -> str:
    """The word, if the option allows it. Raises UsageError."""
    if word not in words:
        raise UsageError(f"{option} {word}: no such choice", hint=f"Choose from {', '.join(words)}.")
    return word


def environment_of(invocation: Invocation) -> "Environment":
    """This machine, its user and the vault that the invocation names."""
    from commonplace.daemon.vaults import VaultRegistry
    from commonplace.hosts.host import current_environment

    named = invocation.flags.get("vault.root")
    vault = str(VaultRegistry(invocation.flags).find(named)) if isinstance(named, str) else ""
    return current_environment(port=invocation.settings().settings.serve.port, vault=vault)


def _ask_consent(invocation: Invocation, host: "Host", options: "InstallOptions", *, yes: bool) -> None:
    """Ask once whether conversations may be recorded. Raises UsageError where it cannot ask, Exit on a no."""
    from commonplace.hosts.install import consent_text
    from commonplace.hosts.install_record import read_record

    previous = any(each.host == host.name and each.options.hooks for each in read_record().installs)
    if not options.hooks or previous:
        return
    if not invocation.json:
        print_line(consent_text(host))
    if yes:
        return
    if invocation.json or not sys.stdin.isatty():
        raise UsageError(
            "recording conversations needs your consent; nothing was changed",
            hint=f"Add --yes to agree or --no-hooks, or run `commonplace install {host.name}` in a terminal.",
        )
    if not typer.confirm("Install it?", default=True):
        invocation.inform("nothing was changed")
        raise typer.Exit(1)


def _show_plan(invocation: Invocation, host: "Host", options: "InstallOptions", environment: "Environment") -> None:
    from commonplace.hosts.host_tokens import TOKEN_PLACEHOLDER, secret_in_use
    from commonplace.hosts.plan import plan_install

    secret = secret_in_use(host, options, environment)[0] or TOKEN_PLACEHOLDER
    plan = plan_install(host, options, replace(environment, secret=secret), _previous(host, options, environment))
    show_diffs(invocation, plan.changes)


def _install(invocation: Invocation, host: "Host", options: "InstallOptions", environment: "Environment") -> None:
    from commonplace.hosts.host_tokens import create_host_token, revoke_token, secret_in_use
    from commonplace.hosts.install import install as install_host

    now, previous = datetime.now(UTC), _previous(host, options, environment)
    secret = token = ""
    if options.transport == "http" and options.scope == "user":
        _check_files(host, options, environment)  # once more before a token is created: answers may have changed it
        secret, token = secret_in_use(host, options, environment)
        if not secret:
            created, secret = create_host_token(host, vault=environment.vault, now=now)
            token = created.id
    result = install_host(host, options, replace(environment, secret=secret), token=token, now=now)
    if previous and previous.token != token:
        revoke_token(previous.token, now=now)
    show_installed(invocation, host, options, environment, result)
