"""Stores that are made, asked through the library as a program would, and removed; several at once."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC
from itertools import groupby
from pathlib import Path

from bench.figures import say
from bench.questions import Place, Question, Store

from commonplace.app import open_memory
from commonplace.memory import Memory
from commonplace.ranking.options import RetrievalOptions

Settings = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Way:
    """How a question is asked: the mode, by documents or chunks, how many hits, and without which parts.

    `half_life` is that by which age is weighed, in days, by default as in the settings; 0 does not weigh it.
    """

    mode: str = "hybrid"
    by: str = "document"
    k: int = 10
    without: tuple[str, ...] = ()
    half_life: int = RetrievalOptions().recency_half_life_days

    @property
    def settings(self) -> Settings:
        """What it takes beside the settings of the run."""
        return {"retrieval.without": list(self.without), "retrieval.recency_half_life_days": self.half_life}


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a store, and the way."""

    store: str
    question: str
    way: Way


@dataclass(frozen=True, slots=True)
class Found:
    """Where the hits stand, best first, and how sure the answer is of itself."""

    places: tuple[Place, ...]
    confidence: float | None

    @property
    def documents(self) -> tuple[str, ...]:
        """The conversations or notes alone."""
        return tuple(document for document, _ in self.places)


@dataclass(frozen=True, slots=True)
class Job:
    """One store and everything that it is asked."""

    name: str
    store: Store
    asks: tuple[tuple[Question, Way], ...]


def answer_all(jobs: Sequence[Job], settings: Settings, *, processes: int) -> dict[Ask, Found]:
    """What every store answers. The first failure is raised, and says which store it was."""
    begun, answers = time.perf_counter(), dict[Ask, Found]()
    for done, found in enumerate(_in_turn(jobs, settings, processes), start=1):
        answers.update(found)
        if done % max(1, len(jobs) // 40) == 0 or done == len(jobs):
            say(f"{done} of {len(jobs)} stores, {len(answers)} answers, {time.perf_counter() - begun:.0f} s")
    return answers


def _in_turn(jobs: Sequence[Job], settings: Settings, processes: int) -> Iterator[dict[Ask, Found]]:
    """The answers of one store after the other, as they are done; the largest stores come first."""
    ordered = sorted(jobs, key=lambda job: -len(job.store.sessions) - len(job.store.notes))
    if processes == 1:
        yield from (answer_one(job, settings) for job in ordered)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(answer_one, job, settings): job.name for job in ordered}
        try:
            for each in as_completed(waiting):
                if error := each.exception():
                    error.add_note(f"in the store {waiting[each]}")
                yield each.result()
        finally:
            pool.shutdown(cancel_futures=True)  # after a failure the rest is not waited for


def answer_one(job: Job, settings: Settings) -> dict[Ask, Found]:
    """Make the store in a folder that goes away, and ask it everything."""
    with tempfile.TemporaryDirectory(prefix="commonplace-store-") as folder:
        vault = Path(folder) / "vault"
        vault.mkdir()
        kept = {"data": f"{folder}/data", "vault.backend": "device-local", **settings}
        names = _fill(vault, job.store, kept)
        return dict(_ask(vault, job, names=names, settings=kept))


def _fill(vault: Path, store: Store, settings: Settings) -> dict[str, str]:
    """Take everything in; gives the id in the set by the path of a hit."""
    for id_, text in store.notes.items():
        (vault / f"{id_}.md").write_text(text, encoding="utf-8")
    names = {f"{id_}.md": id_ for id_ in store.notes}
    with open_memory(vault, settings=settings) as memory:
        for session in store.sessions:
            said = [
                {"role": turn.role, "content": turn.text, "author": turn.author, "at": session.at}
                for turn in session.turns
            ]
            names[memory.conversations.record(said, interface="bench", source_id=session.id).id] = session.id
        memory.index.sync()
    return names


def _ask(vault: Path, job: Job, *, names: Mapping[str, str], settings: Settings) -> Iterator[tuple[Ask, Found]]:
    """Ask everything; what is asked with the same settings is asked of one memory."""
    ordered = sorted(job.asks, key=lambda each: (each[1].without, each[1].half_life))
    for own, asks in groupby(ordered, key=lambda each: each[1].settings):
        with open_memory(vault, settings={**settings, **own}) as memory:
            yield from (
                (Ask(job.name, question.id, way), _find(memory, question, way, names)) for question, way in asks
            )


def _find(memory: Memory, question: Question, way: Way, names: Mapping[str, str]) -> Found:
    answer = memory.search(question.text, k=way.k, mode=way.mode, by=way.by, now=question.now, zone=UTC)
    if answer.degraded:
        raise RuntimeError(f"the answer to {question.id} did without: {', '.join(answer.degraded)}")
    places = tuple((names[hit.path], int(hit.metadata.get("turn", 0))) for hit in answer.hits)
    return Found(places, answer.confidence)
