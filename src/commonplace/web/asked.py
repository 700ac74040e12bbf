"""What every call shares: it is refused when it carries a field or a parameter that is not declared."""

from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from commonplace.web.fields import Word

Names = Annotated[list[Word], Field(max_length=50)]
Share = Annotated[float, Field(ge=0, le=1)]


class Asked(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def such_as(**fields: Any) -> ConfigDict:
    """The rules of a body, with an example of it. JSON has numbers and truths: text is not taken for one."""
    return ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, json_schema_extra={"examples": [fields]})


class Amended(Asked):
    """What may be said of a fact beside its words."""

    topics: Names = Field(default_factory=list)
    importance: Share | None = None
    valid_from: Word = Field("", description="True from that day on.")
    valid_until: Word = Field("", description="No longer true from that day on.")
    session_id: Word = Field("", description="The conversation it comes from.")
    dry_run: bool = Field(default=False, description="Change nothing; answer with the difference it would make.")


class _Nothing(Asked):
    """No query at all."""


def _take_no_query(query: Annotated[_Nothing, Query()]) -> None:
    """Refuse every parameter."""


NO_QUERY = Depends(_take_no_query)
"""For a route that takes no parameters in its address."""
