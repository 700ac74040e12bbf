"""`commonplace install | uninstall`: our entries in the files of an agent's host."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line
from commonplace.errors import UsageError
from commonplace.hosts.registry import HOSTS, host_named

if TYPE_CHECKING:
    from commonplace.hosts.file_changes import FileChange
    from commonplace.hosts.host import Environment, Host, InstallOptions, InstallScope, Transport
    from commonplace.hosts.install import InstallResult, RemainingData
    from commonplace.hosts.install_record import Install


def show_installed(invocation: Invocation, host: "Host", options: "InstallOptions", result: "InstallResult") -> None:
    """What was done, and what a person should know now."""
    from commonplace.hosts.install import install_notes

    notes = install_notes(host, options)

    def show() -> None:
        if not any(change.has_effect for change in result.changes):
            print_line(f"{host.title}: already installed, nothing to change")
        show_changes(result.changes)
        for copy in result.backups:
            print_line(f"backup: {copy}")
        for note in notes if any(change.has_effect for change in result.changes) else ():
            invocation.inform(note)

    shown = {"host": host.name, "scope": options.scope, "transport": options.transport, "hooks": options.hooks}
    copies = [str(copy) for copy in result.backups]
    invocation.answer({**shown, "files": file_shapes(result.changes), "backups": copies, "notes": notes}, show)


def show_changes(changes: "Sequence[FileChange]") -> None:
    """A line for each file that changed."""
    for change in changes:
        if change.has_effect:
            print_line(f"{_verb(change)}: {change.path}")


def show_diffs(invocation: Invocation, changes: "Sequence[FileChange]") -> None:
    """What would change, as diffs."""
    from commonplace.hosts.file_changes import unified_diff

    def show() -> None:
        for change in changes:
            if change.has_effect:
                print_line(unified_diff(change) or f"{change.path}: permissions restricted to your user")
        if not any(change.has_effect for change in changes):
            print_line("nothing to change")

    shapes = [
        {**shape, "diff": unified_diff(change)} for shape, change in zip(file_shapes(changes), changes, strict=True)
    ]
    invocation.answer({"dry_run": True, "files": shapes}, show)


def file_shapes(changes: "Sequence[FileChange]") -> list[dict[str, Any]]:
    """The files for programs: where they are, and what becomes of them."""
    return [{"path": str(change.path), "change": _verb(change)} for change in changes]


def _verb(change: "FileChange") -> Literal["unchanged", "removed", "made", "changed"]:
    if not change.has_effect:
        return "unchanged"
    return "removed" if change.after is None else "made" if change.before is None else "changed"


HOST_NAMES = "|".join(HOSTS)


def install(
    context: typer.Context,
    host: Annotated[str, typer.Argument(metavar=HOST_NAMES, help="The program your agent runs in.")],
    scope: Annotated[
        str, typer.Option(metavar="user|project", help="For you everywhere, or for this folder only.")
    ] = "user",
    transport: Annotated[str, typer.Option(metavar="stdio|http", help="How its MCP client connects.")] = "stdio",
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="MCP only: no memory before prompts, no recording.")
    ] = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also add a marked block to CLAUDE.md or AGENTS.md.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Consent to the recording without being asked.")] = False,
) -> None:
    """Install this memory in an agent's host: an MCP server and hooks.

    Only our own entries in its files change; a backup of each file is kept next to it, and `uninstall` reverts
    everything. With --vault the host uses that vault. With hooks, conversations are recorded on this machine; the
    first install says so and asks, or requires --yes where it cannot ask. `commonplace pause` stops recording.
    A project's files are shared, so they hold no token: with --transport http they use $COMMONPLACE_TOKEN.

    \b
    Examples:
      commonplace install claude-code
      commonplace install codex --dry-run
      commonplace install cursor --scope project
    """
    invocation, chosen = invocation_of(context), host_named(host)
    options = _options(chosen, scope, transport, hooks=not no_hooks, instructions=instructions)
    environment = environment_of(invocation)
    if dry_run:
        _show_plan(invocation, chosen, options, environment)
        return
    _ask_consent(invocation, chosen, options, yes=yes)
    _install(invocation, chosen, options, environment)


def _options(host: "Host", scope: str, transport: str, *, hooks: bool, instructions: bool) -> "InstallOptions":
    """The options of this install; an instruction block that is already there stays. Raises UsageError."""
    from commonplace.hosts.host import InstallOptions
    from commonplace.hosts.install_record import read_record

    chosen_scope = cast("InstallScope", one_of(scope, ("user", "project"), "--scope"))
    chosen_transport = cast("Transport", one_of(transport, ("stdio", "http"), "--transport"))
    previous = read_record().find(host.name, chosen_scope, Path.cwd())
    lines = instructions or (previous is not None and previous.options.instructions)
    return InstallOptions(chosen_scope, chosen_transport, hooks and host.has_hooks, lines)


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
    from commonplace.hosts.install_record import read_record
    from commonplace.hosts.plan import plan_install

    secret = secret_in_use(host, options, environment)[0] or TOKEN_PLACEHOLDER
    previous = read_record().find(host.name, options.scope, environment.project)
    plan = plan_install(host, options, replace(environment, secret=secret), previous)
    show_diffs(invocation, plan.changes)


def _install(invocation: Invocation, host: "Host", options: "InstallOptions", environment: "Environment") -> None:
    from commonplace.hosts.host_tokens import create_host_token, revoke_token, secret_in_use
    from commonplace.hosts.install import install as install_host
    from commonplace.hosts.install_record import read_record
    from commonplace.hosts.plan import plan_install

    now = datetime.now(UTC)
    previous = read_record().find(host.name, options.scope, environment.project)
    secret = token = ""
    if options.transport == "http" and options.scope == "user":
        plan_install(
            host, options, environment, previous
        )  # refuses a file that cannot be changed before a token is created
        secret, token = secret_in_use(host, options, environment)
        if not secret:
            created, secret = create_host_token(host, vault=environment.vault, now=now)
            token = created.id
    result = install_host(host, options, replace(environment, secret=secret), token=token, now=now)
    if previous and previous.token != token:
        revoke_token(previous.token, now=now)
    show_installed(invocation, host, options, result)


def remove_installs(invocation: Invocation, installs: "Sequence[Install]", *, dry_run: bool) -> None:
    """Revert these installs and print what changed."""
    from commonplace.hosts.install import plan_uninstalls

    if dry_run:
        show_diffs(invocation, plan_uninstalls(installs))
        return
    changes = _removed(installs)
    copies = _copies_of(changes)

    def show() -> None:
        show_changes(changes)
        if not installs:
            print_line("not installed")
        for copy in copies:
            print_line(f"backup from before the install: {copy}")

    invocation.answer({"files": file_shapes(changes), "backups": [str(copy) for copy in copies]}, show)


def uninstall_everything(invocation: Invocation, *, with_data: bool, dry_run: bool, yes: bool) -> None:
    """Remove the entries in hosts, the daemon and its files; with `with_data` everything but the vaults."""
    from commonplace.hosts.install import find_remaining_data, plan_uninstalls
    from commonplace.hosts.install_record import read_record

    installs, remaining = read_record().installs, find_remaining_data(invocation.flags)
    if dry_run:
        show_diffs(invocation, plan_uninstalls(installs))
        _tell_left(invocation, remaining)
        return
    if with_data:
        _agree(remaining, invocation=invocation, yes=yes)
    changes = _removed(installs)
    report = {**_end_daemon(), **_files_gone(remaining if with_data else None)}
    _tell(invocation, changes, report, None if with_data else remaining)


def _removed(installs: "Sequence[Install]") -> "list[FileChange]":
    from commonplace.hosts.host_tokens import revoke_token
    from commonplace.hosts.install import uninstall

    changes: list[FileChange] = []
    for install in installs:
        changes += uninstall(install).changes
        revoke_token(install.token, now=datetime.now(UTC))
    return changes


def _copies_of(changes: "Sequence[FileChange]") -> list[Path]:
    from commonplace.hosts.file_changes import backup_path

    return [copy for change in changes if (copy := backup_path(change.path)).exists()]


def _end_daemon() -> dict[str, Any]:
    """Stop the daemon and remove its service."""
    from commonplace.daemon.service.control import stop_daemon
    from commonplace.daemon.service.units import current_service
    from commonplace.daemon.service.units import uninstall_service as uninstall_unit

    unit = uninstall_unit(current_service())
    return {"stopped": stop_daemon(), "unit": str(unit.path) if unit.changed else None, "left": list(unit.left)}


def _files_gone(remaining: "RemainingData | None") -> dict[str, Any]:
    """Remove the daemon's files, the backups of files that are unchanged, and the data in `left`."""
    from commonplace.hosts.install import remove_backups, remove_daemon_state, remove_remaining_data

    copies, kept = remove_backups()
    removed = [*copies, *remove_daemon_state()]
    if remaining:
        remove_remaining_data(remaining)
        removed += [*remaining.data, *remaining.settings]
    return {"removed": [str(path) for path in removed], "backups": [str(path) for path in kept]}


