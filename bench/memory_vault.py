"""Vaults for the benchmark of memory: what an agent saved for a person, among the person's notes or a garden.

The clock is the benchmark's own: what was replaced was said three months ago, its replacement a week ago.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.memory_sets import Person

from commonplace.app import open_with, put_under_git
from commonplace.app.encoders import make_encoders
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import CommonplaceError
from commonplace.flows.stores import Encoders
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.request import NewEntry
from commonplace.settings.load import load_settings

AGENT: Final = Actor("agent", "bench")
FIRST_SAID: Final = timedelta(days=90)
LAST_SAID: Final = timedelta(days=7)
_BETWEEN: Final = timedelta(minutes=20)  # two saves


@dataclass(slots=True)
class BenchClock:
    """A clock that stands where it was put, and otherwise shows the time."""

    set_to: datetime | None = None

    def __call__(self) -> datetime:
        return self.set_to or datetime.now(UTC)


@dataclass(slots=True)
class Opener:
    """Opens memories for an actor that share one encoder; vectors are kept in a file between runs, if there is one."""

    flags: Mapping[str, object]
    vectors: Path | None = None
    actor: Actor = AGENT
    _encoders: dict[str, Encoders] = field(default_factory=dict)

    @contextmanager
    def on_disk(self, folder: Path) -> Iterator[tuple[Memory, BenchClock]]:
        """The memory of the vault `vault` in this folder, with its data beside it."""
        flags = {**self.flags, "vault.root": str(folder / "vault"), "data": str(folder / "data")}
        if self.vectors:
            self.vectors.parent.mkdir(parents=True, exist_ok=True)
            flags["embedding.cache_file"] = str(self.vectors)
        with self._opened(flags) as opened:
            yield opened

    @contextmanager
    def in_memory(self) -> Iterator[tuple[Memory, BenchClock]]:
        """A memory that has no files."""
        with self._opened({**self.flags, "vault.backend": "in-memory"}) as opened:
            yield opened

    @contextmanager
    def _opened(self, flags: Mapping[str, object]) -> Iterator[tuple[Memory, BenchClock]]:
        clock, settings = BenchClock(), load_settings(flags=flags).settings
        with open_with(settings, actor=self.actor, clock=clock, encoders=self._shared) as memory:
            yield memory, clock

    def _shared(self, options: EmbeddingOptions) -> Encoders:
        if not self._encoders:
            self._encoders["one"] = make_encoders(options)
        return self._encoders["one"]


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a person's entries, by their labelled ids.

    `stored` are the texts as memory keeps them; `missing` those that are not current, or were taken for another one;
    `still_current` the replaced ones that are.
    """

    stored: Mapping[str, str]
    refused: Mapping[str, str]
    missing: tuple[str, ...]
    still_current: tuple[str, ...]


def new_vault(folder: Path, notes: Sequence[tuple[str, str]] = (), *, garden: Path | None = None) -> None:
    """A vault under git in that folder, with these notes, and those of the garden if there is one."""
    vault = folder / "vault"
    if garden:
        shutil.copytree(garden, vault)
    for path, text in notes:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    vault.mkdir(parents=True, exist_ok=True)
    put_under_git(vault)


def save_entries(memory: Memory, clock: BenchClock, person: Person) -> Saved:
    """Save what is known of the person, as an agent does: what was replaced first, each at a moment of its own.

    A replacement names what it replaces: nothing else ends an entry.
    """
    now = datetime.now(UTC)
    first = [
        (each.id + "old", each.kind, each.old, each.old_cues)
        if each.old
        else (each.id, each.kind, each.text, each.cues)
        for each in person.entries
    ]
    later = [(each.id, each.kind, each.text, each.cues) for each in person.entries if each.old]
    ids: dict[str, str] = {}
    refused: dict[str, str] = {}
    for begins, wave in ((now - FIRST_SAID, first), (now - LAST_SAID, later)):
        for number, (id, kind, text, cues) in enumerate(wave):
            clock.set_to = begins + number * _BETWEEN
            try:
                replaced = tuple(filter(None, (ids.get(f"{id}old"),)))
                ids[id] = memory.entries.add(NewEntry(text, kind=kind, replaces=replaced, **cues._asdict())).fact.id
            except CommonplaceError as error:
                refused[id] = str(error)
    clock.set_to = None
    return _checked(memory, person, ids, refused)


def _checked(memory: Memory, person: Person, ids: Mapping[str, str], refused: Mapping[str, str]) -> Saved:
    facts = {each.fact.id: each for each in memory.facts.about(every=True)}
    held = {id for id, each in facts.items() if each.state in ("current", "future")}
    times = Counter(ids.values())
    alone = {id: facts[key].fact.text for id, key in ids.items() if times[key] == 1 and key in facts}
    now, old = [each.id for each in person.entries], [f"{each.id}old" for each in person.entries if each.old]
    return Saved(
        stored=alone,
        refused=refused,
        missing=tuple(id for id in now if id not in alone or ids[id] not in held),
        still_current=tuple(id for id in old if ids.get(id) in held),
    )


def fold(text: str) -> str:
    """The letters and digits of a text alone, so that marks, line ends and case make no difference."""
    return "".join(filter(str.isalnum, text.casefold()))


class Needles:
    """Tells which of a person's texts stand in a context: all of a text, or a beginning that no other text has.

    A text that memory keeps in other words counts in these words too.
    """

    def __init__(self, texts: Mapping[str, str], stored: Mapping[str, str] | None = None) -> None:
        folded = {id: fold(text) for id, text in texts.items()}
        self._needles = {id: {_needle(id, folded)} for id in folded}
        for id, text in (stored or {}).items():
            self._needles[id].add(_needle(id, folded | {id: fold(text)}))

    def found(self, context: str) -> frozenset[str]:
        """The ids of the texts that stand there."""
        there = fold(context)
        return frozenset(id for id, needles in self._needles.items() if any(each in there for each in needles))


_LEAST: Final = 40
_PAST: Final = 12  # letters beyond what a text has in common with another, so that the difference is shown


def _needle(id: str, folded: Mapping[str, str]) -> str:
    own = folded[id]
    alike = max((_common(own, text) for other, text in folded.items() if other != id), default=0)
    return own[: max(_LEAST, alike + _PAST)]


def _common(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def settings_of(model: Mapping[str, object], chosen: Sequence[str]) -> dict[str, Any]:
    """The settings to open with: the model, and whatever was set by hand as KEY=VALUE."""
    return {**model, **dict(each.split("=", 1) for each in chosen)}
