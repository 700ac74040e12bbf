"""Models behind Anthropic's messages; the answer is the input of a tool that the model has to call."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from commonplace.llm.base import ModelAnswer, Prompt
from commonplace.llm.json_answers import (
    MISSING,
    RawAnswer,
    ask_twice,
    check_models,
    joined,
    json_in,
    open_server,
    token_count,
    unfinished,
)

BASE_URL: Final = "https://api.anthropic.com"
_VERSION: Final = "2023-06-01"  # of the API, sent with every request
_TOOL: Final = "answer"


class AnthropicModel:
    """One model on one server. The key is sent to that server only and never shown."""

    def __init__(
        self, base_url: str, *, model: str, key: str | None, timeout: float = 60.0, backoff: float = 0.5
    ) -> None:
        """`base_url` is the address without `/v1/messages`. Raises UsageError as ModelServer does."""
        headers = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        address = base_url.rstrip("/").removesuffix("/v1")
        self._server = open_server(address, headers=headers, key=key, timeout=timeout, backoff=backoff)
        self._model = model
        self.name = f"{model}@{self._server.host}"
        self.is_remote = self._server.is_remote

    def ask(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> ModelAnswer:
        """The model's answer, checked against the schema; asked once more if the first one does not fit."""

        def send(prompts: Sequence[Prompt]) -> RawAnswer:
            return self._reply(self._server.post("/v1/messages", self._body(prompts, schema, most_tokens)), prompts)

        failed = self._server.failed("answered twice without fitting the schema", "malformed")
        return ask_twice(send, prompts, schema, name=self.name, failed=failed)

    def check(self) -> str:
        """Whether the server answers, and lists the model."""
        return check_models(self._server, "/v1/models?limit=1000", model=self._model)

    def _body(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], most_tokens: int) -> dict[str, Any]:
        tool = {"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}
        system = "\n\n".join(each.text for each in prompts if each.speaker == "system")
        return {
            "model": self._model,
            "max_tokens": most_tokens,
            **({"system": system} if system else {}),
            "messages": [{"role": each.speaker, "content": each.text} for each in prompts if each.speaker != "system"],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": _TOOL},
        }

    def _reply(self, content: bytes, prompts: Sequence[Prompt]) -> RawAnswer:
        try:
            answer = json.loads(content)
            blocks = [block for block in answer["content"] if block["type"] in ("tool_use", "text")]
            inputs = [block["input"] for block in blocks if block["type"] == "tool_use"]
            words = "".join(str(block["text"]) for block in blocks if block["type"] == "text")
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._server.failed("responded with something other than a message", "malformed") from None
        value = inputs[0] if inputs else json_in(words)
        text = words if value is MISSING else json.dumps(value)
        tokens_in = token_count(answer.get("usage"), "input_tokens", text=joined(prompts))
        tokens_out = token_count(answer.get("usage"), "output_tokens", text=text)
        if answer.get("stop_reason") == "max_tokens":
            raise unfinished(self._server, tokens_in=tokens_in, tokens_out=tokens_out)
        return RawAnswer(text, value, tokens_in, tokens_out)
