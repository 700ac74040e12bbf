"""A session of an agent program: one question, which the model answers after it saved what it learned."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pytest

from tests.hosts.endpoint import Call, Request, Say, ScriptedModel, Turn
from tests.hosts.person import Person, robin
from tests.hosts.programs import Ran

PROMPT: Final = "Which board do the sensors use?"
ANSWER: Final = "An ESP32 with a solar cell."
LEARNED: Final = "Robin wants the sensors to run for forty days."
_SCRIPT: Final[list[Turn]] = [Call("memory_save", {"text": LEARNED, "kind": "preference"}), Say(ANSWER)]
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Session:
    """Whose session it was, how the program ended, and the model that it used."""

    person: Person
    ran: Ran
    model: ScriptedModel

    @property
    def turns(self) -> list[Request]:
        """What it sent, in order."""
        return self.model.turns


@contextmanager
def recorded(
    folders: pytest.TempPathFactory,
    model_of: Callable[[list[Turn]], ScriptedModel],
    run: Callable[[Person, ScriptedModel], Ran],
) -> Iterator[Session]:
    """Robin asks; `run` is the program. Begun anew where a hook had no time: other tests may keep the machine busy."""
    for tries_left in reversed(range(_TRIES)):
        with robin(folders.mktemp("robin")) as person, model_of(_SCRIPT) as model:
            ran = run(person, model)
            assert ran.code == 0, ran.said + ran.errors
            if person.skips and tries_left:
                continue
            yield Session(person, ran, model)
            return
