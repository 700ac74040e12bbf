"""Installs a host and uninstalls it: the record first, then the files, so that every change is always on record.

Also the texts that a person reads before and after, and what is left on the machine once no host is installed any more.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import platformdirs

from commonplace.daemon.service.state_files import is_daemon_running, user_daemon_files
from commonplace.errors import CommonplaceError
from commonplace.hosts.file_changes import (
    BACKUP_SUFFIX,
    FileChange,
    apply_change,
    back_up,
    read_file,
    remove_empty_folders,
)
from commonplace.hosts.host import PORTABLE_COMMAND, TOKEN_VARIABLE, Environment, Host, HostFile, InstallOptions
from commonplace.hosts.host_edits import ListEntry, MarkdownBlock
from commonplace.hosts.install_record import FileRecord, Install, InstallRecord, lock_record, read_record, write_record
from commonplace.hosts.plan import InstallPlan, hand_over_file, other_install_with, plan_install, plan_removal
from commonplace.hosts.text_edits import UndoInfo
from commonplace.model.moment import moment_text
from commonplace.settings.load import load_settings
from commonplace.settings.registered_vaults import registered_vaults, registry_file

_LOCKS = "locks"


@dataclass(frozen=True, slots=True)
class InstallResult:
    """The changes that were made, and the new backups."""

    changes: tuple[FileChange, ...]
    backups: tuple[Path, ...] = ()


@lock_record()
def install(
    host: Host, options: InstallOptions, environment: Environment, *, token: str, now: datetime
) -> InstallResult:
    """Put our entries into the host's files. Raises what `plan_install` and `apply_change` raise."""
    record = read_record()
    current = record.find(host.name, options.scope, environment.project)
    plan = plan_install(host, options, environment, current)
    new = Install(
        host=host.name,
        options=options,
        project=str(environment.project) if options.scope == "project" else "",
        since=current.since if current else moment_text(now),
        program=PORTABLE_COMMAND if options.scope == "project" else environment.program,
        vault=environment.vault,
        token=token,
        files=plan.files,
    )
    return _carry_out(plan, record.with_install(new, current), with_backups=True)


@lock_record()
def uninstall(install: Install) -> InstallResult:
    """Take everything of this install out of its files. Raises what `plan_removal` and `apply_change` raise."""
    record = read_record()
    current = _current(install, record)
    own_files, record = _release_shared(current, record)
    result = _carry_out(plan_removal(own_files, within=current.folder), record, with_backups=False)
    write_record(read_record().without(current))
    return result


def plan_uninstalls(installs: Iterable[Install]) -> tuple[FileChange, ...]:
    """What uninstalling these, one after the other, would change. Raises what `plan_removal` raises."""
    record, changes = read_record(), list[FileChange]()
    for install in installs:
        current = _current(install, record)
        own_files, record = _release_shared(current, record)
        record = record.without(current)
        changes += plan_removal(own_files, within=current.folder).changes
    return tuple(changes)


def _current(install: Install, record: InstallRecord) -> Install:
    """This install as the record has it now: another install may have handed it a file since it was looked up."""
    return record.find(install.host, install.options.scope, Path(install.project)) or install


def _release_shared(install: Install, record: InstallRecord) -> tuple[list[FileRecord], InstallRecord]:
    """The files that only this install uses, and the record in which other installs got the shared ones."""
    own_files: list[FileRecord] = []
    for file in install.files:
        heir = other_install_with(file, record, install)
        if heir is None:
            own_files.append(file)
        else:
            record = record.with_install(hand_over_file(file, heir), heir)
    return own_files, record


def unrecorded_installs(host: Host, environment: Environment) -> tuple[Install, ...]:
    """Installs of this host, for the person and in this project, whose entries exist without a record."""
    installs = []
    for options in (InstallOptions("user"), InstallOptions("project", instructions=True)):
        files = tuple(
            FileRecord(file.path, file.format, file.edits, _assumed_undo(file))
            for file in host.files(options, environment)
        )
        if any(change.has_effect for change in plan_removal(files, within=None).changes):
            project = str(environment.project)
            installs.append(Install(host.name, options, project, "", environment.program, files=files))
    return tuple(installs)


def _assumed_undo(file: HostFile) -> UndoInfo:
    """The undo information of an install that made all objects and arrays on its paths: empty ones are useless."""
    paths = [
        edit.path if isinstance(edit, ListEntry) else edit.path[:-1]
        for edit in file.edits
        if not isinstance(edit, MarkdownBlock)
    ]
    return UndoInfo(made=frozenset(path[:end] for path in paths for end in range(1, len(path) + 1)))


def select_installs(
    record: InstallRecord, host: Host, environment: Environment, *, scope: str | None
) -> tuple[Install, ...]:
    """The installs of this host: all, or those of one scope; in a project only the one in this folder."""
    recorded = [each for each in record.installs if each.host == host.name]
    installs = recorded or unrecorded_installs(host, environment)
    project = str(environment.project)
    return tuple(
        each
        for each in installs
        if scope is None or (each.options.scope == scope and (scope == "user" or each.project == project))
    )


