"""Conversations by HTTP."""

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
