"""What the clients share. A server is opened with our limits, and asked twice at most: the model's words -> JSON ->
what fits the schema.

`fit` knows the keywords of JSON Schema that our schemas use; another one is an error of ours.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from commonplace.errors import ProviderFailed
from commonplace.llm.base import ModelAnswer, Prompt, estimate_tokens
from commonplace.model_server import ModelServer

MISSING: Final = object()
"""Stands for a value of which nothing fits."""

_KEYWORDS: Final = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "minimum",
        "maximum",
        "maxItems",
        "maxLength",
        "description",
    }
)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_ATTEMPTS: Final = 3  # at a busy server
_MAX_RESPONSE_BYTES: Final = 8 << 20  # an answer of 100,000 tokens has half a megabyte
_HINT: Final = "Check the settings `llm` (base_url, model, key) and the server itself; `commonplace doctor` asks it."
_THOUGHTS: Final = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_MOST_STARTS: Final = 20  # braces at which an object may begin, in a text that is not JSON alone
_MOST_PROBLEMS: Final = 8  # that a model is told: the rest is like them
_AGAIN: Final = """\
Your answer does not fit the schema:
{problems}
Answer again with the whole corrected JSON object and nothing else."""


class RawAnswer(NamedTuple):
    """One answer as a server gave it: its words, the JSON value in them (MISSING if none), and its tokens."""

    text: str
    value: Any
    tokens_in: int
    tokens_out: int


class Fitted(NamedTuple):
    """What of a value fits a schema (MISSING if nothing), and what does not: its place and what was expected."""

    value: Any
    problems: tuple[str, ...]


Send = Callable[[Sequence[Prompt]], RawAnswer]


def open_server(
    base_url: str, *, headers: Mapping[str, str], key: str | None, timeout: float, backoff: float
) -> ModelServer:
    """A server of language models, not asked yet. Raises UsageError as ModelServer does."""
    return ModelServer(
        base_url,
        label="model server",
        setting="llm.base_url",
        hint=_HINT,
        headers=headers,
        key=key,
        timeout=timeout,
        backoff=backoff,
        attempts=_ATTEMPTS,
        max_bytes=_MAX_RESPONSE_BYTES,
    )


def check_models(server: ModelServer, path: str, *, model: str) -> str:
    """Whether the server answers, and lists the model. Raises ProviderFailed."""
    try:
        ids = [str(each["id"]) for each in json.loads(server.get(path))["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        ids = []
    named = f"{model}@{server.host}"
    is_listed = model in ids or f"{model}:latest" in ids  # Ollama's full name of a model without a tag
    return f"{named} answers" if is_listed else f"{named}: the server answers, but does not list this model"


def unfinished(server: ModelServer, *, tokens_in: int, tokens_out: int) -> ProviderFailed:
    """The failure of an answer that was cut off."""
    failure = server.failed("did not finish its answer within the limit of tokens", "too_long")
    failure.tokens_in, failure.tokens_out = tokens_in, tokens_out
    return failure


def ask_twice(
    send: Send, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, name: str, failed: ProviderFailed
) -> ModelAnswer:
    """The model's answer; if it does not fit, the model is told why and asked once more, and what fits is kept.

    Raises `failed`, with the tokens that were paid for, if nothing fits; and what `send` raises.
    """
    first = send(prompts)
    fitted = fit(first.value, schema)
    if not fitted.problems:
        return ModelAnswer(fitted.value, first.tokens_in, first.tokens_out, name)
    try:
        second = send((*prompts, *_correction(first, fitted.problems)))
    except ProviderFailed as failure:
        failure.tokens_in += first.tokens_in
        failure.tokens_out += first.tokens_out
        raise
    fitted = fit(second.value, schema)
    tokens_in, tokens_out = first.tokens_in + second.tokens_in, first.tokens_out + second.tokens_out
    if fitted.value is MISSING:
        failed.tokens_in, failed.tokens_out = tokens_in, tokens_out
        raise failed
    return ModelAnswer(fitted.value, tokens_in, tokens_out, name, fitted.problems)


def _correction(reply: RawAnswer, problems: Sequence[str]) -> tuple[Prompt, Prompt]:
    listed = "\n".join(f"- {problem}" for problem in problems[:_MOST_PROBLEMS])
    return Prompt("assistant", reply.text.strip() or "(no answer)"), Prompt("user", _AGAIN.format(problems=listed))


def schema_in_words(schema: Mapping[str, Any]) -> str:
    """The instruction to answer in JSON, for a model whose server knows no schema."""
    return f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"


def json_in(text: str) -> Any:
    """The JSON value in a model's text; MISSING if there is none.

    Some models think aloud first, or put the object into a code fence: then it is the first object in the text.
    """
    words = _THOUGHTS.sub("", text).strip()
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    starts = [0, *(match.start() for match in re.finditer("{", words))][:_MOST_STARTS]
    for start in starts:
        try:
            value, end = decoder.raw_decode(words, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or not words[end:].strip():
            return value
    return MISSING


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def fit(value: Any, schema: Mapping[str, Any], at: str = "the answer") -> Fitted:
    """What of the value fits the schema: array items and optional properties that do not fit are left out.

    Raises ValueError for a schema with an unknown keyword.
    """
    if unknown := schema.keys() - _KEYWORDS:
        raise ValueError(f"unknown keywords in a schema: {', '.join(sorted(unknown))}")
    if value is MISSING:
        return Fitted(MISSING, (f"{at} is not JSON",))
    if problem := _plain_problem(value, schema):
        return Fitted(MISSING, (f"{at} {problem}",))
    if isinstance(value, dict):
        return _fit_object(value, schema, at)
    if isinstance(value, list):
        return _fit_array(value, schema, at)
    return Fitted(value.encode("utf-8", "replace").decode() if isinstance(value, str) else value, ())


def _plain_problem(value: Any, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value apart from its parts; empty if nothing is."""
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else types
    if types and not any(_is_type(value, each) for each in types):
        return f"is not of type {' or '.join(types)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"is not one of {json.dumps(schema['enum'])}"
    if "maxLength" in schema and isinstance(value, str) and len(value) > schema["maxLength"]:
        return f"has more than {schema['maxLength']} characters"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"is not between {schema.get('minimum', 'any')} and {schema.get('maximum', 'any')}"
    return ""