def _agree(remaining: "RemainingData", *, invocation: Invocation, yes: bool) -> None:
    """Ask before data is removed. Raises UsageError where it cannot ask, Exit on a no."""
    if yes:
        return
    if invocation.json or not sys.stdin.isatty():
        hint = "Add --yes to remove them, or drop --with-data."
        raise UsageError("recorded conversations would be lost; nothing was changed", hint=hint)
    print_line("These will be removed, with the conversations recorded in them:")
    for path in (*remaining.data, *remaining.settings):
        print_line(f"  {path}")
    if not typer.confirm("Remove them?", default=False):
        invocation.inform("nothing was changed")
        raise typer.Exit(1)


def _tell(
    invocation: Invocation, changes: "Sequence[FileChange]", report: dict[str, Any], remaining: "RemainingData | None"
) -> None:
    def show() -> None:
        show_changes(changes)
        if report["stopped"]:
            print_line("stopped: the daemon")
        if report["unit"]:
            print_line(f"removed: {report['unit']}")
        for path in report["removed"]:
            print_line(f"removed: {path}")
        for path in report["backups"]:
            print_line(f"kept, because the file has changed since: {path}")
        for command in report["left"]:
            print_line(f"run: {command}")
        _show_left(remaining)

    invocation.answer({"files": file_shapes(changes), **report, "kept": _left_shape(remaining)}, show)


