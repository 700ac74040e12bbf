"""The record of what is installed where, so that all of it can be found, checked and taken back."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from commonplace.daemon.private_files import turn_at, write_privately
from commonplace.daemon.single import make_folders, our_places
from commonplace.errors import VaultUnavailable
from commonplace.hosts.edits import Block, Edit, Form, Listed, Server
from commonplace.hosts.host import Asked, Reach, Transport
from commonplace.hosts.trace import Trace

FILE: Final = "hosts.json"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that was edited: what was put in, how it was before, and which folders were made for it.

    `mode` is the mode that the file had where it was made private, else None.
    """

    path: Path
    form: Form
    edits: tuple[Edit, ...]
    trace: Trace = field(default_factory=Trace)
    created: bool = False
    folders: tuple[Path, ...] = ()
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Install:
    """A host as it was installed, for the person or in one project; `token` is the id of the token made for it."""

    host: str
    asked: Asked
    project: str
    since: str
    program: tuple[str, ...]
    vault: str = ""
    token: str = ""
    files: tuple[FileRecord, ...] = ()

    @property
    def folder(self) -> Path | None:
        """The project that it keeps to; None for the person's."""
        return Path(self.project) if self.asked.reach == "project" else None

    def is_of(self, host: str, reach: Reach, project: Path) -> bool:
        """Whether it is this host there; the project says nothing where it is the person's."""
        return (self.host, self.asked.reach) == (host, reach) and (reach == "user" or self.project == str(project))


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that is installed, and the copies that were made of files before they were changed."""

    installs: tuple[Install, ...] = ()
    backups: tuple[Path, ...] = ()

    def find(self, host: str, reach: Reach, project: Path) -> Install | None:
        """This host as it is installed there."""
        return next((each for each in self.installs if each.is_of(host, reach, project)), None)

    def with_install(self, new: Install, old: Install | None) -> "Record":
        """The record with the new one in the place of the old one."""
        return replace(self, installs=(*(each for each in self.installs if each != old), new))

    def without(self, gone: Install) -> "Record":
        """The record without that one."""
        return replace(self, installs=tuple(each for each in self.installs if each != gone))

    def with_backups(self, made: tuple[Path, ...]) -> "Record":
        """The record that knows of these copies, too."""
        return replace(self, backups=tuple(dict.fromkeys((*self.backups, *made))))


def record_file() -> Path:
    """Where the record is kept."""
    return our_places().folder / FILE


@contextmanager
def turn_at_record() -> Iterator[None]:
    """Our turn to change the record, and the files of which it speaks. Raises VaultUnavailable, also where it is not.

    Two programs that install at once would else forget each what the other one did.
    """
    make_folders(our_places())
    try:
        with turn_at(record_file()):
            yield
    except TimeoutError as error:
        message, hint = "another program is installing or uninstalling a host", "Try again in a moment."
        raise VaultUnavailable(message, path=str(record_file()), reason="locked", hint=hint) from error


def read_record() -> Record:
    """The record; an empty one where there is none. Raises VaultUnavailable(damaged)."""
    path = record_file()
    try:
        said = json.loads(path.read_bytes())
        if said["version"] != _VERSION:
            raise ValueError("another version")
        return Record(tuple(map(_install, said["installs"])), tuple(map(Path, said["backups"])))
    except FileNotFoundError:
        return Record()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Remove it; `commonplace uninstall HOST` still finds the entries where they usually are."
        raise VaultUnavailable(
            "the record of installed hosts cannot be read", path=str(path), reason="damaged", hint=hint
        ) from error


def write_record(record: Record) -> None:
    """Keep the record. Raises VaultUnavailable for the disk."""
    make_folders(our_places())
    shown = {
        "version": _VERSION,
        "installs": [_install_shape(each) for each in record.installs],
        "backups": [str(path) for path in record.backups],
    }
    try:
        write_privately(record_file(), shown)
    except OSError as error:
        message = f"the record of installed hosts cannot be written: {error.strerror}"
        raise VaultUnavailable(
            message, path=str(record_file()), hint="Look at the disk; nothing was changed."
        ) from error


def _install_shape(install: Install) -> dict[str, Any]:
    asked = install.asked
    return {
        "host": install.host,
        "scope": asked.reach,
        "transport": asked.transport,
        "hooks": asked.hooks,
        "instructions": asked.instructions,
        "project": install.project,
        "since": install.since,
        "program": install.program,
        "vault": install.vault,
        "token": install.token,
        "files": [_file_shape(each) for each in install.files],
    }


def _install(said: Mapping[str, Any]) -> Install:
    asked = Asked(cast(Reach, said["scope"]), cast(Transport, said["transport"]), said["hooks"], said["instructions"])
    files = tuple(map(_file, said["files"]))
    program, vault, token = tuple(said["program"]), said["vault"], said["token"]
    return Install(said["host"], asked, said["project"], said["since"], program, vault, token, files)


def _file_shape(file: FileRecord) -> dict[str, Any]:
    trace = file.trace
    return {
        "path": str(file.path),
        "form": file.form,
        "edits": [_edit_shape(edit) for edit in file.edits],
        "created": file.created,
        "folders": [str(folder) for folder in file.folders],
        "mode": file.mode,
        "made": sorted(trace.made),
        "holes": [[keys, text] for keys, text in trace.holes.items()],
        "blank": trace.blank,
        "gap": trace.gap,
        "tail": trace.tail,
    }


def _file(said: Mapping[str, Any]) -> FileRecord:
    trace = Trace(
        made=frozenset(tuple(keys) for keys in said["made"]),
        holes={tuple(keys): text for keys, text in said["holes"]},
        blank=said["blank"],
        gap=said["gap"],
        tail=said["tail"],
    )
    edits = tuple(map(_edit, said["edits"]))
    folders = tuple(map(Path, said["folders"]))
    return FileRecord(Path(said["path"]), said["form"], edits, trace, said["created"], folders, said["mode"])


def _edit_shape(edit: Edit) -> dict[str, Any]:
    """Where it stands; not what it says, for that may hold a token."""
    if isinstance(edit, Block):
        return {"kind": "block"}
    if isinstance(edit, Listed):
        return {"kind": "listed", "path": edit.path, "nest": edit.nest}
    return {"kind": "server", "path": edit.path}


def _edit(said: Mapping[str, Any]) -> Edit:
    if said["kind"] == "block":
        return Block()
    if said["kind"] == "listed":
        return Listed(tuple(said["path"]), nest=said["nest"])
    return Server(tuple(said["path"]))
