"""Who may call what, and what the API says of itself."""

from typing import Any, Final

from starlette.testclient import TestClient

from commonplace.errors import ANSWERS
from tests.unit.web.conftest import ClientFor

ASKS: Final = {"search", "context", "start_context"}
"""Operations that carry a body and change nothing."""


def test_who_may_only_read_changes_nothing(client_for: ClientFor) -> None:
    """Every operation that changes something is refused before anything else is looked at."""
    reader = client_for("read")
    answers = {operation["operationId"]: _call(reader, path, method) for path, method, operation in _operations(reader)}
    refused = {name for name, answer in answers.items() if answer.status_code == 403}
    changes = {
        operation["operationId"]
        for _, method, operation in _operations(reader)
        if method != "get" and operation["operationId"] not in ASKS
    }

    assert refused == changes
    assert answers["undo"].json()["error"]["message"] == "tester may not write here"
    assert "token" in answers["undo"].json()["error"]["hint"]


def test_who_nobody_knows_is_told_to_bring_a_token(client_for: ClientFor) -> None:
    """On every operation; the description alone is for whoever the guard lets by."""
    stranger = client_for()
    answers = [_call(stranger, path, method) for path, method, _ in _operations(stranger)]

    assert {answer.status_code for answer in answers} == {401}
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {"Bearer"}


def test_every_operation_says_all_that_it_may_answer(client: TestClient) -> None:
    """An id, a summary, a description, the token it wants, and each status of an error with its shape."""
    described = _operations(client)
    names = [operation["operationId"] for _, _, operation in described]

    assert len(set(names)) == len(names) > 25
    for _, _, operation in described:
        assert operation["summary"]
        assert operation["description"]
        assert operation["security"] == [{"token": []}]
        assert {"200", "401", "403", "413", "422", "429", *(str(each.http) for each in ANSWERS.values())} <= set(
            operation["responses"]
        )
        for status, response in operation["responses"].items():
            schema = response["content"]["application/json"]["schema"]
            assert (schema == {"$ref": "#/components/schemas/ErrorAnswer"}) == (status != "200")


def test_nothing_that_only_a_person_may_do_is_here(client: TestClient) -> None:
    """No erasing, no grants, no loading into every prompt, no word for a person's own notes."""
    names = " ".join(operation["operationId"] for _, _, operation in _operations(client))
    loaded = client.post("/entries", json={"text": "Drinks tea.", "always_load": True})
    personal = client.put("/notes/README.md", json={"text": "mine", "personal": True})

    assert not [word for word in ("erase", "grant", "load", "approve") if word in names]
    assert (loaded.status_code, personal.status_code) == (422, 422)


def test_no_page_is_fetched_from_elsewhere(client: TestClient) -> None:
    """The description is JSON; there is no page that would load scripts from another machine."""
    assert client.get("/openapi.json").json()["openapi"].startswith("3.1")
    assert {client.get(path).status_code for path in ("/docs", "/redoc")} == {404}
    assert client.get("http://127.0.0.1/docs").status_code == 404


def _operations(client: TestClient) -> list[tuple[str, str, dict[str, Any]]]:
    """Every path, method and description."""
    paths = client.get("/openapi.json").json()["paths"]
    return [(path, method, operation) for path, methods in paths.items() for method, operation in methods.items()]


def _call(client: TestClient, path: str, method: str) -> Any:
    """Call an operation with nothing but its path."""
    at = path.removeprefix("/api/v1").replace("{id}", "a").replace("{path}", "Inbox/A.md")
    return client.request(method, at)
