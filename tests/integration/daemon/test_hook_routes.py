"""The daemon's side of hooks, without a daemon: what it asks of memory and of the captures, and what it keeps."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from commonplace.app import open_memory, put_under_git
from commonplace.daemon.capture.queue import CaptureQueue
from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.server.hook_routes import HookEvents, HookRoutes, HookSessions, read_hook_events
from commonplace.errors import NotFound
from commonplace.hooks.main import SKIPS_FILE
from commonplace.memory import Memory
from commonplace.model import SCOPES, Caller
from commonplace.sources.options import CaptureOptions


@dataclass(slots=True)
class HookClient:
    """A door for hooks, and how it is called."""

    door: HookRoutes
    captures: CaptureWorker

    def post(self, event: str, *, leaves: bool = False, vault: str = "", **body: Any) -> tuple[int, dict[str, Any]]:
        """What a hook of Claude Code is answered; one that `leaves` does not wait for it."""
        caller = Caller("claude-code", frozenset(SCOPES), vault=vault, via="socket")
        return asyncio.run(_posted(Starlette(routes=self.door.routes), event, body, caller=caller, leaves=leaves))


async def _posted(
    app: Starlette, event: str, body: dict[str, Any], *, caller: Caller, leaves: bool
) -> tuple[int, dict[str, Any]]:
    sent: list[Any] = []
    told = [{"type": "http.request", "body": json.dumps(body).encode()}]
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/hooks/v1/{event}",
        "headers": [],
        "query_string": b"",
        "commonplace.caller": caller,
    }

    async def receive() -> Any:
        if told:
            return told.pop()
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A vault that says who its person is."""
    root = tmp_path / "vault"
    (root / "Agent").mkdir(parents=True)
    (root / "Agent/USER.md").write_text("Robin likes tea.\n")
    put_under_git(root)
    with open_memory(root, actor="agent", settings={"data": str(tmp_path / "data")}) as opened:
        opened.index.sync()
        yield opened


def client_for(memory_for: Callable[[Caller], Memory], folder: Path) -> HookClient:
    captures = CaptureWorker(folder, memory_for, CaptureOptions())
    return HookClient(HookRoutes(memory_for, HookEvents(folder), captures), captures)


@pytest.fixture
def client(memory: Memory, tmp_path: Path) -> HookClient:
    """The door to that vault."""
    return client_for(lambda _: memory, tmp_path)


def test_what_nobody_was_left_to_read_does_not_count_as_read(client: HookClient) -> None:
    """A hook that gave up at its deadline has put nothing before the model."""
    client.post("session-start", session_id="s", within=30.0, leaves=True)
    after_leaving = client.post("prompt", session_id="s", prompt="Tea?", within=30.0)[1]
    client.post("session-start", session_id="s", within=30.0)
    after_staying = client.post("prompt", session_id="s", prompt="Tea?", within=30.0)[1]

    assert "Robin likes tea." in after_leaving["context"]
    assert "Robin likes tea." not in after_staying["context"]


@pytest.mark.requirement("A-57")
def test_without_a_vault_there_is_nothing_to_say_unless_one_was_asked_for(tmp_path: Path) -> None:
    """A host of somebody who has no vault is answered with nothing; a wrong name is told."""

    def none_is(_: Caller) -> Memory:
        raise NotFound("no vault is registered")

    client = client_for(none_is, tmp_path)
    status, answer = client.post("prompt", prompt="x")

    assert (status, answer["context"]) == (200, "")
    with pytest.raises(NotFound):
        client.post("prompt", prompt="x", vault="/nowhere")


def test_transcripts_are_handed_over_and_answered_at_once(client: HookClient, tmp_path: Path) -> None:
    """Only the end of a session ends it; an event without a transcript hands nothing over."""
    file = Path.home() / ".claude/projects/p/s.jsonl"
    given: dict[str, Any] = {"session_id": "s", "transcript_path": str(file), "cwd": "/p", "vault": "/v"}
    none = client.post("stop", session_id="s")
    ends = []
    for event in ("stop", "pre-compact", "session-end"):
        status, answer = client.post(event, **given)
        (waiting,) = CaptureQueue(tmp_path).load()
        ends.append((status, answer["taken"], waiting.ends))

    assert none[1]["taken"] is False
    assert ends == [(202, True, False), (202, True, False), (202, True, True)]
    assert (waiting.host, waiting.session_id, waiting.path) == ("claude-code", "s", str(file))
    assert (waiting.folders, waiting.vault) == (("/p",), "/v")


