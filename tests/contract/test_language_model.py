"""Both clients keep the contract of the seam, over real HTTP: OpenAI's chat completions and Anthropic's messages."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from commonplace.errors import ProviderFailed, Reason, UsageError
from commonplace.llm.anthropic_api import AnthropicModel
from commonplace.llm.base import LanguageModel, Prompt
from commonplace.llm.openai_api import OpenAiModel
from tests.llm_server import MODEL, TOKENS_IN, TOKENS_OUT, Answer, Failure, ModelScript, Turn, serving_models

KEY = "sk-very-secret"
PROMPTS = (Prompt("system", "Judge them."), Prompt("user", "PRIVATE words"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
        "summary": {"type": "string"},
    },
    "required": ["facts"],
}
GOOD = {"facts": [{"text": "Lives in Utrecht."}], "summary": "Utrecht"}


@dataclass(frozen=True, slots=True)
class Api:
    """One client: how it is made, its base URL on a server, and the header that carries the key."""

    make: Callable[..., LanguageModel]
    base: Callable[[ModelScript], str]
    key_header: tuple[str, str]
    path: str

    def model(self, server: ModelScript, *, key: str | None = KEY, timeout: float = 20) -> LanguageModel:
        """A model on that server."""
        return self.make(self.base(server), model=MODEL, key=key, timeout=timeout, backoff=0)


TWINS = {
    "openai": Api(
        OpenAiModel, lambda server: server.openai, ("authorization", f"Bearer {KEY}"), "/v1/chat/completions"
    ),
    "anthropic": Api(AnthropicModel, lambda server: server.anthropic, ("x-api-key", KEY), "/v1/messages"),
}


@pytest.fixture(params=TWINS, ids=str)
def api(request: pytest.FixtureRequest) -> Api:
    """One client."""
    return TWINS[request.param]


@pytest.mark.requirement("I-25")
def test_messages_and_a_schema_go_out_and_a_value_and_its_usage_come_back(api: Api) -> None:
    """One method, text only: no stream, no queue."""
    with serving_models(Answer(GOOD)) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value == GOOD
    assert (answer.tokens_in, answer.tokens_out) == (TOKENS_IN, TOKENS_OUT)
    assert (answer.model, answer.problems) == (f"{MODEL}@127.0.0.1", ())
    (request,) = server.requests
    assert request.path == api.path
    assert request.body["model"] == MODEL
    assert request.body["max_tokens"] == 500
    assert "Judge them." in request.words
    assert "PRIVATE words" in request.words


def test_the_key_goes_to_the_server_and_nowhere_else(api: Api) -> None:
    """In its own header; without a key there is no such header."""
    name, value = api.key_header
    with serving_models(Answer(GOOD), Answer(GOOD)) as server:
        api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)
        api.model(server, key=None).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert [request.headers.get(name) for request in server.requests] == [value, None]
    assert all(KEY not in json.dumps(dict(request.body)) for request in server.requests)


def test_a_redirect_is_not_followed(api: Api) -> None:
    """The key and the text would go along to another host."""
    with serving_models(default=Answer(GOOD)) as elsewhere:
        redirect = Failure(307, headers={"Location": f"{elsewhere.url}{api.path}"})
        with serving_models(default=redirect) as server, pytest.raises(ProviderFailed, match="307"):
            api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (Failure(401, {"type": "authentication_error"}), "auth"),
        (Failure(403), "auth"),
        (Failure(402, {"type": "billing_error"}), "quota"),
        (Failure(429, {"type": "insufficient_quota", "code": "insufficient_quota"}), "quota"),
        (Failure(400, {"type": "invalid_request_error", "message": "Your credit balance is too low"}), "quota"),
        (Failure(429, {"type": "rate_limit_error"}), "busy"),
        (Failure(503), "busy"),
        (Failure(529, {"type": "overloaded_error"}), "busy"),
        (Failure(400, {"code": "context_length_exceeded"}), "too_long"),
        (Failure(400, {"message": "prompt is too long: 250000 tokens > 200000 maximum"}), "too_long"),
        (Failure(413), "too_long"),
        (Answer(GOOD, is_cut=True), "too_long"),
        (Failure(400), "malformed"),
        (Failure(404, {"type": "not_found_error"}), "unreachable"),
        (Failure(200, body=b"<html>PRIVATE"), "malformed"),
        (Failure(200, body=b"[" * 60_000), "malformed"),
        (Failure(200, body=b"{}"), "malformed"),
        (Failure(200, body=b"null"), "malformed"),
        (Failure(200, body=b"x" * (9 << 20)), "malformed"),
    ],
)
def test_a_failure_says_what_to_do_about_it(api: Api, turn: Turn, reason: Reason) -> None:
    """Its reason tells whether to try again, to wait, or to change the settings; it shows neither text nor key."""
    with serving_models(default=turn) as server, pytest.raises(ProviderFailed) as caught:
        api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert caught.value.reason == reason
    shown = json.dumps(caught.value.as_dict())
    assert KEY not in shown
    assert "PRIVATE" not in shown


def test_a_busy_server_is_asked_again(api: Api) -> None:
    """Being busy passes."""
    with serving_models(Failure(503), Failure(429), Answer(GOOD)) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value == GOOD
    assert len(server.requests) == 3


def test_a_server_that_wants_a_long_pause_gets_it(api: Api) -> None:
    """It is not asked again at once, and the caller learns how long to wait."""
    turn = Failure(429, headers={"Retry-After": "120"})
    with serving_models(default=turn) as server, pytest.raises(ProviderFailed) as caught:
        api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert (caught.value.reason, caught.value.retry_after) == ("busy", 120)
    assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["Fri, 31 Dec 9999 23:59:59 GMT", "soon", "-3", "9" * 400, "1e9"])
def test_a_retry_after_that_cannot_be_honoured_does_no_harm(api: Api, header: str) -> None:
    """A date far away is a long pause; nonsense is no pause."""
    turn = Failure(503, headers={"Retry-After": header})
    with serving_models(default=turn) as server, pytest.raises(ProviderFailed) as caught:
        api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert caught.value.reason == "busy"
    assert len(server.requests) == (1 if "GMT" in header else 3)


@pytest.mark.parametrize(
    "bad",
    [
        Answer(text="I cannot do that."),
        Answer(text=""),
        Answer({"summary": "no facts"}),
        Answer({"facts": "none"}),
        Answer([1, 2]),
        Answer({"facts": [{"text": 7}]}),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_once_more(api: Api, bad: Answer) -> None:
    """The model is told what is wrong; both answers are paid for."""
    with serving_models(bad, Answer(GOOD)) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value == GOOD
    assert (answer.tokens_in, answer.tokens_out) == (2 * TOKENS_IN, 2 * TOKENS_OUT)
    assert "does not fit the schema" in server.requests[1].words
    assert "PRIVATE words" in server.requests[1].words


def test_two_answers_that_do_not_fit_are_a_failure_that_was_paid_for(api: Api) -> None:
    """The model is not asked a third time."""
    with serving_models(default=Answer(text="no")) as server, pytest.raises(ProviderFailed) as caught:
        api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert caught.value.reason == "malformed"
    assert (caught.value.tokens_in, caught.value.tokens_out) == (2 * TOKENS_IN, 2 * TOKENS_OUT)
    assert len(server.requests) == 2


@pytest.mark.requirement("I-26")
def test_what_fits_of_the_second_answer_is_kept(api: Api) -> None:
    """One bad item does not lose the others; the parts that were dropped are named."""
    half = Answer({"facts": [{"text": "Lives in Utrecht."}, "x", {"text": None}], "summary": 3})
    with serving_models(default=half) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value == {"facts": [{"text": "Lives in Utrecht."}, {}]}
    assert len(answer.problems) == 3


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(GOOD)}\n```",
        f"<think>Is {{it}} a fact? Yes.</think>\n{json.dumps(GOOD)}",
        f"Here is the object: {json.dumps(GOOD)} I hope it helps.",
    ],
)
def test_an_object_among_other_words_is_found(api: Api, text: str) -> None:
    """Small models put it into a code fence, or think aloud first."""
    with serving_models(Answer(text=text)) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value == GOOD


def test_tokens_that_a_server_does_not_count_are_estimated(api: Api) -> None:
    """Rather more than less, so that a budget holds."""
    with serving_models(Answer(GOOD, tokens=None)) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.tokens_in >= 6
    assert answer.tokens_out >= 15


def test_a_half_character_in_an_answer_is_replaced(api: Api) -> None:
    """No store can write one."""
    with serving_models(Answer({"facts": [{"text": "half \ud83d"}]})) as server:
        answer = api.model(server).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert answer.value["facts"][0]["text"] == "half ?"


def test_a_server_that_is_not_there_is_unreachable_and_bills_nothing(api: Api) -> None:
    """Nothing listens on that port any more."""
    with serving_models() as gone:
        model = api.model(gone)

    with pytest.raises(ProviderFailed) as caught:
        model.ask(PROMPTS, SCHEMA, most_tokens=500)
    assert (caught.value.reason, caught.value.may_be_billed) == ("unreachable", False)


def test_an_answer_that_takes_too_long_is_given_up_and_may_be_billed(api: Api) -> None:
    """The server had the request."""
    with serving_models(Answer(GOOD, delay=1.0)) as server, pytest.raises(ProviderFailed) as caught:
        api.model(server, timeout=0.2).ask(PROMPTS, SCHEMA, most_tokens=500)

    assert (caught.value.reason, caught.value.may_be_billed) == ("unreachable", True)


def test_a_check_asks_for_the_list_of_models_alone(api: Api) -> None:
    """It sends no text and costs nothing; a server that lists other models answers too."""
    with serving_models() as server:
        assert api.model(server).check() == f"{MODEL}@127.0.0.1 answers"
        server.listed = ("another",)
        assert "does not list" in api.model(server).check()
        server.listing_status = 401
        with pytest.raises(ProviderFailed, match="401"):
            api.model(server).check()

    assert server.requests == []


@pytest.mark.parametrize(("base", "is_remote"), [("http://127.0.0.1:1/v1", False), ("https://example.org/v1", True)])
def test_a_model_says_whether_words_leave_this_machine(api: Api, base: str, is_remote: bool) -> None:
    """By its address alone."""
    model = api.make(base, model=MODEL, key=None)

    assert model.is_remote is is_remote
    assert model.name.startswith(f"{MODEL}@")


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-secr\u00e9t"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(api: Api, key: str) -> None:
    """The library's own error would print it."""
    with pytest.raises(UsageError) as caught:
        api.make("http://127.0.0.1:1/v1", model=MODEL, key=key)

    assert "sk-" not in str(caught.value.as_dict())


def test_a_schema_with_an_unknown_keyword_is_an_error_of_ours(api: Api) -> None:
    """It would not be checked."""
    with serving_models(Answer(GOOD)) as server, pytest.raises(ValueError, match="oneOf"):
        api.model(server).ask(PROMPTS, {"oneOf": []}, most_tokens=500)
