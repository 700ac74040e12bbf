"""How errors leave by HTTP: one shape, the right status, whatever was sent."""

import json

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from commonplace.errors import CommonplaceError, IndexDamaged, ProviderFailed, VaultUnavailable
from commonplace.memory import Memory
from commonplace.model import Caller
from commonplace.web.api import make_api
from commonplace.web.entry_routes import RecordBody
from commonplace.web.note_routes import WriteBody
from commonplace.web.schemas import RequestModel
from commonplace.web.search_routes import SearchOptions

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"query": "\\u0000"}', 422),
        (b'{"query": "\\ud800"}', 422),
        (b'{"query": "a", "\\ud800": 1}', 422),
        (b'{"query": "a", "colour": "red"}', 422),
        (b'{"query": "a", "k": 0}', 422),
        (b'{"query": "a", "k": "5"}', 422),
        (b'{"query": "a", "min_score": NaN}', 422),
        (b'{"query": "a", "explain": 1}', 422),
        (b'{"query": 1e999}', 422),
        (b"[]", 422),
        (b"", 422),
        (b"{", 422),
        (b"\xff\xfe\x00", 400),
        (b"[" * 100_000, 400),
        (b'{"k": ' + b"9" * 5000 + b"}", 400),
    ],
)
def test_a_malformed_body_is_refused_in_the_one_form(client: TestClient, body: bytes, status: int) -> None:
    """Never a server error; the response is valid UTF-8 and does not repeat what was sent."""
    answer = client.post("/search", content=body, headers=JSON)

    assert answer.status_code == status
    assert answer.json()["ok"] is False
    assert {"type", "reason", "message", "hint"} <= set(answer.json()["error"])
    assert len(answer.content) < 2_000


def test_an_integer_may_be_written_with_a_fraction_of_zero(client: TestClient) -> None:
    """5.0 is 5, and 5.5 is refused."""
    whole, broken = (client.post("/search", json={"query": "greenhouse", "k": k}) for k in (5.0, 5.5))

    assert (whole.status_code, broken.status_code) == (200, 422)


def test_a_body_of_another_kind_is_refused(client: TestClient) -> None:
    """A web page may send a form without a preflight request, but a form is not JSON."""
    body = json.dumps({"query": "greenhouse"})
    answers = [client.post("/search", content=body, headers={"Content-Type": kind}) for kind in ("text/plain", "")]

    assert [each.status_code for each in answers] == [422, 422]


@pytest.mark.parametrize("path", ["/topics?x=1", "/notes?folder=&colour=red", "/search?q=a&Q=b", "/stats?", "/sync?x="])
def test_an_unknown_parameter_is_refused(client: TestClient, path: str) -> None:
    """A misspelt filter would otherwise match more than the caller asked for."""
    answer = client.post(path) if path.startswith("/sync") else client.get(path)

    assert answer.status_code == (200 if path.endswith("?") else 422)


def test_a_missing_route_answers_in_the_one_form(client: TestClient) -> None:
    """Also a wrong method, and a trailing slash: nothing is redirected."""
    nowhere, wrong, slash = client.get("/nowhere"), client.post("/topics"), client.get("/topics/")

    assert [each.status_code for each in (nowhere, wrong, slash)] == [404, 405, 404]
    assert all(each.json()["ok"] is False for each in (nowhere, wrong, slash))
    assert wrong.headers["Allow"] == "GET"


@pytest.mark.parametrize("body", [WriteBody, RecordBody, SearchOptions])
def test_many_unknown_fields_make_few_errors(body: type[RequestModel]) -> None:
    """Validation takes as long for ten thousand as for three."""
    with pytest.raises(ValidationError) as raised:
        body.model_validate({f"k{number}": 1 for number in range(10_000)})

    unknown = [each for each in raised.value.errors() if each["type"] == "extra_forbidden"]
    assert [each["loc"] for each in unknown] == [("k0",), ("k1",), ("k2",)]


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (VaultUnavailable("the disk is full"), 503, "unavailable"),
        (IndexDamaged("not a database"), 500, "damaged"),
        (ProviderFailed("no answer"), 502, "provider"),
        (CommonplaceError("nobody knows"), 500, "unexpected"),
        (RuntimeError("a secret place in the code"), 500, "unexpected"),
    ],
)
def test_an_error_has_the_status_of_its_kind(error: Exception, status: int, reason: str) -> None:
    """By the table of errors; an unexpected error reveals nothing internal."""

    def memory_for(caller: Caller) -> Memory:
        raise error

    api = make_api(memory_for)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        await api({**scope, "commonplace.caller": Caller("tester", frozenset({"read"}))}, receive, send)

    answer = TestClient(guarded, raise_server_exceptions=False).get("/api/v1/topics")

    assert (answer.status_code, answer.json()["error"]["reason"]) == (status, reason)
    assert "secret" not in answer.text
