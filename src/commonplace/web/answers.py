"""What every answer shares: it says that all went well, and has no field that is not declared."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Done(Shape):
    """An answer: what was asked for was done."""

    ok: Literal[True]


class ProblemShape(Shape):
    """Something wrong in a note, and where."""

    path: str
    line: int
    message: str
    code: str
