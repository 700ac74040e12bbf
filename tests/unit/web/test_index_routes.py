"""Topics, counts and sync by HTTP."""

from pathlib import Path

from starlette.testclient import TestClient


def test_sync_takes_in_what_was_written_beside_us(client: TestClient, vault: Path) -> None:
    """A note that a person writes in another program is counted by the next sync, with its topics and Problems."""
    before = client.get("/stats").json()["index"]
    (vault / "Inbox" / "Boats.md").write_text("---\ntopics: [sailing]\n---\nArgo leaks.\n")
    synced = client.post("/sync").json()
    after = client.get("/stats").json()
    topics = client.get("/topics").json()

    assert (synced["ok"], synced["added"], synced["changed"]) == (True, 1, 0)
    assert after["index"]["documents"]["vault"] == before["documents"]["vault"] + 1
    assert len(after["problems"]) == after["index"]["problems"]
    assert "sailing" in [each["name"] for each in topics["topics"]]
    assert topics["count"] == len(topics["topics"])
