"""Broken histories: an in-memory store that keeps every state, with one thing wrong."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from commonplace.errors import Conflict, Refused
from commonplace.model import Stat
from commonplace.vault.base import (
    Capability,
    Label,
    Listing,
    Locator,
    Merge,
    OnCommit,
    Revision,
    Skip,
    TransactionResult,
)
from commonplace.vault.changes import Changes
from commonplace.vault.contract_errors import path_of
from commonplace.vault.inmemory import Files
from commonplace.vault.paths import skip_filter
from tests.contract.broken_store import Broken, breaks


@dataclass(frozen=True)
class Commit:
    revision: Revision
    files: Files


class BrokenHistory(Broken):
    """Nothing is broken here yet."""

    capabilities = frozenset({Capability.HISTORY})

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[Commit] = []
        self.derived: set[str] = set()

    def is_worth_a_commit(self, result: TransactionResult) -> bool:
        return result.changed

    def trailers(self, label: Label) -> Mapping[str, str]:
        return dict(label.trailers)

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        before = self._files

        def record(result: TransactionResult) -> None:
            if self.is_worth_a_commit(result):
                self._commit(before, label or Label("no message"))
            if then:
                then(TransactionResult(self.commits[-1].revision.commit, result.changed))

        with super().transaction(wait=wait, label=label, then=record) as changes:
            before = self._files
            yield changes

    def derive(self, at: Locator, content: bytes) -> None:
        self.refuse_tracked(path_of(at, self))
        super().derive(at, content)
        self.derived.add(at.path)

    def refuse_tracked(self, path: str) -> None:
        if self.commits and path in self.commits[-1].files:
            raise Refused("it is in the history", path=path)

    def _commit(self, before: Files, label: Label) -> None:
        after = {path: file for path, file in self._files.items() if path not in self.derived}
        paths = {path: "changed" if path in before else "added" for path in after if after[path] != before.get(path)}
        paths |= {path: "removed" for path in before if path not in {*after, *self.derived}}
        revision = Revision(
            f"{len(self.commits):040d}", datetime.now(UTC), "someone", label.message, self.trailers(label), paths
        )
        self.commits.append(Commit(revision, after))

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        newest_first = [commit.revision for commit in reversed(self.commits)]
        return tuple(each for each in newest_first if at is None or at.path in each.paths)[:limit]

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        file = self.commits[int(commit)].files.get(at.path)
        return file.content if file else None

    def commit_at(self, when: datetime) -> str | None:
        until_then = [each.revision.commit for each in self.commits if each.revision.when <= when]
        return until_then[-1] if until_then else None

    def history_begins(self) -> datetime | None:
        return self.commits[0].revision.when if self.commits else None

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        snapshot, is_skipped = self.commits[int(commit)], skip_filter(skip)
        when = snapshot.revision.when.timestamp()
        files = (Stat(path, when, len(file.content)) for path, file in sorted(snapshot.files.items()))
        return Listing(tuple(file for file in files if not is_skipped(file.path)), ())

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> list[bytes | None]:
        files = self.commits[int(commit)].files
        return [files[path].content if path in files else None for path in paths]

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        sides = list(zip(base.splitlines(), ours.splitlines(), theirs.splitlines(), strict=True))
        merged = [b if a == c else c if a == b else None for a, b, c in sides]
        if None in merged:
            return Merge(ours, "both changed a line")
        return Merge(b"".join(line + b"\n" for line in merged if line), None)


@breaks("a_transaction_is_one_commit_with_its_label")
class DropsTrailers(BrokenHistory):
    def trailers(self, label: Label) -> Mapping[str, str]:
        return {}


@breaks("revisions_of_a_file_come_newest_first")
class ListsOldestFirst(BrokenHistory):
    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        return super().revisions(at, ours=ours)[::-1][:limit]


@breaks("a_file_can_be_read_as_it_was")
class ReadsWhatIsThereNow(BrokenHistory):
    def read_at(self, at: Locator, commit: str) -> bytes | None:
        return super().read_at(at, str(len(self.commits) - 1))


@breaks("an_identical_write_is_no_commit")
class CommitsNothing(BrokenHistory):
    def is_worth_a_commit(self, result: TransactionResult) -> bool:
        return True


@breaks("both_changes_of_a_base_are_merged")
class KeepsItsOwnSide(BrokenHistory):
    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Merge(ours, None)


@breaks("a_moment_has_the_newest_commit_until_then")
class TakesTheFirstCommit(BrokenHistory):
    def commit_at(self, when: datetime) -> str | None:
        return self.commits[0].revision.commit


@breaks("the_beginning_of_history_is_told")
class ForgetsTheBeginning(BrokenHistory):
    def history_begins(self) -> datetime | None:
        return None


@breaks("a_commit_is_listed_as_it_was")
class ListsWhatIsThereNow(BrokenHistory):
    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        return self.list(skip=skip)


@breaks("listed_files_can_be_read")
class ReadsOnlyWhatIsLeft(BrokenHistory):
    def read_listed_at(self, commit: str, paths: Sequence[str]) -> list[bytes | None]:
        contents = super().read_listed_at(commit, paths)
        return [content if path in self._files else None for path, content in zip(paths, contents, strict=True)]


@breaks("an_erased_file_is_in_no_commit")
class ForgetsOnlyTheNewest(BrokenHistory):
    capabilities = frozenset({Capability.HISTORY, Capability.ERASABLE})

    def erase_history(self, files: Sequence[Locator], *, wait: float = 10.0) -> None:
        paths = {at.path for at in files}
        if paths & self._files.keys():
            raise Conflict("it exists")
        self.commits = [
            replace(each, files=self._without(each, paths, newest=number == 1))
            for number, each in enumerate(self.commits)
        ]

    @staticmethod
    def _without(commit: Commit, paths: set[str], *, newest: bool) -> Files:
        return {path: file for path, file in commit.files.items() if not newest or path not in paths}
