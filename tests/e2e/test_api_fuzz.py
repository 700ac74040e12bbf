"""The HTTP API under generated requests, valid and invalid: every response is one that OpenAPI describes."""

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

from commonplace.app import open_memory
from commonplace.memory import Memory
from commonplace.model import Caller
from commonplace.web.api import make_api
from tests.daemons import running
from tests.run_length import rounds
from tests.vaults import sample_vault

EXAMPLES: Final = rounds(4, long=200)
TAGS: Final = (
    "search",
    "context",
    "entries",
    "facts",
    "review",
    "notes",
    "profile",
    "changes",
    "conversations",
    "tasks",
    "corrections",
    "index",
    "commitments",
    "calendars",
    "projects",
    "jobs",
    "templates",
    "digest",
)
STREAMS: Final = {"events"}
"""The tag of operations whose response does not end: `integration/web/test_live_events.py` tests them."""
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


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The sample vault, under git, for an agent; the tests of a worker share it."""
    folder = tmp_path_factory.mktemp("fuzz")
    sample_vault(folder / "vault")
    settings = {"data": str(folder / "data"), "embedding.provider": "hashing"}
    with open_memory(folder / "vault", actor="agent", settings=settings) as memory:
        memory.index.sync()
        yield memory


@pytest.fixture(scope="module")
def schema(memory: Memory) -> Any:
    """The OpenAPI description, with the API behind a guard that accepts every token."""
    api = make_api(lambda caller: memory)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        token = dict(scope["headers"]).get(b"authorization", b"")
        known = {"commonplace.caller": CALLER} if token.startswith(b"Bearer ") else {}
        await api({**scope, **known}, receive, send)

    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", guarded, config=SchemathesisConfig())


@pytest.mark.parametrize("tag", TAGS)
def test_every_answer_is_one_that_is_described(tag: str, schema: Any, memory: Memory) -> None:
    """Whatever is sent, valid or not, the server does not fail and responds with nothing undocumented."""
    existing = existing_things(memory)
    for operation in operations_of(schema.include(tag=tag)):
        call_with(operation.as_strategy(GenerationMode.NEGATIVE, headers=TOKEN if takes_something(operation) else None))
        call_with(operation.as_strategy(GenerationMode.POSITIVE, headers=TOKEN))
        if parameters := existing.get(operation.path.removeprefix("/api/v1/").partition("/")[0]):
            call_with(operation.as_strategy(GenerationMode.POSITIVE, headers=TOKEN, path_parameters=parameters))


def test_no_operation_is_left_out(schema: Any) -> None:
    """Every operation has one of the tags above."""
    assert {tag for each in operations_of(schema) for tag in each.definition.raw["tags"]} == {*TAGS, *STREAMS}


def test_the_daemon_answers_nothing_else(tmp_path: Path) -> None:
    """Behind the daemon's guard and a real socket, also if the request never reaches the API.

    One operation of each tag will do: the guard does not look at the operation.
    """
    with running(tmp_path / "home") as daemon:
        token = {"Authorization": f"Bearer {daemon.token('fuzzer', scopes=('write',))}"}
        address = f"{daemon.url}/api/v1/openapi.json"
        described = schemathesis.openapi.from_url(address, headers=token, config=SchemathesisConfig())
        operations = {each.definition.raw["tags"][0]: each for each in operations_of(described)}
        for operation in [operations[tag] for tag in TAGS]:
            for mode in GenerationMode:
                held = token if mode.is_positive or takes_something(operation) else None
                call_with(operation.as_strategy(mode, headers=held), examples=EXAMPLES // 2, checks=CONFORMING)


def call_with(cases: Cases, *, examples: int = EXAMPLES, checks: Sequence[CheckFunction] = CHECKS) -> None:
    """Send every generated case and check the response."""

    @given(case=cases)
    @settings(
        max_examples=examples,
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Any) -> None:
        case.call_and_validate(checks=list(checks))

    send()


def operations_of(schema: Any) -> list[Operation]:
    """Every operation in the description."""
    return [found.ok() for found in schema.get_all_operations()]


def takes_something(operation: Operation) -> bool:
    """True if a call has anything but the token to get wrong."""
    return not {"parameters", "requestBody"}.isdisjoint(operation.definition.raw)


def existing_things(memory: Memory) -> dict[str, dict[str, str]]:
    """The path parameters of an operation on something that exists, by the first part of the path."""
    entry = memory.entries.save("Prefers concise pull requests.", kind="preference").fact.id
    fact = memory.facts.add("Ada", "works_at", "Acme").fact.id
    talk = memory.conversations.record([{"role": "user", "content": "My boat is called Argo."}], interface="test").id
    return {
        "entries": {"id": entry},
        "facts": {"id": fact},
        "conversations": {"id": talk},
        "notes": {"path": "Inbox/Idea - seed library.md"},
        "templates": {"name": "daily_reflection"},
        "projects": {"name": "atlas"},
    }
