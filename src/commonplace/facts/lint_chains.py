"""What is wrong between facts: versions that do not hang together, and facts that claim the same at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final, Protocol

from commonplace.model import Fact, Known, Problem

_Links = Mapping[str, frozenset[str]]
_NONE: Final[frozenset[str]] = frozenset()


class Contest(Protocol):
    """Two facts that claim the same thing at once: the one that holds no longer, the one that does, and since when."""

    @property
    def loser(self) -> Fact: ...
    @property
    def winner(self) -> Fact: ...
    @property
    def at(self) -> str: ...


def lint_facts(
    known: Iterable[Known],
    *,
    twins: Iterable[tuple[str, Sequence[str]]],
    contests: Iterable[Contest],
) -> tuple[Problem, ...]:
    """What is wrong between all facts, in order. `known` are all of them, whatever their status and place.

    `twins` are the ids that stand at several paths, the path that keeps it first.
    """
    facts = {each.fact.id: each.fact for each in known}
    chains = _Chains(facts.values())
    one_sided = (problem for problem, _ in chains.one_sided())
    problems = (*chains.cycles(), *chains.forks(), *one_sided, *_dangling(facts), *_competing(contests), *_twins(twins))
    return tuple(sorted(problems))


def links_to_mend(facts: Iterable[Fact]) -> Iterator[tuple[Problem, Mapping[str, object]]]:
    """Links between two versions that only one of them has: the Problem of the other, and the keys that it lacks.

    None where a chain forks or runs in a circle, or where an id stands twice: there a person must choose.
    """
    given = list(facts)
    times = Counter(each.id for each in given)
    for problem, keys in _Chains(each for each in given if times[each.id] == 1).one_sided():
        if keys:
            yield problem, keys


class _Chains:
    """Which facts replace which, by the word of either. What waits for a person replaces nothing yet."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = {each.id: each for each in facts if each.place != "staging"}
        known = self._facts
        said = {(each.id, each.supersedes) for each in known.values() if each.supersedes in known}
        said |= {(each.superseded_by, each.id) for each in known.values() if each.superseded_by in known}
        self._pairs = sorted(said)
        self._olds = _gathered(self._pairs)
        self._heirs = _gathered((old, new) for new, old in self._pairs)
        self._circles = tuple(_circles(self._olds))
        self._circular = frozenset(id for circle in self._circles for id in circle)

    def cycles(self) -> Iterator[Problem]:
        """Facts that replace each other in a circle."""
        for circle in self._circles:
            fact, *others = sorted((self._facts[id] for id in circle), key=lambda each: each.path)
            what = f"{_paths(others)} in a circle" if others else "itself"
            message = f"it replaces {what}: remove `supersedes` and `superseded_by` where they are wrong"
            yield _problem(fact, message, "chain-cycle")

    def forks(self) -> Iterator[Problem]:
        """Facts that several others replace."""
        for old, heirs in sorted(self._heirs.items()):
            if len(heirs) > 1:
                those = _paths(self._facts[id] for id in heirs)
                message = f"several facts replace it, {those}: keep one of them, and forget or correct the others"
                yield _problem(self._facts[old], message, "chain-fork")

    def one_sided(self) -> Iterator[tuple[Problem, Mapping[str, object]]]:
        """Links that only one of two versions has, and the keys that the other lacks.

        There are no keys where a person must choose.
        """
        for heir, replaced in self._pairs:
            new, old = self._facts[heir], self._facts[replaced]
            is_plain = len(self._heirs[old.id]) == len(self._olds[new.id]) == 1 and new.id not in self._circular
            if old.superseded_by != new.id:
                keys = {"superseded_by": new.id, "superseded_at": old.superseded_at or new.recorded}
                message = f"`superseded_by` does not name {new.path}, which replaces it: add {new.id}"
                yield _problem(old, message, "chain-one-sided"), _given(keys, when=is_plain)
            if new.supersedes != old.id:
                message = f"`supersedes` does not name {old.path}, which it replaces: add {old.id}"
                yield _problem(new, message, "chain-one-sided"), _given({"supersedes": old.id}, when=is_plain)


def _dangling(facts: Mapping[str, Fact]) -> Iterator[Problem]:
    for fact in facts.values():
        named = {"supersedes": fact.supersedes, "superseded_by": fact.superseded_by}
        links = [*named.items(), *(("relations", id) for _, id in fact.bonds)]
        for key, id in links:
            if id and id not in facts:
                message = f"`{key}` names {id}, and there is no such fact: remove it, or bring that entry back"
                yield _problem(fact, message, "chain-dangling")


def _competing(contests: Iterable[Contest]) -> Iterator[Problem]:
    for loser, winner, at in ((each.loser, each.winner, each.at) for each in contests):
        since = f" since {at}" if at else ""
        message = f"{winner.path} claims the same{since}, and counts instead: forget one of the two, or end this one"
        yield _problem(loser, message, "competing-claims")


def _twins(twins: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Problem]:
    for id, (keeper, *others) in twins:
        for path in others:
            message = f"its id {id} is that of {keeper}, which keeps it: remove this copy, or save its text anew"
            yield Problem(path, 1, message, "same-id")


def _gathered(pairs: Iterable[tuple[str, str]]) -> _Links:
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for one, other in pairs:
        found[one] |= {other}
    return found


def _circles(links: _Links) -> Iterator[tuple[str, ...]]:
    """The circles in which the links run, each once."""
    left = dict(links)
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = tuple(dict.fromkeys(error.args[1]))
            left = {id: _NONE if id in circle else others for id, others in left.items()}
            yield circle
        else:
            return


def _given(keys: Mapping[str, object], *, when: bool) -> Mapping[str, object]:
    return {key: value for key, value in keys.items() if value} if when else {}


def _paths(facts: Iterable[Fact]) -> str:
    return " and ".join(sorted(each.path for each in facts))


def _problem(fact: Fact, message: str, code: str) -> Problem:
    return Problem(fact.path, fact.line, message, code)
