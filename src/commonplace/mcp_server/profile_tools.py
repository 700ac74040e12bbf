"""The tools by which an agent changes what prompts show as the person's word.

USER.md and CHANNEL.md change by operations; directives, styles and other notes by proposals.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from fastmcp.tools import Tool
from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from commonplace.errors import UsageError
from commonplace.mcp_server.arguments import NotePath, Scope, Word
from commonplace.mcp_server.caller import CurrentCall
from commonplace.mcp_server.tool import ADDS, CHANGES, tool
from commonplace.memory import fact_shapes, profile_shapes
from commonplace.model.profile import OPERATION_NAMES


class OperationArgument(TypedDict):
    """One operation as a client gives it."""

    op: Annotated[Word, Field(json_schema_extra={"enum": [*OPERATION_NAMES]})]
    heading: NotRequired[Word]
    subheading: NotRequired[Word]
    line: NotRequired[Annotated[Word, Field(description="To add.")]]
    match: NotRequired[Annotated[Word, Field(description="To remove or replace.")]]
    lines: NotRequired[list[Word]]


def _as_operations(value: object) -> object:
    """The operations in a JSON text, which some models give in place of a list; other values as they are."""
    if not isinstance(value, str):
        return [value] if isinstance(value, Mapping) else value
    from commonplace.memory.profiles import operations_in

    return operations_in(value)


Operations = Annotated[
    list[OperationArgument],
    Field(min_length=1, max_length=50),
    BeforeValidator(_as_operations),
]


class ProposedChange(TypedDict):
    """A change that waits for the person's approval."""

    proposal: fact_shapes.ProposalShape


class ProfileTools:
    """What sessions are told of the person, as far as an agent may change it."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def edit(
        self,
        operations: Operations,
        *,
        scope: Scope = "",
        reason: Annotated[Word, Field(description="Why; the person reads it.")] = "",
    ) -> profile_shapes.ProfileChangeShape:
        """What became of each operation."""
        profiles = self._call.memory().profiles
        given: list[Any] = [*operations]
        return profile_shapes.change_shape(profiles.edit(given, channel=scope, why=reason))

    def propose(
        self,
        path: NotePath,
        text: Annotated[str, Field(description="The whole note.", max_length=60_000)],
        *,
        reason: Annotated[Word, Field(description="Why; the person reads it.")] = "",
        expected: Annotated[Word, Field(description="The version you read.")] = "",
    ) -> ProposedChange:
        """The proposal, which waits for the person."""
        if not reason.strip():
            raise UsageError("a proposal needs a reason", hint="Say in `reason` why the note should change.")
        memory = self._call.memory()
        proposal = memory.reviews.propose(path, text, why=reason, expected=expected).proposal
        return {"proposal": fact_shapes.proposal_shape(proposal, memory.notes.link)}


def edit_text(values: Mapping[str, Any]) -> str:
    """What became of each operation, for a model."""
    lines = [values["summary"]]
    for number, each in enumerate(values["results"], start=1):
        outcome = f"{each['outcome']}:{each['reason']}" if each["reason"] else each["outcome"]
        lines.append(f"{number}. {each['operation'].get('op', '?')}: {outcome}")
    if any(each["outcome"] == "proposed" for each in values["results"]):
        lines.append("What waits changes nothing until the person approves it: tell them (`commonplace review`).")
    return "\n".join((*lines, *values["remarks"]))


def proposal_text(values: Mapping[str, Any]) -> str:
    """The proposal's id and what happens next, for a model."""
    proposal = values["proposal"]
    return (
        f"Proposed as {proposal['id']}: {proposal['target']} stays as it is until the person approves it. "
        f"Tell them: `commonplace review show {proposal['id']}`.\n\n{proposal['difference']}"
    )


def profile_tools(call: CurrentCall) -> list[Tool]:
    """profile_edit and note_propose."""
    tools = ProfileTools(call)
    return [
        tool(
            "profile_edit",
            tools.edit,
            title="Edit what sessions know of the person",
            description="Change Agent/USER.md, which every session loads, or with `scope` a channel's CHANNEL.md: "
            "append, replace or remove one plain statement, add or remove a heading. For the few things every session "
            "needs; else memory_save. Changing the person's words, or adding instructions, waits for their approval.",
            hints=CHANGES,
            text=edit_text,
        ),
        tool(
            "note_propose",
            tools.propose,
            title="Propose a change of a note",
            description="Propose a new text for a note that you may not write: a directive, a preference or a style of "
            "the person. It changes nothing until they approve the difference.",
            hints=ADDS,
            text=proposal_text,
        ),
    ]
