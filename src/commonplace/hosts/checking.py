"""Whether the hosts that are installed still reach us: for `doctor`."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from commonplace.client.calling import call
from commonplace.client.places import Unreachable
from commonplace.errors import CommonplaceError
from commonplace.hosts.access import our_tokens, secret_in
from commonplace.hosts.host import Around
from commonplace.hosts.known import HOSTS
from commonplace.hosts.planning import plan_install
from commonplace.hosts.record import Install, read_record
from commonplace.model import Finding

SLOW_MS: Final = 300.0  # the daemon's own limit for a prompt; a hook that takes longer is given up
_ANSWER: Final = 5.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What the daemon says of a host: how long its answer to a hook took, which event it saw last, what was skipped."""

    took_ms: float
    event: str = ""
    at: str = ""
    skipped: int = 0
    last_skip: str = ""


Probe = Callable[[str], Heard]
"""Asks the daemon about the host of this name. Raises Unreachable."""


def check_hosts(around: Around, *, probe: Probe) -> tuple[Finding, ...]:
    """A finding for each thing that an installed host needs; none where no host is installed."""
    try:
        return tuple(finding for each in read_record().installs for finding in _check(each, around, probe))
    except CommonplaceError as error:
        return (_trouble("hosts", error),)


def _check(install: Install, around: Around, probe: Probe) -> Iterator[Finding]:
    what = f"{install.host} in {install.project}" if install.folder else install.host
    again = f"Run `commonplace install {install.host}{_options(install)}` again."
    if install.folder and not install.folder.is_dir():
        remedy = f"Run `commonplace uninstall {install.host}` to forget it."
        yield Finding(what, ok=False, said="the project's folder is gone", remedy=remedy, path=install.project)
        return
    there = replace(around, project=install.folder or around.project, program=install.program, vault=install.vault)
    secret = _secret(install, there)
    yield _entries(install, replace(there, secret=secret), what=what, again=again)
    if not shutil.which(install.program[0]):
        yield Finding(what, ok=False, said=f"the program {install.program[0]} is not there", remedy=again)
    if install.asked.transport == "http" and not install.folder:
        good = bool(secret) and our_tokens().find(secret) is not None
        yield Finding(
            what, ok=good, said=f"the token is {'good' if good else 'not known'}", remedy="" if good else again
        )
    yield _answers(install, probe, what=what)


def _secret(install: Install, there: Around) -> str:
    files = HOSTS[install.host].files(install.asked, there)
    return next((secret for file in files if (secret := secret_in(file))), "")


def _entries(install: Install, there: Around, *, what: str, again: str) -> Finding:
    """Whether the host's files still say what was written."""
    try:
        plan = plan_install(HOSTS[install.host], install.asked, there, install)
    except CommonplaceError as error:
        return _trouble(what, error)
    changed = [change.path for change in plan.changes if change.is_one]
    if changed:
        return Finding(what, ok=False, said="our entries are gone or changed", remedy=again, path=str(changed[0]))
    return Finding(what, ok=True, said=f"entries in {', '.join(str(change.path) for change in plan.changes)}")


def _answers(install: Install, probe: Probe, *, what: str) -> Finding:
    """Whether the daemon answers a hook, how soon, and what it heard of this host."""
    try:
        heard = probe(install.host)
    except Unreachable as error:
        return Finding(what, ok=False, said=str(error), remedy="Run `commonplace serve --background`.")
    seen = f"last event {heard.event} at {heard.at}" if heard.event else "no event seen yet"
    if not install.asked.hooks:
        return Finding(what, ok=True, said="the daemon answers")
    skipped = f", {heard.skipped} skipped, the last one because {heard.last_skip}" if heard.skipped else ""
    said = f"a hook is answered in {heard.took_ms:.0f} ms, {seen}{skipped}"
    slow = heard.took_ms > SLOW_MS
    remedy = "Look at `commonplace status`: what keeps the daemon busy?" if slow else ""
    return Finding(what, ok=not slow, said=said, remedy=remedy)


def _options(install: Install) -> str:
    asked = install.asked
    words = {"--scope project": asked.reach == "project", "--transport http": asked.transport == "http"}
    words["--no-hooks"] = HOSTS[install.host].has_hooks and not asked.hooks
    return "".join(f" {word}" for word, given in words.items() if given)


def _trouble(what: str, error: CommonplaceError) -> Finding:
    return Finding(what, ok=False, said=error.message, remedy=error.hint or "", path=error.path)


def ask_daemon(host: str) -> Heard:
    """The probe over the daemon's socket. Raises Unreachable."""
    begun = time.monotonic()
    ping = call("POST", "/hooks/v1/ping", body=b"{}", headers={"Commonplace-Client": host}, timeout=_ANSWER)
    if ping.status != 200:
        raise Unreachable(f"the daemon answered a hook with HTTP status {ping.status}: `commonplace stop` ends it")
    took_ms = (time.monotonic() - begun) * 1000
    told = json.loads(call("GET", "/daemon/status", timeout=_ANSWER).body)
    noted = next((each for each in told["hooks"] if each["host"] == host), None)
    if noted is None:
        return Heard(took_ms)
    skip = noted["last_skip"]["reason"] if noted["last_skip"] else ""
    return Heard(took_ms, noted["event"], noted["at"], noted["skipped"], skip)
