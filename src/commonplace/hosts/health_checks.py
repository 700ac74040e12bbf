"""Checks for `doctor` whether the installed hosts still reach us."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from commonplace.client.http import call
from commonplace.client.paths import Unreachable
from commonplace.errors import CommonplaceError
from commonplace.hosts.host import Environment
from commonplace.hosts.host_tokens import daemon_tokens, secret_in_file
from commonplace.hosts.install_record import Install, read_record
from commonplace.hosts.plan import plan_install
from commonplace.hosts.registry import HOSTS
from commonplace.model.diagnostics import Finding

SLOW_MS: Final = 300.0  # the daemon's own limit for a prompt; a slower hook is given up
_OFTEN: Final = 0.1  # of the last recalls: when more are late, a person notices that memory is missing
_TIMEOUT: Final = 5.0


@dataclass(frozen=True, slots=True)
class HookStatus:
    """What the daemon knows of a host: its response time for a hook, the last event, and what was skipped.

    `late` of the last `recalls` prompts and session starts were answered before recall was ready.
    """

    took_ms: float
    event: str = ""
    at: str = ""
    skipped: int = 0
    last_skip: str = ""
    recalls: int = 0
    late: int = 0
    last_late: str = ""


Probe = Callable[[str], HookStatus]
"""Asks the daemon about the host of this name. Raises Unreachable."""


def check_hosts(environment: Environment, *, probe: Probe) -> tuple[Finding, ...]:
    """A finding for each thing that an installed host needs; none if no host is installed."""
    try:
        return tuple(finding for each in read_record().installs for finding in _check(each, environment, probe))
    except CommonplaceError as error:
        return (_error_finding("hosts", error),)


def probe_daemon(host: str) -> HookStatus:
    """The daemon's knowledge of the host, over its socket. Raises Unreachable."""
    start = time.monotonic()
    ping = call("POST", "/hooks/v1/ping", body=b"{}", headers={"Commonplace-Client": host}, timeout=_TIMEOUT)
    if ping.status != 200:
        raise Unreachable(f"the daemon answered a hook with HTTP status {ping.status}: `commonplace stop` stops it")
    took_ms = (time.monotonic() - start) * 1000
    status = json.loads(call("GET", "/daemon/status", timeout=_TIMEOUT).body)
    entry = next((each for each in status["hooks"] if each["host"] == host), None)
    if entry is None:
        return HookStatus(took_ms)
    last_skip = entry["last_skip"]["reason"] if entry["last_skip"] else ""
    late = {name: entry[name] for name in ("recalls", "late", "last_late")}
    return HookStatus(took_ms, entry["event"], entry["at"], entry["skipped"], last_skip, **late)


def _check(install: Install, environment: Environment, probe: Probe) -> Iterator[Finding]:
    what = f"{install.host} in {install.project}" if install.folder else install.host
    remedy = f"Run `commonplace install {install.host}{_flags(install)}` again."
    if install.folder and not install.folder.is_dir():
        forget = f"Run `commonplace uninstall {install.host}` to forget it."
        yield Finding(what, ok=False, said="the project's folder is gone", remedy=forget, path=install.project)
        return
    project = install.folder or environment.project
    environment = replace(environment, project=project, program=install.program, vault=install.vault)
    secret = _secret(install, environment)
    yield _check_entries(install, replace(environment, secret=secret), what=what, remedy=remedy)
    if not shutil.which(install.program[0]):
        yield Finding(what, ok=False, said=f"the program {install.program[0]} does not exist", remedy=remedy)
    if install.options.transport == "http" and not install.folder:
        is_valid = bool(secret) and daemon_tokens().find(secret) is not None
        said = f"the token is {'valid' if is_valid else 'not valid'}"
        yield Finding(what, ok=is_valid, said=said, remedy="" if is_valid else remedy)
    yield from _check_daemon(install, probe, what=what)


def _secret(install: Install, environment: Environment) -> str:
    files = HOSTS[install.host].files(install.options, environment)
    return next((secret for file in files if (secret := secret_in_file(file))), "")


def _check_entries(install: Install, environment: Environment, *, what: str, remedy: str) -> Finding:
    """Whether the host's files still hold our entries."""
    try:
        plan = plan_install(HOSTS[install.host], install.options, environment, install)
    except CommonplaceError as error:
        return _error_finding(what, error)
    changed = [change.path for change in plan.changes if change.has_effect]
    if changed:
        return Finding(what, ok=False, said="our entries are missing or changed", remedy=remedy, path=str(changed[0]))
    return Finding(what, ok=True, said=f"entries in {', '.join(str(change.path) for change in plan.changes)}")


def _check_daemon(install: Install, probe: Probe, *, what: str) -> Iterator[Finding]:
    """Whether the daemon answers a hook, how quickly, the last event of this host, and how often recall was late."""
    try:
        status = probe(install.host)
    except Unreachable as error:
        yield Finding(what, ok=False, said=str(error), remedy="Run `commonplace serve --background`.")
        return
    if not install.options.hooks:
        yield Finding(what, ok=True, said="the daemon answers")
        return
    yield _check_speed(status, what=what)
    if status.late:
        yield _check_lateness(status, what=what)


def _check_speed(status: HookStatus, *, what: str) -> Finding:
    event = f"last event {status.event} at {status.at}" if status.event else "no event seen yet"
    skipped = f", {status.skipped} skipped, the last because: {status.last_skip}" if status.skipped else ""
    said = f"a hook is answered in {status.took_ms:.0f} ms, {event}{skipped}"
    is_slow = status.took_ms > SLOW_MS
    remedy = "Run `commonplace status` to see what keeps the daemon busy." if is_slow else ""
    return Finding(what, ok=not is_slow, said=said, remedy=remedy)


def _check_lateness(status: HookStatus, *, what: str) -> Finding:
    """How many of the last prompts and session starts went without memory; one of many is no reason to act."""
    is_often = status.late > _OFTEN * status.recalls
    said = f"recall was late for {status.late} of the last {status.recalls} prompts and session starts"
    remedy = (
        "Run `commonplace status` to see whether the daemon is indexing; `commonplace stop` ends a daemon that hangs."
    )
    return Finding(what, ok=not is_often, said=f"{said}, last at {status.last_late}", remedy=remedy if is_often else "")


def _flags(install: Install) -> str:
    options = install.options
    flags = {"--scope project": options.scope == "project", "--transport http": options.transport == "http"}
    flags["--no-hooks"] = HOSTS[install.host].has_hooks and not options.hooks
    return "".join(f" {flag}" for flag, is_set in flags.items() if is_set)


def _error_finding(what: str, error: CommonplaceError) -> Finding:
    return Finding(what, ok=False, said=error.message, remedy=error.hint or "", path=error.path)