def _tell_left(invocation: Invocation, remaining: "RemainingData") -> None:
    if not invocation.json:
        _show_left(remaining)


def _show_left(remaining: "RemainingData | None") -> None:
    if remaining is None:
        return
    for vault in remaining.vaults:
        print_line(f"stays: {vault} (your notes)")
    for folder in remaining.data:
        print_line(
            f"stays: {folder} (index, recorded conversations; `commonplace uninstall --all --with-data` removes it)"
        )
    for file in remaining.settings:
        print_line(f"stays: {file}")


def _left_shape(remaining: "RemainingData | None") -> dict[str, list[str]]:
    if remaining is None:
        return {}
    groups = {"vaults": remaining.vaults, "data": remaining.data, "settings": remaining.settings}
    return {name: [str(path) for path in paths] for name, paths in groups.items()}


def uninstall(
    context: typer.Context,
    host: Annotated[str | None, typer.Argument(metavar=f"[{HOST_NAMES}]", help="The host.")] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="user|project", help="Only yours, or only in this folder. [default: both]")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every host, and the daemon with its tokens, log and service.")
    ] = False,
    with_data: Annotated[
        bool,
        typer.Option("--with-data", help="With --all: also indexes, recorded conversations and settings."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing data.")] = False,
) -> None:
    """Remove what `install` added.

    That is its entries, and the files and folders it created. Your notes are not touched.

    \b
    Examples:
      commonplace uninstall codex
      commonplace uninstall --all --dry-run
      commonplace uninstall --all
    """
    if everything == bool(host) or (with_data and not everything) or (everything and scope):
        hint = "Write `commonplace uninstall HOST [--scope ...]` or `commonplace uninstall --all [--with-data]`."
        raise UsageError("name a host to uninstall, or use --all", hint=hint)
    invocation = invocation_of(context)
    if host is None:
        uninstall_everything(invocation, with_data=with_data, dry_run=dry_run, yes=yes)
    else:
        remove_installs(invocation, _installs_of(host, scope, environment_of(invocation)), dry_run=dry_run)


def _installs_of(host: str, scope: str | None, environment: "Environment") -> "tuple[Install, ...]":
    from commonplace.hosts.install import select_installs
    from commonplace.hosts.install_record import read_record

    chosen_scope = None if scope is None else one_of(scope, ("user", "project"), "--scope")
    return select_installs(read_record(), host_named(host), environment, scope=chosen_scope)
