"""The record of what is installed where, so that all of it can be found, checked and undone."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from commonplace.daemon.service.state_files import (
    file_lock,
    make_daemon_folders,
    user_daemon_files,
    write_private_file,
)
from commonplace.errors import VaultUnavailable
from commonplace.hosts.host import InstallOptions, InstallScope, Transport
from commonplace.hosts.host_edits import Edit, FileFormat, ListEntry, MarkdownBlock, ServerEntry
from commonplace.hosts.text_edits import UndoInfo

FILE: Final = "hosts.json"
_VERSION: Final = 1


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
    """A host as it was installed, for the person or in one project; `token` is the id of its token."""

    host: str
    options: InstallOptions
    project: str
    since: str
    program: tuple[str, ...]
    vault: str = ""
    token: str = ""
    files: tuple[FileRecord, ...] = ()

    @property
    def folder(self) -> Path | None:
        """The project's folder; None for an install for the person."""
        return Path(self.project) if self.options.scope == "project" else None

    def matches(self, host: str, scope: InstallScope, project: Path) -> bool:
        """True if it is this host in this scope; the project counts only for an install in a project."""
        return (self.host, self.options.scope) == (host, scope) and (scope == "user" or self.project == str(project))


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """Everything that is installed, and the backups of files before they were changed."""

    installs: tuple[Install, ...] = ()
    backups: tuple[Path, ...] = ()

    def find(self, host: str, scope: InstallScope, project: Path) -> Install | None:
        """The install of this host in this scope and project, or None."""
        return next((each for each in self.installs if each.matches(host, scope, project)), None)

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
    path = record_file()
    try:
        values = json.loads(path.read_bytes())
        if values["version"] != _VERSION:
            raise ValueError("another version")
        return InstallRecord(tuple(map(_parse_install, values["installs"])), tuple(map(Path, values["backups"])))
    except FileNotFoundError:
        return InstallRecord()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Remove it; `commonplace uninstall HOST` still finds the entries in their usual places."
        raise VaultUnavailable(
            "the record of installed hosts cannot be read", path=str(path), reason="damaged", hint=hint
        ) from error


def write_record(record: InstallRecord) -> None:
    """Save the record. Raises VaultUnavailable."""
    make_daemon_folders(user_daemon_files())
    values = {
        "version": _VERSION,
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
        "project": install.project,
        "since": install.since,
        "program": install.program,
        "vault": install.vault,
        "token": install.token,
        "files": [_file_values(each) for each in install.files],
    }


def _parse_install(values: Mapping[str, Any]) -> Install:
    scope, transport = cast(InstallScope, values["scope"]), cast(Transport, values["transport"])
    options = InstallOptions(scope, transport, values["hooks"], values["instructions"])
    files = tuple(map(_parse_file, values["files"]))
    program, vault, token = tuple(values["program"]), values["vault"], values["token"]
    return Install(values["host"], options, values["project"], values["since"], program, vault, token, files)


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
    if isinstance(edit, ListEntry):
        return {"kind": "listed", "path": edit.path, "nest": edit.nested_key}
    return {"kind": "server", "path": edit.path}


def _parse_edit(values: Mapping[str, Any]) -> Edit:
    if values["kind"] == "block":
        return MarkdownBlock()
    if values["kind"] == "listed":
        return ListEntry(tuple(values["path"]), nested_key=values["nest"])
    return ServerEntry(tuple(values["path"]))
