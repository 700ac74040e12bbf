"""What every flow works with: `Stores`, one opened vault with all that belongs to it, and `Session`, an actor using it.

A function that needs one of these parts takes that part; a function that needs several takes `Stores`, or `Session` if
it depends on who acts or on the time.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from os.path import abspath, basename
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from commonplace.context.options import ContextOptions
from commonplace.encoders.base import EncoderProvider, heuristic_tokens
from commonplace.extraction.options import LearnOptions
from commonplace.facts.claims import FactRules
from commonplace.facts.groups import Group
from commonplace.facts.options import FactsOptions
from commonplace.facts.profile import ProfileRanking
from commonplace.facts.snapshots import FactSnapshots
from commonplace.history.base import History
from commonplace.index.base import FactQuery, Index, VectorCache
from commonplace.llm.base import LanguageModel
from commonplace.llm.options import Task
from commonplace.model import Actor, Fact, Filters
from commonplace.model.layout import entry_digits
from commonplace.model.moment import moment_text
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import Audience
from commonplace.ranking.options import RetrievalOptions
from commonplace.sources.base import Source
from commonplace.sources.calendars.base import CalendarSources
from commonplace.sources.conversations import ConversationSource
from commonplace.vault.base import Skip, StorageBackend

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_MOST_PROMPTS: Final = 100
CLOCK_TOLERANCE: Final = timedelta(minutes=5)
"""How far the clocks of two devices that keep time may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoute:
    """The language model of one task, and its limits.

    `model` is None if it cannot be asked, and `missing` says why. `identity` changes with every setting of the model
    and with its key. Prices are in dollars for a million tokens.
    """

    model: LanguageModel | None
    missing: str
    identity: str
    most_tokens: int
    price_in: float
    price_out: float
    prompt_file: Path | None = None


class Allowance(Protocol):
    """What people may spend on language models in a day, over all vaults; `person` is empty for the vault's owner."""

    def reserve(self, person: str, *, tokens: int, cost: float, at: datetime) -> str:
        """Add to what the person has spent; returns why it is too much, and adds nothing then."""
        ...

    def settle(self, person: str, *, tokens: int, cost: float, at: datetime) -> None:
        """Correct what was reserved by the difference."""
        ...


@dataclass(frozen=True, slots=True)
class Models:
    """The language models: `route` gives that of a task, None if the settings ask for none; and the day's budget.

    `allowance` has the budgets of people, None where there are none.
    """

    route: Callable[[Task], ModelRoute | None] = lambda task: None
    daily_tokens: int = 0
    daily_dollars: float = 0.0
    allowance: Allowance | None = None


@dataclass(frozen=True, slots=True)
class Encoders:
    """The current encoder, or None and the reason in `missing`; `is_wanted` is False if the settings ask for none.

    `for_version` finds the encoder that made vectors an index still holds. `warm` starts loading the current encoder
    in the background, once, and returns True while it is loading.
    """

    current: EncoderProvider | None
    missing: str
    for_version: Callable[[str], EncoderProvider | None]
    is_wanted: bool = True
    warm: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Chunking:
    """How texts are chunked: the tokenizer, the size, the overlap, and the encoder they are for.

    `version` is empty without an encoder. Sensitive texts are not given to an encoder that `is_remote`.
    """

    tokens: Callable[[str], Sequence[tuple[int, int]]]
    max_tokens: int
    overlap: int
    version: str
    is_remote: bool = False


