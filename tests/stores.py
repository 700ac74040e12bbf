"""Stores and sessions for tests of flows: a real folder, real git where asked for, SQLite or in-memory parts."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.context.options import ContextOptions
from commonplace.encoders.base import EncoderProvider, Spans, heuristic_tokens
from commonplace.encoders.hashing import HashingEncoder
from commonplace.errors import ProviderFailed
from commonplace.facts.claims import FactRules
from commonplace.facts.options import FactsOptions
from commonplace.facts.triples import predicates_of
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Encoders, IndexParts, Session, Stores
from commonplace.history.base import History
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.index.base import Index
from commonplace.index.inmemory.store import InMemoryIndex, InMemoryVectorCache
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.index.sqlite.vector_cache import SqliteVectorCache
from commonplace.model import Actor, ActorKind, Answer, Filters, Mode
from commonplace.notes.chunks import last_sentences
from commonplace.notes.link_resolver import NoteLinker
from commonplace.policy.options import SafetyOptions, ignores
from commonplace.policy.sensitivity import Audience
from commonplace.ranking.options import RetrievalOptions
from commonplace.sources.conversations import ConversationSource
from commonplace.vault.base import StorageBackend
from commonplace.vault.git.commit import Author
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from tests.vaults import make_vault

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DEFAULT_ENCODER = HashingEncoder(384)
ME = Author("Commonplace", "commonplace@localhost")
RULES = FactRules(predicates_of(FactsOptions()))


def make_stores(
    root: Path,
    folder: Path,
    *,
    encoder: EncoderProvider | None = DEFAULT_ENCODER,
    vault: StorageBackend | None = None,
    index: Index | None = None,
    history: History | None = None,
    retrieval: RetrievalOptions | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    globs: tuple[str, ...] = ("Templates/**",),
    least: int | None = None,
    others: tuple[EncoderProvider, ...] = (),
) -> Stores:
    """Stores of the vault in `root`, with a SQLite index in `folder` and an in-memory history.

    `least` is how many chunks make a segment; `others` are encoders whose vectors the index may still have.
    """
    linker = NoteLinker()
    by_version = {each.version: each for each in (encoder, *others) if each}
    cache = SqliteVectorCache(folder / "vectors.db")
    segments = {} if least is None else {"min_chunks": least}

    def sqlite(file: Path) -> SqliteIndex:
        return SqliteIndex(file, user="me", linker=linker, rules=RULES, cache=cache)

    parts = IndexParts(
        index
        or SqliteIndex(folder / "index" / "index.db", user="me", linker=linker, rules=RULES, cache=cache, **segments),
        cache,
        Encoders(encoder, "" if encoder else "no encoder is installed", by_version.get),
        past_index=lambda commit: sqlite(folder / "past" / commit / "index.db"),
        forget_past=lambda: shutil.rmtree(folder / "past", ignore_errors=True),
        temporary_index=lambda: _temporary(sqlite, folder / "scratch"),
    )
    return _stores(
        vault or DeviceLocal(root),
        parts,
        history=history or InMemoryHistory(),
        unindexed=ignores(globs),
        clock=clock,
        retrieval=retrieval or RetrievalOptions(),
    )


def make_session(
    root: Path,
    *,
    actor: ActorKind = "person",
    safety: SafetyOptions | None = None,
    wait: float = 10,
    history: History | None = None,
) -> Session:
    """A session with the vault in that folder, put under git first; its index is in memory and has no encoder."""
    make_vault(root)
    index = InMemoryIndex(user="me", linker=NoteLinker(), rules=RULES)
    parts = IndexParts(
        index,
        InMemoryVectorCache(),
        Encoders(None, "no encoder is installed", lambda version: None),
        past_index=lambda commit: index,
        forget_past=lambda: None,
        temporary_index=lambda: nullcontext(index),
    )
    stores = _stores(
        ObsidianVault(root, author=ME),
        parts,
        history=history or InMemoryHistory(),
        safety=safety or SafetyOptions(),
        lock_wait=wait,
        clock=lambda: datetime(2026, 11, 15, tzinfo=UTC),
    )
    return Session(stores, Actor(actor, "test"), stores.clock)


def _stores(vault: StorageBackend, parts: IndexParts, *, history: History, **changes: Any) -> Stores:
    conversations = ConversationSource(history, closing=last_sentences)
    made = Stores(
        vault=vault,
        history=history,
        parts=lambda: parts,
        conversations=conversations,
        sources=(),
        rules=RULES,
        safety=SafetyOptions(),
        retrieval=RetrievalOptions(),
        facts=FactsOptions(),
        context=ContextOptions(),
        commit_message="commonplace: {verb} {path}",
        lock_wait=10.0,
        max_tokens=64,
        overlap=8,
        rename_window=2.0,
        ignored=lambda path: False,
        unindexed=lambda path: False,
        clock=lambda: datetime.now(UTC),
        save_lock=nullcontext,
    )
    return replace(made, **changes)


@contextmanager
def _temporary(make: Callable[[Path], SqliteIndex], folder: Path) -> Iterator[Index]:
    index = make(folder / "index.db")
    try:
        yield index
    finally:
        index.close()
        shutil.rmtree(folder, ignore_errors=True)


def save(root: Path, path: str, text: str) -> Path:
    """Save a note as an editor would."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def close(stores: Stores) -> None:
    """Close the index and the vector cache."""
    stores.index.close()
    stores.cache.close()