@lock_record()
def remove_backups() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Remove the backups that equal their files; the removed ones, and the remaining ones."""
    record = read_record()
    removed: list[Path] = []
    remaining: list[Path] = []
    for backup in record.backups:
        content, _ = read_file(backup)
        if content is None:
            continue
        original = backup.with_name(backup.name.removesuffix(BACKUP_SUFFIX))
        if read_file(original)[0] == content:
            backup.unlink()
            removed.append(backup)
        else:
            remaining.append(backup)
    write_record(replace(record, backups=tuple(remaining)))
    return tuple(removed), tuple(remaining)


def _carry_out(plan: InstallPlan, record: InstallRecord, *, with_backups: bool) -> InstallResult:
    changes: Sequence[FileChange] = [change for change in plan.changes if change.has_effect]
    backups = tuple(backup for change in changes if with_backups and (backup := back_up(change)))
    write_record(record.with_backups(backups))
    for change in changes:
        apply_change(change)
    remove_empty_folders(plan.folders)
    return InstallResult(plan.changes, backups)


def consent_text(host: Host) -> str:
    """What hooks do, what is captured, and how to stop it."""
    return f"""Hooks in {host.title} do two things:
  Before a prompt   What your vault knows about the prompt is added to it, at most 9,000 characters. It goes with
                    the prompt to the model that {host.title} uses.
  After each turn   The text of the conversation, yours and the agent's, is read from {host.title}'s transcript and
                    kept in this machine's history, next to the vault's index. What our rules recognize as a secret
                    is left out. The text leaves this machine only if your settings name an embedding server on
                    another machine, or when it is recalled before a later prompt.
  To pause          commonplace pause, or commonplace pause --project FOLDER; commonplace resume ends the pause.
  To leave it out   commonplace install {host.name} --no-hooks"""


def install_notes(host: Host, options: InstallOptions) -> list[str]:
    """What a person should know or do after the install."""
    notes = [*host.notes(options)]
    if options.transport == "http":
        notes.append(
            "Over HTTP no host starts the daemon: `commonplace serve --install-service` lets the system start it."
        )
    if options.scope == "project":
        if options.transport == "http" and host.name != "vscode":
            notes.append(
                f"Set {TOKEN_VARIABLE} for {host.title}: `commonplace token create {host.name}` creates a token."
            )
        if not shutil.which(PORTABLE_COMMAND[0]):
            notes.append(f"The project's files call `{PORTABLE_COMMAND[0]}`, which is not on your path.")
    if not registered_vaults().vaults:
        notes.append("There is no vault yet: `commonplace init FOLDER` creates or adopts one.")
    elif options.hooks and not is_daemon_running(user_daemon_files()):
        notes.append("The daemon is not running: the first session starts it, and has no memory until then;")
        notes.append("`commonplace serve --background` starts it now.")
    notes.append(f"Restart running sessions of {host.title}: only new ones use the change.")
    return notes


@dataclass(frozen=True, slots=True)
class RemainingData:
    """The vaults, the folders with their indexes and histories, and the settings with the list of vaults."""

    vaults: tuple[Path, ...]
    data: tuple[Path, ...]
    settings: tuple[Path, ...]


def find_remaining_data(flags: Mapping[str, object]) -> RemainingData:
    """What is still on this machine. Raises UsageError if the list of vaults cannot be read."""
    vaults = registered_vaults().vaults
    data = [_data_folder(vault, flags) for vault in vaults] + [platformdirs.user_data_path("commonplace") / "models"]
    config = platformdirs.user_config_path("commonplace")
    settings = [registry_file(), *sorted(config.glob("settings.*"))]
    return RemainingData(
        vaults,
        tuple(folder for folder in dict.fromkeys(data) if folder and folder.is_dir()),
        tuple(file for file in dict.fromkeys(settings) if file.is_file()),
    )


def remove_daemon_state() -> tuple[Path, ...]:
    """Remove the daemon's own files: state, tokens, log, queue, record. Returns the removed folders.

    Only folders that the daemon alone uses: on macOS the settings and the histories lie next to them.
    """
    from commonplace.app.index_folders import remove_folder  # not needed to install: it loads the whole app

    files = user_daemon_files()
    locks = platformdirs.user_state_path("commonplace") / _LOCKS
    folders = [folder for folder in dict.fromkeys((files.folder, files.socket.parent, locks)) if folder.is_dir()]
    for folder in folders:
        remove_folder(folder, what="the daemon's folder")
    for parent in (files.folder.parent, locks.parent / "journals", locks.parent):
        _remove_if_empty(parent)
    return tuple(folders)


def remove_remaining_data(remaining: RemainingData) -> None:
    """Remove everything but the vaults. The recorded conversations are lost with it."""
    from commonplace.app.index_folders import remove_folder

    for folder in remaining.data:
        remove_folder(folder, what="the data folder")
        _remove_if_empty(folder.parent)
    for file in remaining.settings:
        file.unlink(missing_ok=True)
        _remove_if_empty(file.parent)


def _data_folder(vault: Path, flags: Mapping[str, object]) -> Path | None:
    from commonplace.app.vaults import data_folder

    try:
        return data_folder(load_settings(flags={**flags, "vault.root": str(vault)}).settings, vault)
    except CommonplaceError:
        return None  # its settings cannot be read, so its data folder is unknown


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
