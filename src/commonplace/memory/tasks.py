"""The verbs on tasks and on corrections: record, list, show, erase.

A task is something that was to be done, and what came of it. A correction is what the person said was wrong, and what
is right instead. Both are kept like conversations, and search finds them as sources of their own.
"""

from dataclasses import replace
from datetime import UTC, tzinfo

from commonplace.errors import UsageError
from commonplace.flows.conversations import (
    correction_of,
    erase_thread,
    find_thread,
    is_isolated,
    last_answer,
    list_threads,
    record_conversation,
)
from commonplace.flows.project import choose_project
from commonplace.flows.stores import Session
from commonplace.history.base import NewThread
from commonplace.model import Message, RecordResult, Thread, ThreadKind, Trust
from commonplace.model.request import When
from commonplace.questions.time_arguments import start_of
from commonplace.upkeep.erasures import forget_erased


class ThreadVerbs:
    """What can be done with the threads of one kind, for one actor."""

    kind: ThreadKind = "chat"

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self,
        *,
        interface: str | None = None,
        project: str | None = None,
        since: When = None,
        limit: int | None = None,
        zone: tzinfo = UTC,
    ) -> tuple[Thread, ...]:
        """Those of a program or a project since a time, newest first, at most `limit`; `since` is as in a search."""
        since = start_of(since, now=self._session.clock(), zone=zone)
        return list_threads(
            self._session, kind=self.kind, interface=interface, project=project, since=since, limit=limit
        )

    def show(self, id: str) -> tuple[Thread, tuple[Message, ...]]:
        """One of them with its messages; the beginning of its id is enough. Raises NotFound, UsageError for several."""
        thread = find_thread(id, self._session, kind=self.kind)
        return thread, self._session.stores.history.messages(thread.id)

    def erase(self, id: str) -> Thread:
        """Remove it for good. Only a person may: Refused. It cannot be undone."""
        erased = erase_thread(id, self._session, kind=self.kind)
        forget_erased(self._session)
        return erased

    def _project(self, project: str | None, folder: str) -> str:
        named = choose_project(project, folder, vault=self._session.stores.vault_folder)
        return named.name if named else ""


class Tasks(ThreadVerbs):
    """The tasks that were recorded."""

    kind: ThreadKind = "task"

    def record(
        self,
        task: str,
        *,
        result: str = "",
        id: str = "",
        title: str = "",
        interface: str = "library",
        trust: Trust = "told",
        project: str | None = None,
        folder: str = "",
        silent: bool = False,
    ) -> RecordResult:
        """Record a task and what came of it; both can be found at once.

        With the `id` that the program `interface` gave it, a result may come later: the task is given again with it.
        The same task with the same result is kept once. A `silent` one is kept, and isolated: no prompt is given it,
        and only a search of the source `isolated` finds it. Projects are as in `Conversations.record`. Raises
        UsageError for a task without words.
        """
        if not task.strip():
            raise UsageError("the task is empty", hint="Say what was to be done.")
        thread = NewThread(
            interface,
            f"task:{id}" if id else "",
            title,
            trust,
            self._project(project, folder),
            kind=self.kind,
            memory="isolated" if silent else "on",
        )
        messages = [Message("user", task), *([Message("assistant", result)] if result.strip() else [])]
        return record_conversation(thread, messages, self._session)


class Corrections(ThreadVerbs):
    """What the person corrected."""

    kind: ThreadKind = "correction"

    def record(
        self,
        correction: str,
        *,
        corrects: str = "",
        conversation: str = "",
        interface: str = "library",
        trust: Trust = "told",
        project: str | None = None,
        folder: str = "",
    ) -> RecordResult:
        """Record what is right, and what it corrects; it can be found at once.

        In a `conversation`, by its id or the beginning of it, the correction is of the assistant's last answer unless
        `corrects` says of what, it belongs to that conversation, and is erased with it. Projects are as in
        `Conversations.record`. Raises UsageError for a correction without words, NotFound for the conversation.
        """
        if not correction.strip():
            raise UsageError("the correction is empty", hint="Say what is right.")
        parent = find_thread(conversation, self._session) if conversation else None
        before = Message("assistant", corrects) if corrects.strip() else None
        if parent and before is None:
            before = last_answer(parent, self._session.stores.history)
        thread = NewThread(interface, trust=trust, project=self._project(project, folder), kind=self.kind)
        if parent:
            use = "isolated" if is_isolated(parent, self._session.stores) else parent.memory
            key = f"{before.text if before else ''}\n{correction}"
            thread = correction_of(parent.id, replace(thread, memory=use), key=key)
        return record_conversation(thread, [*([before] if before else []), Message("user", correction)], self._session)
