"""What is asked of which store, set by set: everything that a run needs, each store made once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from bench.datasets import Asked, LongMemEval, check_files, read_locomo, read_longmemeval, read_scifact
from bench.questions import UNANSWERABLE, Question, Store, cut_to
from bench.stores import Job, Way

SETS: Final = ("longmemeval", "4x", "locomo", "scifact", "rejection")
NEEDS: Final = {
    "longmemeval": ("longmemeval",),
    "4x": ("longmemeval",),
    "locomo": ("locomo",),
    "scifact": ("scifact",),
    "rejection": ("longmemeval", "locomo"),
}
ADVERSARIAL: Final = "5"  # LoCoMo's category of questions that ask about the wrong person
OTHERS: Final = (17, 34, 51)  # how many places further in the file the other three of a 4x store are
FOUR: Final = "4x/"
TURN_HITS: Final = 30  # chunks that are asked for; a long turn has several
_Asking = Iterator[tuple[str, Question, Way]]


@dataclass(frozen=True)
class Plan:
    """A run: its folder, sets, modes, how many questions of each set, and with how many each part is switched off.

    None means all questions. `parts` is empty where nothing is switched off.
    """

    data: Path
    sets: tuple[str, ...]
    modes: tuple[str, ...]
    count: int | None
    parts: tuple[str, ...] = ()
    ablated: int | None = None

    @cached_property
    def longmemeval(self) -> LongMemEval:
        """LongMemEval_S, read once."""
        return read_longmemeval(self.data)

    @cached_property
    def locomo(self) -> Asked:
        """LoCoMo, read once."""
        return read_locomo(self.data)

    @cached_property
    def scifact(self) -> Asked:
        """SciFact, read once."""
        return read_scifact(self.data)

    def questions(self, name: str) -> tuple[Question, ...]:
        """The questions of a set by which recall is measured; SciFact's two halves are cut each for itself."""
        if name == "locomo":
            return cut_to(self.locomo.questions, self.count)
        if name == "scifact":
            halves = ([each for each in self.scifact.questions if each.type == split] for split in ("test", "train"))
            return tuple(each for half in halves for each in cut_to(half, self.count))
        return tuple(each for each in self.with_unanswerable() if each.type != UNANSWERABLE)

    def with_unanswerable(self) -> tuple[Question, ...]:
        """The questions of LongMemEval, those without an answer too."""
        return cut_to(self.longmemeval.questions, self.count)

    def ablated_questions(self, name: str) -> tuple[Question, ...]:
        """Those on which parts are switched off; of SciFact the test half alone."""
        return cut_to([each for each in self.questions(name) if each.type != "train"], self.ablated)

    def elsewhere(self, question: Question) -> str:
        """A store of the same set in which none of the question's gold is."""
        if question.store in self.longmemeval.haystacks:
            places = range(OTHERS[0], OTHERS[0] + len(self.longmemeval.questions))
            others = (self.longmemeval.after(question, steps).id for steps in places)
            return next(other for other in others if not question.gold & self.longmemeval.haystacks[other].keys())
        names = list(self.locomo.stores)
        return names[(names.index(question.store) + 1) % len(names)]


def ways(mode: str, *without: str) -> tuple[Way, Way]:
    """How documents are asked for, and how turns are."""
    return Way(mode, without=without), Way(mode, "chunk", TURN_HITS, without)


def jobs(plan: Plan) -> list[Job]:
    """Every store with everything that it is asked, each thing once. Ends the program when files are missing."""
    check_files(plan.data, dict.fromkeys(need for name in plan.sets for need in NEEDS[name]))
    asked: dict[str, dict[tuple[Question, Way], None]] = {}
    for store, question, way in _everything(plan):
        asked.setdefault(store, {})[question, way] = None
    return [Job(name, _store(name, plan), tuple(asks)) for name, asks in asked.items()]


def _everything(plan: Plan) -> _Asking:
    for name in plan.sets:
        if name == "rejection":
            yield from _rejection(plan)
        else:
            yield from _by_mode(name, plan)
            yield from _ablation(name, plan)


def _by_mode(name: str, plan: Plan) -> _Asking:
    for question in plan.questions(name):
        for mode in plan.modes:
            for way in _levels(name, ways(mode)):
                yield store_of(name, question), question, way


def _ablation(name: str, plan: Plan) -> _Asking:
    if name == "4x":
        return
    for question in plan.ablated_questions(name) if plan.parts else ():
        for switched in ((), *((part,) for part in plan.parts)):
            for way in _levels(name, ways("hybrid", *switched)):
                yield question.store, question, way


def _rejection(plan: Plan) -> _Asking:
    for question in plan.with_unanswerable():
        yield question.store, question, Way()
        if question.type != UNANSWERABLE:
            yield plan.elsewhere(question), question, Way()
    for question in plan.questions("locomo"):
        if question.type != ADVERSARIAL:
            yield question.store, question, Way()
            yield plan.elsewhere(question), question, Way()


def _levels(name: str, both: tuple[Way, Way]) -> Iterable[Way]:
    """Turns are asked for only where a set has them as gold, and not in the large store."""
    return both if name in ("longmemeval", "locomo") else both[:1]


def store_of(name: str, question: Question) -> str:
    """The store in which a set's question is asked."""
    return f"{FOUR}{question.id}" if name == "4x" else question.store


def _store(name: str, plan: Plan) -> Store:
    if name.startswith(FOUR):
        own = next(each for each in plan.longmemeval.questions if f"{FOUR}{each.id}" == name)
        return plan.longmemeval.store(own.id, *(plan.longmemeval.after(own, steps).id for steps in OTHERS))
    if name == "scifact":
        return plan.scifact.stores[name]
    if name.startswith("conversation_"):
        return plan.locomo.stores[name]
    return plan.longmemeval.store(name)