@dataclass(frozen=True, slots=True)
class QueryCache:
    """What one request works out about a text: its vectors by encoder version, and the nearest topics.

    Concurrent requests for one text encode it once.
    """

    vectors: "dict[tuple[str, str], Fixed]" = field(default_factory=dict)
    topics: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class PromptLog:
    """The prompts that hooks handed over lately, in memory alone: a running one is in no transcript yet.

    No door that an agent calls adds to it. Its methods may be called from several threads.
    """

    def __init__(self) -> None:
        self._prompts: deque[tuple[datetime, str, str]] = deque(maxlen=_MOST_PROMPTS)
        self._lock = threading.Lock()

    def add(self, text: str, *, author: str, at: datetime) -> None:
        """Add a prompt of the person with that id; empty for the owner of the vault."""
        with self._lock:
            self._prompts.append((at, author, text))

    def texts(self, *, since: datetime, until: datetime, author: str) -> tuple[str, ...]:
        """That person's prompts between these moments, both included; the newest first."""
        with self._lock:
            prompts = [*reversed(self._prompts)]
        return tuple(text for at, by, text in prompts if by == author and since <= at <= until)


@dataclass(frozen=True, slots=True)
class IndexParts:
    """The index, and what is opened together with it.

    `past_index` opens the index of a commit, `forget_past` removes all of those, and `temporary_index` is an empty
    index that is deleted when its block ends.
    """

    index: Index
    cache: VectorCache
    encoders: Encoders
    past_index: Callable[[str], Index]
    forget_past: Callable[[], None]
    temporary_index: Callable[[], AbstractContextManager[Index]]


def thread_try_lock() -> "Callable[[], AbstractContextManager[bool]]":
    """An `encode_lock` or a `learn_lock` for stores that no other process shares."""
    lock = threading.Lock()

    @contextmanager
    def try_lock() -> Iterator[bool]:
        is_ours = lock.acquire(blocking=False)
        try:
            yield is_ours
        finally:
            if is_ours:
                lock.release()

    return try_lock


class OpenOnce:
    """Opens the index parts at the first call; all threads share what it opened."""

    def __init__(self, open_parts: Callable[[], IndexParts]) -> None:
        self._open, self._lock = open_parts, threading.Lock()
        self._parts: IndexParts | None = None

    def __call__(self) -> IndexParts:
        with self._lock:
            self._parts = self._parts or self._open()
            return self._parts

    def close(self) -> None:
        """Close the index and the vector cache if they were opened."""
        if self._parts:
            self._parts.index.close()
            self._parts.cache.close()


