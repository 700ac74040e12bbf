"""The daemon's side of hooks, without a daemon: what it asks of memory and of the captures, and what it answers."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from commonplace.app import open_memory
from commonplace.context.options import HookOptions
from commonplace.daemon.capture.pauses import OPT_OUT
from commonplace.daemon.capture.queue import CaptureQueue
from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.server import hook_routes
from commonplace.daemon.server.hook_events import HookEvents, read_hook_events
from commonplace.daemon.server.hook_routes import LATE_LINE, HookRoutes
from commonplace.errors import NotFound
from commonplace.memory import Memory
from commonplace.model import SCOPES, Actor, Caller
from commonplace.sources.options import CaptureOptions
from tests.patience import RECALL_SECONDS
from tests.vaults import make_vault


@pytest.fixture(autouse=True)
def _patient_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt may wait as long as it says: other tests may keep the machine busy."""
    for name in ("PROMPT_SECONDS", "START_SECONDS"):
        monkeypatch.setattr(hook_routes, name, RECALL_SECONDS)


@dataclass(slots=True)
class HookClient:
    """A door for hooks, and how it is called."""

    door: HookRoutes
    captures: CaptureWorker

    def post(
        self, event: str, *, leaves: bool = False, vault: str = "", host: str = "claude-code", **body: Any
    ) -> tuple[int, dict[str, Any]]:
        """What a hook of Claude Code, or of that host, is answered; one that `leaves` does not wait for it."""
        caller = Caller(host, frozenset(SCOPES), vault=vault, via="socket")
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
    root = make_vault(tmp_path / "vault", {"Agent/USER.md": "Robin likes tea.\n"})
    with open_memory(root, actor="agent", settings={"data": str(tmp_path / "data")}) as opened:
        opened.index.sync()
        yield opened


def client_for(memory_for: Callable[[Caller], Memory], folder: Path, options: HookOptions | None = None) -> HookClient:
    captures = CaptureWorker(folder, memory_for, CaptureOptions())
    return HookClient(HookRoutes(memory_for, HookEvents(folder), captures, options or HookOptions()), captures)


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


def test_a_prompt_is_passed_on_by_its_agent_while_it_runs(client: HookClient, memory: Memory) -> None:
    """No transcript has it yet; what is said in a pause is not heard, and neither is what the host added."""
    person = memory.acting(Actor("person", "cli")).entries
    old = person.save("The dentist is Dr. Brand.", kind="fact").fact
    client.captures.pauses.pause("all", now=datetime.now(UTC))
    client.post("prompt", session_id="s", prompt="My dentist is Dr. Marx now.", within=30.0)
    client.captures.pauses.resume("all", now=datetime.now(UTC))
    added = "<system-reminder>My dentist is Dr. Sato now.</system-reminder>"
    client.post("prompt", session_id="s", prompt=f"My dentist is Dr. Okafor now. {added}", within=30.0)
    results = [
        memory.entries.save(
            f"The dentist is Dr. {name}.", kind="fact", replaces=[old.id], quote=f"My dentist is Dr. {name} now."
        )
        for name in ("Marx", "Sato", "Okafor")
    ]

    assert [len(each.waiting) for each in results] == [1, 1, 0]
    assert [each.id for each in results[-1].ended] == [old.id]


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


def test_hooks_that_a_host_was_told_of_twice_put_memory_there_once(client: HookClient) -> None:
    """For the person and in the project, or by the plugin, too: both ask, and the model reads one answer."""
    start: dict[str, Any] = {"session_id": "s", "transcript_path": "/t.jsonl", "source": "startup", "within": 30.0}
    prompt: dict[str, Any] = {"session_id": "p", "prompt": "Tea?", "within": 30.0}
    starts = [client.post("session-start", **start)[1]["context"] for _ in range(3)]
    first = [client.post("prompt", **prompt, turn="1")[1]["context"] for _ in range(2)]
    later = client.post("prompt", **prompt, turn="2")[1]

    assert ["Robin likes tea." in text for text in starts] == [True, False, False]
    assert ["Robin likes tea." in text for text in first] == [True, False]
    assert "late" in later  # recall was asked for; the model has all of it


