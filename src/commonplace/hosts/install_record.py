"""The record of what is installed where, so that all of it can be found, checked and undone."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from commonplace.agent_hosts import find_agent_host
from commonplace.daemon.service.install_file import FILE, VERSION, damaged_record, read_install_values
from commonplace.daemon.service.state_files import (
    file_lock,
    make_daemon_folders,
    user_daemon_files,
    write_private_file,
)
from commonplace.errors import VaultUnavailable
from commonplace.hosts.host import Environment, Host, InstallOptions, InstallScope, Transport
from commonplace.hosts.host_edits import Edit, FileFormat, ListEntry, ListValue, MarkdownBlock, ServerEntry, WholeFile
from commonplace.hosts.text_edits import UndoInfo

InstallKey = tuple[str, InstallScope, str, str]
"""What tells one install from another: the host, the scope, the project's folder, the host's configuration folder."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that was edited: the edits, how to undo them, and the folders that were created for it.

    `mode` is the mode before the file was made private, None if it was not.
    """

    path: Path
    format: FileFormat
    edits: tuple[Edit, ...]
    undo: UndoInfo = field(default_factory=UndoInfo)
    created: bool = False
    folders: tuple[Path, ...] = ()
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Install:
    """A host as it was installed, for the person or in one project; `token` is the id of its token.

    `config` is the host's configuration folder, of which a person may have several; `url` the daemon's address in the
    host's file, if it connects over HTTP. `declined_skills` if the person wants none, also when they install it again.
    """

    host: str
    options: InstallOptions
    project: str
    since: str
    program: tuple[str, ...]
    vault: str = ""
    token: str = ""
    files: tuple[FileRecord, ...] = ()
    config: str = ""
    url: str = ""
    declined_skills: bool = False

    @property
    def key(self) -> InstallKey:
        """What tells it from other installs."""
        project = self.project if self.options.scope == "project" else ""
        return self.host, self.options.scope, project, self.config

    @property
    def folder(self) -> Path | None:
        """The project's folder; None for an install for the person."""
        return Path(self.project) if self.options.scope == "project" else None


def install_key(host: Host, scope: InstallScope, environment: Environment) -> InstallKey:
    """What tells an install of this host, here and for this person, from others."""
    if scope == "project":
        return host.name, scope, str(environment.project), ""
    agent = host.agent
    return host.name, scope, "", str(environment.config_folder(agent)) if agent.config_variable else ""


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """Everything that is installed, and the backups of files before they were changed."""

    installs: tuple[Install, ...] = ()
    backups: tuple[Path, ...] = ()

    def find(self, key: InstallKey) -> Install | None:
        """The install with this key, or None."""
        return next((each for each in self.installs if each.key == key), None)

    def with_install(self, new: Install, old: Install | None) -> "InstallRecord":
        """The record with the new install in place of the old one."""
        return replace(self, installs=(*(each for each in self.installs if each != old), new))

    def without(self, install: Install) -> "InstallRecord":
        """The record without that install."""
        return replace(self, installs=tuple(each for each in self.installs if each != install))

    def with_backups(self, backups: tuple[Path, ...]) -> "InstallRecord":
        """The record with these backups added."""
        return replace(self, backups=tuple(dict.fromkeys((*self.backups, *backups))))


def record_file() -> Path:
    """The file of the record."""
    return user_daemon_files().folder / FILE


@contextmanager
def lock_record() -> Iterator[None]:
    """Exclusive access to the record and the files that it lists. Raises VaultUnavailable if it cannot be had.

    Without it, two programs that install at the same time would each drop what the other one recorded.
    """
    make_daemon_folders(user_daemon_files())
    try:
        with file_lock(record_file()):
            yield
    except TimeoutError as error:
        message, hint = "another program is installing or uninstalling a host", "Try again in a moment."
        raise VaultUnavailable(message, path=str(record_file()), reason="locked", hint=hint) from error


