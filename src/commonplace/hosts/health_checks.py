"""Checks for `doctor` whether the hosts still reach us: what is installed in them, and the plugin."""

import json
import os
import re
import shlex
import shutil
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from commonplace.client.http import call
from commonplace.client.paths import Unreachable
from commonplace.daemon.tokens import holder_of
from commonplace.errors import CommonplaceError
from commonplace.hosts.file_changes import read_file, resolve_file
from commonplace.hosts.host import PORTABLE_COMMAND, SKILL_FILE, Environment
from commonplace.hosts.host_edits import is_our_list_entry
from commonplace.hosts.host_tokens import daemon_tokens, secret_in_file
from commonplace.hosts.install_record import Install, read_record
from commonplace.hosts.jsonc import BOM, InvalidSyntax
from commonplace.hosts.jsonc_edits import value_at
from commonplace.hosts.plan import plan_install
from commonplace.hosts.plugin import HostPlugin, find_plugin, own_entry, shows_tools_twice
from commonplace.hosts.registry import HOSTS
from commonplace.model.diagnostics import Finding

SLOW_MS: Final = 300.0  # the daemon's own limit for a prompt; a slower hook is given up
_OFTEN: Final = 0.1  # of the last recalls: when more are late, a person notices that memory is missing
_TIMEOUT: Final = 5.0
_NOTHING_CHANGED: Final = "; nothing was changed"  # said by an install that stops, not by a check
_TRUST_HOST: Final = "codex"  # runs only hooks that a person has trusted, and keeps that in its settings
_STANDBY_HOST: Final = "claude-code"  # in which the plugin leaves the tools to an entry
_STRAY_REMEDY: Final = "Run `claude mcp remove commonplace` to remove that entry."
_START_REMEDY: Final = "Run `commonplace serve --background`."
_TRUST_REMEDY: Final = "Start codex, enter /hooks, and trust the hooks of Commonplace."
_PLUGIN_HOOKS: Final = Path("hooks") / "hooks.json"
_WORD_START: Final = re.compile(r"(?<!^)(?=[A-Z])")


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
    """A finding for each thing that a host with Commonplace needs; none if there is no such host."""
    try:
        installs = read_record().installs
        found = [finding for each in installs for finding in _check(each, environment, probe)]
    except CommonplaceError as error:
        return (_error_finding("hosts", error),)
    served = {each.host for each in installs if not each.folder}
    return _said_once((*found, *_check_plugins(environment, probe, served=served)))


def _said_once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, with one in place of several that say the same of the daemon; it names each host."""
    away = [each for each in findings if each.remedy == _START_REMEDY]
    hosts = {said: ", ".join(each.what for each in away if each.said == said) for said in (each.said for each in away)}
    joined = [Finding(what, ok=False, said=said, remedy=_START_REMEDY) for said, what in hosts.items()]
    return (*(each for each in findings if each.remedy != _START_REMEDY), *joined)


def probe_daemon(host: str) -> HookStatus:
    """The daemon's knowledge of the host, over its socket. Raises Unreachable."""
    start = time.monotonic()
    ping = call("POST", "/hooks/v1/ping", body=b"{}", headers={"Commonplace-Client": host}, timeout=_TIMEOUT)
    if ping.status != 200:
        raise Unreachable(
            f"the daemon answered a hook with HTTP status {ping.status}; stop it first with `commonplace stop`"
        )
    took_ms = (time.monotonic() - start) * 1000
    status = json.loads(call("GET", "/daemon/status", timeout=_TIMEOUT).body)
    entry = next((each for each in status["hooks"] if each["host"] == host), None)
    if entry is None:
        return HookStatus(took_ms)
    last_skip = entry["last_skip"]["reason"] if entry["last_skip"] else ""
    late = {name: entry[name] for name in ("recalls", "late", "last_late")}
    return HookStatus(took_ms, entry["event"], entry["at"], entry["skipped"], last_skip, **late)


def _check(install: Install, environment: Environment, probe: Probe) -> Iterator[Finding]:
    what, remedy = _name_of(install, environment), f"Run `{_repeated_command(install, environment)}` again."
    if install.folder and not install.folder.is_dir():
        forget = f"Run `commonplace uninstall {install.host}` to forget it."
        yield Finding(what, ok=False, said="the project's folder is gone", remedy=forget, path=install.project)
        return
    environment = environment_of_install(install, environment)
    secret = _secret(install, environment)
    yield _check_entries(install, replace(environment, secret=secret), what=what, remedy=remedy)
    if not shutil.which(install.program[0]):
        yield Finding(what, ok=False, said=f"the program {install.program[0]} does not exist", remedy=remedy)
    if install.options.transport == "http" and not install.folder:
        is_valid = bool(secret) and daemon_tokens().find(secret) is not None
        said = f"the token is {'valid' if is_valid else 'not valid'}"
        yield Finding(what, ok=is_valid, said=said, remedy="" if is_valid else remedy)
        yield from _check_port(install, what=what)
    if install.vault and not Path(install.vault).is_dir():
        moved = f"if it has moved, run `commonplace install {install.host} --vault FOLDER` with its new folder"
        mount = f"Mount its disk; {moved}."
        yield Finding(what, ok=False, said="the vault that it uses is not there", remedy=mount, path=install.vault)
    if install.host == _TRUST_HOST and install.options.hooks:
        yield from _check_trust(_hook_keys(install, environment), environment, what=what)
    yield from _check_both(install, environment, what=what)
    yield from _check_daemon(install.host, probe, what=what, hooks=install.options.hooks)


