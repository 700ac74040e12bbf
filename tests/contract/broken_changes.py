"""Broken writing, deleting and moving."""

from dataclasses import replace

from commonplace.errors import Conflict
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.changes import Change, Delete, Move, Write
from commonplace.vault.contract_errors import file_not_found
from commonplace.vault.file_table import check_change
from commonplace.vault.inmemory import File
from tests.contract.broken_store import Broken, breaks


@breaks("a_write_with_the_right_version_is_made")
class RefusesTheRightVersion(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for change in planned:
            file = self._files.get(change.path, File(b"", 0))
            right = change.expected == version_of(file.content)
            if isinstance(change, Write) and right and change.content != file.content:
                raise Conflict("no", path=change.path)
        return planned


@breaks("folders_come_with_their_first_file")
class WantsFoldersMadeBefore(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for change in planned:
            if change.path.count("/") > 3:
                raise file_not_found(change.path)
        return planned


class BelievesTheCaller(Broken):
    """A broken backend that does not hold some expectations against the store."""

    def believed(self, change: Change) -> bool:
        raise NotImplementedError

    def amend(self, planned: list[Change]) -> list[Change]:
        return [replace(change, expected=None) if self.believed(change) else change for change in planned]


@breaks("a_stale_write_is_refused_and_changes_nothing")
class WritesOverChanges(BelievesTheCaller):
    def believed(self, change: Change) -> bool:
        alone = isinstance(change, Write) and change.content == b"new" and len(self._files) == 2
        return alone and change.path in self._files and change.expected != ABSENT


@breaks("a_write_to_a_vanished_file_is_refused")
class RevivesVanishedFiles(BelievesTheCaller):
    def believed(self, change: Change) -> bool:
        return isinstance(change, Write) and change.path not in self._files


@breaks("a_new_file_replaces_none")
class ReplacesWithNew(BelievesTheCaller):
    def believed(self, change: Change) -> bool:
        return change.expected == ABSENT


@breaks("a_stale_delete_is_refused")
class DeletesChanges(BelievesTheCaller):
    def believed(self, change: Change) -> bool:
        return isinstance(change, Delete)


@breaks("a_stale_move_is_refused")
class MovesChanges(BelievesTheCaller):
    def believed(self, change: Change) -> bool:
        return isinstance(change, Move)


@breaks("a_file_is_not_used_as_a_folder")
class PutsFilesBelowFiles(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for change in planned:
            if isinstance(change, Write) and change.path.rpartition("/")[0] in self._files:
                self._files = {**self._files, change.path: File(change.content, 1.0)}
                return []
        return planned


@breaks("an_identical_write_touches_nothing")
class TouchesOnEveryWrite(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for change in planned:
            file = self._files.get(change.path)
            if isinstance(change, Write) and file and file.content == change.content:
                self._files = {**self._files, change.path: replace(file, mtime=file.mtime + 1)}
        return planned


@breaks("a_deleted_file_is_gone")
class EmptiesInsteadOfDeleting(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        return [
            Write(change.path, b"", change.expected) if isinstance(change, Delete) and self._right(change) else change
            for change in planned
        ]

    def _right(self, change: Delete) -> bool:
        file = self._files.get(change.path)
        return file is not None and change.expected == version_of(file.content)


@breaks("a_moved_file_has_its_new_path_alone")
class CopiesInsteadOfMoving(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        if len(planned) == 1 and isinstance(planned[0], Move) and planned[0].expected:
            check_change(self._files, planned[0])
            return [Write(planned[0].destination, self._files[planned[0].path].content, ABSENT)]
        return planned


@breaks("a_move_onto_a_file_is_a_conflict")
class MovesOntoFiles(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        if len(planned) == 1 and isinstance(planned[0], Move) and planned[0].destination in self._files:
            move = planned[0]
            return [Write(move.destination, self._files[move.path].content, None), Delete(move.path, None)]
        return planned


@breaks("what_is_missing_cannot_be_deleted_or_moved")
class DeletesNothingGladly(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        return [
            change for change in planned if not isinstance(change, Delete) or self.exists(self.resolve(change.path))
        ]