def _is_type(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _fit_object(value: Mapping[str, Any], schema: Mapping[str, Any], at: str) -> Fitted:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    kept: dict[str, Any] = {}
    problems = [f"{at} has no {name!r}" for name in required if name not in value]
    for name, item in value.items():
        if name not in properties:
            if schema.get("additionalProperties", True):
                kept[name] = item
            continue  # a property that nobody reads does no harm
        part = fit(item, properties[name], f"{at}.{name}")
        problems += part.problems
        if part.value is not MISSING:
            kept[name] = part.value
    is_whole = all(name in kept for name in required)
    return Fitted(kept if is_whole else MISSING, tuple(problems))


def _fit_array(value: Sequence[Any], schema: Mapping[str, Any], at: str) -> Fitted:
    most, items = schema.get("maxItems", len(value)), schema.get("items", {})
    parts = [fit(item, items, f"{at}[{number}]") for number, item in enumerate(value[:most])]
    problems = [problem for part in parts for problem in part.problems]
    if len(value) > most:
        problems.append(f"{at} has more than {most} items")
    return Fitted([part.value for part in parts if part.value is not MISSING], tuple(problems))


def is_closed(schema: Mapping[str, Any]) -> bool:
    """True if every property is required and no other is allowed, at every depth: what strict servers ask for."""
    properties = schema.get("properties", {})
    inner = (*properties.values(), *((schema["items"],) if "items" in schema else ()))
    is_object = "properties" in schema
    is_shut = not is_object or (
        set(schema.get("required", ())) == set(properties) and schema.get("additionalProperties") is False
    )
    return is_shut and all(map(is_closed, inner))


def token_count(usage: object, field: str, *, text: str) -> int:
    """The tokens that a server counted; estimated from the text if it does not say."""
    counted = usage.get(field) if isinstance(usage, dict) else None
    is_count = isinstance(counted, int) and not isinstance(counted, bool) and counted >= 0
    return counted if is_count and counted is not None else estimate_tokens(text)


def joined(prompts: Iterable[Prompt]) -> str:
    """The words of all prompts, to count them."""
    return "\n".join(prompt.text for prompt in prompts)