def test_a_hook_that_left_does_not_keep_memory_from_the_next_one(client: HookClient) -> None:
    """Nobody has read what it was given."""
    asked: dict[str, Any] = {"session_id": "p", "prompt": "Tea?", "within": 30.0, "turn": "1"}
    client.post("prompt", **asked, leaves=True)

    assert "Robin likes tea." in client.post("prompt", **asked)[1]["context"]


def started(client: HookClient, source: str, **more: Any) -> bool:
    """Whether a start of the session for this reason is given who the person is."""
    return (
        "Robin likes tea."
        in client.post("session-start", session_id="s", source=source, within=30.0, **more)[1]["context"]
    )


def prompted(client: HookClient, **more: Any) -> bool:
    """Whether a prompt of the session is given who the person is."""
    return "Robin likes tea." in client.post("prompt", session_id="s", prompt="Tea?", within=30.0, **more)[1]["context"]


def test_a_session_has_its_standing_part_once_for_as_long_as_its_model_has_it(client: HookClient) -> None:
    """Through prompts, its end and a resume; again once it was compacted or cleared, or begins anew."""
    assert [started(client, "startup"), prompted(client), started(client, "resume")] == [True, False, False]
    client.post("session-end", session_id="s")
    assert [started(client, "resume"), prompted(client)] == [False, False]
    for source in ("compact", "clear", "startup", ""):
        assert [started(client, source), prompted(client)] == [True, False]
    client.post("pre-compact", session_id="s")
    assert [prompted(client), prompted(client)] == [True, False]


def test_what_a_session_has_outlives_the_daemon(client: HookClient, memory: Memory, tmp_path: Path) -> None:
    """The next one knows it from the history."""
    assert started(client, "startup")
    next_one = client_for(lambda _: memory, tmp_path)

    assert [prompted(next_one), started(next_one, "resume")] == [False, False]


def test_what_a_hook_that_left_was_given_is_given_again(client: HookClient) -> None:
    """After a start or a prompt that nobody was left to read; what the session had before that is not."""
    started(client, "startup", leaves=True)
    prompted(client, leaves=True)
    assert [prompted(client), prompted(client)] == [True, False]
    prompted(client, leaves=True)
    assert not prompted(client)


def test_a_prompt_that_nobody_was_left_to_answer_is_missed(client: HookClient, memory: Memory) -> None:
    """The next prompt carries what it would have recalled."""
    prompted(client, leaves=True)
    missed = memory.context.given("claude-code:s").missed
    prompted(client)

    assert (missed, memory.context.given("claude-code:s").missed) == ("Tea?", "")


def test_a_session_of_which_nothing_is_recorded_has_its_standing_part_once(client: HookClient, memory: Memory) -> None:
    """That every session has it says nothing about this one; its prompts are not kept."""
    client.captures.pauses.pause("all", now=datetime.now(UTC))

    assert [started(client, "startup"), prompted(client), prompted(client)] == [True, False, False]
    assert memory.context.given("claude-code:s").prompts == ()


def test_the_person_sees_what_was_recalled_or_that_it_was_late(
    client: HookClient, memory: Memory, tmp_path: Path
) -> None:
    """In a host that can show a line, unless it is switched off; nothing if nothing was recalled."""
    start: dict[str, Any] = {"within": 30.0}
    off = client_for(lambda _: memory, tmp_path, HookOptions(screen_line=False))
    late = client.post("prompt", session_id="l", prompt="Tea?", within=0.0)[1]

    assert '"Robin likes tea."' in client.post("session-start", session_id="a", **start)[1]["screen"]
    assert "screen" not in client.post("session-start", session_id="a", source="resume", **start)[1]
    assert "screen" not in client.post("session-start", session_id="b", host="cursor", **start)[1]
    assert "screen" not in off.post("session-start", session_id="c", **start)[1]
    assert (late["screen"], bool(late["late"])) == (LATE_LINE, True)


