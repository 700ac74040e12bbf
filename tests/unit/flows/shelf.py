"""A shelf to index and search: a real folder, a real SQLite index, the hashing encoder, an in-memory history."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.encoders.base import EncoderProvider, Spans
from commonplace.encoders.hashing import HashingEncoder
from commonplace.encoders.heuristic import heuristic_tokens
from commonplace.errors import ProviderFailed
from commonplace.facts.claims import FactRules
from commonplace.facts.options import FactsOptions
from commonplace.facts.predicates import predicates_of
from commonplace.flows.look_up import Ask
from commonplace.flows.recall import recall
from commonplace.flows.shelf import Encoders, Shelf
from commonplace.history.inmemory import InMemoryHistory
from commonplace.index.base import Index
from commonplace.index.sqlite import SqliteIndex, SqliteVectorCache
from commonplace.model import Answer, Filters, Mode
from commonplace.notes.linker import NoteLinker
from commonplace.policy.ignore import ignores
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sinks import Sink
from commonplace.recalling.options import RetrievalOptions
from commonplace.vault.base import StorageBackend
from commonplace.vault.local import DeviceLocal

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DEFAULT_ENCODER = HashingEncoder(384)


def make_shelf(
    root: Path,
    folder: Path,
    *,
    encoder: EncoderProvider | None = DEFAULT_ENCODER,
    vault: StorageBackend | None = None,
    index: Index | None = None,
    retrieval: RetrievalOptions | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    globs: tuple[str, ...] = ("Templates/**",),
    least: int | None = None,
    others: tuple[EncoderProvider, ...] = (),
) -> Shelf:
    """A shelf over the vault in `root`, with its data in `folder`.

    `least` is how many chunks make a segment; `others` are encoders whose vectors the index may still have.
    """
    linker, rules = NoteLinker(), FactRules(predicates_of(FactsOptions()))
    by_version = {each.version: each for each in (encoder, *others) if each}
    settling = {} if least is None else {"least": least}
    return Shelf(
        vault=vault or DeviceLocal(root),
        index=index or SqliteIndex(folder / "index" / "index.db", user="me", linker=linker, rules=rules, **settling),
        cache=SqliteVectorCache(folder / "vectors.db"),
        encoders=Encoders(
            encoder,
            "" if encoder else "no encoder is installed",
            by_version.get,
        ),
        history=InMemoryHistory(),
        user="me",
        rules=rules,
        safety=SafetyOptions(),
        retrieval=retrieval or RetrievalOptions(),
        max_tokens=64,
        overlap=8,
        rename_window=2.0,
        heuristic=heuristic_tokens,
        ignored=ignores(globs),
        clock=clock,
        past=lambda commit: SqliteIndex(folder / "past" / commit / "index.db", user="me", linker=linker, rules=rules),
        forget_past=lambda: shutil.rmtree(folder / "past", ignore_errors=True),
        scratch=lambda: _scratch(folder / "scratch", linker, rules),
    )


@contextmanager
def _scratch(folder: Path, linker: NoteLinker, rules: FactRules) -> Iterator[Index]:
    index = SqliteIndex(folder / "index.db", user="me", linker=linker, rules=rules)
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


def close(shelf: Shelf) -> None:
    """Let go of the shelf's files."""
    shelf.index.close()
    shelf.cache.close()


def ask(shelf: Shelf, text: str, *, sink: Sink = "person", mode: Mode = "hybrid", **filters: Any) -> Answer:
    """The answer to a question; `filters` are fields of Filters, and k and min_score."""
    k, min_score = filters.pop("k", None), filters.pop("min_score", None)
    return recall(Ask(text, mode, k=k, min_score=min_score, filters=Filters(**filters)), shelf, sink=sink)


def found(shelf: Shelf, text: str, *, mode: Mode = "words", **filters: Any) -> list[str]:
    """The paths of the notes that have these words, best first, each once."""
    return list(dict.fromkeys(hit.path for hit in ask(shelf, text, mode=mode, **filters)))


def told(shelf: Shelf, asks: Iterable[Ask]) -> dict[str, Any]:
    """All that the index says, to these questions too, but what depends on how it came to be."""
    with shelf.index.reading() as reading:
        counts = replace(reading.counts(), size=0, removed=0, synced=None)
        known = {"counts": counts, "edges": reading.edges(), "problems": reading.problems()}
    answers = {repr(ask): recall(ask, shelf, sink="person").hits for ask in asks}
    return {**known, **{ask: hits for ask, hits in answers.items() if hits}}


@dataclass
class CountingEncoder:
    """The hashing encoder under another name, which remembers what it encoded, and fails when it is told to."""

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
