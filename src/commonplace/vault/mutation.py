"""One mutation of a vault under git: compare, journal, keep a person's edits, publish, commit, set the index.

The caller holds the lock and has recovered what an earlier one left. Whenever the process dies, the journal and the
files tell `recovery` how far this came; when a step fails, the files are put back and the journal goes.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.vault.base import ABSENT, Label, Made, version_of
from commonplace.vault.batch import Step, effects, make_all, plan_all
from commonplace.vault.changes import Change, Move, Write
from commonplace.vault.git import Repository
from commonplace.vault.git.history import KIND
from commonplace.vault.journal import Entry, Journal, JournalFile
from commonplace.vault.recovery import abandon, commit_of, mend_index
from commonplace.vault.snapshots import Known, look_up, snapshots
from commonplace.vault.tree import Tree
from commonplace.vault.trouble import disk_trouble

_Files = dict[str, bytes | None]


def carry_out(
    tree: Tree, git: Repository, file: JournalFile, *, changes: Sequence[Change], label: Label | None
) -> Made:
    """Make all of these changes and commit them. Raises when one does not fit or fails, and then none is made."""
    steps = plan_all(tree, changes)
    if not steps:
        return Made(git.head(), changed=False)
    touched = [effect for step in steps for effect in effects(step)]
    git.refuse_unwritable([effect.path for effect in touched])
    known = look_up(git, touched)
    journal = _begin(tree.root, known, label=_full(label, [step.change for step in steps]))
    file.write(journal)
    try:
        if journal.label.keeps:
            _keep_edits(git, file, journal, known)
        commit, files = _publish(tree, git, file, steps=steps, journal=journal)
    except CommonplaceError:
        abandon(tree, git, file, journal=journal)
        raise
    _finish(git, file, journal, files=files)
    return Made(commit, changed=True)


def _begin(root: Path, known: Sequence[Known], *, label: Label) -> Journal:
    return Journal(
        mutation=os.urandom(16).hex(),
        label=label,
        entries=tuple(_entry(each) for each in known),
        folders=_folders_to_make(root, [each.path for each in known if each.effect.after is not None]),
        pid=os.getpid(),
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _entry(known: Known) -> Entry:
    before, after = known.effect.before, known.effect.after
    return Entry(
        path=known.path,
        before=before.blob.version if before else ABSENT,
        after=ABSENT if after is None else version_of(after),
        mode=before.mode if before else None,
        blob=known.blob,
        head=known.kept.head,
        staged=known.kept.staged,
    )


def _folders_to_make(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents[:-1]}
    return tuple(sorted(parent for parent in parents if not (root / parent).is_dir()))


def _keep_edits(git: Repository, file: JournalFile, journal: Journal, known: Sequence[Known]) -> None:
    """Commit what a person wrote and git does not have. It stays, whatever becomes of the mutation."""
    if commits := snapshots(git, known):
        file.git_begins()
        git.commit(commits)
        mend_index(git, journal)


def _publish(
    tree: Tree, git: Repository, file: JournalFile, *, steps: Sequence[Step], journal: Journal
) -> tuple[str, _Files]:
    """Put the files in their places and commit them: the commit and its files. On failure, put back what was there."""
    take_back = make_all(tree, steps)
    files: _Files = {}
    try:
        with disk_trouble(journal.paths[0], doing="look at"):  # a folder may be spelled otherwise since it was made
            files = {tree.spelled(effect.path): effect.after for step in steps for effect in effects(step)}
        file.git_begins()
        return git.commit([commit_of(journal, files)])[-1], files
    except CommonplaceError as error:
        commit = git.find_mutation(journal.mutation)  # git may have made it and failed to say so
        if commit is None:
            take_back(error)
            raise
        return commit, files


def _finish(git: Repository, file: JournalFile, journal: Journal, *, files: _Files) -> None:
    """Set the index and forget the journal. The change is made: if git is busy, the next transaction does this."""
    try:
        file.git_begins()
        git.stage({path: None if after is None else git.blob_id(path, after) for path, after in files.items()})
        file.remove()
    except CommonplaceError as error:
        emit("index_left_behind", level="warning", mutation=journal.mutation, said=error.message)


def _full(label: Label | None, changes: Sequence[Change]) -> Label:
    """The label with its kind; a transaction without one is named after what it does."""
    verbs = {_verb(change) for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "change"
    what = changes[0].path if len(changes) == 1 else f"{len(changes)} files"
    label = label or Label(f"commonplace: {verb} {what}")
    if any(name == KIND for name, _ in label.trailers):
        return label
    return replace(label, trailers=((KIND, verb), *label.trailers))


def _verb(change: Change) -> str:
    if isinstance(change, Write):
        return "write"
    return "move" if isinstance(change, Move) else "delete"
