"""The HTTP API under calls that nobody would make: every answer is one that OpenAPI describes."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.types import Receive, Scope, Send

from commonplace.app import open_memory, put_under_git
from commonplace.memory import Memory
from commonplace.model import Caller
from commonplace.web import make_api
from tests.daemons import running

LONG: Final = os.environ.get("FAULTS") == "long"
EXAMPLES: Final = 200 if LONG else 15
TAGS: Final = ("search", "context", "entries", "facts", "notes", "changes", "conversations", "index")
CONFORMING: Final = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
CHECKS: Final = (*CONFORMING, negative_data_rejection)
CALLER: Final = Caller("fuzzer", frozenset({"admin"}))
TOKEN: Final = {"Authorization": "Bearer cpl_fuzzer"}

Operation = Any
Cases = SearchStrategy[Any]


@pytest.fixture
def memory(sample: Path) -> Iterator[Memory]:
    """The sample vault, under git, for an agent."""
    put_under_git(sample)
    with open_memory(sample, actor="agent") as memory:
        memory.index.sync()
        yield memory


@pytest.fixture
def schema(memory: Memory) -> Any:
    """What the API says of itself, with the API behind it, behind a guard that knows whoever brings a token."""
    api = make_api(lambda caller: memory)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        token = dict(scope["headers"]).get(b"authorization", b"")
        known = {"commonplace.caller": CALLER} if token.startswith(b"Bearer ") else {}
        await api({**scope, **known}, receive, send)

    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", guarded, config=SchemathesisConfig())


@pytest.mark.parametrize("tag", TAGS)
def test_every_answer_is_one_that_is_described(tag: str, schema: Any, memory: Memory) -> None:
    """Whatever is sent, right or wrong, nothing fails and nothing undocumented comes back."""
    there = things_that_are_there(memory)
    for operation in operations_of(schema.include(tag=tag)):
        call_with(operation.as_strategy(GenerationMode.NEGATIVE, headers=TOKEN if takes_something(operation) else None))
        call_with(operation.as_strategy(GenerationMode.POSITIVE, headers=TOKEN))
        if found := there.get(operation.path.removeprefix("/api/v1/").partition("/")[0]):
            call_with(operation.as_strategy(GenerationMode.POSITIVE, headers=TOKEN, path_parameters=found))


def test_no_operation_is_left_out(schema: Any) -> None:
    """Every operation has one of the tags above."""
    assert {tag for each in operations_of(schema) for tag in each.definition.raw["tags"]} == set(TAGS)


def test_the_daemon_answers_nothing_else(tmp_path: Path) -> None:
    """With its guard in front and by a real socket, also where the call never reaches the API."""
    with running(tmp_path / "home") as daemon:
        token = {"Authorization": f"Bearer {daemon.token('fuzzer', scopes=('write',))}"}
        address = f"{daemon.url}/api/v1/openapi.json"
        described = schemathesis.openapi.from_url(address, headers=token, config=SchemathesisConfig())
        for operation in operations_of(described):
            for mode in GenerationMode:
                held = token if mode.is_positive or takes_something(operation) else None
                call_with(operation.as_strategy(mode, headers=held), examples=EXAMPLES // 3, checks=CONFORMING)


def call_with(cases: Cases, *, examples: int = EXAMPLES, checks: Sequence[CheckFunction] = CHECKS) -> None:
    """Send every case that is generated, and look at what comes back."""

    @given(case=cases)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=not LONG,  # the short run is the same every time, the long one looks further
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Any) -> None:
        case.call_and_validate(checks=list(checks))

    send()


def operations_of(schema: Any) -> list[Operation]:
    """Every operation of the description."""
    return [found.ok() for found in schema.get_all_operations()]


def takes_something(operation: Operation) -> bool:
    """Whether anything but the token can be wrong in a call."""
    return not {"parameters", "requestBody"}.isdisjoint(operation.definition.raw)


def things_that_are_there(memory: Memory) -> dict[str, dict[str, str]]:
    """What stands in the path of an operation on something that exists, by the first part of the path."""
    entry = memory.entries.save("Prefers concise pull requests.", kind="preference").fact.id
    fact = memory.facts.add("Ada", "works_at", "Acme").fact.id
    talk = memory.conversations.record([{"role": "user", "content": "My boat is called Argo."}], interface="test").id
    return {
        "entries": {"id": entry},
        "facts": {"id": fact},
        "conversations": {"id": talk},
        "notes": {"path": "Inbox/Idea - seed library.md"},
    }
