"""`commonplace serve | status | stop | mcp | hook`: the daemon, and the commands that hosts run."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, local_time, print_line, with_local_times
from commonplace.client.paths import Unreachable
from commonplace.client.start import DaemonState
from commonplace.daemon.service.control import call_daemon, stop_daemon
from commonplace.errors import CommonplaceError, UsageError, VaultUnavailable
from commonplace.model.text import counted

if TYPE_CHECKING:
    from commonplace.model.diagnostics import Finding
    from commonplace.settings.harmless import SettingsWriter


def mcp(
    context: typer.Context,
    client: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent's name in the log. [default: its own]")
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="project|plugin", help="What started it, if that is not your own entry in a host."),
    ] = None,
) -> None:
    """Speak MCP on standard input and output, through the daemon.

    For hosts that start a program instead of speaking MCP over HTTP; the daemon is started if it is not running. The
    vault is --vault, else $COMMONPLACE_VAULT, else the default; the current folder is not used. A host that has both
    the plugin and an installed entry starts two servers: with --entry one of them leaves the tools to the other.

    Example: commonplace mcp --vault ~/Notes --client claude-desktop
    """
    from commonplace.hosts.plugin import ENTRIES, serve_entry

    if entry is not None and entry not in ENTRIES:
        raise UsageError(f"--entry {entry}: no such choice", hint=f"Choose from {', '.join(ENTRIES)}.")
    vault = invocation_of(context).flags.get("vault.root")
    raise typer.Exit(serve_entry(entry or "", vault=vault if isinstance(vault, str) else None, client=client))


def hook(
    context: typer.Context,
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="session-start, prompt, stop, pre-compact, session-end or ping.",
            autocompletion=offer("session-start", "prompt", "stop", "pre-compact", "session-end", "ping"),
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="HOST", help="claude-code, codex or another; `auto` recognises these two.")
    ] = "auto",
    phase: Annotated[
        str, typer.Option(metavar="PHASE", help="The phase of work, which decides what is recalled.")
    ] = "",
) -> None:
    """Handle an event of an agent's session; hosts run this.

    It prints the context for a prompt, or hands the transcript over for recording. `commonplace install` configures
    it; it reads the host's JSON on standard input. It never fails and never blocks: after half a second (0.8 s at the
    start of a session) it gives up with one line on standard error. The vault is --vault, else $COMMONPLACE_VAULT,
    else the default; the current folder is not used.

    \b
    Example:
      echo '{"prompt": "What heats the greenhouse?"}' | commonplace hook prompt --host claude-code
    """
    from commonplace.hooks.arguments import HookArguments
    from commonplace.hooks.main import run_hook

    vault = invocation_of(context).flags.get("vault.root")
    run_hook(HookArguments(event, host=host, phase=phase, vault=vault if isinstance(vault, str) else ""))


def serve(
    context: typer.Context,
    background: Annotated[bool, typer.Option("--background", help="Run in the background.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65000, help="The port on 127.0.0.1. [serve.port]")] = None,
    team: Annotated[
        bool,
        typer.Option("--team", help="Let people on other machines connect, with their own tokens. [serve.team]"),
    ] = False,
    install_service: Annotated[
        bool, typer.Option("--install-service", help="Start it at every login (systemd or launchd).")
    ] = False,
    uninstall_service: Annotated[bool, typer.Option("--uninstall-service", help="Stop starting it at login.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what --install-service would write.")] = False,
) -> None:
    """Serve every registered vault to programs on this machine, over MCP and HTTP.

    One daemon per user also watches the vaults and runs scheduled jobs. With --team it is a server for several people,
    at the address of the setting serve.public_url.

    \b
    Examples:
      commonplace serve
      commonplace serve --background
      commonplace serve --team
      commonplace serve --install-service --dry-run
    """
    invocation = invocation_of(context)
    if team and (install_service or uninstall_service):
        hint = "Run `commonplace settings set serve.team true` first: the service reads it."
        raise UsageError("--team and a service cannot be combined", hint=hint)
    if team:
        invocation = replace(invocation, flags={**invocation.flags, "serve.team": True})
    if install_service and uninstall_service:
        raise UsageError("--install-service and --uninstall-service cannot be combined", hint="Use one of them.")
    if dry_run and not install_service:
        raise UsageError("--dry-run needs --install-service", hint="It prints what that would write.")
    if install_service or uninstall_service:
        _change_service(invocation, wanted=install_service, dry_run=dry_run)
    elif background:
        _serve_in_background(invocation, port)
    else:
        _serve_here(invocation, port)


def status(context: typer.Context) -> None:
    """Show whether the daemon is running, what it is doing, and what is paused.

    It also says how many memories and proposals wait for your review. The exit code is 1 if the daemon is not running;
    what is paused and what waits is shown all the same.

    \b
    Examples:
      commonplace status
      commonplace status --json
    """
    invocation = invocation_of(context)
    status = call_daemon("GET", "/daemon/status")
    if status is None:
        said, (waiting, proposed), paused = _why_silent(), _waiting(invocation), _paused()

        def show() -> None:
            print_line(said)
            if waiting:
                print_line(_review_line(waiting, proposed))
            _show_paused(paused)

        invocation.answer(
            {"running": False, "review": waiting, "proposals": proposed, "capture": {"paused": paused}}, show
        )
        raise typer.Exit(1)
    invocation.answer({"running": True, **status}, lambda: _show(status))


def stop(
    context: typer.Context,
    force: Annotated[bool, typer.Option("--force", help="End it even if it does not answer or stop.")] = False,
) -> None:
    """Stop the daemon after it has finished its current work.

    \b
    Examples:
      commonplace stop
      commonplace stop --force
    """
    invocation = invocation_of(context)
    stopped = stop_daemon(force=force)
    invocation.answer({"stopped": stopped}, lambda: print_line("stopped" if stopped else "not running"))


def _serve_here(invocation: Invocation, port: int | None) -> None:
    from commonplace.app.identities import server_settings
    from commonplace.daemon.serve import serve as serve_until_stopped

    options = server_settings(invocation.flags).serve

    def ready(state: DaemonState) -> None:
        if not options.team:
            address, command = f"{state.url} (MCP: {state.url}/mcp)", "token create NAME"
        else:
            public = options.base_url(None)
            address, command = f"{state.url} for {public} (MCP: {public}/mcp)", "token create NAME --person ID"
        invocation.inform(f"serving at {address}; `commonplace {command}` creates a token")

    def serve_here() -> DaemonState | None:
        return serve_until_stopped(
            flags=invocation.flags,
            port=port,
            ready=ready,
            writer=_settings_writer(),
            checks=partial(_host_checks, invocation),
        )

    _inform_of_people(invocation)
    other = serve_here()
    if other and _end_frozen(invocation):
        other = serve_here()
    if other:
        _tell_where(invocation, other)


def _inform_of_people(invocation: Invocation) -> None:
    """Say if people are in a file and the settings want them in PostgreSQL, where nobody is."""
    from commonplace.app.identities import left_in_file, server_settings

    with suppress(CommonplaceError):  # a database that is away is not said here: the daemon starts and waits for it
        if hint := left_in_file(server_settings(invocation.flags)):
            invocation.inform(hint)


def _host_checks(invocation: Invocation) -> "tuple[Finding, ...]":
    """What doctor checks outside of the vaults, for the page."""
    from commonplace.cli.index import checks_outside_vaults  # loaded when somebody looks

    return checks_outside_vaults(invocation)


def _settings_writer() -> "SettingsWriter":
    """What the page changes settings with."""
    from commonplace.settings.harmless import SettingsWriter

    def save(key: str, value: object) -> None:
        from commonplace.hosts.own_settings import save_setting  # seldom does anyone change a setting

        save_setting(key, value)

    def remove(key: str) -> None:
        from commonplace.hosts.own_settings import remove_setting

        remove_setting(key)

    return SettingsWriter(save, remove)


def _end_frozen(invocation: Invocation) -> bool:
    """True if the other daemon hung and was ended, so that this one can take its place. Raises VaultUnavailable."""
    from commonplace.client.start import frozen_daemon
    from commonplace.daemon.service.state_files import user_daemon_files

    frozen = frozen_daemon(user_daemon_files())
    if not frozen:
        return False
    invocation.inform(f"the daemon (process {frozen.pid}) does not answer and is being replaced")
    return stop_daemon(force=True)


def _serve_in_background(invocation: Invocation, port: int | None) -> None:
    from commonplace.client.start import ensure_running

    flags = {**invocation.flags, "serve.port": port}
    os.environ.update(
        {f"COMMONPLACE_{key.upper().replace('.', '__')}": str(value) for key, value in flags.items() if value}
    )
    try:
        _tell_where(invocation, ensure_running())
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="Run `commonplace serve` to see its output.") from error


def _tell_where(invocation: Invocation, state: DaemonState) -> None:
    fields = {"pid": state.pid, "url": state.url, "socket": state.socket, "started": state.started}
    invocation.answer(
        fields, lambda: print_line(f"running at {state.url}, process {state.pid}, since {local_time(state.started)}")
    )


def _change_service(invocation: Invocation, *, wanted: bool, dry_run: bool) -> None:
    from commonplace.daemon.service.units import current_service, install_service, uninstall_service

    unit = current_service()
    if dry_run:
        invocation.answer(
            {"path": str(unit.path), "text": unit.text}, lambda: print_line(f"# {unit.path}\n{unit.text}")
        )
        return
    if wanted:
        stop_daemon()  # else the daemon that the system starts finds this one and exits
    done = install_service(unit) if wanted else uninstall_service(unit)

    def show() -> None:
        verb = "written" if wanted else "removed"
        print_line(f"{done.path}: {verb if done.changed else 'unchanged'}")
        for command in done.left:
            print_line(f"run: {command}")

    invocation.answer({"path": str(done.path), "changed": done.changed, "left": done.left}, show)


def _why_silent() -> str:
    """The reason why the daemon does not answer."""
    from commonplace.daemon.service.state_files import running_daemon, user_daemon_files

    if other := running_daemon(user_daemon_files()):
        return f"the daemon (process {other.pid}) does not answer: `commonplace stop --force` ends it"
    return "not running: `commonplace serve` starts it"


def _waiting(invocation: Invocation) -> tuple[int | None, int]:
    """How much waits for review in the vault of this call, and how many of it are proposals; None without a vault."""
    try:
        with invocation.memory() as memory:
            return memory.reviews.count(), memory.reviews.proposal_count()
    except CommonplaceError:
        return None, 0


def _paused() -> list[str]:
    """What is not recorded at the moment, and since when; known without the daemon."""
    from commonplace.daemon.capture.pauses import user_pauses

    return user_pauses().lines()


def _show_paused(lines: Sequence[str]) -> None:
    for line in lines:
        print_line(with_local_times(f"paused    {line}"))


def _review_line(count: int, proposals: int) -> str:
    from commonplace.memory.reviews import waiting_text

    return f"review    {waiting_text(count, proposals=proposals)}"


def _show(status: Mapping[str, Any]) -> None:
    print_line(f"running   process {status['pid']}, version {status['version']}, since {local_time(status['started'])}")
    print_line(f"url       {status['url']}")
    print_line(f"socket    {status['socket']}")
    print_line(f"log       {status['log']}")
    print_line(f"served    {status['requests']} requests, {status['memory_mb']:.0f} MB of memory")
    for worker in status["workers"]:
        state = f"{worker['answered']} requests" if worker["ready"] else "starting"
        print_line(f"worker    process {worker['pid']}: {state}, {worker['memory_mb']:.0f} MB of memory")
    if status["said"]:
        print_line(f"error     {status['said']}")
    for vault in status["vaults"]:
        print_line(f"vault     {_vault_line(vault)}")
        if catching_up := vault.get("catching_up"):
            print_line(f"sync      {catching_up} (in {vault['vault']})")
        if waiting := vault.get("review"):
            print_line(f"{_review_line(waiting, vault['proposals'])} (in {vault['vault']})")
        for line in _upkeep_lines(vault):
            print_line(f"upkeep    {with_local_times(line)} (in {vault['vault']})")
    for job in status["chores"]:
        print_line(with_local_times(f"job       {_job_line(job)}"))
    print_line(with_local_times(f"capture   {_capture_line(status['capture'])}"))
    _show_paused(status["capture"]["paused"])
    for hooks in status["hooks"]:
        print_line(with_local_times(f"hooks     {_hooks_line(hooks)}"))


def _vault_line(vault: Mapping[str, Any]) -> str:
    name = f"{vault['vault']}{' (default)' if vault['default'] else ''}"
    if not vault["open"]:
        return f"{name}: not open: {vault['said']}"
    mode = vault["mode"] + (f" ({vault['without']})" if vault["without"] else "")
    watching = "watched" if vault["watching"] else f"not watched: {vault['said']}"
    return f"{name}: {counted(vault['notes'], 'note')}, {counted(vault['chunks'], 'chunk')}, {mode}, {watching}"


def _upkeep_lines(vault: Mapping[str, Any]) -> Iterator[str]:
    """The scheduled jobs of a vault: what the person should know, then when each runs next and how it ended last."""
    yield from vault.get("notices", ())
    for job in vault.get("jobs", ()):
        if not job["is_enabled"]:
            continue
        when = "running" if job["is_running"] else "parked" if job["is_parked"] else f"next at {job['next']}"
        last = f", last {job['last']['outcome']} at {job['last']['began']}" if job["last"] else ""
        yield f"{job['name']}: {when}{last}"


def _job_line(job: Mapping[str, Any]) -> str:
    if "ran" not in job:
        return f"{job['chore']}: not run yet, next at {job['next']}"
    outcome = job["said"] if job["ok"] else f"failed: {job['said']}"
    return f"{job['chore']}: {outcome} ({job['seconds']:.1f} s, {job['ran']}), next at {job['next']}"


def _hooks_line(hooks: Mapping[str, Any]) -> str:
    last = f"{hooks['event']} at {hooks['at']} in {hooks['took_ms']:.0f} ms" if hooks["event"] else "no event yet"
    late = f"; recall was late for {hooks['late']} of the last {hooks['recalls']}" if hooks["late"] else ""
    skip = hooks["last_skip"]
    skipped = f"; {hooks['skipped']} skipped, at {skip['at']}: {skip['reason']}" if skip else ""
    return f"{hooks['host']}: {last}{late}{skipped}"


def _capture_line(capture: Mapping[str, Any]) -> str:
    if not capture["enabled"]:
        return "off"
    read = f"last read {capture['last_read']}" if capture["last_read"] else "nothing read yet"
    error = f"; error: {capture['said']}" if capture["said"] else ""
    return f"{capture['sessions']} sessions known, {capture['waiting']} waiting, {read}{error}"
