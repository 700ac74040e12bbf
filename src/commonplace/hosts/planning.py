"""What installing or uninstalling a host would change, file by file. Nothing is written here."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.hosts.applying import Change, missing_folders, read_file, real_file
from commonplace.hosts.edits import Edit, Form, Server, put, remove
from commonplace.hosts.host import Around, Asked, Host, HostFile
from commonplace.hosts.jsonc import NotParsed
from commonplace.hosts.record import FileRecord, Install, Record
from commonplace.hosts.trace import Trace

_PRIVATE: Final = 0o600
_LANGUAGES: Final = {"json": "JSON", "toml": "TOML", "markdown": "Markdown with our marks"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes, the record of the files that then hold something of ours, and the folders to remove if empty."""

    changes: tuple[Change, ...]
    files: tuple[FileRecord, ...] = ()
    folders: tuple[Path, ...] = ()


def plan_install(host: Host, asked: Asked, around: Around, known: Install | None) -> Plan:
    """What would make the host's files say what is asked. Raises UsageError, Conflict, Refused, VaultUnavailable."""
    recorded = {file.path: file for file in known.files} if known else {}
    wanted = host.files(asked, around)
    if asked.reach == "project":
        _check_project(host, wanted, asked, around)
    within = around.project if asked.reach == "project" else None
    planned = [_plan_file(file, asked, recorded.get(file.path), within=within) for file in wanted]
    stale = [file for path, file in recorded.items() if path not in {each.path for each in wanted}]
    removed = plan_removal(stale, within=within)
    changes = (*(change for change, _ in planned), *removed.changes)
    return Plan(changes, tuple(file for _, file in planned), removed.folders)


def _check_project(host: Host, wanted: Iterable[HostFile], asked: Asked, around: Around) -> None:
    """Raises UsageError in a folder whose files the host reads for the person, as the home: two installs in one."""
    yours = host.files(replace(asked, reach="user", instructions=False), around)
    if {os.path.realpath(file.path) for file in wanted} & {os.path.realpath(file.path) for file in yours}:
        raise UsageError(
            f"this folder is no project: {host.title} reads its files for everything that you do",
            path=str(around.project),
            hint="Leave --scope project out, or run the command in a project's folder.",
        )


def plan_removal(files: Iterable[FileRecord], *, within: Path | None) -> Plan:
    """What would take everything of ours out of these files. Raises UsageError, Refused, VaultUnavailable."""
    changes: list[Change] = []
    folders: list[Path] = []
    for file in files:
        path = real_file(file.path, within=within)
        before, mode = read_file(path)
        folders += file.folders
        if before is None or mode is None:
            continue
        text = _decoded(before, path)
        for edit in reversed(file.edits):
            text = _removed(text, edit, file, path=path)
        after = None if file.created and not text else text.encode()
        changes.append(Change(path, before, after, mode if file.mode is None else file.mode, mode))
    return Plan(tuple(changes), (), tuple(folders))


def shared_with(file: FileRecord, record: Record, install: Install) -> Install | None:
    """Another host that has its lines in the same file, and needs them when this one goes."""
    others = (each for each in record.installs if each != install)
    return next((each for each in others if any(its.path == file.path for its in each.files)), None)


def handed_over(file: FileRecord, heir: Install) -> Install:
    """The heir, which now knows how the file was before any of us came."""
    files = [
        replace(
            its,
            trace=file.trace.followed_by(its.trace),
            created=file.created or its.created,
            folders=tuple(dict.fromkeys((*file.folders, *its.folders))),
        )
        if its.path == file.path
        else its
        for its in heir.files
    ]
    return replace(heir, files=tuple(files))


def _plan_file(
    file: HostFile, asked: Asked, known: FileRecord | None, *, within: Path | None
) -> tuple[Change, FileRecord]:
    path = real_file(file.path, within=within)
    before, mode = read_file(path)
    text = _decoded(before or b"", path)
    if known and not any(_removed(text, edit, known, path=path) != text for edit in known.edits):
        known = None  # someone took ours out: how the file is now is how it was
    trace = known.trace if known else Trace()
    text = _without_stale(text, file, known, path=path) if known else text
    for edit in file.edits:
        try:
            edited = put(text, edit, file.form)
        except NotParsed as error:
            raise _not_parsed(error, path, file.form) from error
        except Conflict as error:
            raise Conflict(error.message, path=str(path), hint=error.hint) from error
        text, trace = edited.text, trace.followed_by(edited.trace)
    new_mode = _mode(mode, asked, file)
    change = Change(path, before, text.encode(), new_mode, mode, is_first=known is None)
    return change, FileRecord(
        path=file.path,
        form=file.form,
        edits=file.edits,
        trace=trace,
        created=known.created if known else before is None,
        folders=tuple(dict.fromkeys((*(known.folders if known else ()), *missing_folders(path)))),
        mode=(known.mode if known else None) if new_mode == mode or mode is None else mode,
    )


def _without_stale(text: str, file: HostFile, known: FileRecord, *, path: Path) -> str:
    """The text without what was put there once and is not wanted any more."""
    wanted = {_target(edit) for edit in file.edits}
    for edit in known.edits:
        if _target(edit) not in wanted:
            text = _removed(text, edit, known, path=path)
    return text


def _mode(mode: int | None, asked: Asked, file: HostFile) -> int:
    """The mode that the file shall have: its own, but nobody else may read a token."""
    holds_token = asked.transport == "http" and asked.reach == "user" and any(isinstance(e, Server) for e in file.edits)
    if mode is None:
        return _PRIVATE if asked.reach == "user" else 0o666 & ~_umask()
    return mode & _PRIVATE if holds_token else mode


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _removed(text: str, edit: Edit, file: FileRecord, *, path: Path) -> str:
    try:
        return remove(text, edit, file.form, trace=file.trace) if text else text
    except NotParsed as error:
        raise _not_parsed(error, path, file.form) from error


def _target(edit: Edit) -> tuple[str, object]:
    """What an edit is about, whatever it says."""
    return type(edit).__name__, getattr(edit, "path", None)


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(
            f"line {line} is not UTF-8; nothing was changed", path=str(path), hint="Save the file as UTF-8."
        ) from error


def _not_parsed(error: NotParsed, path: Path, form: Form) -> UsageError:
    return UsageError(
        f"line {error.line} is not valid {_LANGUAGES[form]}: {error.message}; nothing was changed",
        path=str(path),
        hint="Mend that line, then run the command again.",
    )
