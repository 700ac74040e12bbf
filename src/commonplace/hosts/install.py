"""Installs a host and uninstalls it: the record first, then the files, so that every change is always on record.

Also the texts that a person reads before and after, and what is left on the machine once no host is installed any more.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import platformdirs

from commonplace.client.start import is_daemon_running
from commonplace.daemon.service.state_files import user_daemon_files
from commonplace.errors import CommonplaceError
from commonplace.hosts.file_changes import (
    BACKUP_SUFFIX,
    FileChange,
    apply_change,
    back_up,
    read_file,
    remove_empty_folders,
)
from commonplace.hosts.host import (
    PORTABLE_COMMAND,
    READING_TOOLS,
    TOKEN_VARIABLE,
    Environment,
    Host,
    HostFile,
    InstallOptions,
)
from commonplace.hosts.host_edits import SERVER_NAME, ListEntry, ListValue, MarkdownBlock, ServerEntry, WholeFile
from commonplace.hosts.install_record import (
    FileRecord,
    Install,
    InstallRecord,
    install_key,
    lock_record,
    read_record,
    write_record,
)
from commonplace.hosts.plan import InstallPlan, plan_install, plan_removal, release_shared
from commonplace.hosts.plugin import find_plugin, shows_tools_twice
from commonplace.hosts.text_edits import UndoInfo
from commonplace.model.moment import moment_text
from commonplace.settings.load import USER_VAULTS_FOLDER, load_settings
from commonplace.settings.registered_vaults import registered_vaults, registry_file
from commonplace.settings.schema import Settings

_STATE_FOLDERS = ("locks", "git")


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
    record, key = read_record(), install_key(host, options.scope, environment)
    current = record.find(key)
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
        config=key[-1],
        url=environment.url if options.transport == "http" else "",
        declined_skills=not options.skills and find_plugin(host.agent, environment) is None,
    )
    if current:
        kept = {os.path.realpath(file.path) for file in plan.files}
        gone = [file for file in current.files if os.path.realpath(file.path) not in kept]
        _, record = release_shared(gone, current, record)
    return _carry_out(plan, record.with_install(new, current), with_backups=True)


@lock_record()
def uninstall(install: Install) -> InstallResult:
    """Take everything of this install out of its files. Raises what `plan_removal` and `apply_change` raise."""
    record = read_record()
    current = _current(install, record)
    own_files, record = release_shared(current.files, current, record)
    result = _carry_out(plan_removal(own_files, within=current.folder), record, with_backups=False)
    write_record(read_record().without(current))
    return result


def plan_uninstalls(installs: Iterable[Install]) -> tuple[FileChange, ...]:
    """What uninstalling these, one after the other, would change. Raises what `plan_removal` raises."""
    record, changes = read_record(), list[FileChange]()
    for install in installs:
        current = _current(install, record)
        own_files, record = release_shared(current.files, current, record)
        record = record.without(current)
        changes += plan_removal(own_files, within=current.folder).changes
    return tuple(changes)


def _current(install: Install, record: InstallRecord) -> Install:
    """This install as the record has it now: another install may have handed it a file since it was looked up."""
    return record.find(install.key) or install


def unrecorded_installs(host: Host, environment: Environment) -> tuple[Install, ...]:
    """Installs of this host, for the person and in this project, whose entries exist without a record."""
    installs = []
    for options in (InstallOptions(allow_reading=True), InstallOptions("project", instructions=True)):
        if options.scope not in host.scopes:
            continue
        files = tuple(
            FileRecord(file.path, file.format, file.edits, _assumed_undo(file))
            for file in host.files(options, environment)
        )
        if any(change.has_effect for change in plan_removal(files, within=None).changes):
            project, config = install_key(host, options.scope, environment)[2:]
            installs.append(Install(host.name, options, project, "", environment.program, files=files, config=config))
    return tuple(installs)


def _assumed_undo(file: HostFile) -> UndoInfo:
    """The undo information of an install that made all objects and arrays on its paths: empty ones are useless."""
    paths = [
        edit.path if isinstance(edit, ListEntry | ListValue) else edit.path[:-1]
        for edit in file.edits
        if not isinstance(edit, MarkdownBlock | WholeFile)
    ]
    return UndoInfo(made=frozenset(path[:end] for path in paths for end in range(1, len(path) + 1)))


def select_installs(
    record: InstallRecord, host: Host, environment: Environment, *, scope: str | None
) -> tuple[Install, ...]:
    """The installs of this host: all, or those of one scope; in a project only the one in this folder.

    If the environment names a configuration folder of the host, only the one for the person in that folder counts.
    """
    recorded = [each for each in record.installs if each.host == host.name]
    installs = recorded or unrecorded_installs(host, environment)
    project = str(environment.project)
    is_named = bool(host.agent.named_config(environment.environ))
    config = str(environment.config_folder(host.agent)) if is_named else None
    return tuple(
        each
        for each in installs
        if scope is None or (each.options.scope == scope and (scope == "user" or each.project == project))
        if config is None or each.options.scope == "project" or each.config == config
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
                    kept in this machine's history, next to the vault's index. What its rules recognise as a secret
                    is left out. The text leaves this machine only if your settings name an embedding server on
                    another machine, or when it is recalled before a later prompt.
  To pause          commonplace pause, or commonplace pause --project FOLDER; commonplace resume ends the pause.
  To leave it out   commonplace install {host.name} --no-hooks"""


