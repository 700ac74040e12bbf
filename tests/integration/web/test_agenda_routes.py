"""Commitments, calendars and projects by HTTP."""

from pathlib import Path

from starlette.testclient import TestClient

from commonplace.memory import Memory
from tests.integration.web.conftest import ClientFor


def test_commitments_are_listed_and_closed(client: TestClient, memory: Memory) -> None:
    """By the policy of writing: an agent may tick a line where it may write."""
    memory.notes.write("People/Brunhilde.md", "# Brunhilde\n")
    memory.notes.write("Inbox/Offer.md", "# Offer\n\n- [ ] Brunhilde: send the offer by 2099-05-03\n")
    (found,) = client.get("/commitments", params={"who": "Brunhilde", "state": "open"}).json()["commitments"]
    dry = client.post(f"/commitments/{found['fact']}/close", json={"dry_run": True}).json()["closed"]
    closed = client.post(f"/commitments/{found['fact']}/close", json={}).json()["closed"]

    assert (found["what"], found["due"], found["path"]) == ("send the offer", "2099-05-03", "Inbox/Offer.md")
    assert "+- [x] Brunhilde: send the offer" in dry["difference"]
    assert (closed["changed"], bool(closed["commit"])) == (True, True)
    assert client.get("/commitments", params={"who": "Brunhilde", "state": "open"}).json()["count"] == 0
    assert client.get("/commitments", params={"state": "late"}).status_code == 400


def test_calendars_are_listed_and_only_the_person_reads_them_anew(client_for: ClientFor) -> None:
    """Without any calendar there is nothing to read; an unknown one is not found."""
    agent, person = client_for("read", "write"), client_for("admin")

    assert agent.get("/calendars").json() == {"ok": True, "count": 0, "calendars": []}
    assert agent.get("/calendars/events", params={"start": "today"}).json()["events"] == []
    assert agent.get("/calendars/events", params={"calendar": "work"}).status_code == 404
    assert agent.post("/calendars/sync", json={}).status_code == 403
    assert person.post("/calendars/sync", json={}).json()["calendars"] == []
    assert person.post("/calendars/sync", json={"calendar": "work"}).status_code == 404


def test_the_state_of_a_project_is_written_and_read(client: TestClient, vault: Path) -> None:
    """The plan by its version, progress and features line by line."""
    assert client.put("/projects/atlas/plan", json={"text": "1. Read.\n"}).json()["change"]["changed"]
    state = client.get("/projects/atlas").json()["state"]
    stale = client.put("/projects/atlas/plan", json={"text": "2. Write.\n", "expected": "0" * 64})
    client.put("/projects/atlas/plan", json={"text": "2. Write.\n", "expected": state["plan_version"]})
    client.post("/projects/atlas/progress", json={"text": "the parser reads", "phase": "work"})
    client.post("/projects/atlas/features", json={"name": "Parser", "status": "doing"})
    after = client.get("/projects/atlas").json()["state"]

    assert stale.status_code == 409
    assert "2. Write." in after["plan"]
    assert [(each["text"], each["phase"]) for each in after["progress"]] == [("the parser reads", "work")]
    assert after["features"] == [{"name": "Parser", "status": "doing", "remark": ""}]
    assert client.post("/projects/atlas/features", json={"name": "Parser", "status": "soon"}).status_code == 422
