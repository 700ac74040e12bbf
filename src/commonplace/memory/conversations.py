"""The verbs on conversations: record, add from a file, capture from an agent, list, show, close, use, erase, prune."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any

from commonplace.errors import CommonplaceError, Refused
from commonplace.events import emit
from commonplace.flows.conversations import (
    CaptureResult,
    CursorAfter,
    Window,
    capture_lines,
    close_conversation,
    erase_thread,
    find_thread,
    list_threads,
    move_cursor,
    note_older_history,
    record_conversation,
    set_memory_use,
    transcript_cursor,
)
from commonplace.flows.learn.learn import erase_learned
from commonplace.flows.learn.retention import expired_threads, forget_thread
from commonplace.flows.project import choose_project, project_at
from commonplace.flows.project_state import note_session_end
from commonplace.flows.stores import Session
from commonplace.history.base import NewThread
from commonplace.model import MemoryUse, Message, RecordResult, Thread, TranscriptCursor, Trust
from commonplace.model.conversation import FactsKept
from commonplace.model.moment import parse_moment
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.request import When
from commonplace.questions.time_arguments import parse_time, start_of
from commonplace.sources.options import LONGEST_MESSAGE
from commonplace.sources.transcripts import parse_message, read_transcript
from commonplace.upkeep.erasures import forget_erased


class Conversations:
    """The conversations of one vault's owner, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def record(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        interface: str = "library",
        source_id: str = "",
        title: str = "",
        trust: Trust = "told",
        project: str | None = None,
        folder: str = "",
        memory: MemoryUse = "on",
    ) -> RecordResult:
        """Record a conversation, or its new messages; it can be found at once.

        A mapping has `role` and `content`, and may have `author`, `at` and `id`. With a `source_id`, the id that the
        program `interface` gave the conversation, it may be recorded again as it grows: each message is kept once.
        Without one it is identified by its messages, and cannot grow. What an agent records is `said`, never `told`. It
        belongs to the `project` of that name, or else to that of the repository that contains `folder`. `memory` `off`
        or `isolated` limits what it is used for, as `use` does. Raises UsageError for an invalid message and for a time
        without a zone; Refused if new messages have a lower trust than those recorded under that id, as an agent's have
        compared with a person's, and if that session is captured from the program's own transcript. Who speaks and when
        is what the caller says.
        """
        held_in = choose_project(project, folder, vault=self._session.stores.vault_folder)
        name = held_in.name if held_in else ""
        thread = NewThread(interface, source_id, title, trust, project=name, memory=memory)
        return record_conversation(thread, [parse_message(each) for each in messages], self._session)

    def add(
        self,
        content: bytes,
        *,
        name: str,
        interface: str = "",
        source_id: str = "",
        title: str = "",
        trust: Trust = "told",
        progress: Progress = ignore_progress,
    ) -> RecordResult:
        """Record the conversation in a file: JSON, JSON Lines, or text whose turns begin with `User:` and the like.

        The arguments win over what the file says about itself; a time without a zone is UTC. `progress` counts the
        texts that are encoded. Raises UsageError with the name of the file and the number of the wrong line.
        """
        transcript = read_transcript(content, name=name)
        thread = NewThread(
            interface or transcript.interface or "file",
            source_id or transcript.source_id,
            title or transcript.title,
            trust,
        )
        return record_conversation(thread, transcript.messages, self._session, progress=progress)

    def capture(
        self,
        content: bytes,
        *,
        host: str,
        session_id: str,
        ends: bool = False,
        left_out: Sequence[Window] = (),
        longest: int = LONGEST_MESSAGE,
        folders: Sequence[str] = (),
        cursor_after: CursorAfter = None,
    ) -> CaptureResult:
        """Record whole lines of an agent's own transcript, as said; lines that come again are kept once.

        Takes what the person typed and what the assistant said, with secrets redacted; leaves out tool calls, text that
        the host added, and context from memory itself. Messages in the windows of `left_out` are not recorded; those
        longer than `longest` are truncated. `ends` closes the conversation. Its project is that of the first of its
        working `folders` that is in a repository. `cursor_after` gives the transcript's cursor after so many bytes of
        the content; it is stored with what was read. Raises UsageError for a host whose transcripts cannot be read, and
        Refused for an agent: what it hands over would count as what its person said.
        """
        if self._session.actor.kind == "agent":
            raise Refused(
                "an agent may not capture a transcript: the daemon reads it itself",
                hint="Record what was said with `record`; it counts as a program's claim.",
            )
        vault = self._session.stores.vault_folder
        project = next((each for folder in folders if (each := project_at(folder, vault=vault))), None)
        thread = _captured(host, session_id, project=project.name if project else "")
        captured = capture_lines(
            content,
            thread,
            session=self._session,
            left_out=left_out,
            longest=longest,
            ends=ends,
            cursor_after=cursor_after,
        )
        if ends:
            self._note_end(thread)
        return captured

    def _note_end(self, thread: NewThread) -> None:
        """Add a line of progress to the project's state, if it has one; a failure is an event, as nobody waits."""
        recorded = self._session.stores.history.captured_conversation(thread)
        try:
            if recorded:
                note_session_end(recorded, self._session)
        except CommonplaceError as error:
            emit("progress_not_saved", level="warning", said=str(error))

    @property
    def vault_folder(self) -> str:
        """The folder of the vault; empty if it has none."""
        return self._session.stores.vault_folder

    def cursor(self, *, host: str, session_id: str) -> TranscriptCursor:
        """How far the transcript of an agent's session was read, by what is recorded of it."""
        return transcript_cursor(_captured(host, session_id), self._session)

    def move_cursor(self, cursor: TranscriptCursor, *, host: str, session_id: str) -> None:
        """Store how far a transcript was read, where what was read cannot be recorded."""
        move_cursor(_captured(host, session_id), cursor, self._session)

    def note_older_history(self, path: str, *, is_gone: bool) -> None:
        """Note for `doctor` that less of this transcript is recorded than was; `is_gone` if it cannot be read again."""
        note_older_history(path, self._session, is_gone=is_gone)

    def list(
        self,
        *,
        interface: str | None = None,
        project: str | None = None,
        since: When = None,
        limit: int | None = None,
        zone: tzinfo = UTC,
    ) -> tuple[Thread, ...]:
        """The conversations of a program or a project with a message since a time; newest first, at most `limit`.

        A conversation without a title has the beginning of its first message. `since` is as in a search.
        """
        since = start_of(since, now=self._session.clock(), zone=zone)
        return list_threads(self._session, interface=interface, project=project, since=since, limit=limit)

    def show(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Thread, tuple[Message, ...]]:
        """A conversation and its messages, from one turn to another; the beginning of its id is enough.

        Raises NotFound, and UsageError if several ids begin that way.
        """
        thread = find_thread(id, self._session)
        return thread, self._session.stores.history.messages(thread.id, first=first, last=last)

    def close(self, id: str) -> Thread:
        """Mark a conversation as finished; a message recorded later opens it again.

        `id` is as in `show`, or the id that its program gave it. Raises NotFound.
        """
        return close_conversation(id, self._session)

    def use(self, id: str, memory: MemoryUse) -> Thread:
        """Set what a conversation is used for: `on`, `off` (search alone finds it) or `isolated`.

        An isolated one is found only by a person who searches the source `isolated`. Nothing is learned from either,
        and no prompt is given anything of them; facts that were learned before stay. Raises NotFound, and Refused if a
        program would allow more than the person does.
        """
        return set_memory_use(id, memory, self._session)

    def erase(self, id: str) -> Thread:
        """Remove a conversation for good, with its corrections and the entries that were learned from it.

        Entries that the person approved stay, without their quotes. Only a person may: Refused. It cannot be undone.
        """
        if self._session.actor.kind == "person":
            erase_learned(find_thread(id, self._session).id, self._session)
        erased = erase_thread(id, self._session)
        forget_erased(self._session)
        return erased

    def prune(
        self, older_than: str, *, source: str = "", facts: FactsKept = "keep", dry_run: bool = False
    ) -> tuple[Thread, ...]:
        """Forget everywhere the conversations, tasks and corrections whose last message was before that time.

        `older_than` is an age such as `180d`, or a day; `source` is one program's. What was learned stays, without its
        quotes, unless `facts` is `forget`. A dry run returns what would go. Cannot be undone. Raises Refused, and
        UsageError for an invalid time.
        """
        session = self._session
        if session.actor.kind != "person":
            raise Refused("only a person may forget conversations", hint="Ask the owner of the vault.")
        cutoff = parse_moment(parse_time(older_than, now=session.clock(), zone=UTC)[0])
        only = {source: cutoff} if source else None
        threads = expired_threads(session, cutoff=None if source else cutoff, by_source=only)
        for thread in () if dry_run else threads:
            forget_thread(thread, session, facts=facts)
        if threads and not dry_run:
            forget_erased(session)
        return threads


def _captured(host: str, session_id: str, *, project: str = "") -> NewThread:
    return NewThread(host, session_id, trust="said", project=project, captured=True)
