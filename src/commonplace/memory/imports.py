"""The verbs on imports: read the exports and folders of other programs into this memory."""

import os
from collections.abc import Sequence

from commonplace.flows.import_files import ImportReport, PausesOf, import_files, recognised_kind
from commonplace.flows.stores import Session
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.imports.files import InMemoryFiles, open_files
from commonplace.sources.imports.plain import KIND as ONE_CONVERSATION
from commonplace.sources.imports.registry import READERS
from commonplace.sources.options import LONGEST_MESSAGE

__all__ = ["ONE_CONVERSATION", "ImportReport", "Imports", "PausesOf", "import_kinds"]


def import_kinds() -> dict[str, str]:
    """What can be imported: the name of each kind, and what it is."""
    return {each.kind: f"{each.title}: {each.files}" for each in READERS}


class Imports:
    """Imports into one vault's memory, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        kind: str = "",
        review: bool = False,
        dry_run: bool = False,
        longest: int = LONGEST_MESSAGE,
        pauses_of: PausesOf = lambda session_id, folders: (),
        progress: Progress = ignore_progress,
    ) -> ImportReport:
        """Import exports, folders and zips of other programs, each recognised by its shape; `kind` expects one shape.

        What was imported before is not imported again; a newer export adds what is new in it. With `review`, what is
        learned from the files waits for the person's approval, because they may hold the words of others. A `dry_run`
        changes nothing and returns the same report. Of agents' transcripts, messages in the windows that `pauses_of`
        gives for a session's id and working folders are left out. `progress` counts bytes, then conversations that are
        indexed. Raises UsageError, before anything is stored, if something is not recognised; Refused unless a person
        asks.
        """
        return import_files(
            paths,
            self._session,
            kind=kind,
            review=review,
            dry_run=dry_run,
            longest=longest,
            pauses_of=pauses_of,
            progress=progress,
        )

    def run_content(
        self, content: bytes, *, name: str, longest: int = LONGEST_MESSAGE, progress: Progress = ignore_progress
    ) -> ImportReport:
        """Import a file that was read already, under that name. Raises as `run` does."""
        files = InMemoryFiles({name: content}, name=name)
        return import_files([files], self._session, longest=longest, progress=progress)

    def kind_of(self, path: str | os.PathLike[str]) -> str:
        """The kind of what is at that path; empty if it is not recognised. Raises UsageError if there is nothing."""
        return recognised_kind(open_files(path))

    def kind_of_content(self, content: bytes, *, name: str) -> str:
        """The kind of a file with this content; empty if it is not recognised."""
        return recognised_kind(InMemoryFiles({name: content}, name=name))
