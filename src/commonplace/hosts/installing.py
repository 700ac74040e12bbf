"""Installs a host and takes it back: the record first, then the files, so that nothing is ever left unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from commonplace.hosts.applying import BACKUP, Change, apply_change, back_up, read_file, remove_folders
from commonplace.hosts.edits import Block, Listed
from commonplace.hosts.host import PORTABLE, Around, Asked, Host, HostFile
from commonplace.hosts.planning import Plan, handed_over, plan_install, plan_removal, shared_with
from commonplace.hosts.record import FileRecord, Install, Record, read_record, turn_at_record, write_record
from commonplace.hosts.trace import Trace
from commonplace.model.moment import moment_text


@dataclass(frozen=True, slots=True)
class Done:
    """What was changed, and the copies that were made of what was there."""

    changes: tuple[Change, ...]
    backups: tuple[Path, ...] = ()


@turn_at_record()
def install(host: Host, asked: Asked, around: Around, *, token: str, now: datetime) -> Done:
    """Let the host's files say what is asked. Raises what `plan_install` and `apply_change` raise."""
    record = read_record()
    known = record.find(host.name, asked.reach, around.project)
    plan = plan_install(host, asked, around, known)
    new = Install(
        host=host.name,
        asked=asked,
        project=str(around.project) if asked.reach == "project" else "",
        since=known.since if known else moment_text(now),
        program=PORTABLE if asked.reach == "project" else around.program,
        vault=around.vault,
        token=token,
        files=plan.files,
    )
    return _carry_out(plan, record.with_install(new, known), backing_up=True)


@turn_at_record()
def uninstall(install: Install) -> Done:
    """Take everything of this install out of its files again. Raises what `plan_removal` and `apply_change` raise."""
    record = read_record()
    known = _as_it_is(install, record)
    alone, record = _let_go(known, record)
    done = _carry_out(plan_removal(alone, within=known.folder), record, backing_up=False)
    write_record(read_record().without(known))
    return done


def planned_uninstalls(installs: Iterable[Install]) -> tuple[Change, ...]:
    """What uninstalling these, one after the other, would change. Raises what `plan_removal` raises."""
    record, changes = read_record(), list[Change]()
    for install in installs:
        known = _as_it_is(install, record)
        alone, record = _let_go(known, record)
        record = record.without(known)
        changes += plan_removal(alone, within=known.folder).changes
    return tuple(changes)


def _as_it_is(install: Install, record: Record) -> Install:
    """This install as the record has it now: since it was looked up, another one may have left it a file."""
    return record.find(install.host, install.asked.reach, Path(install.project)) or install


def _let_go(install: Install, record: Record) -> tuple[list[FileRecord], Record]:
    """The files that hold lines of this install alone, and the record in which others have got the rest."""
    alone: list[FileRecord] = []
    for file in install.files:
        heir = shared_with(file, record, install)
        if heir is None:
            alone.append(file)
        else:
            record = record.with_install(handed_over(file, heir), heir)
    return alone, record


def traces_without_record(host: Host, around: Around) -> tuple[Install, ...]:
    """What an install of this host would look like, here and for the person, where the record knows of none."""
    found = []
    for asked in (Asked("user"), Asked("project", instructions=True)):
        files = tuple(
            FileRecord(file.path, file.form, file.edits, _trace_of(file)) for file in host.files(asked, around)
        )
        if any(change.is_one for change in plan_removal(files, within=None).changes):
            found.append(Install(host.name, asked, str(around.project), "", around.program, files=files))
    return tuple(found)


def _trace_of(file: HostFile) -> Trace:
    """The trace of an install that made all the objects and arrays that it needed: empty ones are of no use."""
    paths = [
        edit.path if isinstance(edit, Listed) else edit.path[:-1] for edit in file.edits if not isinstance(edit, Block)
    ]
    return Trace(made=frozenset(path[:end] for path in paths for end in range(1, len(path) + 1)))


def installs_meant(record: Record, host: Host, around: Around, *, reach: str | None) -> tuple[Install, ...]:
    """The installs of this host: all, or those of one reach, which in a project is the one in this folder."""
    known = [each for each in record.installs if each.host == host.name]
    meant = known or traces_without_record(host, around)
    return tuple(
        each
        for each in meant
        if reach is None or (each.asked.reach == reach and (reach == "user" or each.project == str(around.project)))
    )


@turn_at_record()
def forget_backups() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Remove the copies of files that are what they were; which were removed, and which were kept."""
    record = read_record()
    removed: list[Path] = []
    kept: list[Path] = []
    for copy in record.backups:
        content, _ = read_file(copy)
        if content is None:
            continue
        original = copy.with_name(copy.name.removesuffix(BACKUP))
        if read_file(original)[0] == content:
            copy.unlink()
            removed.append(copy)
        else:
            kept.append(copy)
    write_record(replace(record, backups=tuple(kept)))
    return tuple(removed), tuple(kept)


def _carry_out(plan: Plan, record: Record, *, backing_up: bool) -> Done:
    changes: Sequence[Change] = [change for change in plan.changes if change.is_one]
    backups = tuple(copy for change in changes if backing_up and (copy := back_up(change)))
    write_record(record.with_backups(backups))
    for change in changes:
        apply_change(change)
    remove_folders(plan.folders)
    return Done(plan.changes, backups)
