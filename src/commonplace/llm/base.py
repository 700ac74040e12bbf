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
    """What a model answered: a value that fits the schema, the tokens it cost, and the model's name."""

    value: Mapping[str, Any]
    tokens_in: int
    tokens_out: int
    model: str


class LanguageModel(Protocol):
    """A model that answers in JSON.

    `name` is how logs call it, `is_remote` says that words leave this machine.
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
