"""What installing or uninstalling a host would change, file by file. Writes nothing."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from commonplace import DISTRIBUTION
from commonplace.errors import Conflict, Refused, UsageError, VaultUnavailable
from commonplace.hosts.file_changes import FileChange, missing_folders, read_file, resolve_file
from commonplace.hosts.host import Environment, Host, HostFile, InstallOptions, is_temporary
from commonplace.hosts.host_edits import (
    Edit,
    FileFormat,
    ListValue,
    ServerEntry,
    WholeFile,
    has_value,
    is_our_file,
    put_edit,
    remove_edit,
)
from commonplace.hosts.install_record import FileRecord, Install, InstallRecord, read_record
from commonplace.hosts.jsonc import InvalidSyntax, NotPlainJson, check_plain_json
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
    _check_request(host, options, environment)
    recorded = {os.path.realpath(file.path): file for file in current.files} if current else {}
    files = host.files(options, environment)
    if options.scope == "project":
        _check_project(host, files, options, environment)
    within = environment.project if options.scope == "project" else None
    for file in files:
        if file.plain:
            _check_plain(host, resolve_file(file.path, within=within))
    real = [os.path.realpath(file.path) for file in files]
    planned = [
        _plan_file(file, options, recorded.get(path), within=within) for file, path in zip(files, real, strict=True)
    ]
    stale = [file for path, file in recorded.items() if path not in real]
    if current and stale:
        stale, _ = release_shared(stale, current, read_record())
    removal = plan_removal(stale, within=within)
    changes = (*(change for change, _ in planned), *removal.changes)
    return InstallPlan(changes, tuple(file for _, file in planned if file), removal.folders)


def _check_request(host: Host, options: InstallOptions, environment: Environment) -> None:
    """Raise UsageError for a scope that the host does not have, and for a program that will not stay."""
    if options.scope not in host.scopes:
        hint = "Leave out --scope project." if options.scope == "project" else "Add --scope project."
        raise UsageError(f"{host.title} has no settings for this scope: {options.scope}", hint=hint)
    if options.scope == "user" and is_temporary(environment.program):
        install = f"`uv tool install '{DISTRIBUTION}[all]'` or `pipx install '{DISTRIBUTION}[all]'`"
        hint = f"Install it for good with {install}, then run the command again."
        message = "this run of Commonplace is temporary (uvx or pipx run): the host would lose it"
        raise UsageError(message, path=environment.program[0], hint=hint)


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
        folders += file.folders
        is_whole = _is_whole(file.edits)
        if is_whole and (foreign := _foreign_file(file.path, within=within)):
            changes.append(foreign)
            continue
        path = resolve_file(file.path, within=within)
        before, mode = read_file(path)
        if before is None or mode is None:
            continue
        text = _decode(before, path)
        for edit in reversed(file.edits):
            text = _remove(text, edit, file, path=path)
        after = None if (file.created or is_whole) and not text else text.encode()
        changes.append(FileChange(path, before, after, mode if file.mode is None else file.mode, mode))
    return InstallPlan(tuple(changes), (), tuple(folders))


def release_shared(
    files: Iterable[FileRecord], install: Install, record: InstallRecord
) -> tuple[list[FileRecord], InstallRecord]:
    """Those of the files that only this install uses, and the record in which other installs got the shared ones."""
    own_files: list[FileRecord] = []
    for file in files:
        heir = _other_install_with(file, record, install)
        if heir is None:
            own_files.append(file)
        else:
            record = record.with_install(_hand_over(file, heir), heir)
    return own_files, record


def _other_install_with(file: FileRecord, record: InstallRecord, install: Install) -> Install | None:
    """Another install with entries in the same file, which must stay when this one is removed."""
    others = (each for each in record.installs if each != install)
    return next((each for each in others if any(_is_same(its, file) for its in each.files)), None)


def _is_same(file: FileRecord, other: FileRecord) -> bool:
    """True if both are the same file, if only by links: a person may let two hosts share a folder."""
    return os.path.realpath(file.path) == os.path.realpath(other.path)


def _hand_over(file: FileRecord, heir: Install) -> Install:
    """The heir with the undo information of the file as it was before either install."""
    files = [
        replace(
            its,
            undo=file.undo.followed_by(its.undo),
            created=file.created or its.created,
            folders=tuple(dict.fromkeys((*file.folders, *its.folders))),
        )
        if _is_same(its, file)
        else its
        for its in heir.files
    ]
    return replace(heir, files=tuple(files))


def _plan_file(
    file: HostFile, options: InstallOptions, current: FileRecord | None, *, within: Path | None
) -> tuple[FileChange, FileRecord | None]:
    is_whole = _is_whole(file.edits)
    if is_whole and (foreign := _foreign_file(file.path, within=within)):
        return foreign, None
    path = resolve_file(file.path, within=within)
    before, mode = read_file(path)
    text = _decode(before or b"", path)
    if current and not any(_remove(text, edit, current, path=path) != text for edit in current.edits):
        current = None  # someone removed our entries: the file as it is now is the original
    undo = current.undo if current else UndoInfo()
    text = _remove_stale(text, file, current, path=path) if current else text
    edits = _own_edits(text, file, current, path=path)
    is_first = current is None and not is_whole and not _holds_ours(text, file, path=path)
    for edit in edits:
        try:
            edited = put_edit(text, edit, file.format)
        except InvalidSyntax as error:
            raise _invalid_file(error, path, file.format) from error
        except Conflict as error:
            raise Conflict(error.message, path=str(path), hint=error.hint) from error
        text, undo = edited.text, undo.followed_by(edited.undo)
    new_mode = _mode(mode, options, file)
    change = FileChange(path, before, text.encode(), new_mode, mode, is_first=is_first)
    return change, FileRecord(
        path=file.path,
        format=file.format,
        edits=edits,
        undo=undo,
        created=current.created if current else before is None,
        folders=tuple(dict.fromkeys((*(current.folders if current else ()), *missing_folders(path)))),
        mode=(current.mode if current else None) if new_mode == mode or mode is None else mode,
    )


def _foreign_file(path: Path, *, within: Path | None) -> FileChange | None:
    """What stays as it is in the place of a file that would be ours as a whole; None if it is free, or ours.

    That is a file of a person, and whatever is no file: a link, which a person has put there, or a folder.
    """
    nothing = FileChange(path, None, None, 0, is_foreign=True)
    if path.is_symlink() or path.parent.is_symlink():
        return nothing
    try:
        real = resolve_file(path, within=within)
        content, mode = read_file(real)
    except (Refused, VaultUnavailable):
        return nothing
    if content is None or mode is None or is_our_file(content.decode("utf-8", "replace")):
        return None
    return FileChange(real, content, content, mode, mode, is_foreign=True)


def _holds_ours(text: str, file: HostFile, *, path: Path) -> bool:
    """True if entries of ours are in a text that no record knows: it is no original, and may hold a token."""
    undo = FileRecord(file.path, file.format, file.edits)
    entries = [edit for edit in file.edits if not isinstance(edit, ListValue)]  # such a text may be the person's own
    return any(_remove(text, edit, undo, path=path) != text for edit in entries)


def _check_plain(host: Host, path: Path) -> None:
    """Raise UsageError for a file with a comment or a trailing comma, for which the host ignores the whole file."""
    try:
        check_plain_json(_decode(read_file(path)[0] or b"", path))
    except NotPlainJson as error:
        raise UsageError(
            f"{host.title} ignores this file: line {error.line} has {error.message}; nothing was changed",
            path=str(path),
            hint=f"{host.title} reads plain JSON: correct that line, then run the command again.",
        ) from error
    except InvalidSyntax as error:
        raise _invalid_file(error, path, "json") from error


def _own_edits(text: str, file: HostFile, current: FileRecord | None, *, path: Path) -> tuple[Edit, ...]:
    """The edits of the file without the texts that a person has put into its lists themselves: those are theirs."""
    ours = {_target(edit) for edit in current.edits} if current else set()
    try:
        return tuple(
            edit
            for edit in file.edits
            if not isinstance(edit, ListValue) or _target(edit) in ours or not has_value(text, edit)
        )
    except InvalidSyntax as error:
        raise _invalid_file(error, path, file.format) from error


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


def _target(edit: Edit) -> tuple[str, object, object]:
    """The place that an edit changes, whatever its content."""
    value = edit.value if isinstance(edit, ListValue) else None
    return type(edit).__name__, getattr(edit, "path", None), value


def _is_whole(edits: Iterable[Edit]) -> bool:
    return any(isinstance(edit, WholeFile) for edit in edits)


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
