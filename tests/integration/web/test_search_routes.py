"""Search, context and the index by HTTP."""

from pathlib import Path

from starlette.testclient import TestClient

from commonplace.memory import Memory


def test_a_search_responds_in_the_shared_shape(client: TestClient) -> None:
    """The same fields for a body and for query parameters; filters may repeat."""
    by_body = client.post("/search", json={"query": "greenhouse", "k": 2, "mode": "words"}).json()
    by_address = client.get("/search", params={"q": "greenhouse", "k": 2, "mode": "words"}).json()
    filtered = client.get("/search?q=greenhouse&tags=people&tags=nothing").json()

    assert {"ok", "query", "mode", "searched", "count", "took_ms", "degraded", "confidence", "results"} == set(by_body)
    assert by_body["ok"] is True
    assert by_body["count"] == len(by_body["results"]) == 2
    assert {"chunk_id", "document_id", "source_path", "heading_path", "content", "score", "sensitive", "why"} < set(
        by_body["results"][0]
    )
    assert by_address["results"] == by_body["results"]
    assert {hit["source_path"].partition("/")[0] for hit in filtered["results"]} == {"People"}


def test_a_search_says_how_it_understood_the_question_only_when_asked(client: TestClient) -> None:
    """`explain` adds two fields, and nothing else does."""
    plain = client.post("/search", json={"query": "greenhouse last week"}).json()
    explained = client.post("/search", json={"query": "greenhouse last week", "explain": True}).json()

    assert set(explained) - set(plain) == {"understood", "times"}


def test_sensitive_text_is_shown_to_no_agent(client: TestClient, memory: Memory) -> None:
    """Every caller is an agent, whatever its scopes: it sees the title of the note, not its text."""
    asked = {"query": "code of the tool shed", "mode": "words"}
    told = [hit for hit in client.post("/search", json=asked).json()["results"] if hit["sensitive"]]

    assert any("known to Priya" in hit.text for hit in memory.search(asked["query"], mode="words"))
    assert [hit["title"] for hit in told] == ["Alarm of the tool shed"]
    assert not any("Priya" in hit["content"] for hit in told)


def test_the_context_of_a_prompt_comes_with_its_reasons(client: TestClient) -> None:
    """The text, what is in it and why, within the budget; a session's start recalls nothing."""
    composed = client.post("/context", json={"prompt": "Where does Ada live?", "session_id": "s-1", "budget": 2000})
    started = client.post("/context/start", json={"scope": "channel:team"})

    assert composed.status_code == started.status_code == 200
    assert "Uppsala" in composed.json()["text"]
    assert composed.json()["chars"] == len(composed.json()["text"]) <= composed.json()["budget"] == 2000
    assert all(each["why"] and each["section"] for each in composed.json()["included"])
    assert not [each for each in started.json()["included"] if each["section"] == "recalled"]


def test_a_session_is_given_its_profile_once(client: TestClient) -> None:
    """At its start or with its first prompt, unless the prompt does without; passages as `notes` says."""
    client.post("/entries", json={"text": "Is allergic to walnuts.", "kind": "constraint"})

    def given(path: str, **fields: object) -> str:
        answered = client.post(path, json=fields)
        assert answered.status_code == 200, answered.text
        return str(answered.json()["text"])

    start, again = (given("/context/start", session_id="s-7") for _ in range(2))
    peeks = [given("/context", prompt="cook for me", session_id="s-8", peek=True) for _ in range(2)]
    alone = given("/context", prompt="write a haiku about rain", profile=False)
    asked = {"prompt": "what do my notes say about the greenhouse?", "profile": False}
    notes = [given("/context", **asked, notes=mode) for mode in ("asked", "off")]
    wrong = client.post("/context", json={**asked, "notes": "sometimes"})

    assert ("walnuts" in start, "walnuts" in again) == (True, False)
    assert all("walnuts" in text for text in peeks)
    assert alone == ""
    assert [" recalled>" in text for text in notes] == [True, False]
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (400, "UsageError")


def test_an_unknown_phase_or_scope_is_refused(client: TestClient) -> None:
    """By the library, or with the name of the field."""
    phase = client.post("/context", json={"prompt": "a", "phase": "sleeping"})
    scope = client.post("/context", json={"prompt": "a", "scope": "elsewhere"})

    assert (phase.status_code, phase.json()["error"]["type"]) == (400, "UsageError")
    assert (scope.status_code, scope.json()["error"]["fields"][0]["field"]) == (422, "body.scope")


def test_sync_indexes_what_another_program_wrote(client: TestClient, vault: Path) -> None:
    """A note written in an editor is indexed by the next sync, with its topics and problems."""
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


def test_an_archive_is_searched_only_when_the_request_says_so(client: TestClient, memory: Memory, vault: Path) -> None:
    """The person's own archive too, by body and by query parameters."""
    note = vault / "Projects" / "_archive" / "Windmill.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Windmill\n\nThe zephyrine windmill stood by the pond.\n")
    memory.index.sync()

    def found(**options: bool) -> list[str]:
        by_body = client.post("/search", json={"query": "zephyrine", "mode": "words", **options}).json()
        by_address = client.get("/search", params={"q": "zephyrine", "mode": "words", **options}).json()
        assert by_body["results"] == by_address["results"]
        return [hit["source_path"] for hit in by_body["results"]]

    assert found() == []
    assert found(include_archive=True) == ["Projects/_archive/Windmill.md"]
