"""What a process keeps in memory of an index: its segments, mapped, and the chunks that are newer than those.

A view belongs to one state of the index. A chunk never changes under its number, so the next state's view takes over
whatever the last one had read already.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw

from commonplace.index.base import Standing
from commonplace.index.sqlite.filters import Live
from commonplace.index.sqlite.segment import Segment
from commonplace.index.sqlite.segment_file import BadSegment, Named, open_segment
from commonplace.index.sqlite.segment_rows import read_segment
from commonplace.index.sqlite.swap import segment_folder
from commonplace.model import Filters

_STATE: Final = (
    "SELECT identity, generation, (SELECT coalesce(max(last), 0) FROM memory_segments),"
    " (SELECT coalesce(max(number), 0) FROM memory_chunks) FROM memory_state"
)
_NAMED: Final = "SELECT first, last, chunks, name, size, mtime FROM memory_segments ORDER BY first"
_PIECES: Final = 8  # of what is newer than the segments; more are read anew as one
_MASKS: Final = 32  # filters whose masks are kept
_STANDINGS: Final = 65_536  # chunks of which it is kept how they stand: some 25 MB


@dataclass(frozen=True, slots=True)
class State:
    """Which index this is, how many changes it has seen, up to which number segments reach, and the last number."""

    identity: str
    generation: int
    covered: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One state of the index in memory, and what was asked of it before.

    That is the masks of filters, how many chunks each version has and how long its vectors are, who speaks, and how
    chunks stand.
    """

    state: State
    named: tuple[Named, ...]
    settled: tuple[Segment, ...]
    recent: tuple[Segment, ...]
    live: dict[Filters | None, Live] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    speakers: dict[bool, frozenset[str]] = field(default_factory=dict)
    standings: dict[int, Standing] = field(default_factory=dict)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All of it, in the order of the chunks' numbers."""
        return self.settled + self.recent

    def keep_standings(self, standings: Mapping[int, Standing]) -> None:
        """Remember how these chunks stand, and forget all others when there are many."""
        if len(self.standings) > _STANDINGS:
            self.standings.clear()
        self.standings.update(standings)

    def keep_live(self, filters: Filters | None, live: Live) -> Live:
        """Remember what passes the filters, and forget the oldest when there are many."""
        for oldest in [*self.live][: max(0, len(self.live) - _MASKS + 1)]:
            self.live.pop(oldest, None)
        self.live[filters] = live
        return live


class Views:
    """The newest view of one index file, shared by the threads of this process."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._newest: View | None = None

    def at(self, connection: apsw.Connection) -> View | None:
        """The index as this connection sees it; None when a segment was put elsewhere since: look again."""
        state = _state(connection)
        newest = self._newest
        if newest and newest.state == state:
            return newest
        with self._turn:
            view = self._made(connection, state, after=self._newest)
            if view and not (self._newest and _is_older(state, self._newest.state)):
                self._newest = view
            return view

    def forget(self) -> None:
        """Let go of what is mapped."""
        self._newest = None

    def _made(self, connection: apsw.Connection, state: State, *, after: View | None) -> View | None:
        known = after if after and after.state.identity == state.identity else None
        named = named_segments(connection)
        opened = {each.name: segment for each, segment in zip(known.named, known.settled, strict=True)} if known else {}
        try:
            settled = tuple(opened.get(each.name) or self._open(connection, each) for each in named)
        except FileNotFoundError:
            return None
        recent = known.recent if known and known.state.covered == state.covered else ()
        return View(state, named, settled, _extended(connection, recent, state))

    def _open(self, connection: apsw.Connection, named: Named) -> Segment:
        try:
            return open_segment(folder_of(connection), named)
        except BadSegment:  # the rows are the record: slower, and never wrong; `settle` writes the file anew
            return read_segment(connection, named.first, named.last)

    def from_rows(self, connection: apsw.Connection) -> View:
        """The index as this connection sees it, though files are missing: what they held is read from the rows."""
        state, named = _state(connection), named_segments(connection)
        settled = []
        for each in named:
            try:
                settled.append(self._open(connection, each))
            except FileNotFoundError:
                settled.append(read_segment(connection, each.first, each.last))
        self._newest = View(state, named, tuple(settled), _extended(connection, (), state))
        return self._newest


def folder_of(connection: apsw.Connection) -> Path:
    """The folder of the segments of the file that is open, which is not where its name points after a rebuild."""
    return segment_folder(Path(connection.filename))


def named_segments(connection: apsw.Connection) -> tuple[Named, ...]:
    """The segment files that count."""
    return tuple(Named(*row) for row in connection.execute(_NAMED))


def _extended(connection: apsw.Connection, recent: tuple[Segment, ...], state: State) -> tuple[Segment, ...]:
    """The recent chunks up to the last one."""
    upto = recent[-1].last if recent else state.covered
    if upto >= state.last:
        return recent
    if len(recent) < _PIECES:
        return (*recent, read_segment(connection, upto + 1, state.last))
    return (read_segment(connection, state.covered + 1, state.last),)


def _state(connection: apsw.Connection) -> State:
    ((identity, generation, covered, last),) = connection.execute(_STATE)
    return State(identity, generation, covered, last)


def _is_older(one: State, other: State) -> bool:
    return one.identity == other.identity and one.generation < other.generation
