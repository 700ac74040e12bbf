"""The model of an agent's host, which the host asks for us: first there is a question, and later its answer.

A host that offers MCP sampling is asked by the result of a tool, and calls the tool again with the answer. So the same
call of `ask` first raises HostAnswerNeeded, and gives the answer when the tool is called for the second time.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from commonplace.errors import ProviderFailed
from commonplace.llm.base import ModelAnswer, Prompt, estimate_tokens
from commonplace.llm.json_answers import MISSING, fit, joined, json_in, schema_in_words
from commonplace.model.learning import HostQuestion

_KEY_DIGITS: Final = 24


class HostAnswerNeeded(Exception):
    """The host has not been asked yet: this is the question. Not an error."""

    def __init__(self, question: HostQuestion) -> None:
        super().__init__(question.key)
        self.question = question


class HostModel:
    """The model of the host with that name; `answers` are those that it has given, by the key of the question."""

    is_remote: Final = True  # where it runs is the host's business

    def __init__(self, host: str, *, answers: Mapping[str, str]) -> None:
        self.name = f"sampling@{host}"
        self._answers = answers

    def ask(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> ModelAnswer:
        """What fits of the host's answer; asked once, because a person may have to approve each question.

        Raises HostAnswerNeeded without an answer, ProviderFailed if nothing of it fits.
        """
        system = [*(each.text for each in prompts if each.speaker == "system"), schema_in_words(schema)]
        text = joined(each for each in prompts if each.speaker != "system")
        key = hashlib.sha256("\n".join((*system, text)).encode(errors="replace")).hexdigest()[:_KEY_DIGITS]
        answer = self._answers.get(key)
        if answer is None:
            raise HostAnswerNeeded(HostQuestion(key, "\n\n".join(system), text, most_tokens))
        fitted = fit(json_in(answer), schema)
        if fitted.value is MISSING:
            said = f"the model of {self.name.partition('@')[2]} gave an answer that does not fit the schema"
            raise ProviderFailed(said, reason="malformed", hint="Call again, or set a model in the settings `llm`.")
        tokens_in, tokens_out = estimate_tokens(text), estimate_tokens(answer)
        return ModelAnswer(fitted.value, tokens_in, tokens_out, self.name, fitted.problems)

    def check(self) -> str:
        """Nothing can be asked without a call of the host's."""
        return f"{self.name} answers when its host calls"
