"""One vault with a note on Ada, which the tests of a module share."""

from collections.abc import Iterator

import pytest

from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, vault_with


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A person's memory, whose vault has the note People/Ada.md."""
    folder = tmp_path_factory.mktemp("mcp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        memory = vault_with(folder, People__Ada="# Ada\n\nAda works at Acme.\n")
    with memory:
        yield memory


@pytest.fixture(scope="module")
def ada_host(ada: Memory) -> Host:
    """A host that may do everything with that memory."""
    return Host(ada)
