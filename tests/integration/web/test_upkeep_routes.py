"""Jobs, templates and the digest by HTTP: everybody may look, the person runs them."""

import threading

import pytest
from starlette.testclient import TestClient

from commonplace.errors import Conflict, VaultUnavailable
from commonplace.memory import Memory
from commonplace.web.job_queue import JobQueue
from tests.integration.web.conftest import ClientFor
from tests.polling import wait_for


def test_a_job_is_planned_run_in_the_background_and_logged(client: TestClient) -> None:
    """A dry run changes nothing; a run is answered at once, and the job says how it ended."""
    planned = client.post("/jobs/probe/run", json={"dry_run": True}).json()
    before = client.get("/jobs/probe").json()
    begun = client.post("/jobs/probe/run", json={}).json()
    wait_for(lambda: client.get("/jobs").json()["waiting"] == [])
    after = client.get("/jobs/probe").json()
    logged = client.get("/jobs/log", params={"job": "probe"}).json()["runs"]

    assert (planned["dry_run"], planned["plan"]["job"], before["run"]) == (True, "probe", None)
    assert (begun["dry_run"], begun["plan"], begun["ahead"]) == (False, None, 0)
    assert (after["run"]["outcome"], after["job"]["last"]["outcome"]) == ("done", "done")
    assert logged == [after["run"]]


def test_everybody_sees_the_jobs_and_only_the_person_runs_them(client_for: ClientFor) -> None:
    """Also as a dry run, which reads everything."""
    agent = client_for("read", "write")
    jobs = agent.get("/jobs").json()

    assert {"sleep", "digest", "probe"} <= {each["name"] for each in jobs["jobs"]}
    assert agent.post("/jobs/probe/run", json={"dry_run": True}).status_code == 403
    assert agent.post("/templates/daily_reflection/run", json={"dry_run": True}).status_code == 403
    assert agent.post("/digest/read").status_code == 403


def test_an_unknown_job_is_not_found(client: TestClient) -> None:
    """To look at, to run and to log."""
    assert client.get("/jobs/nothing").status_code == 404
    assert client.post("/jobs/nothing/run", json={}).status_code == 404
    assert client.get("/jobs/log", params={"job": "nothing"}).status_code == 404


def test_a_job_that_was_asked_for_is_not_asked_for_twice(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second gets a conflict; others wait for the first; at the end, no other is started."""
    entered, goes_on, ran = threading.Event(), threading.Event(), list[str]()

    def run(name: str, **_: object) -> None:
        ran.append(name)
        entered.set()
        goes_on.wait(60)

    queue = JobQueue()
    monkeypatch.setattr(memory.jobs, "run", run)
    assert queue.add(memory, "probe") == 0
    assert entered.wait(60)
    assert queue.add(memory, "mend") == 1
    with pytest.raises(Conflict):
        queue.add(memory, "probe")
    assert queue.waiting(memory) == ["probe", "mend"]
    assert not queue.end(within=0.0)
    goes_on.set()

    assert queue.end(within=60)
    assert ran == ["probe"]
    with pytest.raises(VaultUnavailable):
        queue.add(memory, "probe")


def test_a_template_is_listed_shown_rendered_and_written_once(client: TestClient) -> None:
    """A dry run sends the note; the second run is skipped, because nothing changed."""
    listed = client.get("/templates").json()["templates"]
    shown = client.get("/templates/daily_reflection").json()["template"]
    dry = client.post("/templates/daily_reflection/run", json={"date": "2026-03-01", "dry_run": True}).json()
    first = client.post("/templates/daily_reflection/run", json={"date": "2026-03-01"}).json()["result"]
    second = client.post("/templates/daily_reflection/run", json={"date": "2026-03-01"}).json()["result"]

    assert shown["name"] in {each["name"] for each in listed}
    assert "{{" in shown["text"]
    assert dry["result"]["path"] == first["path"]
    assert (first["reason"], second["skipped"]) in {("", True), ("nothing", True)}
    assert client.get("/templates/nothing").status_code == 404
    assert client.post("/templates/daily_reflection/run", json={"date": "someday"}).status_code == 400


def test_the_person_reads_the_digest_with_words_and_the_next_begins_there(
    client_for: ClientFor, memory: Memory
) -> None:
    """An agent reads it without the words, and advances nothing."""
    agent, person = client_for("read", "write"), client_for("admin")
    assert agent.post("/entries", json={"text": "Prefers rye bread.", "kind": "preference"}).status_code == 200
    seen = agent.get("/digest").json()
    again = agent.get("/digest").json()
    read = person.post("/digest/read").json()
    later = agent.get("/digest").json()

    assert seen["counts"] == again["counts"] == read["counts"]
    assert "rye bread" not in str(seen)
    assert "rye bread" in str(read["digest"]["lines"])
    assert later["counts"] == {}
    assert agent.get("/digest", params={"since": "never ever"}).status_code == 400
