"""Notes come, change, move and go, so do conversations, encoders are switched, processes die: a sync ends where a
rebuild would.

The index that was kept all along and one that is made from nothing give the same ids, order, scores and reasons.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from commonplace.flows.ingest import sync as sync_module
from commonplace.flows.ingest.index_notes import index_notes
from commonplace.flows.ingest.sync import count_stale, index_source_items, rebuild, sync
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Stores
from commonplace.history.base import NewThread
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.index.base import Index
from commonplace.model import MODES, Filters, Message
from commonplace.notes.chunks import last_sentences
from commonplace.sources.conversations import CHAT, ConversationSource
from tests.faults.figures import Figures
from tests.run_length import LONG, rounds
from tests.stores import NOW, CountingEncoder, close, index_contents, make_stores

PATHS = ("a.md", "B/a.md", "B/c.md", "B/deep/e.md", "Inbox/d.md", "C/c.md", "a.sync-conflict-20260101-120000.md")
FOLDERS = ("B", "B/deep", "C", "D")
BODIES = (
    "",
    "The apple tree stands by the wall.\n",
    "Pears are picked in autumn. See [[a]] and [[B/c|the other]].\n",
    "# Plan\n\nWater the beds, then [[c]] and [[Nowhere]].\n\n## Apples\n\nPrune them, as [[Pomona]] says. #orchard\n",
    "\n\n".join(f"# Part {part}\n\n" + "apple pear plum bed wall water " * 20 for part in range(4)),
    "Bytes that are no text: \udcff apple\n",
)
MARKS = (
    "",
    "title: Pomona",
    "aliases: [Pomona, c]\ntags: [orchard/old]",
    "tags: [orchard]\nkind: plan\ntopics: [trees]",
    "sensitive: true",
    "status: archived",
    "updated: 2026-03-01\nlinks: '[[a]]'",
    "tags: [apple\nbroken",
)
FIGURES = Figures("state machine of ingest")
TALKS = ("one", "other")
SAID = (
    Message("user", "Who waters the beds by the wall? I planted an apple there. It is small yet."),
    Message("assistant", "Pomona does, every evening. " + "She waters apple, pear and plum. " * 30),
    Message("user", "ok", author="Ada"),
    Message("user", "---\ntitle: apple\n---\n# Pear\nplum " * 40),
    Message("tool", "apple"),
)
ASKED = ("apple", "who waters the beds by the wall?", "Pomona orchard", "e pear plum")
NARROWED = (
    Filters(),
    Filters(path="B"),
    Filters(tags=("orchard",), archived=True),
    Filters(entities=("Pomona",)),
    Filters(since="2026-03-01T00:00:00Z", until="2026-03-02T00:00:00Z"),
)
CHANGES = ("upsert", "touch", "rename", "remove", "optimize", "record_sync")

paths = st.sampled_from(PATHS)
folders = st.sampled_from(FOLDERS)
bodies = st.sampled_from(BODIES)
marks = st.sampled_from(MARKS)


class Killed(BaseException):
    """The process ends here."""


class Mortal:
    """An index whose process dies right before or right after its nth change."""

    def __init__(self, index: Index, *, at: int, after: bool) -> None:
        self._index, self._left, self._after = index, at, after

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._index, name)
        return self._deadly(real) if name in CHANGES else real

    def _deadly(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*given: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                raise Killed
            done = real(*given, **named)
            if self._left == 0:
                raise Killed
            return done

        return change


class Vault(RuleBasedStateMachine):
    """A vault and its index; what a person does with files, and what programs do with the index."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="commonplace-ingest-"))
        self.root = self.home / "vault"
        self.root.mkdir()
        self.tick = self.steps = 0
        self.was: dict[str, bytes] = {}
        self.encoders = [CountingEncoder("model-1", dim=32), CountingEncoder("model-2", dim=48)]
        self.current: CountingEncoder | None = self.encoders[0]
        self.rebuilt = 0
        self.talks = InMemoryHistory()
        self.stores = self.opened()

    @initialize(count=st.integers(0, 5), body=bodies, mark=marks)
    def begin(self, count: int, body: str, mark: str) -> None:
        """Some notes that were there before."""
        for path in PATHS[:count]:
            self.save(path, mark, body)
        sync(self.stores)

    # What a person does

    @rule(path=paths, body=bodies, mark=marks)
    def writes(self, path: str, body: str, mark: str) -> None:
        """A note is made, or written anew."""
        self.save(path, mark, body)

    @rule(path=paths, mark=marks)
    def changes_the_frontmatter_alone(self, path: str, mark: str) -> None:
        """Title, tags, aliases or the mark `sensitive`; the body stays."""
        there = self.text(path)
        if there is not None:
            self.save(path, mark, there.decode(errors="surrogateescape").rpartition("---\n")[2])

    @rule(path=paths)
    def deletes(self, path: str) -> None:
        """A note is removed."""
        there = self.text(path)
        if there is not None:
            self.was[path] = there
            (self.root / path).unlink()

    @rule(path=paths)
    def restores(self, path: str) -> None:
        """A note that was deleted is there again, as it was."""
        if path in self.was:
            self.put(path, self.was.pop(path))

    @rule(path=paths, to=paths)
    def renames(self, path: str, to: str) -> None:
        """A note is renamed, over another if there is one."""
        if self.text(path) is not None and path != to:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).rename(self.root / to)

    @rule(folder=folders, to=folders)
    def renames_a_folder(self, folder: str, to: str) -> None:
        """With all that is in it, where nothing is in the way."""
        if (self.root / folder).is_dir() and not (self.root / to).exists() and not f"{to}/".startswith(f"{folder}/"):
            (self.root / to).parent.mkdir(exist_ok=True)
            (self.root / folder).rename(self.root / to)

    @rule(one=paths, other=paths)
    def swaps(self, one: str, other: str) -> None:
        """Two notes change places."""
        if self.text(one) is not None and self.text(other) is not None and one != other:
            (self.root / one).rename(self.root / "tmp")
            (self.root / other).rename(self.root / one)
            (self.root / "tmp").rename(self.root / other)

    @rule(path=paths, is_old=st.booleans())
    def touches(self, path: str, is_old: bool) -> None:
        """A sync program gives a note another time."""
        if self.text(path) is not None:
            self.stamp(self.root / path, back=10_000_000 if is_old else 0)

    # What is said

    @rule(
        talk=st.sampled_from(TALKS),
        said=st.lists(st.sampled_from(SAID), min_size=1, max_size=4),
        at_once=st.booleans(),
    )
    def converses(self, talk: str, said: list[Message], at_once: bool) -> None:
        """A conversation begins or goes on; it is taken in at once, or waits for a sync."""
        id_ = self.talks.record_conversation(NewThread("test", talk), said, now=NOW).id
        if at_once:
            index_source_items(self.stores.sources[0], [id_], self.stores)

    @rule(talk=st.sampled_from(TALKS))
    def forgets(self, talk: str) -> None:
        """A conversation is gone from the history, and the index does not know it yet."""
        for each in self.talks.conversations():
            if each.source_id == talk:
                self.talks.forget_conversation(each.id)

    # What programs do

    @rule()
    def syncs(self) -> None:
        """After it nothing waits, and a second sync does nothing."""
        sync(self.stores)
        assert count_stale(self.stores) == 0
        before = self.answers(self.stores)
        again = sync(self.stores)
        assert (again.added, again.changed, again.renamed, again.removed, again.encoded) == (0, 0, 0, 0, 0)
        assert self.answers(self.stores) == before

    @rule(texts=st.sampled_from((0, 3)))
    def syncs_by_words_first(self, texts: int) -> None:
        """Nearly everything is indexed by words and then encoded, as in a large vault."""
        with patch.object(sync_module, "AT_ONCE", texts):
            sync(self.stores)
        assert count_stale(self.stores) == 0

    @rule(some=st.lists(st.sampled_from((*PATHS, "D/c.md", "C/deep/e.md")), max_size=4))
    def ingests(self, some: list[str]) -> None:
        """A writer or a watcher names some paths."""
        index_notes(some, self.stores)

    @rule(text=st.sampled_from(ASKED))
    def searches(self, text: str) -> None:
        """No hit is of a note that no longer says it; others may be missing yet."""
        for hit in search(SearchQuery(text, k=3), self.stores, audience="person"):
            if hit.source_type == CHAT:
                continue
            there = self.text(hit.path)
            assert there is not None
            assert hit.text.encode(errors="replace")[:20] in there.decode(errors="replace").encode(errors="replace")

    @rule()
    def settles(self) -> None:
        """Segments are made of what was written lately."""
        self.stores.index.optimize()

    @rule()
    def rebuilds(self) -> None:
        """The index is made anew."""
        rebuild(self.stores)

    @rule(which=st.sampled_from((0, 1, None)))
    def reopens(self, which: int | None) -> None:
        """The program ends and is started again, with the same encoder, another one, or none."""
        self.current = None if which is None else self.encoders[which]
        self.reopen()

    @rule(at=st.integers(1, 8), after=st.booleans(), rebuilds=st.booleans(), texts=st.sampled_from((0, 200)))
    def dies(self, at: int, after: bool, rebuilds: bool, texts: int) -> None:
        """A process is killed while it syncs or rebuilds; another one is started."""
        mortal = self.stores.using(index=Mortal(self.stores.index, at=at, after=after))
        with suppress(Killed), patch.object(sync_module, "AT_ONCE", texts):
            if rebuilds:
                with self.stores.index.replacement() as fresh:
                    sync(mortal.using(index=Mortal(fresh, at=at, after=after)))
            else:
                sync(mortal)
        self.reopen()

    # What must be true in the end

    @invariant()
    def is_counted(self) -> None:
        """For the figures."""
        self.steps += 1

    def teardown(self) -> None:
        """One more sync, with an encoder: all answers are those of an index that was made from nothing."""
        FIGURES.add(steps=self.steps)
        self.current = self.current or self.encoders[0]
        self.reopen()
        try:
            sync(self.stores)
            assert self.answers(self.stores) == self.answers_from_nothing()
        finally:
            close(self.stores)
            shutil.rmtree(self.home)

    def answers_from_nothing(self) -> dict[str, Any]:
        self.rebuilt += 1
        fresh = self.opened(f"fresh-{self.rebuilt}")
        try:
            sync(fresh)
            return self.answers(fresh)
        finally:
            close(fresh)

    def answers(self, stores: Stores) -> dict[str, Any]:
        return index_contents(stores, _asks())

    # How it is done

    def opened(self, folder: str = "data") -> Stores:
        others = tuple(self.encoders)
        made = make_stores(self.root, self.home / folder, encoder=self.current, others=others, least=6)
        return replace(made, sources=(ConversationSource(self.talks, closing=last_sentences),))

    def reopen(self) -> None:
        close(self.stores)
        self.stores = self.opened()

    def text(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def save(self, path: str, mark: str, body: str) -> None:
        text = f"---\n{mark}\n---\n{body}" if mark else body
        self.put(path, text.encode(errors="surrogateescape"))

    def put(self, path: str, content: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.stamp(file)

    def stamp(self, file: Path, *, back: int = 0) -> None:
        """A time that no other save has: two notes with one time and one size cannot be told apart by looking."""
        self.tick += 1
        at = time.time_ns() + self.tick * 1_000_000 - back * 1_000_000_000
        os.utime(file, ns=(at, at))


def _asks() -> Iterator[SearchQuery]:
    for text in ASKED:
        for mode in MODES:
            yield SearchQuery(text, mode, k=32, min_score=0.05)
    for filters in NARROWED:
        yield SearchQuery("apple wall", "hybrid", filters=filters)


Vault.TestCase.settings = settings(
    max_examples=rounds(12, long=200),
    stateful_step_count=rounds(15, long=40),
    deadline=None,
    derandomize=not LONG,  # the short run is the same every time, the long one looks further
    phases=[Phase.generate, Phase.shrink] if LONG else [Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class TestVault(Vault.TestCase):  # type: ignore[misc,valid-type]
    """The machine as a test, which tells its figures."""

    def runTest(self) -> None:  # noqa: N802 (the name that unittest calls)
        with FIGURES:
            super().runTest()
