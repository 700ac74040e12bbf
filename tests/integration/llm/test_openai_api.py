"""OpenAI's API on servers that know less of it: formats of the answer, and which fields are sent."""

from typing import Any

import pytest

from commonplace.errors import ProviderFailed
from commonplace.llm.base import Prompt
from commonplace.llm.openai_api import OpenAiModel
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"action": {"type": "string"}},
    "required": ["action"],
    "additionalProperties": False,
}
PROMPTS = (Prompt("user", "Which?"),)
GOOD = Answer({"action": "extend"})


def formats(server: ModelScript) -> list[str]:
    """The response formats that the server was asked for, in order."""
    return [request.body.get("response_format", {}).get("type", "") for request in server.requests]


def model(server: ModelScript) -> OpenAiModel:
    """The model on that server."""
    return OpenAiModel(server.openai, model=MODEL, key=None, backoff=0)


def test_a_server_with_schemas_gets_the_schema_and_is_held_to_it() -> None:
    """Strictly, if the schema is closed."""
    with serving_models(default=GOOD) as server:
        model(server).ask(PROMPTS, SCHEMA, most_tokens=50)
        model(server).ask(PROMPTS, {**SCHEMA, "required": []}, most_tokens=50)

    sent = [request.body["response_format"]["json_schema"] for request in server.requests]
    assert [each["strict"] for each in sent] == [True, False]
    assert sent[0]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (frozenset({"json_schema"}), ["json_schema", "json_object", "json_object"]),
        (frozenset({"json_schema", "json_object"}), ["json_schema", "json_object", "", ""]),
    ],
)
def test_a_server_without_schemas_is_told_the_schema_in_words(refused: frozenset[str], expected: list[str]) -> None:
    """It is found out once; the next call begins with what the server knows."""
    with serving_models(default=GOOD) as server:
        server.refused_formats = refused
        asked = model(server)
        answers = [asked.ask(PROMPTS, SCHEMA, most_tokens=50).value for _ in range(2)]

    assert answers == [{"action": "extend"}] * 2
    assert formats(server) == expected
    assert '"additionalProperties": false' in server.requests[-1].words


def test_a_request_that_is_refused_in_every_format_is_a_failure() -> None:
    """And says nothing about formats: the next request begins with a schema again."""
    with serving_models(Failure(400), Failure(400), Failure(400), GOOD) as server:
        asked = model(server)
        with pytest.raises(ProviderFailed, match="400"):
            asked.ask(PROMPTS, SCHEMA, most_tokens=50)
        asked.ask(PROMPTS, SCHEMA, most_tokens=50)

    assert formats(server) == ["json_schema", "json_object", "", "json_schema"]


def test_a_content_in_parts_is_read() -> None:
    """Some servers give a list of parts instead of a text; a refusal has no content at all."""
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "{\\"action\\": \\"extend\\"}"}]}}]}'
    refusal = b'{"choices": [{"message": {"content": null, "refusal": "No."}}]}'
    with serving_models(Failure(200, body=refusal), Failure(200, body=parts)) as server:
        answer = model(server).ask(PROMPTS, SCHEMA, most_tokens=50)

    assert answer.value == {"action": "extend"}
