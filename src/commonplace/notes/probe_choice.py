"""Which probes are asked: as many as are wanted, spread over kinds and notes, the same for the same vault and seed."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from commonplace.model import PROBE_KINDS, Note, ProbeKind
from commonplace.notes.held_out import Taking, held_out
from commonplace.notes.probes import Probe


@dataclass(slots=True)
class Choice:
    """The probes chosen so far, and the notes as they are without them, by path.

    `is_large` is whether so much of a note is left that it can be found at all.
    """

    notes: Mapping[str, Note]
    is_large: Callable[[Note], bool]
    probes: list[Probe] = field(default_factory=list)
    without: dict[str, Note] = field(default_factory=dict)
    _takings: dict[str, tuple[Taking, ...]] = field(default_factory=dict)
    _asked: set[tuple[ProbeKind, str]] = field(default_factory=set)

    def adds(self, probe: Probe) -> bool:
        """Add the probe if it goes with the others; whether it does."""
        if (probe.kind, probe.path) in self._asked or not self.is_large(self._as_it_is(probe.path)):
            return False
        takings = dict(self._takings)
        for taking in probe.takings:
            takings[taking.path] = (*takings.get(taking.path, ()), taking)
        without: dict[str, Note] = {}
        for path in {taking.path for taking in probe.takings}:
            note = held_out(self.notes[path], takings[path])
            if note is None or (self._is_asked_about(path, probe) and not self.is_large(note)):
                return False
            without[path] = note
        self.probes.append(probe)
        self._asked.add((probe.kind, probe.path))
        self._takings = takings
        self.without.update(without)
        return True

    def _as_it_is(self, path: str) -> Note:
        return self.without.get(path, self.notes[path])

    def _is_asked_about(self, path: str, probe: Probe) -> bool:
        return path == probe.path or any((kind, path) in self._asked for kind in PROBE_KINDS)


def choose_probes(
    probes: Iterable[Probe], notes: Mapping[str, Note], *, count: int, seed: int, is_large: Callable[[Note], bool]
) -> Choice:
    """Up to `count` of the probes, the kinds in turn, and one of a kind for each note."""
    choice = Choice(notes, is_large)
    ordered = sorted(probes, key=lambda probe: _lot(probe, seed))
    turns = [iter([probe for probe in ordered if probe.kind == kind]) for kind in PROBE_KINDS]
    while turns:
        for turn in tuple(turns):
            if len(choice.probes) >= count:
                return choice
            if not any(choice.adds(probe) for probe in turn):  # the next that goes with the others, if there is one
                turns.remove(turn)
    return choice


def _lot(probe: Probe, seed: int) -> str:
    """What orders the probes by chance, yet always alike."""
    drawn = json.dumps([seed, probe.kind, probe.path, probe.question])
    return hashlib.sha256(drawn.encode()).hexdigest()
