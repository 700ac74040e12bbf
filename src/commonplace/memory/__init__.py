"""The public verbs, one small module per noun. `Memory` is the thin object that holds them."""

from collections.abc import Callable
from types import TracebackType

from commonplace.facts.timeline import Moment
from commonplace.flows.take_in import Synced
from commonplace.history.base import AuditEntry
from commonplace.index.base import Counts
from commonplace.memory.context import Contexts
from commonplace.memory.conversations import Conversations
from commonplace.memory.entries import Entries
from commonplace.memory.facts import Facts
from commonplace.memory.index import IndexVerbs
from commonplace.memory.lint import Lint
from commonplace.memory.notes import Notes
from commonplace.memory.search import Search
from commonplace.memory.topics import Topics
from commonplace.model import Actor, Caller
from commonplace.sources.agent_transcripts import folders_in


class Memory:
    """One vault, opened: what every door and every program speaks to. Its verbs may be called from several threads.

    `acting` gives the same memory for another actor: one index, one history, closed together.
    """

    def __init__(
        self,
        *,
        notes: Notes,
        entries: Entries,
        facts: Facts,
        topics: Topics,
        lint: Lint,
        conversations: Conversations,
        search: Search,
        index: IndexVerbs,
        context: Contexts,
        acting: "Callable[[Actor], Memory]",
        close: Callable[[], None],
    ) -> None:
        self.notes = notes
        self.entries = entries
        self.facts = facts
        self.topics = topics
        self.lint = lint
        self.conversations = conversations
        self.search = search
        self.index = index
        self.context = context
        self.acting = acting
        self._close = close

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is held open."""
        self._close()


MemoryFor = Callable[[Caller], Memory]
"""The memory of the vault that a caller means. Raises NotFound where there is none."""

__all__ = [
    "AuditEntry",
    "Contexts",
    "Conversations",
    "Counts",
    "Entries",
    "Facts",
    "IndexVerbs",
    "Lint",
    "Memory",
    "MemoryFor",
    "Moment",
    "Notes",
    "Search",
    "Synced",
    "Topics",
    "folders_in",
]