def test_where_a_person_wants_nothing_kept_context_is_given_and_nothing_is(client: HookClient, memory: Memory) -> None:
    """No use, and no topic of the conversation."""
    memory.facts.add("me", "lives_in", "Bergen")
    client.captures.pauses.pause("all", now=datetime.now(UTC))
    paused = client.post("prompt", session_id="s", prompt="Where do I live?", within=30.0)[1]
    uses = memory.facts.about("", limit=5)[0].uses
    client.captures.pauses.resume("all", now=datetime.now(UTC))
    client.post("prompt", session_id="s", prompt="Where do I live?", within=30.0)

    assert "Bergen" in paused["context"]
    assert (uses, memory.facts.about("", limit=5)[0].uses) == (0, 1)


def test_a_ping_is_answered_and_not_noted(client: HookClient, tmp_path: Path) -> None:
    """It is ours, and says nothing of a host."""
    status, answer = client.post("ping")

    assert (status, answer["ok"]) == (200, True)
    assert read_hook_events(tmp_path) == []


def test_sessions_are_remembered_up_to_a_number() -> None:
    """The one that was asked for longest ago goes first."""
    sessions = HookSessions()
    for number in range(1000):
        sessions.remember(f"s{number}", frozenset({"m"}))
    sessions.known("s0")
    sessions.remember("one more", frozenset({"m"}))
    sessions.forget("one more")

    assert sessions.known("s0") == {"m"}
    assert sessions.known("s1") == sessions.known("one more") == frozenset()


def test_events_and_skips_are_told_for_each_host(tmp_path: Path) -> None:
    """Across restarts, and whatever else stands in the files."""
    (tmp_path / SKIPS_FILE).write_text("2026-03-01T09:12:44Z\tcodex\tprompt\tlate\nhalf a li")
    HookEvents(tmp_path).note("codex", "prompt", took_ms=1.5)
    HookEvents(tmp_path).note("codex", "stop", took_ms=2.5)
    (told,) = read_hook_events(tmp_path)

    assert (told["host"], told["event"], told["took_ms"], told["events"]) == ("codex", "stop", 2.5, 2)
    assert told["skipped"] == 1
    assert told["last_skip"] == {"at": "2026-03-01T09:12:44Z", "event": "prompt", "reason": "late"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"codex": 3}', '{"codex": {"event": "stop"}}'])
def test_a_file_of_events_that_is_not_ours_is_begun_anew(text: str, tmp_path: Path) -> None:
    """Nothing depends on it but what is shown."""
    (tmp_path / "hook_events.json").write_text(text)
    events = HookEvents(tmp_path)
    for number in range(60):
        events.note(f"host {number}", "prompt", took_ms=1.0)

    assert len(read_hook_events(tmp_path)) == 50
    assert "host 59" in {each["host"] for each in read_hook_events(tmp_path)}


def test_a_disk_that_refuses_the_file_stops_no_event(tmp_path: Path) -> None:
    """It is told in the log."""
    HookEvents(tmp_path / "not there").note("codex", "prompt", took_ms=1.0)

    assert not (tmp_path / "not there").exists()


def test_hooks_that_a_host_was_told_of_twice_put_memory_there_once(client: HookClient) -> None:
    """For the person and in the project, or by the plugin, too: both ask, and the model reads one answer."""
    start: dict[str, Any] = {"session_id": "s", "transcript_path": "/t.jsonl", "source": "startup", "within": 30.0}
    prompt: dict[str, Any] = {"session_id": "p", "prompt": "Tea?", "within": 30.0}
    starts = [client.post("session-start", **start)[1]["context"] for _ in range(3)]
    first = [client.post("prompt", **prompt, turn="1")[1]["context"] for _ in range(2)]
    later = client.post("prompt", **prompt, turn="2")[1]["context"]

    assert ["Robin likes tea." in text for text in starts] == [True, False, False]
    assert ["Robin likes tea." in text for text in first] == [True, False]
    assert "Robin likes tea." in later


def test_a_hook_that_left_does_not_keep_memory_from_the_next_one(client: HookClient) -> None:
    """Nobody has read what it was given."""
    asked: dict[str, Any] = {"session_id": "p", "prompt": "Tea?", "within": 30.0, "turn": "1"}
    client.post("prompt", **asked, leaves=True)

    assert "Robin likes tea." in client.post("prompt", **asked)[1]["context"]