def _check_port(install: Install, *, what: str) -> Iterator[Finding]:
    """A finding if another program listens at the address to which the host sends its token."""
    port = urlsplit(install.url).port
    if port and holder_of(port) == "another":
        end = f"End that program, run `commonplace token revoke {install.host}`, and install the host again."
        yield Finding(what, ok=False, said=f"another program listens on port {port} and may have its token", remedy=end)


def environment_of_install(install: Install, environment: Environment) -> Environment:
    """The environment in which the host was installed: its project, program, vault and configuration folder."""
    agent = HOSTS[install.host].agent
    environ = {name: value for name, value in environment.environ.items() if name != agent.config_variable}
    if _has_own_config(install, environment):
        environ[agent.config_variable] = agent.config_value(install.config)
    return replace(
        environment,
        project=install.folder or environment.project,
        program=install.program,
        vault=install.vault,
        environ=environ,
    )


def _name_of(install: Install, environment: Environment) -> str:
    """The host, with the project's folder, or with the configuration folder if that is not the usual one."""
    place = install.project if install.folder else install.config if _has_own_config(install, environment) else ""
    return f"{install.host} in {place}" if place else install.host


def _has_own_config(install: Install, environment: Environment) -> bool:
    """True if the host's configuration folder is not the usual one."""
    return install.config not in ("", str(environment.home / HOSTS[install.host].agent.config_folder))


def _secret(install: Install, environment: Environment) -> str:
    files = HOSTS[install.host].files(install.options, environment)
    return next((secret for file in files if (secret := secret_in_file(file))), "")


def _check_entries(install: Install, environment: Environment, *, what: str, remedy: str) -> Finding:
    """Whether the host reads its files, whether they still hold our entries, and whether these name the daemon."""
    if install.url and install.url != environment.url:
        said = f"the entry names {install.url}, and the daemon is at {environment.url}"
        return Finding(what, ok=False, said=said, remedy=remedy)
    try:
        plan = plan_install(HOSTS[install.host], install.options, environment, install)
    except CommonplaceError as error:
        return _error_finding(what, error)
    changed = [change.path for change in plan.changes if change.has_effect]
    if changed:
        return Finding(
            what, ok=False, said="entries of Commonplace are missing or changed", remedy=remedy, path=str(changed[0])
        )
    files = [change.path for change in plan.changes if not change.is_foreign]
    entries = ", ".join(str(path) for path in files if path.name != SKILL_FILE)
    skills = sum(path.name == SKILL_FILE for path in files)
    return Finding(what, ok=True, said=f"entries in {entries}{f', and {skills} skills' if skills else ''}")


def _check_both(install: Install, environment: Environment, *, what: str) -> Iterator[Finding]:
    """Whether the plugin is there as well, and whether one of the two then leaves the tools to the other."""
    agent = HOSTS[install.host].agent
    plugin = find_plugin(agent, environment)
    if plugin is None:
        return
    said = f"the plugin {plugin.name} is enabled as well"
    if shows_tools_twice(agent, install.options, environment):
        over_http = "and this entry is over HTTP, so both show every tool"
        local = f"Run `commonplace install {install.host} --scope project` there, which is over stdio and can stand by."
        yield Finding(what, ok=False, said=f"{said}, {over_http}", remedy=local)
    elif plugin.stands_by:
        yield Finding(what, ok=True, said=f"{said}: one of the two serves the tools, hooks are answered once")
    else:
        old = f"Update the plugin, or remove one of the two: `commonplace uninstall {install.host}`."
        yield Finding(what, ok=False, said=f"{said}, and its version shows every tool twice", remedy=old)


