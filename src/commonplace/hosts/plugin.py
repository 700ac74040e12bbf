"""The plugin in a host: whether it is enabled there, and which server serves the tools if an entry is there as well.

The plugin and an entry of `commonplace install` start a server each, and the host would show its model every tool
twice. So each server looks who else there is, and one of them serves. Codex needs no such care: of two servers with the
same name it starts the one in its settings.
"""

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from commonplace.agent_hosts import AgentHost
from commonplace.client.paths import working_folder
from commonplace.client.stdio import InvalidMessage, Message, error_line, is_request, read_message, serve_stdio
from commonplace.daemon.service.install_file import hosts_over_http
from commonplace.daemon.service.state_files import user_daemon_files
from commonplace.errors import CommonplaceError
from commonplace.hosts.host import PORTABLE_COMMAND, Environment, InstallOptions
from commonplace.hosts.host_edits import SERVER_NAME, ServerEntry, is_our_server, server_address
from commonplace.hosts.jsonc import BOM
from commonplace.hosts.registry import HOSTS

ENTRIES: Final = ("project", "plugin")
"""What may start a server besides the person's own entry: the entry in a project, and the plugin."""

_PLUGIN: Final = "commonplace@"  # and the name of the marketplace that it comes from
_CLAUDE_CODE: Final = "claude-code"
_CLAUDE_CODE_RUNS: Final = "CLAUDECODE"  # set for every program that Claude Code starts
_CLAUDE_CODE_PROJECT: Final = "CLAUDE_PROJECT_DIR"
_METHOD_NOT_FOUND: Final = -32601


@dataclass(frozen=True, slots=True)
class HostPlugin:
    """The plugin as a host has it: its name with the marketplace, and its folder if that is known."""

    name: str
    folder: Path | None = None

    @property
    def stands_by(self) -> bool:
        """True if its server leaves the tools to an entry of `install`; an older version does not."""
        servers = _read_json(self.folder / ".mcp.json").get("mcpServers") if self.folder else None
        server = servers.get(SERVER_NAME) if isinstance(servers, dict) else None
        args = server.get("args") if isinstance(server, dict) else None
        return self.folder is None or (isinstance(args, list) and "--entry" in args)


def find_plugin(host: AgentHost, environment: Environment) -> HostPlugin | None:
    """The plugin, if it is enabled in this host for the person or in the project; None for a host without plugins."""
    find = _FINDERS.get(host.name)
    return find(environment.config_folder(host), environment.project) if find else None


def _plugin_of_claude_code(config: Path, project: Path) -> HostPlugin | None:
    files = (config / "settings.json", *(project / ".claude" / f"settings{each}.json" for each in ("", ".local")))
    enabled: dict[str, Any] = {}
    for file in files:  # later files take precedence
        listed = _read_json(file).get("enabledPlugins")
        enabled |= listed if isinstance(listed, dict) else {}
    name = _enabled_name((name, value is True) for name, value in enabled.items())
    if not name:
        return None
    installed = _read_json(config / "plugins" / "installed_plugins.json").get("plugins")
    copies = installed.get(name) if isinstance(installed, dict) else None
    last = copies[-1] if isinstance(copies, list) and copies else None
    folder = last.get("installPath") if isinstance(last, dict) else None
    return HostPlugin(name, Path(folder) if isinstance(folder, str) else None)


def _plugin_of_codex(config: Path, project: Path) -> HostPlugin | None:
    plugins = _read_toml(config / "config.toml").get("plugins")
    listed = plugins.items() if isinstance(plugins, dict) else ()
    name = _enabled_name(
        (name, isinstance(value, dict) and value.get("enabled", True) is True) for name, value in listed
    )
    if not name:
        return None
    copies = sorted((config / "plugins" / "cache" / name.removeprefix(_PLUGIN) / SERVER_NAME).glob("*/.mcp.json"))
    return HostPlugin(name, copies[-1].parent if copies else None)


_FINDERS: Final[Mapping[str, Callable[[Path, Path], HostPlugin | None]]] = {
    _CLAUDE_CODE: _plugin_of_claude_code,
    "codex": _plugin_of_codex,
}


def _enabled_name(plugins: Iterable[tuple[str, bool]]) -> str:
    return next((name for name, is_enabled in plugins if is_enabled and name.startswith(_PLUGIN)), "")


def serve_entry(entry: str, *, vault: str | None, client: str | None) -> int:
    """Serve MCP on standard input and output for this entry, or no tools if another server has them; the exit code."""
    reason = reason_to_stand_by(entry, os.environ)
    if not reason:
        return serve_stdio(vault=vault, client=client)
    print(f"commonplace: no tools here: {reason}", file=sys.stderr, flush=True)  # noqa: T201 (hosts keep it as the log)
    serve_no_tools(sys.stdin.buffer, sys.stdout.buffer)
    return 0


