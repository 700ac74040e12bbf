"""Models behind OpenAI's chat completions: OpenAI itself, Ollama, llama.cpp, LM Studio, vLLM and others."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from commonplace.errors import ProviderFailed
from commonplace.llm.base import ModelAnswer, Prompt
from commonplace.llm.json_answers import (
    RawAnswer,
    ask_twice,
    check_models,
    is_closed,
    joined,
    json_in,
    open_server,
    schema_in_words,
    token_count,
    unfinished,
)

BASE_URL: Final = "https://api.openai.com/v1"
_OPENAI_HOST: Final = "api.openai.com"

_FORMATS: Final = ("json_schema", "json_object", "text")
"""How a server is asked for JSON, best first: those that know no schema refuse it, and are told it in words."""


class OpenAiModel:
    """One model on one server. The key is sent to that server only and never shown."""

    def __init__(
        self, base_url: str, *, model: str, key: str | None, timeout: float = 60.0, backoff: float = 0.5
    ) -> None:
        """`base_url` is the address without `/chat/completions`. Raises UsageError as ModelServer does."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._server = open_server(base_url, headers=headers, key=key, timeout=timeout, backoff=backoff)
        self._model = model
        self._format = 0
        self.name = f"{model}@{self._server.host}"
        self.is_remote = self._server.is_remote

    def ask(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> ModelAnswer:
        """The model's answer, checked against the schema; asked once more if the first one does not fit."""

        def send(prompts: Sequence[Prompt]) -> RawAnswer:
            return self._send(prompts, schema, most_tokens=most_tokens)

        failed = self._server.failed("answered twice without fitting the schema", "malformed")
        return ask_twice(send, prompts, schema, name=self.name, failed=failed)

    def check(self) -> str:
        """Whether the server answers, and lists the model."""
        return check_models(self._server, "/models", model=self._model)

    def _send(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> RawAnswer:
        """The reply in the best format that this server knows; the format that it took is used from then on."""
        for number in range(self._format, len(_FORMATS)):
            try:
                content = self._server.post(
                    "/chat/completions", self._body(prompts, schema, _FORMATS[number], most_tokens)
                )
            except ProviderFailed as failure:
                if failure.reason != "malformed" or number == len(_FORMATS) - 1:
                    raise
                continue
            self._format = number
            return self._reply(content, prompts)
        raise AssertionError("the last format returns or raises")

    def _body(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], format_: str, most: int) -> dict[str, Any]:
        messages = [{"role": each.speaker, "content": each.text} for each in prompts]
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        # OpenAI's newer models take neither `max_tokens` nor a temperature; other servers know no other name.
        is_openai = self._server.host == _OPENAI_HOST
        body |= {"max_completion_tokens": most} if is_openai else {"max_tokens": most, "temperature": 0}
        if format_ == "json_schema":
            named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
            return body | {"response_format": {"type": format_, "json_schema": named}}
        body["messages"] = [{"role": "system", "content": schema_in_words(schema)}, *messages]
        return body | ({"response_format": {"type": format_}} if format_ == "json_object" else {})

    def _reply(self, content: bytes, prompts: Sequence[Prompt]) -> RawAnswer:
        try:
            answer = json.loads(content)
            choice = answer["choices"][0]
            text = _text_of(choice["message"].get("content"))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            raise self._server.failed("responded with something other than a chat completion", "malformed") from None
        tokens_in = token_count(answer.get("usage"), "prompt_tokens", text=joined(prompts))
        tokens_out = token_count(answer.get("usage"), "completion_tokens", text=text)
        if choice.get("finish_reason") == "length":
            raise unfinished(self._server, tokens_in=tokens_in, tokens_out=tokens_out)
        return RawAnswer(text, json_in(text), tokens_in, tokens_out)


def _text_of(content: object) -> str:
    """The words of a message: plain, or in parts; empty for a refusal."""
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else ""