def read_record() -> InstallRecord:
    """The record; empty if there is no file. Raises VaultUnavailable(damaged)."""
    values = read_install_values(user_daemon_files().folder)
    try:
        return InstallRecord(tuple(map(_parse_install, values["installs"])), tuple(map(Path, values["backups"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged_record(record_file()) from error


def write_record(record: InstallRecord) -> None:
    """Save the record. Raises VaultUnavailable."""
    make_daemon_folders(user_daemon_files())
    values = {
        "version": VERSION,
        "installs": [_install_values(each) for each in record.installs],
        "backups": [str(path) for path in record.backups],
    }
    try:
        write_private_file(record_file(), values)
    except OSError as error:
        message = f"the record of installed hosts cannot be written: {error.strerror}"
        raise VaultUnavailable(message, path=str(record_file()), hint="Check the disk; no file was changed.") from error


def _install_values(install: Install) -> dict[str, Any]:
    options = install.options
    return {
        "host": install.host,
        "scope": options.scope,
        "transport": options.transport,
        "hooks": options.hooks,
        "instructions": options.instructions,
        "allow_reading": options.allow_reading,
        "skills": options.skills,
        "project": install.project,
        "config": install.config,
        "url": install.url,
        "declined_skills": install.declined_skills,
        "since": install.since,
        "program": install.program,
        "vault": install.vault,
        "token": install.token,
        "files": [_file_values(each) for each in install.files],
    }


def _parse_install(values: Mapping[str, Any]) -> Install:
    scope, transport = cast(InstallScope, values["scope"]), cast(Transport, values["transport"])
    options = InstallOptions(
        scope,
        transport,
        hooks=values["hooks"],
        instructions=values["instructions"],
        allow_reading=values.get("allow_reading", False),  # what is read with `get` is missing in older records
        skills=values.get("skills", False),
    )
    files = tuple(map(_parse_file, values["files"]))
    return Install(
        host=values["host"],
        options=options,
        project=values["project"],
        since=values["since"],
        program=tuple(values["program"]),
        vault=values["vault"],
        token=values["token"],
        files=files,
        config=values.get("config") or _config_of(values["host"], scope, files),
        url=values.get("url", ""),
        declined_skills=values.get("declined_skills", False),
    )


def _config_of(host: str, scope: InstallScope, files: tuple[FileRecord, ...]) -> str:
    """The configuration folder of an install whose record is older than that: the folder of its first file.

    That is the file with the MCP server. Claude Code has it in the home folder unless a variable names another one.
    """
    agent = find_agent_host(host)
    if scope == "project" or agent is None or not agent.config_variable:
        return ""
    usual, home = Path.home() / agent.config_folder, Path.home()
    first = files[0].path.parent if files else usual
    return str(usual if first == home else first)


def _file_values(file: FileRecord) -> dict[str, Any]:
    undo = file.undo
    return {
        "path": str(file.path),
        "form": file.format,
        "edits": [_edit_values(edit) for edit in file.edits],
        "created": file.created,
        "folders": [str(folder) for folder in file.folders],
        "mode": file.mode,
        "made": sorted(undo.made),
        "holes": [[keys, text] for keys, text in undo.holes.items()],
        "blank": undo.blank,
        "gap": undo.gap,
        "tail": undo.tail,
    }


def _parse_file(values: Mapping[str, Any]) -> FileRecord:
    undo = UndoInfo(
        made=frozenset(tuple(keys) for keys in values["made"]),
        holes={tuple(keys): text for keys, text in values["holes"]},
        blank=values["blank"],
        gap=values["gap"],
        tail=values["tail"],
    )
    edits = tuple(map(_parse_edit, values["edits"]))
    folders = tuple(map(Path, values["folders"]))
    return FileRecord(Path(values["path"]), values["form"], edits, undo, values["created"], folders, values["mode"])


def _edit_values(edit: Edit) -> dict[str, Any]:
    """The place of an edit, without its content, which may hold a token."""
    if isinstance(edit, MarkdownBlock):
        return {"kind": "block"}
    if isinstance(edit, WholeFile):
        return {"kind": "whole"}
    if isinstance(edit, ListEntry):
        return {"kind": "listed", "path": edit.path, "nest": edit.nested_key}
    if isinstance(edit, ListValue):
        return {"kind": "value", "path": edit.path, "value": edit.value}
    return {"kind": "server", "path": edit.path}


def _parse_edit(values: Mapping[str, Any]) -> Edit:
    if values["kind"] == "block":
        return MarkdownBlock()
    if values["kind"] == "whole":
        return WholeFile()
    if values["kind"] == "value":
        return ListValue(tuple(values["path"]), values["value"])
    if values["kind"] == "listed":
        return ListEntry(tuple(values["path"]), nested_key=values["nest"])
    return ServerEntry(tuple(values["path"]))
