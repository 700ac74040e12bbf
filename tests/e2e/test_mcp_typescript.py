"""MCP with the clients for TypeScript from npm: the one of the time of sessions and the one after it, both ways in."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemons import running
from tests.npm_packages import typescript_clients


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What came of each talk, by its name: all of them in one run of Node, with one daemon."""
    packages = typescript_clients()
    with running(tmp_path_factory.mktemp("person")) as daemon:
        ran = subprocess.run(
            ["node", "talk.mjs", sys.executable, "-m", "commonplace", "mcp"],
            cwd=packages,
            env={**daemon.environ, "URL": f"{daemon.url}/mcp", "TOKEN": daemon.token("typescript")},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        said = [json.loads(line) for line in ran.stdout.splitlines()]
        yield {talk["name"]: talk for talk in said}


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("name", "era"),
    [("old-stdio", "legacy"), ("old-http", "legacy"), ("new-stdio", "modern"), ("new-http", "modern")],
)
def test_the_typescript_clients_list_save_find_and_read(name: str, era: str, talks: dict[str, Any]) -> None:
    """Over stdio and over HTTP with a token, with a handshake and without: the same tools and the same answers."""
    talk = talks[name]

    assert talk["era"] == era
    assert (talk["server"], talk["told"], len(talk["tools"])) == ("commonplace", True, 14)
    assert (talk["saved"], talk["found"], talk["missing"]) == (True, True, True)
    assert talk["many"] == [f"n{n}" for n in range(10)]
    assert "Leipzig" in talk["note"]
