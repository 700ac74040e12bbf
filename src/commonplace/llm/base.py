"""The seam of language models: one method, messages and a JSON schema in, a value of that schema and its usage out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Speaker = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to a model."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered: a value that fits the schema, the tokens it cost, and the model's name.

    `problems` are the parts that did not fit, although the model was asked twice; they were dropped.
    """

    value: Mapping[str, Any]
    tokens_in: int
    tokens_out: int
    model: str
    problems: tuple[str, ...] = ()


class LanguageModel(Protocol):
    """A model that answers in JSON.

    `name` is how logs call it, such as `llama3.2@127.0.0.1`; `is_remote` says that words leave this machine.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_remote(self) -> bool: ...

    def ask(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> ModelAnswer:
        """The model's answer, checked against the schema; asked once more if the first one does not fit.

        Raises ProviderFailed, whose `reason` says whether to try again: `unreachable`, `busy`, `auth`, `quota`,
        `malformed` or `too_long`.
        """

    def check(self) -> str:
        """What the server says about itself, in a few words; sends no text and costs nothing. Raises ProviderFailed."""


def estimate_tokens(text: str) -> int:
    """About how many tokens the text has, rather more than less: the tokenizer of a server is unknown.

    A token of Latin letters has 3 characters or more on average, a mark such as a quotation mark is often one of its
    own, and a character of another script has up to 2.
    """
    plain = sum(each.isascii() and (each.isalnum() or each.isspace()) for each in text)
    marks = sum(map(str.isascii, text)) - plain
    return plain // 3 + marks + 2 * (len(text) - plain - marks) + 1
