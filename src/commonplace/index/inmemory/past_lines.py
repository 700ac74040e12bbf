"""The vault's history in memory: which lines its notes had when, and which notes were sensitive or erased later."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonplace.errors import Conflict
from commonplace.index.base import (
    MOST_RELATIVES,
    FactQuery,
    PastCommit,
    PastCover,
    PastLine,
    PastMove,
    PastStep,
    Rules,
)
from commonplace.index.document_values import fold_label, line_identity, note_name
from commonplace.model import Fact


@dataclass(slots=True)
class _Version:
    """A note with one text, from the commit `first` until `last`, 0 while it is there."""

    path: str
    body: str
    marked: bool
    first: int
    last: int = 0


@dataclass(slots=True)
class _Line:
    line: PastLine
    last: int = 0


@dataclass(slots=True)
class PastNotes:
    """The history of one vault."""

    rules: Rules
    form: str = ""
    commits: list[PastCommit] = field(default_factory=list)
    versions: list[_Version] = field(default_factory=list)
    moves: list[tuple[int, PastMove]] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)
    erasures: dict[str, int] = field(default_factory=dict)
    unfinished: str = ""

    def add(self, steps: Iterable[PastStep], *, form: str, after: str) -> None:
        """Add commits, oldest first. Raises Conflict unless `after` is the newest, with the same form."""
        if (self.commits[-1].id if self.commits else "") != after or (self.commits and form != self.form):
            raise Conflict("the vault's history was read meanwhile", hint="Try again.")
        self.form = form
        for step in steps:
            if self.unfinished not in ("", step.id):
                self.cut(len(self.commits))
            self._add_step(step, len(self.commits) + 1)

    def cut(self, number: int) -> None:
        """Forget the commits after that one; everything if one of them erased a note."""
        number = 0 if any(each > number for each in self.erasures.values()) else number
        del self.commits[number:]
        self.versions = [
            replace(each, last=_within(each.last, number)) for each in self.versions if each.first <= number
        ]
        self.moves = [each for each in self.moves if each[0] <= number]
        self.erasures = {path: each for path, each in self.erasures.items() if each <= number}
        self.lines = [_reopened(each, number) for each in self.lines if each.line.first <= number]

    def matching(self, query: FactQuery) -> Iterator[PastLine]:
        """The lines that match, by path, first commit and id."""
        found = [each.line for each in self.lines if self._matches(each.line.fact, query)]
        return iter(sorted(found, key=lambda each: (each.fact.path, each.first, each.fact.id)))

    def cover(self, path: str) -> PastCover:
        """When the note, or one that it became, was sensitive last, and when it was erased."""
        marked = max(self._marks(path, since=0, seen=frozenset()), default=0)
        return PastCover(marked, self.erasures.get(path, 0), bool(self._standing(path)))

    def successors(self, path: str) -> frozenset[str]:
        """The paths of all notes that the note at this path became."""
        found = {path}
        while more := {move.target for _, move in self.moves if move.source in found} - found:
            found |= more
        return frozenset(found - {path})

    def _marks(self, path: str, *, since: int, seen: frozenset[str]) -> Iterator[int]:
        """The commits from `since` on in which the note, or one that it became by then, was newly marked."""
        yield from (each.first for each in self.versions if each.path == path and each.marked and each.first >= since)
        for number, move in self.moves:
            if move.source == path and move.target not in seen:
                yield from self._marks(move.target, since=max(since, number), seen=seen | {path})

    def _add_step(self, step: PastStep, number: int) -> None:
        self.commits += [PastCommit(number, step.id, step.at)] if step.is_complete else []
        self.unfinished = "" if step.is_complete else step.id
        for path in step.removed:
            self._end(path, number)
            self._update_lines(path, (), step, number)
        self.moves += [(number, each) for each in step.moves]
        for path, body in step.notes.items():
            self._update_note(path, body, step, number)
        for path, facts in step.facts.items():
            self._update_lines(path, facts, step, number)
        self._erase(step.erased, number)

    def _update_note(self, path: str, body: str, step: PastStep, number: int) -> None:
        there, marked = self._standing(path), path in step.marked
        if there and (there.body, there.marked) == (body, marked):
            return
        if there is None:
            relatives = dict.fromkeys((*self._of_body(body, path), *self._of_name(path)))
            self.moves += [(number, PastMove(source, path, is_sure=False)) for source in relatives]
        self._end(path, number)
        self.versions.append(_Version(path, body, marked, number))

    def _of_body(self, body: str, path: str) -> list[str]:
        same = [each for each in self.versions if body and each.body == body and each.path != path]
        return _newest({each.path: each.first for each in same})

    def _of_name(self, path: str) -> list[str]:
        gone = [each for each in self.versions if each.last and note_name(each.path) == note_name(path)]
        return _newest({each.path: each.last for each in gone if each.path != path and not self._standing(each.path)})

    def _update_lines(self, path: str, facts: Sequence[Fact], step: PastStep, number: int) -> None:
        there = {
            line_identity(each.line.fact): each for each in self.lines if each.line.fact.path == path and not each.last
        }
        new = {line_identity(fact): fact for fact in facts}
        for same, each in there.items():
            if same not in new:
                each.line, each.last = each.line._replace(last_at=step.at), number
        lines = (PastLine(fact, number, step.at, "") for same, fact in new.items() if same not in there)
        self.lines += map(_Line, lines)

    def _erase(self, paths: Iterable[str], number: int) -> None:
        erased = {*paths}
        while more := {each.source for _, each in self.moves if each.is_sure and each.target in erased} - erased:
            more = {path for path in more if not self._standing(path)}
            if not more:
                break
            erased |= more
        self.erasures |= dict.fromkeys(erased, number)
        self.lines = [each for each in self.lines if each.line.fact.path not in erased]
        self.versions = [each for each in self.versions if each.path not in erased]
        self.moves = [each for each in self.moves if not {each[1].source, each[1].target} & erased]

    def _standing(self, path: str) -> _Version | None:
        return next((each for each in self.versions if each.path == path and not each.last), None)

    def _end(self, path: str, number: int) -> None:
        if there := self._standing(path):
            there.last = number

    def _matches(self, fact: Fact, query: FactQuery) -> bool:
        ends = {self.rules.entity(fact.subject), self.rules.entity(fact.object)} - {""}
        return (
            (not query.names or bool(ends & {*query.names}))
            and (not query.claims or self.rules.claim(fact) in {*query.claims} - {""})
            and query.predicate in ("", fact.predicate)
            and (not query.topics or bool({*map(fold_label, fact.topics)} & {*map(fold_label, query.topics)}))
            and (query.staged or fact.place != "staging")
        )


class InMemoryPastReader:
    """The vault's history at this moment."""

    __slots__ = ()
    past: PastNotes

    def past_form(self) -> str:
        """The form under which the history was added; empty if there is none."""
        return self.past.form if self.past.commits else ""

    def past_commit(self, *, at: str = "", among: Sequence[str] = ()) -> PastCommit | None:
        """The newest commit that is not later than `at` and is one of `among`."""
        wanted = {*among}
        fits = (each for each in reversed(self.past.commits) if (not at or each.at <= at))
        return next((each for each in fits if not wanted or each.id in wanted), None)

    def past_lines(self, query: FactQuery) -> tuple[PastLine, ...]:
        """The lines that the notes have or had, by path, first commit and id."""
        return tuple(self.past.matching(query))

    def past_covers(self, paths: Iterable[str]) -> Mapping[str, PastCover]:
        """For each of these notes, in which commit it was sensitive or erased last."""
        return {path: self.past.cover(path) for path in paths}

    def past_erasures(self) -> int:
        """The newest commit that erased a note, or 0."""
        return max(self.past.erasures.values(), default=0)

    def past_successors(self, path: str) -> frozenset[str]:
        """The paths of all notes that the note at this path became, without the path itself."""
        return self.past.successors(path)


def _newest(numbers: Mapping[str, int]) -> list[str]:
    return sorted(sorted(numbers), key=lambda path: -numbers[path])[:MOST_RELATIVES]


def _within(last: int, number: int) -> int:
    return last if last <= number else 0


def _reopened(line: _Line, number: int) -> _Line:
    return line if line.last <= number else _Line(line.line._replace(last_at=""))