def ask(stores: Stores, text: str, *, audience: Audience = "person", mode: Mode = "hybrid", **filters: Any) -> Answer:
    """The answer to a question; `filters` are fields of Filters, and k and min_score."""
    k, min_score = filters.pop("k", None), filters.pop("min_score", None)
    query = SearchQuery(text, mode, k=k, min_score=min_score, filters=Filters(**filters))
    return search(query, stores, audience=audience)


def found(stores: Stores, text: str, *, mode: Mode = "words", **filters: Any) -> list[str]:
    """The paths of the notes that have these words, best first, each once."""
    return list(dict.fromkeys(hit.path for hit in ask(stores, text, mode=mode, **filters)))


def index_contents(stores: Stores, queries: Iterable[SearchQuery]) -> dict[str, Any]:
    """Everything the index says, also to these queries, except what depends on how it was built."""
    with stores.index.reader() as reader:
        counts = replace(reader.counts(), size=0, removed=0, synced=None)
        known = {"counts": counts, "edges": reader.edges(), "problems": reader.problems()}
    answers = {repr(query): search(query, stores, audience="person").hits for query in queries}
    return {**known, **{query: hits for query, hits in answers.items() if hits}}


@dataclass
class CountingEncoder:
    """The hashing encoder under another name; it records what it encoded, and fails when it is told to."""

    version: str = "counting-1"
    is_remote: bool = False
    is_ready: bool = True
    fails: bool = False
    texts: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    alias: str = "counting"
    dim: int = 64
    max_tokens: int = 256

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda more: None) -> "Floats":
        """One row for each text, another for another version."""
        if self.fails:
            raise ProviderFailed("the server does not answer")
        self.texts += texts
        self.batches.append(len(texts))
        return HashingEncoder(self.dim).encode([f"{self.version} {text}" for text in texts], progress=progress)

    def tokens(self, text: str) -> Spans:
        """The words and marks of the text."""
        return heuristic_tokens(text)


def git(root: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout


def commit_by_hand(root: Path, when: str) -> None:
    """Commit everything as a person did at that moment."""
    git(root, "add", "--all")
    person = ["-c", "user.name=A Person", "-c", "user.email=person@localhost"]
    dated = {**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(["git", *person, "commit", "--quiet", "--message", "by hand"], cwd=root, env=dated, check=True)


def traces(folder: Path, text: str) -> list[str]:
    """The names of the files below the folder that contain the text."""
    return [file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


def state(root: Path) -> tuple[dict[str, bytes], str, str]:
    """Everything that a refused change must leave alone: files, HEAD, and what git says of the tree."""
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return files, git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain=v1")