def _check_plugins(environment: Environment, probe: Probe, *, served: set[str]) -> Iterator[Finding]:
    """What the plugin needs in each host in which nothing else of ours is installed for the person."""
    for host in HOSTS.values():
        plugin = None if host.name in served else find_plugin(host.agent, environment)
        if plugin is None:
            continue
        what = f"{host.name} plugin"
        yield Finding(what, ok=True, said=f"{plugin.name} is enabled")
        if host.name == _STANDBY_HOST and (own := own_entry(environment)) and own.fault:
            said = f"an entry of Commonplace {own.fault}; the plugin serves the tools in its place"
            yield Finding(what, ok=False, said=said, remedy=_STRAY_REMEDY, path=str(own.file))
        if not shutil.which(PORTABLE_COMMAND[0]):
            said = f"`{PORTABLE_COMMAND[0]}`, which the plugin calls, is not on your path"
            yield Finding(what, ok=False, said=said, remedy=f"Add its folder to your path where {host.title} starts.")
        if host.name == _TRUST_HOST:
            yield from _check_trust(_plugin_hook_keys(plugin), environment, what=what)
        yield from _check_daemon(host.name, probe, what=what, hooks=True)


def _check_trust(keys: list[str], environment: Environment, *, what: str) -> Iterator[Finding]:
    """Whether the person has trusted these hooks, which Codex records in its settings by their file and place."""
    file = environment.config_folder(HOSTS[_TRUST_HOST].agent) / "config.toml"
    try:
        hooks = tomllib.loads(file.read_text(encoding="utf-8").removeprefix(BOM)).get("hooks")
    except (OSError, ValueError):
        return  # `_check_entries` says what is wrong with it
    states = hooks.get("state") if isinstance(hooks, dict) else None
    known = states if isinstance(states, dict) else {}
    untrusted = [key for key in keys if not _is_trusted(known.get(key))]
    if untrusted:
        said = f"Codex does not run our hooks yet: {len(untrusted)} of {len(keys)} are not trusted"
        yield Finding(what, ok=False, said=said, remedy=_TRUST_REMEDY, path=str(file))


def _is_trusted(state: object) -> bool:
    return isinstance(state, Mapping) and bool(state.get("trusted_hash")) and state.get("enabled") is not False


def _hook_keys(install: Install, environment: Environment) -> list[str]:
    """The names under which Codex records trust in the hooks of this install."""
    files = [file for file in HOSTS[install.host].files(install.options, environment) if file.path.name == "hooks.json"]
    return [key for file in files for key in _keys_in(file.path, label=os.path.realpath(file.path))]


def _plugin_hook_keys(plugin: HostPlugin) -> list[str]:
    """The names under which Codex records trust in the hooks of the plugin."""
    return [*_keys_in(plugin.folder / _PLUGIN_HOOKS, label=f"{plugin.name}:{_PLUGIN_HOOKS}")] if plugin.folder else []


def _keys_in(file: Path, *, label: str) -> Iterator[str]:
    """For each hook of ours in the file: the label, the event, and the numbers of its group and of the hook in it."""
    try:
        events = value_at((read_file(resolve_file(file))[0] or b"").decode("utf-8", "replace"), ("hooks",))
    except (InvalidSyntax, CommonplaceError):
        return  # `_check_entries` says what is wrong with it
    for event, groups in (events if isinstance(events, dict) else {}).items():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks: Any = group.get("hooks") if isinstance(group, dict) else None
            for inner, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if is_our_list_entry(hook):
                    yield f"{label}:{_WORD_START.sub('_', event).lower()}:{number}:{inner}"


def _check_daemon(host: str, probe: Probe, *, what: str, hooks: bool) -> Iterator[Finding]:
    """Whether the daemon answers a hook, how quickly, the last event of this host, and how often recall was late."""
    try:
        status = probe(host)
    except Unreachable as error:
        yield Finding(what, ok=False, said=str(error), remedy=_START_REMEDY)
        return
    if not hooks:
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
        "Run `commonplace status` to see if the daemon is indexing; `commonplace stop --force` ends one that hangs."
    )
    return Finding(what, ok=not is_often, said=f"{said}, last at {status.last_late}", remedy=remedy if is_often else "")


def _repeated_command(install: Install, environment: Environment) -> str:
    """The command line that installs the host once more as it is: the same place, vault, transport and parts."""
    options, agent = install.options, HOSTS[install.host].agent
    flags = {"--scope project": options.scope == "project", "--transport http": options.transport == "http"}
    flags["--no-hooks"] = HOSTS[install.host].has_hooks and not options.hooks
    flags["--no-skills"] = install.declined_skills
    flags[f"--vault {shlex.quote(install.vault)}"] = bool(install.vault)
    command = f"commonplace install {install.host}{''.join(f' {flag}' for flag, is_set in flags.items() if is_set)}"
    if install.folder:
        return command if install.folder == environment.project else f"cd {shlex.quote(install.project)} && {command}"
    if _has_own_config(install, environment):
        return f"{agent.config_variable}={shlex.quote(agent.config_value(install.config))} {command}"
    return f"env -u {agent.config_variable} {command}" if agent.named_config(environment.environ) else command


def _error_finding(what: str, error: CommonplaceError) -> Finding:
    said = error.message.removesuffix(_NOTHING_CHANGED)
    return Finding(what, ok=False, said=said, remedy=error.hint or "", path=error.path)
