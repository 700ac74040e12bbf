"""Field types, and the bases of request and response models.

A request with an undeclared field or parameter is refused, and no response has an undeclared field. No text may hold a
NUL or a lone surrogate.
"""

from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
    with_config,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.model.request import few_unknown


def _without_nul(text: str) -> str:
    """The text, if files, databases and git can all hold it."""
    if "\0" in text:
        raise PydanticCustomError("unsound_text", "the text contains a NUL")
    return text


def _integer(number: object) -> object:
    """The number as JSON Schema counts it: 5.0 is an integer."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


INTEGER = BeforeValidator(_integer)
"""Comes last in the annotation of an integer in a body, so that OpenAPI shows the bounds."""

Sound = AfterValidator(_without_nul)  # pydantic itself rejects lone surrogates, because it counts characters

Word = Annotated[str, StringConstraints(max_length=200), Sound]
"""A name: of a topic, a kind, an entity, a program, a day."""

Line = Annotated[str, StringConstraints(max_length=2_000), Sound]
"""A reason, a title, a path."""

RequiredLine = Annotated[str, StringConstraints(min_length=1, max_length=2_000), Sound]
"""An entity or a path that must be given."""

Channel = Annotated[str, StringConstraints(max_length=200, pattern=r"^(channel:.+)?$"), Sound]
"""The channel a conversation takes place in; empty for none."""

Prose = Annotated[str, StringConstraints(max_length=100_000), Sound]
"""A prompt, a statement, a message."""

NoteText = Annotated[str, StringConstraints(max_length=2_000_000), Sound]
"""A whole note; the setting `safety.max_note_bytes` is the real limit, and its error says so."""

Names = Annotated[list[Word], Field(max_length=50)]
Share = Annotated[float, Field(ge=0, le=1)]

IdInPath = Annotated[
    str,
    Sound,
    Path(max_length=200, description="An id, its beginning or its last six characters.", examples=["3f9a1c"]),
]
NotePath = Annotated[
    str, Sound, Path(max_length=1_000, description="The note's path in the vault.", examples=["Inbox/Idea.md"])
]


class RequestModel(BaseModel):
    """Base of every body and of every set of query parameters."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _drop_most_unknown(cls, values: object) -> object:
        """The values with a few of the undeclared ones, which is enough to refuse them: each becomes an error."""
        return few_unknown(values, cls.model_fields) if isinstance(values, dict) else values


def body_config(**example: Any) -> ConfigDict:
    """The configuration of a body, with an example. It is strict: text is not converted to a number or boolean."""
    return ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, json_schema_extra={"examples": [example]})


class _NoParameters(RequestModel):
    """No query parameters."""


def _refuse_parameters(query: Annotated[_NoParameters, Query()]) -> None:
    """Refuse every query parameter."""


NO_QUERY = Depends(_refuse_parameters)
"""For a route that takes no query parameters."""


class OkResponse(TypedDict):
    """Base of every response to a request that succeeded."""

    ok: Literal[True]


declared_only = with_config(ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True))
"""Decorates a response: it may have no undeclared field, nor may any object in it."""