def reading_question(host: Host) -> str:
    """What a person is asked before tools are allowed in the host."""
    return f"""{host.title} asks before it calls a tool. {len(READING_TOOLS)} tools of Commonplace only read:
  {", ".join(READING_TOOLS)}
May it call these without asking?"""


def what_host_sees(
    host: Host, options: InstallOptions, environment: Environment, *, changes: Iterable[FileChange]
) -> str:
    """What the host has of us with these options once these changes are made, in a few words."""
    left = {os.path.realpath(change.path) for change in changes if change.is_foreign}
    files = [file for file in host.files(options, environment) if os.path.realpath(file.path) not in left]
    counts = Counter(type(edit) for file in files for edit in file.edits)
    parts = {
        f"the MCP server {SERVER_NAME}": counts[ServerEntry],
        f"{counts[ListEntry]} hooks": options.hooks and counts[ListEntry],
        f"{counts[WholeFile]} skills": counts[WholeFile],
        "instructions": counts[MarkdownBlock],
        f"{counts[ListValue]} tools that it need not ask for": counts[ListValue],
    }
    return ", ".join(part for part, is_there in parts.items() if is_there)


def served_vault(environment: Environment) -> tuple[Path | None, bool]:
    """The folder of the vault that an install serves, and whether it is the default one; None if there is no vault."""
    from commonplace.daemon.vaults import VaultRegistry  # loads the app, as above

    return (Path(environment.vault), False) if environment.vault else (VaultRegistry({}).default, True)


def install_notes(host: Host, options: InstallOptions, environment: Environment) -> list[str]:
    """What a person should know or do after the install."""
    notes = [*host.notes(options)]
    if plugin := find_plugin(host.agent, environment):
        is_twice = shows_tools_twice(host.agent, options, environment)
        serves = (
            "Over HTTP both serve the tools, so they are shown twice" if is_twice else "One of the two serves the tools"
        )
        notes.append(
            f"The plugin {plugin.name} is enabled in {host.title} as well. {serves}, and hooks are answered once; "
            f"disable the plugin, or `commonplace uninstall {host.name}`, to have it once only."
        )
    if options.transport == "http":
        notes.append(
            "Over HTTP no host starts the daemon: `commonplace serve --install-service` lets the system start it."
        )
        notes.append(
            f"While the daemon is down, {host.title} sends its token and its questions to any program on that port; "
            "stdio, the default, does not."
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
    elif not _has_model():
        notes.append(
            "Search by meaning is off because no model is installed: `commonplace model install` installs one."
        )
    if registered_vaults().vaults and options.hooks and not is_daemon_running(user_daemon_files()):
        notes.append("The daemon is not running: the first session starts it, and has no memory until then;")
        notes.append("`commonplace serve --background` starts it now.")
    notes.append(f"Restart running sessions of {host.title}: only new ones use the change.")
    return notes


def _has_model() -> bool:
    """False if the settings name a model of ours whose files are not on this machine."""
    from commonplace.app.encoders import model_statuses  # loads the app, which an install does not need otherwise

    try:
        statuses, in_use = model_statuses({})
    except CommonplaceError:
        return True  # the settings cannot be read, which every other command says
    return all(status.installed for status in statuses if status.model.name == in_use)


@dataclass(frozen=True, slots=True)
class RemainingData:
    """The vaults, the folders with the indexes and histories of these and of earlier vaults, and the settings."""

    vaults: tuple[Path, ...]
    data: tuple[Path, ...]
    settings: tuple[Path, ...]


def find_remaining_data(flags: Mapping[str, object]) -> RemainingData:
    """What is still on this machine. Raises UsageError if the list of vaults cannot be read."""
    from commonplace.app.vaults import all_data_folders  # loads the app, as above

    vaults = registered_vaults().vaults
    data = [*all_data_folders(_settings_of_person(flags)), platformdirs.user_data_path("commonplace") / "models"]
    config = platformdirs.user_config_path("commonplace")
    settings = [registry_file(), *sorted(config.glob("settings.*")), *sorted((config / USER_VAULTS_FOLDER).glob("*.*"))]
    return RemainingData(
        vaults,
        tuple(folder for folder in dict.fromkeys(data) if folder.is_dir() and not _holds_vault(folder, vaults)),
        tuple(file for file in dict.fromkeys(settings) if file.is_file()),
    )


def _settings_of_person(flags: Mapping[str, object]) -> Settings:
    """The settings without those of any vault; the defaults if they cannot be read, which stops no uninstall."""
    try:
        return load_settings(flags={**flags, "vault.root": str(user_daemon_files().folder)}).settings
    except CommonplaceError:
        return Settings()


def _holds_vault(folder: Path, vaults: Sequence[Path]) -> bool:
    return any(vault.is_relative_to(folder) for vault in vaults)


def remove_daemon_state() -> tuple[Path, ...]:
    """Remove the daemon's own files: state, tokens, log, queue, record. Returns the removed folders.

    Only folders that the daemon alone uses: on macOS the settings and the histories lie next to them.
    """
    from commonplace.app.index_folders import remove_folder  # not needed to install: it loads the whole app

    files = user_daemon_files()
    state = platformdirs.user_state_path("commonplace")
    ours = (files.folder, files.socket.parent, *(state / name for name in _STATE_FOLDERS))
    folders = [folder for folder in dict.fromkeys(ours) if folder.is_dir()]
    for folder in folders:
        remove_folder(folder, what="the daemon's folder")
    for parent in (files.folder.parent, state / "journals", state):
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
        for parent in (file.parent, file.parent.parent):
            _remove_if_empty(parent)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
