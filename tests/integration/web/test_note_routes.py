"""Notes, their changes and the log by HTTP."""

from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from commonplace.memory import Memory


def test_a_note_is_written_read_moved_deleted_and_brought_back(client: TestClient) -> None:
    """One commit each, undoable, and the log names the caller."""
    written = client.put("/notes/Inbox/A plan.md", json={"text": "# A plan\n\nSee [[Greenhouse]].\n", "message": "why"})
    read = client.get("/notes/Inbox/A%20plan.md")
    links = client.get("/links", params={"path": "Inbox/A plan.md"}).json()
    moved = client.post("/notes/Inbox/A plan.md/move", json={"to": "Projects/A plan.md"}).json()
    deleted = client.delete("/notes/Projects/A plan.md", params={"message": "gone"}).json()
    undone = client.post("/undo", json={}).json()
    log = client.get("/log", params={"path": "Projects/A plan.md"}).json()

    assert written.json()["change"]["changed"]
    assert (read.json()["title"], read.json()["version"]) == ("A plan", written.json()["change"]["version"])
    assert links["links"][0]["path"] == "Projects/Greenhouse/Greenhouse.md"
    assert moved["change"]["path"] == deleted["change"]["path"] == undone["undone"][0]["path"] == "Projects/A plan.md"
    assert [each["verb"] for each in log["entries"]] == ["undo", "delete", "move"]
    assert {(each["actor"], each["origin"]) for each in log["entries"]} == {("agent", "tester")}
    assert log["entries"][0]["when"].endswith("Z")


def test_the_version_that_was_read_guards_a_write(client: TestClient) -> None:
    """`If-Match` takes the `ETag` of a read, or `absent`; a write over another version is a conflict."""
    first = client.put("/notes/Inbox/A.md", json={"text": "one\n"}, headers={"If-Match": "absent"})
    again = client.put("/notes/Inbox/A.md", json={"text": "two\n"}, headers={"If-Match": "absent"})
    tag = client.get("/notes/Inbox/A.md").headers["ETag"]
    second = client.put("/notes/Inbox/A.md", json={"text": "two\n"}, headers={"If-Match": tag})
    stale = client.delete("/notes/Inbox/A.md", headers={"If-Match": tag})

    assert [each.status_code for each in (first, again, second, stale)] == [200, 409, 200, 409]
    assert stale.json()["error"]["found"] == second.json()["change"]["version"]


def test_a_note_outside_the_writable_folders_needs_a_grant(client: TestClient, memory: Memory) -> None:
    """A person's grant allows one change."""
    refused = client.put("/notes/README.md", json={"text": "mine\n"})
    grant = {"Commonplace-Grant": memory.notes.grant("README.md")}
    granted = client.put("/notes/README.md", json={"text": "mine\n"}, headers=grant)
    again = client.put("/notes/README.md", json={"text": "ours\n"}, headers=grant)

    assert [each.status_code for each in (refused, granted, again)] == [403, 200, 403]


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/secret.md",
        "%2fetc%2fpasswd",
        "a%00.md",
        ".git%2fconfig",
        "a%5c..%5cb.md",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, client: TestClient) -> None:
    """Encoded slashes, dots, NULs and hidden folders: nothing is read, nothing is written."""
    read, written = client.get(f"/notes/{path}"), client.put(f"/notes/{path}", json={"text": "x\n"})

    assert {read.status_code, written.status_code} <= {403, 404, 422}
    assert (read.json()["ok"], written.json()["ok"]) == (False, False)


def test_notes_with_names_of_every_script_are_reached(client: TestClient) -> None:
    """A path is UTF-8 and may be percent-encoded."""
    for name in ("Grüße an alle.md", "ノート.md", "100% sure? #1.md", "🌱.md"):
        path = client.put(f"/notes/Inbox/{quote(name, safe='')}", json={"text": "hello\n"}).json()["change"]["path"]
        read = client.get(f"/notes/{quote(path, safe='')}").json()

        assert (read["ok"], read["content"]) == (True, "hello\n")


def test_a_sensitive_note_is_listed_and_not_read(client: TestClient) -> None:
    """Neither its text nor its links are shown to a program."""
    path = "Inbox/Sensitive credentials.md"
    listed = client.get("/notes", params={"folder": "Inbox", "recursive": False}).json()
    read, links = client.get(f"/notes/{path}"), client.get("/links", params={"path": path})

    assert path in [each["path"] for each in listed["notes"]]
    assert (read.status_code, read.json()["error"]["reason"]) == (403, "sensitive")
    assert (links.status_code, links.json()["error"]["reason"]) == (403, "sensitive")
