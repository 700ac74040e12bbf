"""Worker processes answer what only reads: the same answers, from what is true now, whatever happens to a worker."""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Daemon, Reply, running
from tests.polling import wait_for

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
CROWD = 8
READS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "who heats the greenhouse", "verbose": True},
    "memory_recall": {"prompt": "What do we know about Jonas and his sensors?", "verbose": True},
    "memory_facts": {"entity": "Jonas", "verbose": True},
    "note_read": {"path": "Projects/Greenhouse.md", "verbose": True},
    "note_list": {"verbose": True},
}
WRONG: dict[str, dict[str, Any]] = {
    "note_read": {"path": "Projects/Nothing.md"},
    "memory_search": {"k": "many"},
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose two workers run, and whose jobs do not: some of them search, too, and would be counted."""
    home = tmp_path_factory.mktemp("home")
    with running(home, COMMONPLACE_SERVE__WORKERS="2", COMMONPLACE_UPKEEP__ENABLED="false") as made:
        made.wait_synced()
        crowd(made)
        yield made


def call(daemon: Daemon, tool: str, arguments: dict[str, Any], *, client: str = "test") -> Reply:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return daemon.call("POST", "/mcp", body=body, headers={**HEADERS, "Commonplace-Client": client})


def workers(daemon: Daemon) -> list[dict[str, Any]]:
    return [each for each in status_of_workers(daemon) if each["ready"]]


def status_of_workers(daemon: Daemon) -> list[dict[str, Any]]:
    status: list[dict[str, Any]] = daemon.call("GET", "/daemon/status").json["workers"]
    return status


def crowd(daemon: Daemon, *, number: int = 2) -> None:
    """Let many callers ask at once until workers start, and wait until all of them are ready."""
    rounds = count()
    with ThreadPoolExecutor(CROWD) as pool:

        def are_started() -> bool:
            client = f"crowd {next(rounds)}"  # another each time: no allowance is used up
            arguments = READS["memory_search"]
            asked = [pool.submit(call, daemon, "memory_search", arguments, client=client) for _ in range(CROWD)]
            return all(each.result().status == 200 for each in asked) and bool(status_of_workers(daemon))

        wait_for(are_started)
    wait_for(lambda: len(workers(daemon)) == number)


def requests(daemon: Daemon) -> int:
    """How many requests have reached it so far, this one among them."""
    return int(daemon.call("GET", "/daemon/status").json["requests"])


def answered(daemon: Daemon) -> int:
    return sum(each["answered"] for each in workers(daemon))


def lasting(reply: Reply) -> Any:
    """What is the same whenever it is asked: without times, and without the random digits of a fence."""
    text = re.sub(r'"(?:took_ms|times)":(?:[\d.]+|\{[^}]*\})', '"took":0', reply.body.decode())
    fences = re.findall(r"memory-context[^0-9a-f]{1,4}([0-9a-f]{8})", text)
    for nonce in fences:
        text = text.replace(nonce, "NONCE")
    return reply.status, text


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_no_worker_runs_until_callers_crowd_and_then_answers_are_the_same(tmp_path: Path) -> None:
    """One process serves a few callers; what a worker answers is what the daemon itself answered."""
    with running(tmp_path, COMMONPLACE_SERVE__WORKERS="1", COMMONPLACE_UPKEEP__ENABLED="false") as daemon:
        daemon.wait_synced()
        cases = [*READS.items(), *WRONG.items()]
        alone = [lasting(call(daemon, tool, arguments)) for tool, arguments in cases]
        none = status_of_workers(daemon)
        crowd(daemon, number=1)
        before = answered(daemon)
        shared = [lasting(call(daemon, tool, arguments)) for tool, arguments in cases]

        assert none == []
        assert shared == alone
        assert answered(daemon) - before == len(cases)


def test_with_no_workers_allowed_a_crowd_is_served_by_the_daemon_itself(tmp_path: Path) -> None:
    """`serve.workers` 0 switches them off."""
    with running(tmp_path, COMMONPLACE_SERVE__WORKERS="0") as daemon, ThreadPoolExecutor(CROWD) as pool:
        daemon.wait_synced()
        asked = [pool.submit(call, daemon, "memory_search", READS["memory_search"]) for _ in range(CROWD * 3)]

        assert {each.result().status for each in asked} == {200}
        assert daemon.call("GET", "/daemon/status").json["workers"] == []


def test_a_worker_finds_what_was_saved_a_moment_before(daemon: Daemon) -> None:
    """Whoever was told that something is saved finds it, whichever process answers."""
    before = answered(daemon)
    found = []
    for number in range(12):
        name = f"Zephyrine{number}"
        triple = {"subject": name, "predicate": "likes", "object": f"quartz {number}", "kind": "fact"}
        saved = call(daemon, "memory_save", {"text": f"{name} likes quartz {number}.", **triple})
        assert saved.json["result"]["isError"] is False, saved.body
        facts = call(daemon, "memory_facts", {"entity": name, "verbose": True}).json
        hits = call(daemon, "memory_search", {"query": name, "k": 1, "verbose": True}).json
        found.append(
            (
                [each["text"] for each in facts["result"]["structuredContent"]["facts"]],
                [name in each["content"] for each in hits["result"]["structuredContent"]["results"]],
            )
        )

    assert found == [([f"Zephyrine{number} likes quartz {number}."], [True]) for number in range(12)]
    assert answered(daemon) - before == 24


def test_metrics_and_log_count_what_workers_did(daemon: Daemon) -> None:
    """A search is counted and logged once, whoever ran it."""

    def searches() -> int:
        text = daemon.call("GET", "/metrics").body.decode()
        return sum(int(each) for each in re.findall(r"commonplace_retrievals_total\{[^}]*\} (\d+)", text))

    before, logged, ran = searches(), daemon.log().count("memory_retrieval"), answered(daemon)
    for _ in range(5):
        call(daemon, "memory_search", READS["memory_search"])

    assert searches() - before == 5
    assert daemon.log().count("memory_retrieval") - logged == 5
    assert answered(daemon) - ran == 5
    assert "commonplace_workers 2\n" in daemon.call("GET", "/metrics").body.decode()


def test_a_note_that_is_edited_beside_us_is_read_as_it_is_now(daemon: Daemon) -> None:
    """A worker compares the notes of its hits with the files, as the daemon does."""
    note = daemon.home / "Notes" / "People" / "Jonas.md"
    old = note.read_text()
    note.write_text("# Jonas\n\nJonas repairs clocks in Görlitz.\n")
    try:
        hits = call(daemon, "memory_search", {"query": "Jonas clocks", "verbose": True})
        read = call(daemon, "note_read", {"path": "People/Jonas.md"})
    finally:
        note.write_text(old)

    assert "repairs clocks" in read.body.decode()
    assert "builds sensors" not in hits.body.decode()


def test_a_token_that_may_not_read_reads_nothing_through_a_worker(daemon: Daemon) -> None:
    """The guard is in front of the workers: a wrong token is refused, and a save needs its scope."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    wrong = daemon.call("POST", "/mcp", body=body, token="cpl_wrong", headers=HEADERS)
    reader = daemon.token("reader", scopes=("read",))
    save = {"name": "memory_save", "arguments": {"text": "Likes rain."}}
    refused = daemon.call("POST", "/mcp", body={**body, "params": save}, token=reader, headers=HEADERS)

    assert wrong.status == 401
    assert refused.json["result"]["isError"] is True


def test_a_killed_worker_loses_no_answer_and_is_started_again(daemon: Daemon) -> None:
    """What it had is answered by the daemon; the daemon goes on, with another worker."""
    crowd(daemon)
    killed = workers(daemon)[0]["pid"]
    with ThreadPoolExecutor(CROWD) as pool:
        asked = [pool.submit(call, daemon, "memory_search", READS["memory_search"]) for _ in range(60)]
        os.kill(killed, signal.SIGKILL)
        statuses = [each.result().status for each in asked]
    wait_for(lambda: len({each["pid"] for each in workers(daemon)} - {killed}) == 2, within=60)

    assert statuses == [200] * 60
    assert killed not in {each["pid"] for each in workers(daemon)}
    assert daemon.process.poll() is None
    assert "commonplace_worker_deaths_total 1\n" in daemon.call("GET", "/metrics").body.decode()


def test_the_rate_limit_holds_for_all_workers_together(tmp_path: Path) -> None:
    """A caller has one allowance, however many processes answer."""
    with running(
        tmp_path,
        COMMONPLACE_SERVE__WORKERS="2",
        COMMONPLACE_SERVE__BURST="400",
        COMMONPLACE_SERVE__REQUESTS_PER_SECOND="0.1",
    ) as daemon:
        daemon.wait_synced()
        crowd(daemon)
        with ThreadPoolExecutor(CROWD) as pool:
            arguments, began = {"path": "People/Jonas.md"}, time.monotonic()
            asked = [pool.submit(call, daemon, "note_read", arguments, client="greedy") for _ in range(430)]
            statuses = [each.result().status for each in asked]
            took = time.monotonic() - began

        assert 400 <= statuses.count(200) <= 401 + took / 10  # it refills by one in ten seconds
        assert statuses.count(429) == 430 - statuses.count(200)


def test_a_daemon_that_stops_answers_what_its_workers_have_and_ends_them(tmp_path: Path) -> None:
    """No request is lost, and no process stays behind."""
    with running(tmp_path, COMMONPLACE_SERVE__WORKERS="2") as daemon, ThreadPoolExecutor(CROWD) as pool:
        daemon.wait_synced()
        crowd(daemon)
        pids = [each["pid"] for each in workers(daemon)]
        before, looks = requests(daemon), count(1)
        asked = [pool.submit(call, daemon, "memory_recall", READS["memory_recall"]) for _ in range(CROWD)]
        wait_for(lambda: requests(daemon) - before == CROWD + next(looks))  # it has all of them
        code = daemon.stop()
        statuses = [each.result().status for each in asked]

        assert code == 0
        assert statuses == [200] * CROWD
        assert not any(is_alive(pid) for pid in pids)


def test_workers_end_with_a_daemon_that_is_killed(tmp_path: Path) -> None:
    """At the end of its stream a worker ends by itself."""
    with running(tmp_path, COMMONPLACE_SERVE__WORKERS="1") as daemon:
        daemon.wait_synced()
        crowd(daemon, number=1)
        pids = [each["pid"] for each in workers(daemon)]
        daemon.kill()

        wait_for(lambda: not any(is_alive(pid) for pid in pids))
