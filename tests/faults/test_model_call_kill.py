"""A process that is killed while a model answers, and processes that spend one budget at once."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.history.sqlite.history import SqliteHistory
from tests.llm_server import MODEL, Answer, ModelScript, serving_models
from tests.polling import wait_for

ASK = """
import sys
from commonplace.app import open_memory
from commonplace.errors import ProviderFailed
from commonplace.flows.learn.model_calls import ask_model
from commonplace.llm.base import Prompt
schema = {"type": "object", "properties": {"action": {"type": "string"}}}
settings = {"llm.provider": "openai", "llm.base_url": sys.argv[2], "llm.model": sys.argv[3], "data": sys.argv[4]}
with open_memory(sys.argv[1], settings=settings | {"llm.daily_tokens": 10_000}) as memory:
    for number in range(4):
        try:
            ask_model("consolidate", [Prompt("user", "words")], schema, memory._session, prompt_version="v1")
        except ProviderFailed as failure:
            assert failure.reason == "budget", failure
"""


def asking(folder: Path, server: ModelScript) -> subprocess.Popen[bytes]:
    """A process that asks four times, as far as the day's 10,000 tokens reach."""
    (folder / "vault").mkdir(exist_ok=True)
    words = [str(folder / "vault"), server.openai, MODEL, str(folder / "data")]
    environ = {**os.environ, "COMMONPLACE_VAULT__BACKEND": "device-local", "COMMONPLACE_EMBEDDING__PROVIDER": "none"}
    return subprocess.Popen([sys.executable, "-c", ASK, *words], env=environ)


def spent(folder: Path) -> int:
    """The tokens of today in the vault's history."""
    (file,) = (folder / "data").rglob("history.db")
    history = SqliteHistory(file)
    try:
        return history.spending(datetime.now(UTC)).tokens
    finally:
        history.close()


@pytest.mark.usefixtures("one_day")
def test_a_call_that_a_kill_cuts_off_stays_counted(tmp_path: Path) -> None:
    """The server had the request and may bill it: the most that it can cost is part of the day's spending."""
    with serving_models(default=Answer({"action": "x"}, delay=3.0)) as server:
        process = asking(tmp_path, server)
        wait_for(lambda: server.requests)
        process.kill()
        process.wait()

    assert 3000 <= spent(tmp_path) <= 10_000


@pytest.mark.usefixtures("one_day")
def test_processes_share_one_budget(tmp_path: Path) -> None:
    """Three processes with four calls of 2,500 tokens each: together they stay within it."""
    with serving_models(default=Answer({"action": "x"}, tokens=(1500, 1000), delay=0.05)) as server:
        processes = [asking(tmp_path, server) for _ in range(3)]
        assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]

    assert 0 < spent(tmp_path) == 2500 * len(server.requests) <= 10_000