def reason_to_stand_by(entry: str, environ: Mapping[str, str]) -> str:
    """Why the server of this entry leaves the tools to another one; empty if it serves them itself.

    The person's own entry serves, and the one in the project, which takes its place. Without a person's own entry that
    can work the plugin serves, and only without the plugin the entry in the project.
    """
    if entry not in ENTRIES or _CLAUDE_CODE_RUNS not in environ:
        return ""
    project = Path(environ.get(_CLAUDE_CODE_PROJECT) or working_folder())
    environment = Environment(Path.home(), project, PORTABLE_COMMAND, environ=environ)
    own = own_entry(environment)
    works = own is not None and own.fault == ""
    if entry == "plugin":
        return f"the server in {own.file} serves them" if own and works else ""
    plugin = None if works else find_plugin(HOSTS[_CLAUDE_CODE].agent, environment)
    return f"the plugin {plugin.name} serves them" if plugin else ""


def shows_tools_twice(host: AgentHost, options: InstallOptions, environment: Environment) -> bool:
    """True if an install with these options serves the tools next to the plugin.

    An entry over HTTP starts no program that could stand by. The plugin stands by for the person's own entry alone.
    """
    is_http_project = options.scope == "project" and options.transport == "http"
    if host.name != _CLAUDE_CODE or not is_http_project:
        return False
    own = own_entry(environment)
    return own is None or bool(own.fault)


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """A person's own entry of our server for Claude Code: its file, and why it cannot work, empty if it can."""

    file: Path
    fault: str = ""


def own_entry(environment: Environment) -> OwnEntry | None:
    """The person's own entry for Claude Code, everywhere or in this project; None without one.

    Of two, Claude Code takes the one for the project.
    """
    for file in HOSTS[_CLAUDE_CODE].files(InstallOptions("user", hooks=False, skills=False), environment):
        if any(isinstance(edit, ServerEntry) for edit in file.edits):
            values = _read_json(file.path)
            projects = values.get("projects")
            local = projects.get(str(environment.project)) if isinstance(projects, dict) else None
            holders = [each for each in (local, values) if isinstance(each, dict)]
            servers = [each for holder in holders if isinstance(each := holder.get("mcpServers"), dict)]
            entry = next((each[SERVER_NAME] for each in servers if is_our_server(each.get(SERVER_NAME))), None)
            if entry is not None:
                return OwnEntry(file.path, _fault(entry, environment))
    return None


def _fault(entry: Mapping[str, Any], environment: Environment) -> str:
    """Why a server that is ours cannot be reached by this entry; empty if it can, as far as can be told."""
    if address := server_address(entry):
        known = (*hosts_over_http(user_daemon_files().folder).values(), *_settings_address())
        is_known = _port(address) in map(_port, known)
        return "" if is_known else f"names {address}, which is not the daemon's address"
    command = str(entry.get("command"))
    found = shutil.which(command, path=environment.environ.get("PATH"))
    return "" if found else f"names the program {command}, which does not exist"


def _settings_address() -> Iterator[str]:
    """The daemon's address by the settings; none if they cannot be read."""
    from commonplace.settings.load import load_settings  # not needed where an entry starts our program

    with suppress(CommonplaceError):
        yield f"http://127.0.0.1:{load_settings().settings.serve.port}/mcp"


def _port(address: str) -> int | None:
    """The port of an address, which may be spelled in several ways; None if it has none that is valid."""
    try:
        return urlsplit(address).port
    except ValueError:
        return None


def serve_no_tools(lines: BinaryIO, out: BinaryIO) -> None:
    """Be an MCP server without tools until the lines end."""
    for line in lines:
        try:
            message = read_message(line) if line.strip() else {}
        except InvalidMessage as error:
            answer = error_line(None, str(error), code=error.code)
        else:
            if not is_request(message):
                continue
            answer = _answer_without_tools(message)
        out.write(answer + b"\n")
        out.flush()


def _answer_without_tools(request: Message) -> bytes:
    params = request.get("params")
    asked = params.get("protocolVersion") if isinstance(params, dict) else None
    server = {"name": SERVER_NAME, "version": "standby"}
    results: dict[str, dict[str, object]] = {
        "initialize": {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": server},
        "tools/list": {"tools": []},
        "ping": {},
    }
    method = request["method"]
    result = results.get(method) if isinstance(method, str) else None
    if result is None:
        return error_line(request, "another server has the tools", code=_METHOD_NOT_FOUND)
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()


def _read_json(file: Path) -> Mapping[str, Any]:
    """The object in the file; empty if there is none, or none that a host that knows plain JSON would read."""
    try:
        values = json.loads(file.read_text(encoding="utf-8").removeprefix(BOM))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _read_toml(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8").removeprefix(BOM))
    except (OSError, ValueError, RecursionError):
        return {}