@dataclass(frozen=True, slots=True)
class Stores:
    """One opened vault: its notes, history, index and encoders, and the settings that flows read.

    `parts` opens the index at first use: reading a note does not pay for it. `ignored` are files that are not notes,
    `unindexed` those that are kept out of the index. `conversations` reads the recorded conversations; `sources` are
    the sources besides the vault that the settings switch on. Without `waits_for_encoder` a search does not wait for
    an encoder that is still loading: it goes by words, and its answer says so. `clock` is never stopped, so that the
    index knows when a note was really read. `vault_folder` is the vault's folder on this machine, empty if it has none;
    without `is_in_folder` the notes are elsewhere, and the folder only stands for the vault.
    `encode_lock` is held by the one process that syncs and encodes; entering it gives False if another one holds it.
    `learn_lock` is the same for learning. `prompts` are those that hooks handed over lately. `members` gives the ids of
    the people who share the vault; none for a vault of one person.
    """

    vault: StorageBackend
    history: History
    parts: Callable[[], IndexParts]
    conversations: ConversationSource
    sources: tuple[Source, ...]
    rules: FactRules
    safety: SafetyOptions
    retrieval: RetrievalOptions
    facts: FactsOptions
    context: ContextOptions
    commit_message: str
    lock_wait: float
    max_tokens: int
    overlap: int
    rename_window: float
    ignored: Skip
    unindexed: Skip
    clock: Callable[[], datetime]
    save_lock: Callable[[], AbstractContextManager[object]]
    models: Models = Models()
    calendars: CalendarSources = field(default_factory=CalendarSources)
    waits_for_encoder: bool = True
    vault_folder: str = ""
    is_in_folder: bool = True
    encode_lock: Callable[[], AbstractContextManager[bool]] = field(default_factory=thread_try_lock)
    learn: LearnOptions = field(default_factory=LearnOptions)
    learn_lock: Callable[[], AbstractContextManager[bool]] = field(default_factory=thread_try_lock)
    members: Callable[[], frozenset[str]] = frozenset
    query_cache: QueryCache | None = None
    snapshots: FactSnapshots = field(default_factory=FactSnapshots)
    profile: ProfileRanking = field(default_factory=ProfileRanking)
    prompts: PromptLog = field(default_factory=PromptLog)
    undecided: "dict[bool, tuple[Mapping[str, int], tuple[Fact, ...], tuple[Group, ...]]]" = field(default_factory=dict)
    noise_levels: dict[int, float] = field(default_factory=dict)
    nearness_levels: dict[tuple[int, Filters], tuple[float, ...]] = field(default_factory=dict)

    @property
    def latest(self) -> str:
        """The latest moment at which an entry can have been recorded: now, as other devices' clocks may have it."""
        return moment_text(self.clock() + CLOCK_TOLERANCE)

    @property
    def vault_name(self) -> str:
        """The name by which Obsidian knows the vault, that of its folder; empty for a vault without one."""
        return basename(abspath(self.vault_folder)) if self.vault_folder and self.is_in_folder else ""

    @property
    def index(self) -> Index:
        """The index, opened at first use."""
        return self.parts().index

    @property
    def cache(self) -> VectorCache:
        """The vectors that were encoded before."""
        return self.parts().cache

    @property
    def encoders(self) -> Encoders:
        """The encoders that can be used."""
        return self.parts().encoders

    @property
    def chunking(self) -> Chunking:
        """How texts are chunked for the current encoder."""
        encoder = self.encoders.current
        if encoder is None:
            return Chunking(heuristic_tokens, self.max_tokens, self.overlap, "")
        return Chunking(encoder.tokens, self.max_tokens, self.overlap, encoder.version, encoder.is_remote)

    def using(self, **changes: Any) -> "Stores":
        """These stores with other index parts, such as `index` or `encoders`."""
        parts = replace(self.parts(), **changes)
        return replace(self, parts=lambda: parts)

    def close(self) -> None:
        """Close the history, and the index if it was opened."""
        self.history.close()
        if isinstance(self.parts, OpenOnce):
            self.parts.close()


@dataclass(frozen=True, slots=True)
class Session:
    """One actor working with the stores. `clock` is stopped for the length of one verb, so that it has one moment."""

    stores: Stores
    actor: Actor
    clock: Callable[[], datetime]

    @property
    def now(self) -> str:
        """This moment, as text in UTC."""
        return moment_text(self.clock())

    @property
    def today(self) -> str:
        """The day in the person's zone, by which what is due is on time or late."""
        return self.clock().astimezone(self.stores.calendars.zone).date().isoformat()

    @property
    def sees_sensitive(self) -> bool:
        """True for a person. Agents and jobs do not see sensitive or staged facts."""
        return self.actor.kind == "person"

    @property
    def author(self) -> str:
        """The id of the person who speaks, in a vault that several people share; empty in a vault of one person."""
        person = self.actor.person
        return person if person and person in self.stores.members() else ""

    def hidden_entries(self) -> frozenset[str]:
        """The digits in the names of sensitive entries: for a program, the rest of such a name is left out.

        Empty for a person. Raises IndexDamaged.
        """
        if self.sees_sensitive:
            return frozenset()
        with self.stores.index.reader() as reader:
            records = reader.facts(FactQuery(origins=("entry",), only_sensitive=True, staged=True))
        return frozenset(entry_digits(record.fact.path) for record in records) - {""}

    @property
    def audience(self) -> Audience:
        """Where answers of this session are shown."""
        return "person" if self.actor.kind == "person" else "prompt"

    def at(self, now: datetime) -> "Session":
        """This session with its clock stopped at `now`."""
        return replace(self, clock=lambda: now)

    def as_actor(self, actor: Actor) -> "Session":
        """This session for another actor."""
        return replace(self, actor=actor)
