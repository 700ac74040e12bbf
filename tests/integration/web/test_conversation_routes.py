"""Conversations, tasks and corrections by HTTP."""

from starlette.testclient import TestClient

from commonplace.memory import Memory
from tests.transcript_lines import claude


def test_a_conversation_grows_is_found_and_is_closed(client: TestClient) -> None:
    """Messages are kept once under the session id; what an agent records is said, not told."""
    turns = [{"role": "user", "content": "My boat is called Argo.", "at": "2026-03-01T09:00:00Z"}]
    first = client.post("/conversations", json={"session_id": "s-1", "messages": turns}).json()["recorded"]
    turns.append({"role": "assistant", "content": "A fine name."})
    second = client.post("/conversations", json={"session_id": "s-1", "messages": turns}).json()["recorded"]
    found = client.post("/search", json={"query": "Argo", "sources": ["chat"], "mode": "words"}).json()
    listed = client.get("/conversations", params={"interface": "tester", "limit": 5}).json()["conversations"]
    shown = client.get(f"/conversations/{first['id']}", params={"first": 2}).json()
    closed = client.post("/conversations/s-1/close").json()["conversation"]

    assert (first["added"], second["added"], second["known"]) == (1, 1, 1)
    assert found["results"][0]["source_path"] == first["id"]
    assert [(each["id"], each["trust"], each["closed"]) for each in listed] == [(first["id"], "said", "")]
    assert [(each["turn"], each["text"]) for each in shown["messages"]] == [(2, "A fine name.")]
    assert closed["id"] == first["id"]
    assert closed["closed"]


def test_an_invalid_conversation_is_refused(client: TestClient, memory: Memory) -> None:
    """An unknown id is 404; an unknown role and an empty list are refused with the name of the field."""
    before = memory.conversations.list()
    missing = client.get("/conversations/c-000000")
    role = client.post("/conversations", json={"messages": [{"role": "ghost", "content": "boo"}]})
    none = client.post("/conversations", json={"messages": []})

    assert missing.status_code == 404
    assert role.json()["error"]["fields"][0]["field"] == "body.messages.0.role"
    assert (role.status_code, none.status_code) == (422, 422)
    assert memory.conversations.list() == before


def test_a_captured_session_is_closed_to_programs(client: TestClient, memory: Memory) -> None:
    """A refusal with a hint; the list says which conversations were captured."""
    line = claude("user", "Open a pull request.", id_="1").encode()
    memory.conversations.capture(line, host="claude-code", session_id="s-7")
    body = {
        "session_id": "s-7",
        "interface": "claude-code",
        "messages": [{"role": "user", "content": "Push to main.", "author": "me", "at": "2026-03-01T09:00:00Z"}],
    }
    refused = client.post("/conversations", json=body)
    (listed,) = client.get("/conversations", params={"interface": "claude-code"}).json()["conversations"]

    assert (refused.status_code, refused.json()["error"]["type"]) == (403, "Refused")
    assert "another session id" in refused.json()["error"]["hint"]
    assert (listed["captured"], listed["turns"]) == (True, 1)


def test_tasks_and_corrections_are_recorded_listed_and_read(client: TestClient) -> None:
    """Each in its own list, and found by search in its own source; an id of the other kind is not found."""
    sown = {"task": "Sow peas", "result": "Sown in row three.", "id": "17"}
    task = client.post("/tasks", json=sown).json()["recorded"]
    body = {"correction": "No, I sow in March.", "corrects": "Sow in May.", "interface": "web"}
    correction = client.post("/corrections", json=body).json()["recorded"]
    tasks = client.get("/tasks", params={"interface": "tester"}).json()["tasks"]
    corrections = client.get("/corrections", params={"limit": 5}).json()["corrections"]
    shown = client.get(f"/corrections/{correction['id']}").json()
    query = {"query": "sow", "sources": ["task", "correction"], "mode": "words"}
    found = client.post("/search", json=query).json()["results"]

    assert [(each["id"], each["kind"], each["trust"]) for each in tasks] == [(task["id"], "task", "said")]
    assert [each["interface"] for each in corrections] == ["web"]
    assert [each["text"] for each in shown["messages"]] == ["Sow in May.", "No, I sow in March."]
    assert {each["source_path"] for each in found} == {task["id"], correction["id"]}
    assert client.get(f"/tasks/{task['id']}").json()["task"]["title"] == "Sow peas"
    assert client.get(f"/tasks/{correction['id']}").status_code == 404
    assert client.post("/tasks", json={"task": " "}).status_code == 400


def test_a_program_uses_a_conversation_less_and_does_not_see_an_isolated_one(client: TestClient) -> None:
    """It cannot allow more again: only the person may."""
    turns = [{"role": "user", "content": "My kite is called Zephyr."}]
    id_ = client.post("/conversations", json={"session_id": "s-9", "messages": turns}).json()["recorded"]["id"]
    off = client.put(f"/conversations/{id_}/memory", json={"memory": "off"}).json()["conversation"]
    on = client.put(f"/conversations/{id_}/memory", json={"memory": "on"})
    client.put(f"/conversations/{id_}/memory", json={"memory": "isolated"})

    assert (off["memory"], on.status_code) == ("off", 403)
    assert client.get(f"/conversations/{id_}").status_code == 404
    assert id_ not in [each["id"] for each in client.get("/conversations").json()["conversations"]]
    assert client.post("/search", json={"query": "Zephyr", "mode": "words"}).json()["results"] == []
    assert client.post("/search", json={"query": "Zephyr", "sources": ["isolated"]}).status_code == 403
