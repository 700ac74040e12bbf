"""Broken reading, listing and resolving."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import replace

from commonplace.errors import NotFound, Refused
from commonplace.model import Stat
from commonplace.vault.base import ABSENT, Blob, Listing, Locator, Skip
from commonplace.vault.changes import Change, Write
from commonplace.vault.contract_errors import file_not_found
from commonplace.vault.inmemory import File
from commonplace.vault.paths import normal, same_name
from tests.contract.broken_store import Broken, breaks


@breaks("bytes_come_back_as_they_were_written")
class MendsLineEnds(Broken):
    def read(self, at: Locator) -> Blob:
        blob = super().read(at)
        return replace(blob, content=blob.content.replace(b"\r\n", b"\n"))


@breaks("a_version_is_the_sha256_of_the_bytes")
class ShoutsVersions(Broken):
    def read(self, at: Locator) -> Blob:
        blob = super().read(at)
        return replace(blob, version=blob.version.upper())


@breaks("stats_is_stat_of_several_files")
class ExaminesFoldersToo(Broken):
    def stats(self, paths: Iterable[str]) -> Mapping[str, Stat]:
        asked = [*paths]
        return {**dict.fromkeys(asked, Stat("", 0.0, 0)), **super().stats(asked)}


@breaks("stat_tells_path_and_size")
class CountsOneMore(Broken):
    def stat(self, at: Locator) -> Stat:
        stat = super().stat(at)
        return replace(stat, size=stat.size + 1)


@breaks("exists_tells_whether_a_file_is_there")
class SaysYes(Broken):
    def exists(self, at: Locator) -> bool:
        return super().exists(at) or True


@breaks("a_missing_file_is_not_found")
class DoesNotSayWhatIsMissing(Broken):
    def read(self, at: Locator) -> Blob:
        try:
            return super().read(at)
        except NotFound as error:
            raise NotFound("no such file", hint=error.hint) from error


@breaks("a_folder_is_not_a_file")
class TakesFoldersForMissing(Broken):
    def read(self, at: Locator) -> Blob:
        try:
            return super().read(at)
        except Refused as error:
            raise file_not_found(at.path) from error


class BrokenListing(Broken):
    """A broken backend whose listing can be tampered with."""

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        return Listing(self.tamper(folder, recursive, skip), ())

    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        return super().list(folder, recursive=recursive, skip=skip).files


@breaks("a_listing_has_every_file_in_order")
class ListsBackwards(BrokenListing):
    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        files = super().tamper(folder, recursive, skip)
        return files if folder or not recursive else files[::-1]


@breaks("a_listing_can_stay_in_one_folder")
class AlwaysDescends(BrokenListing):
    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        return super().tamper(folder, True, skip)


@breaks("a_listing_can_start_in_a_folder")
class TakesFoldersForPrefixes(BrokenListing):
    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        files = super().tamper(folder, recursive, skip)
        every = super().tamper("", True, skip) if recursive else files
        return tuple(stat for stat in every if stat.path.startswith(folder))


@breaks("skip_leaves_out_files_and_whole_folders")
class SkipsNoFolders(BrokenListing):
    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        files = super().tamper(folder, recursive, None)
        return tuple(stat for stat in files if not (skip and skip(stat.path)))


@breaks("an_empty_store_lists_nothing")
class MissesItsRoot(BrokenListing):
    used = False

    def amend(self, planned: list[Change]) -> list[Change]:
        self.used = True
        return planned

    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        files = super().tamper(folder, recursive, skip)
        if not self.used:
            raise file_not_found("")
        return files


@breaks("a_missing_folder_is_not_found")
class ListsWhatIsMissing(BrokenListing):
    def tamper(self, folder: str, recursive: bool, skip: Skip | None) -> tuple[Stat, ...]:
        try:
            return super().tamper(folder, recursive, skip)
        except NotFound:
            return ()


@breaks("a_path_out_of_the_store_is_refused")
class FoldsStepsUp(Broken):
    def resolve(self, path: str) -> Locator:
        folded = posixpath.normpath(path) if "/../" in path else path
        return super().resolve(path if folded.startswith("..") else folded)


@breaks("the_folder_of_git_is_refused")
class KnowsGitInOneSpelling(Broken):
    def resolve(self, path: str) -> Locator:
        return Locator(path, self) if path.startswith(".GIT/") else super().resolve(path)


@breaks("a_name_that_cannot_be_stored_is_refused")
class TakesLongNames(Broken):
    def resolve(self, path: str) -> Locator:
        return Locator(path, self) if len(path) > 255 else super().resolve(path)


@breaks("a_path_is_cleaned")
class KeepsDoubledSlashes(Broken):
    def resolve(self, path: str) -> Locator:
        clean = super().resolve(path)
        return Locator(path, self) if "//" in path else clean


@breaks("a_locator_of_another_store_is_refused")
class TakesAnyLocator(Broken):
    def stat(self, at: Locator) -> Stat:
        return super().stat(Locator(at.path, self))


@breaks("a_file_of_another_case_is_not_this_file")
class IgnoresCase(Broken):
    def read(self, at: Locator) -> Blob:
        alike = [path for path in self._files if same_name(path, at.path)]
        return super().read(Locator(alike[0], self) if alike and at.belongs_to(self) else at)


@breaks("a_name_that_differs_in_case_is_a_conflict")
class MakesTwins(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for change in planned:
            twins = [path for path in self._files if path.lower() == change.path.lower() and path != change.path]
            if isinstance(change, Write) and change.expected != ABSENT and twins:
                self._files = {**self._files, change.path: File(change.content, 1.0)}
                return []
        return planned


@breaks("composed_and_decomposed_names_are_one")
class ComparesBytesOfNames(Broken):
    def resolve(self, path: str) -> Locator:
        return Locator(normal(path), self)

    def read(self, at: Locator) -> Blob:
        blob = super().read(at)
        if blob.stat.path != at.path:
            raise file_not_found(at.path)
        return blob
