"""The tools that change what the memory holds: append, forget, capture."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastmcp.tools import Tool
from pydantic import Field

from commonplace.errors import UsageError
from commonplace.mcp_server.answers import SavedAnswer
from commonplace.mcp_server.arguments import EntryId, SessionId, Text, Topics, Word
from commonplace.mcp_server.door import Door
from commonplace.mcp_server.making import ADDS, CHANGES, tool
from commonplace.memory import shapes
from commonplace.model import FACT_CLASSES, Fact, Remembered


class EntryTools:
    """Saving, correcting and forgetting, for the program that calls."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def append(
        self,
        text: Text = "",
        *,
        kind: Annotated[
            Word, Field(description="preference, decision, fact, fix, workflow, insight, idea, event, feedback, ...")
        ] = "",
        fact: Annotated[Word, Field(description=f"How it ages: {', '.join(filter(None, FACT_CLASSES))}.")] = "",
        subject: Annotated[Word, Field(description="Of whom or what it is said; `me` for the person.")] = "",
        predicate: Annotated[Word, Field(description="What is said, such as works_at or likes.")] = "",
        object: Annotated[Word, Field(description="The value.")] = "",
        topics: Topics = (),
        valid_from: Annotated[Word, Field(description="True from that day on, such as 2026-03-01.")] = "",
        valid_until: Annotated[Word, Field(description="No longer true from that day on.")] = "",
        replaces: Annotated[Word, Field(description="The id of the entry that this corrects.")] = "",
        reason: Annotated[Word, Field(description="With `replaces`: why it changed.")] = "",
        session_id: SessionId = "",
        dry_run: Annotated[bool, Field(description="Change nothing; show what would come of it.")] = False,
    ) -> dict[str, Any]:
        """What became of it: inserted, confirmed, or put in the place of another."""
        entries = self._door.memory().entries
        of: dict[str, Any] = {"kind": kind, "fact": fact, "subject": subject, "predicate": predicate}
        rest: dict[str, Any] = {
            "object": object,
            "topics": topics,
            "valid_from": valid_from,
            "valid_until": valid_until,
            "interface": self._door.interface(),
            "conversation": session_id,
            "dry_run": dry_run,
        }
        if replaces.strip():
            _check_replacing(entries.show(replaces).fact, of, reason)
            return _saved(entries.evolve(replaces, text, reason=reason, **rest))
        return _saved(entries.save(text, **of, **rest))

    def capture(self, text: Text, *, session_id: SessionId = "") -> dict[str, Any]:
        """The entry in the inbox, of no kind yet."""
        remembered = self._door.memory().entries.save(text, interface=self._door.interface(), conversation=session_id)
        return _saved(remembered)

    def forget(
        self, id: EntryId, *, reason: Annotated[Word, Field(description="Why it should not be recalled.")] = ""
    ) -> dict[str, Any]:
        """The entry, marked as deleted; its note stays."""
        return _saved(self._door.memory().entries.forget(id, reason=reason))


def _check_replacing(old: Fact, of: Mapping[str, str], reason: str) -> None:
    """Raise UsageError for a correction without its reason, and for one that would change what the entry is of."""
    if not reason.strip():
        raise UsageError("a correction without a reason", hint="Say in `reason` why it changed.")
    others = [name for name, value in of.items() if value and _folded(value) != _folded(getattr(old, name))]
    if others:
        named = ", ".join(others)
        raise UsageError(f"a correction keeps {named}", hint=f"Leave out {named}, or save it without `replaces`.")


def _folded(value: str) -> str:
    return value.strip().casefold().replace(" ", "_")


def _saved(remembered: Remembered) -> dict[str, Any]:
    return {**shapes.remembered_shape(remembered), "path": remembered.fact.path}


def entry_tools(door: Door) -> list[Tool]:
    """memory_append, memory_forget and memory_capture."""
    tools = EntryTools(door)
    return [
        tool(
            "memory_append",
            tools.append,
            title="Save to memory",
            says="Save one thing worth knowing in other sessions: a preference, decision, fact or fix, as one plain "
            "sentence; with subject, predicate and object if it is a triple. What is known already is confirmed. "
            "With `replaces` it corrects that entry. No secrets. `staged` in the answer: it waits for the person.",
            hints=ADDS,
            answers=SavedAnswer,
        ),
        tool(
            "memory_forget",
            tools.forget,
            title="Forget an entry",
            says="Let an entry be recalled no more, because it is wrong or the person asks for it. Its note stays, "
            "marked as deleted, and undo_last brings it back.",
            hints=CHANGES,
            answers=SavedAnswer,
        ),
        tool(
            "memory_capture",
            tools.capture,
            title="Capture a thought",
            says="Keep a rough thought in the person's inbox, to be sorted later. For what is clear already use "
            "memory_append.",
            hints=ADDS,
            answers=SavedAnswer,
        ),
    ]
