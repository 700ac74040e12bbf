"""One vault for the tests of a module, behind the API, for callers with different scopes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from commonplace.app import open_memory
from commonplace.memory import Memory
from commonplace.model import Actor, Caller, Scope
from commonplace.web.api import make_api
from tests.vaults import sample_vault

ClientFor = Callable[..., TestClient]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample vault, under git."""
    folder = tmp_path_factory.mktemp("web") / "vault"
    return sample_vault(folder)


@pytest.fixture(scope="module")
def memory(vault: Path) -> Iterator[Memory]:
    """The sample vault, indexed, for its person; the tests of a module share it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(vault.parent))
        memory = open_memory(vault, settings={"embedding.provider": "hashing", "data": str(vault.parent / "data")})
    with memory:
        memory.index.sync()
        yield memory


@pytest.fixture(scope="module")
def client_for(memory: Memory) -> ClientFor:
    """Makes a client that the guard has authenticated with these scopes; without scopes, it has not."""
    api = make_api(lambda caller: memory.acting(Actor("agent", caller.name)))

    def make(*scopes: Scope) -> TestClient:
        caller = Caller("tester", frozenset(scopes)) if scopes else None

        async def guarded(scope: AsgiScope, receive: Receive, send: Send) -> None:
            await api({**scope, "commonplace.caller": caller}, receive, send)

        return TestClient(guarded, base_url="http://127.0.0.1/api/v1", raise_server_exceptions=False)

    return make


@pytest.fixture
def client(client_for: ClientFor) -> TestClient:
    """A client with every scope."""
    return client_for("admin")