def test_late_answers_are_counted(client: HookClient, tmp_path: Path) -> None:
    """Also those for which the host did not wait; the second hook of an event asks for no recall."""
    asked: dict[str, Any] = {"session_id": "s", "prompt": "Tea?"}
    client.post("prompt", **asked, turn="1", within=0.0)
    client.post("prompt", **asked, turn="1", within=30.0)
    client.post("prompt", **asked, turn="2", within=30.0)
    client.post("prompt", **asked, turn="3", within=30.0, leaves=True)
    client.post("stop", session_id="s")
    (told,) = read_hook_events(tmp_path)

    assert (told["late"], told["recalls"], told["events"]) == (2, 3, 5)


@pytest.mark.parametrize(("host", "recalled"), [("claude-code", True), ("codex", False)])
def test_a_host_may_do_without_notes(host: str, recalled: bool, memory: Memory, tmp_path: Path) -> None:
    """Others have what the setting of contexts says."""
    (tmp_path / "vault/Greenhouse.md").write_text("# Greenhouse\n\nThe greenhouse is heated by compost.\n")
    memory.index.sync()
    client = client_for(lambda _: memory, tmp_path, HookOptions(notes=("codex off",)))
    asked = "What do my notes say about what heats the greenhouse?"
    answer = client.post("prompt", session_id="s", prompt=asked, host=host, within=30.0)[1]

    assert ("compost" in answer["context"]) == recalled


# Looking back before a stop

LASTING = "I prefer metric units in all drawings. Please draw the boat house."
PASSING = "Please draw the boat house and print it twice."


def stop(client: HookClient, **fields: Any) -> str:
    """The reason for which the agent goes on; empty if it stops."""
    return str(client.post("stop", session_id="s", within=30.0, **fields)[1].get("reflect", ""))


def reflecting(memory: Memory, folder: Path, *, reflect: bool = True) -> HookClient:
    return client_for(lambda _: memory, folder, HookOptions(reflect=reflect))


def test_an_agent_looks_back_once_if_something_lasting_was_said(memory: Memory, tmp_path: Path) -> None:
    """Not before it was said, and not again: neither at the next stop nor after a compaction."""
    client = reflecting(memory, tmp_path)
    client.post("prompt", session_id="s", prompt=PASSING, within=30.0)
    passing = stop(client)
    client.post("prompt", session_id="s", prompt=LASTING, within=30.0)
    first, second = stop(client), stop(client)
    client.post("pre-compact", session_id="s")
    client.post("session-start", session_id="s", source="compact", within=30.0)
    client.post("prompt", session_id="s", prompt=LASTING, within=30.0)

    assert (passing, second, stop(client)) == ("", "", "")
    assert "memory_save" in first


@pytest.mark.parametrize(("reflect", "host"), [(False, "claude-code"), (True, "gemini"), (True, "unknown")])
def test_no_agent_is_asked_unless_the_person_wants_it_and_the_host_can(
    memory: Memory, tmp_path: Path, *, reflect: bool, host: str
) -> None:
    """It is off by default, and some hosts would throw the answer away."""
    client = reflecting(memory, tmp_path, reflect=reflect)
    client.post("prompt", host=host, session_id="s", prompt=LASTING, within=30.0)

    assert not HookOptions().reflect
    assert stop(client, host=host) == ""


def test_a_paused_session_is_not_looked_back_at(memory: Memory, tmp_path: Path) -> None:
    """What is said in it is not kept, so that nothing is known to be lasting."""
    project = tmp_path / "project"
    project.mkdir()
    (project / OPT_OUT).touch()
    client = reflecting(memory, tmp_path)
    client.post("prompt", session_id="s", prompt=LASTING, cwd=str(project), within=30.0)

    assert stop(client, cwd=str(project)) == ""
