"""What installing or uninstalling a host would change, file by file. Writes nothing."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.hosts.file_changes import FileChange, missing_folders, read_file, resolve_file
from commonplace.hosts.host import Environment, Host, HostFile, InstallOptions
from commonplace.hosts.host_edits import Edit, FileFormat, ServerEntry, put_edit, remove_edit
from commonplace.hosts.install_record import FileRecord, Install, InstallRecord
from commonplace.hosts.jsonc import InvalidSyntax
from commonplace.hosts.text_edits import UndoInfo

_PRIVATE_MODE: Final = 0o600
_FORMAT_NAMES: Final = {"json": "JSON", "toml": "TOML", "markdown": "Markdown with our marks"}


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The changes, the record of the files that then hold something of ours, and the folders to remove if empty."""

    changes: tuple[FileChange, ...]
    files: tuple[FileRecord, ...] = ()
    folders: tuple[Path, ...] = ()


def plan_install(host: Host, options: InstallOptions, environment: Environment, current: Install | None) -> InstallPlan:
    """What would put our entries into the host's files; `current` is the install that it replaces.

    Raises UsageError, Conflict, Refused, VaultUnavailable.
    """
    recorded = {file.path: file for file in current.files} if current else {}
    files = host.files(options, environment)
    if options.scope == "project":
        _check_project(host, files, options, environment)
    within = environment.project if options.scope == "project" else None
    planned = [_plan_file(file, options, recorded.get(file.path), within=within) for file in files]
    stale = [file for path, file in recorded.items() if path not in {each.path for each in files}]
    removal = plan_removal(stale, within=within)
    changes = (*(change for change, _ in planned), *removal.changes)
    return InstallPlan(changes, tuple(file for _, file in planned), removal.folders)


def _check_project(host: Host, files: Iterable[HostFile], options: InstallOptions, environment: Environment) -> None:
    """Raise UsageError in a folder whose files the host reads for the person, such as the home folder."""
    personal = host.files(replace(options, scope="user", instructions=False), environment)
    if {os.path.realpath(file.path) for file in files} & {os.path.realpath(file.path) for file in personal}:
        raise UsageError(
            f"this folder is not a project: {host.title} reads its files for all your work",
            path=str(environment.project),
            hint="Leave out --scope project, or run the command in a project's folder.",
        )


def plan_removal(files: Iterable[FileRecord], *, within: Path | None) -> InstallPlan:
    """What would take our entries out of these files. Raises UsageError, Refused, VaultUnavailable."""
    changes: list[FileChange] = []
    folders: list[Path] = []
    for file in files:
        path = resolve_file(file.path, within=within)
        before, mode = read_file(path)
        folders += file.folders
        if before is None or mode is None:
            continue
        text = _decode(before, path)
        for edit in reversed(file.edits):
            text = _remove(text, edit, file, path=path)
        after = None if file.created and not text else text.encode()
        changes.append(FileChange(path, before, after, mode if file.mode is None else file.mode, mode))
    return InstallPlan(tuple(changes), (), tuple(folders))


def other_install_with(file: FileRecord, record: InstallRecord, install: Install) -> Install | None:
    """Another install with entries in the same file, which must stay when this one is removed."""
    others = (each for each in record.installs if each != install)
    return next((each for each in others if any(its.path == file.path for its in each.files)), None)


def hand_over_file(file: FileRecord, heir: Install) -> Install:
    """The heir with the undo information of the file as it was before either install."""
    files = [
        replace(
            its,
            undo=file.undo.followed_by(its.undo),
            created=file.created or its.created,
            folders=tuple(dict.fromkeys((*file.folders, *its.folders))),
        )
        if its.path == file.path
        else its
        for its in heir.files
    ]
    return replace(heir, files=tuple(files))


def _plan_file(
    file: HostFile, options: InstallOptions, current: FileRecord | None, *, within: Path | None
) -> tuple[FileChange, FileRecord]:
    path = resolve_file(file.path, within=within)
    before, mode = read_file(path)
    text = _decode(before or b"", path)
    if current and not any(_remove(text, edit, current, path=path) != text for edit in current.edits):
        current = None  # someone removed our entries: the file as it is now is the original
    undo = current.undo if current else UndoInfo()
    text = _remove_stale(text, file, current, path=path) if current else text
    for edit in file.edits:
        try:
            edited = put_edit(text, edit, file.format)
        except InvalidSyntax as error:
            raise _invalid_file(error, path, file.format) from error
        except Conflict as error:
            raise Conflict(error.message, path=str(path), hint=error.hint) from error
        text, undo = edited.text, undo.followed_by(edited.undo)
    new_mode = _mode(mode, options, file)
    change = FileChange(path, before, text.encode(), new_mode, mode, is_first=current is None)
    return change, FileRecord(
        path=file.path,
        format=file.format,
        edits=file.edits,
        undo=undo,
        created=current.created if current else before is None,
        folders=tuple(dict.fromkeys((*(current.folders if current else ()), *missing_folders(path)))),
        mode=(current.mode if current else None) if new_mode == mode or mode is None else mode,
    )


def _remove_stale(text: str, file: HostFile, current: FileRecord, *, path: Path) -> str:
    """The text without the recorded edits that the file no longer gets."""
    targets = {_target(edit) for edit in file.edits}
    for edit in current.edits:
        if _target(edit) not in targets:
            text = _remove(text, edit, current, path=path)
    return text


def _mode(mode: int | None, options: InstallOptions, file: HostFile) -> int:
    """The file's mode: unchanged, but private to the owner if it holds a token."""
    is_personal = options.scope == "user"
    holds_token = options.transport == "http" and is_personal and any(isinstance(e, ServerEntry) for e in file.edits)
    if mode is None:
        return _PRIVATE_MODE if is_personal else 0o666 & ~_umask()
    return mode & _PRIVATE_MODE if holds_token else mode


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(text: str, edit: Edit, file: FileRecord, *, path: Path) -> str:
    try:
        return remove_edit(text, edit, file.format, undo=file.undo) if text else text
    except InvalidSyntax as error:
        raise _invalid_file(error, path, file.format) from error


def _target(edit: Edit) -> tuple[str, object]:
    """The place that an edit changes, whatever its content."""
    return type(edit).__name__, getattr(edit, "path", None)


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(
            f"line {line} is not UTF-8; nothing was changed", path=str(path), hint="Save the file as UTF-8."
        ) from error


def _invalid_file(error: InvalidSyntax, path: Path, format: FileFormat) -> UsageError:
    return UsageError(
        f"line {error.line} is not valid {_FORMAT_NAMES[format]}: {error.message}; nothing was changed",
        path=str(path),
        hint="Fix that line, then run the command again.",
    )
