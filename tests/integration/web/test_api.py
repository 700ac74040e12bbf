"""Who may call what, and what the API says of itself."""

from typing import Any, Final

from starlette.testclient import TestClient

from commonplace.errors import ERROR_CODES
from tests.integration.web.conftest import ClientFor

ASKS: Final = {"search", "context", "start_context"}
"""Operations that carry a body and change nothing."""

REVIEWS: Final = {"list_waiting", "show_waiting", "show_proposal", "approve_waiting", "edit_waiting", "reject_waiting"}
OWN: Final = {*REVIEWS, "list_ended", "run_job", "run_template", "read_digest", "sync_calendars"}
"""Operations of the person alone."""

STREAMS: Final = {"live_events"}
"""Operations whose response does not end."""


def test_a_reader_cannot_change_anything(client_for: ClientFor) -> None:
    """Every operation that changes something is refused before its arguments are read."""
    reader = client_for("read")
    answers = {
        operation["operationId"]: _call(reader, path, method)
        for path, method, operation in _operations(reader)
        if operation["operationId"] not in STREAMS
    }
    refused = {name for name, answer in answers.items() if answer.status_code == 403}
    changes = {
        operation["operationId"]
        for _, method, operation in _operations(reader)
        if method != "get" and operation["operationId"] not in ASKS
    }

    assert refused == changes | OWN
    assert answers["undo"].json()["error"]["message"] == "tester has no permission to write"
    assert "token" in answers["undo"].json()["error"]["hint"]


def test_a_request_without_a_caller_is_unauthorized(client_for: ClientFor) -> None:
    """On every operation; only the description is served to anyone the guard admits."""
    stranger = client_for()
    answers = [_call(stranger, path, method) for path, method, _ in _operations(stranger)]

    assert {answer.status_code for answer in answers} == {401}
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {"Bearer"}


def test_every_operation_documents_its_responses(client: TestClient) -> None:
    """An id, a summary, a description, the token it needs, and each error status with its schema."""
    described = _operations(client)
    names = [operation["operationId"] for _, _, operation in described]

    assert len(set(names)) == len(names) > 25
    for _, _, operation in described:
        assert operation["summary"]
        assert operation["description"]
        assert operation["security"] == [{"token": []}]
        assert {"200", "401", "403", "413", "422", "429", *(str(each.http) for each in ERROR_CODES.values())} <= set(
            operation["responses"]
        )
        for status, response in operation["responses"].items():
            (schema,) = [each["schema"] for each in response["content"].values()]
            assert (schema == {"$ref": "#/components/schemas/FailureResponse"}) == (status != "200")


def test_of_what_is_reserved_for_a_person_the_api_has_review_and_running_things(client: TestClient) -> None:
    """No erasing, no grants, no loading into every prompt, no writing to personal notes."""
    names = " ".join(operation["operationId"] for _, _, operation in _operations(client))
    loaded = client.post("/entries", json={"text": "Drinks tea.", "always_load": True})
    personal = client.put("/notes/README.md", json={"text": "mine", "personal": True})

    assert not [word for word in ("erase", "grant", "load") if word in names]
    assert {name for name in names.split() if name.endswith(("_waiting", "_proposal"))} == REVIEWS
    assert (loaded.status_code, personal.status_code) == (422, 422)


def test_there_is_no_documentation_page(client: TestClient) -> None:
    """The description is JSON; a page would load scripts from another site."""
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
