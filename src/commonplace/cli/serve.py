"""`commonplace serve | status | stop`: the daemon."""

import json
import os
import signal
import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from commonplace.cli.door import Door, door_of, print_line
from commonplace.client.places import Unreachable
from commonplace.client.state import State
from commonplace.errors import UsageError, VaultUnavailable

_STOPPING: Final = 40.0  # seconds: requests, a chore and the watchers each have some to end
_ANSWER: Final = 15.0


def serve(
    context: typer.Context,
    background: Annotated[bool, typer.Option("--background", help="Go on in the background.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65000, help="The port on 127.0.0.1. [serve.port]")] = None,
    install_service: Annotated[
        bool, typer.Option("--install-service", help="Let the system start it at login (systemd or launchd).")
    ] = False,
    uninstall_service: Annotated[bool, typer.Option("--uninstall-service", help="Take that back.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what --install-service would write, and change nothing.")
    ] = False,
) -> None:
    """Serve every registered vault to programs on this machine: MCP, HTTP, watching, jobs. One daemon for each user.

    \b
    Examples:
      commonplace serve
      commonplace serve --background
      commonplace serve --install-service --dry-run
    """
    door = door_of(context)
    if install_service and uninstall_service:
        raise UsageError("both to install and to uninstall", hint="Give one of the two.")
    if dry_run and not install_service:
        raise UsageError("--dry-run goes with --install-service", hint="It prints what that would write.")
    if install_service or uninstall_service:
        _change_service(door, wanted=install_service, dry_run=dry_run)
    elif background:
        _serve_in_background(door, port)
    else:
        _serve_here(door, port)


def status(context: typer.Context) -> None:
    """Say whether the daemon runs, where, and what it does. Exit code 1 when it does not run.

    \b
    Examples:
      commonplace status
      commonplace status --json
    """
    door = door_of(context)
    told = _asked("GET", "/daemon/status")
    if told is None:
        said = _why_silent()
        door.answer({"running": False}, lambda: print_line(said))
        raise typer.Exit(1)
    door.answer({"running": True, **told}, lambda: _show(told))


def stop(context: typer.Context) -> None:
    """Stop the daemon: what is under way is finished first.

    \b
    Example:
      commonplace stop
    """
    door = door_of(context)
    stopped = stop_running()
    door.answer({"stopped": stopped}, lambda: print_line("stopped" if stopped else "not running"))


def stop_running() -> bool:
    """Stop the daemon and wait until it is gone; whether there was one. Raises VaultUnavailable when it stays."""
    from commonplace.daemon.single import announced, is_claimed, our_places

    where = our_places()
    if not is_claimed(where):
        return False
    running = announced(where)
    if _asked("POST", "/daemon/stop") is None and running:
        os.kill(running.pid, signal.SIGTERM)  # it holds the lock, so it is the one that wrote this number
    deadline = time.monotonic() + _STOPPING
    while is_claimed(where):
        if time.monotonic() > deadline:
            raise VaultUnavailable("the daemon does not stop", path=str(where.log), hint="Look at the end of its log.")
        time.sleep(0.05)
    return True


def _serve_here(door: Door, port: int | None) -> None:
    from commonplace.daemon.serving import serve as serve_until_stopped

    def ready(state: State) -> None:
        door.aside(f"serving at {state.url} (MCP: {state.url}/mcp); `commonplace token create NAME` makes a token")

    other = serve_until_stopped(flags=door.flags, port=port, ready=ready)
    if other:
        _tell_where(door, other)


def _serve_in_background(door: Door, port: int | None) -> None:
    from commonplace.client.starting import ensure_running

    flags = {**door.flags, "serve.port": port}
    os.environ.update(
        {f"COMMONPLACE_{key.upper().replace('.', '__')}": str(value) for key, value in flags.items() if value}
    )
    try:
        _tell_where(door, ensure_running())
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="`commonplace serve` shows what it says.") from error


def _tell_where(door: Door, state: State) -> None:
    fields = {"pid": state.pid, "url": state.url, "socket": state.socket, "started": state.started}
    door.answer(fields, lambda: print_line(f"running at {state.url}, process {state.pid}, since {state.started}"))


def _change_service(door: Door, *, wanted: bool, dry_run: bool) -> None:
    from commonplace.daemon.installing import install, this_unit, uninstall

    unit = this_unit()
    if dry_run:
        door.answer({"path": str(unit.path), "text": unit.text}, lambda: print_line(f"# {unit.path}\n{unit.text}"))
        return
    if wanted:
        stop_running()  # the one that the system starts would else find this one, and end
    done = install(unit) if wanted else uninstall(unit)

    def show() -> None:
        verb = "written" if wanted else "removed"
        print_line(f"{done.path}: {verb if done.changed else 'as it was'}")
        for command in done.left:
            print_line(f"run: {command}")

    door.answer({"path": str(done.path), "changed": done.changed, "left": done.left}, show)


def _asked(method: str, path: str) -> dict[str, Any] | None:
    """What the daemon answers on its socket; None when none does. Raises VaultUnavailable when it refuses."""
    from commonplace.client.calling import call

    try:
        reply = call(method, path, timeout=_ANSWER)
    except Unreachable:
        return None
    told = json.loads(reply.body)
    if reply.status != 200:
        raise VaultUnavailable(f"the daemon refuses: {told['error']['message']}", hint=told["error"].get("hint"))
    return dict(told)


def _why_silent() -> str:
    """What to tell of a daemon that does not answer."""
    from commonplace.daemon.single import announced, our_places

    if other := announced(our_places()):
        return f"process {other.pid} is the daemon and does not answer: `commonplace stop` ends it"
    return "not running: `commonplace serve` starts it"


def _show(told: Mapping[str, Any]) -> None:
    print_line(f"running   process {told['pid']}, version {told['version']}, since {told['started']}")
    print_line(f"url       {told['url']}")
    print_line(f"socket    {told['socket']}")
    print_line(f"log       {told['log']}")
    print_line(f"served    {told['requests']} requests, {told['memory_mb']:.0f} MB of memory")
    if told["said"]:
        print_line(f"trouble   {told['said']}")
    for vault in told["vaults"]:
        print_line(f"vault     {_vault_line(vault)}")
    for chore in told["chores"]:
        print_line(f"chore     {_chore_line(chore)}")
    print_line(f"capture   {_capture_line(told['capture'])}")
    for paused in told["capture"]["paused"]:
        print_line(f"paused    {paused}")
    for hooks in told["hooks"]:
        print_line(f"hooks     {_hooks_line(hooks)}")


def _vault_line(vault: Mapping[str, Any]) -> str:
    name = f"{vault['vault']}{' (default)' if vault['default'] else ''}"
    if not vault["open"]:
        return f"{name}: not open: {vault['said']}"
    mode = vault["mode"] + (f" ({vault['without']})" if vault["without"] else "")
    watching = "watched" if vault["watching"] else f"not watched: {vault['said']}"
    return f"{name}: {vault['notes']} notes, {vault['chunks']} chunks, {mode}, {watching}"


def _chore_line(chore: Mapping[str, Any]) -> str:
    if "ran" not in chore:
        return f"{chore['chore']}: not yet, next at {chore['next']}"
    outcome = chore["said"] if chore["ok"] else f"failed: {chore['said']}"
    return f"{chore['chore']}: {outcome} ({chore['seconds']:.1f} s, {chore['ran']}), next at {chore['next']}"


def _hooks_line(hooks: Mapping[str, Any]) -> str:
    last = f"{hooks['event']} at {hooks['at']} in {hooks['took_ms']:.0f} ms" if hooks["event"] else "nothing came yet"
    if skip := hooks["last_skip"]:
        return f"{hooks['host']}: {last}; {hooks['skipped']} skipped, at {skip['at']}: {skip['reason']}"
    return f"{hooks['host']}: {last}"


def _capture_line(capture: Mapping[str, Any]) -> str:
    if not capture["enabled"]:
        return "off"
    read = f"last read {capture['last_read']}" if capture["last_read"] else "nothing read yet"
    trouble = f"; trouble: {capture['said']}" if capture["said"] else ""
    return f"{capture['sessions']} sessions known, {capture['waiting']} waiting to be read, {read}{trouble}"
