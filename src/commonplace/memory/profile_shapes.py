"""The JSON of profile notes and of their operations, for `--json`, the HTTP API and the MCP tools."""

from typing import Any

from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.memory.shapes import NoteLink, time_text
from commonplace.model import Problem
from commonplace.model.profile import (
    OperationOutcome,
    OperationResult,
    ProfileChange,
    ProfileLogEntry,
    ProfileText,
)


class ProfileShape(TypedDict):
    """A profile note; `problems` are what lint finds in it, `version` is `absent` if there is no note."""

    path: str
    link: str
    exists: bool
    text: str
    version: str
    problems: list[Problem]
    remarks: list[str]


def profile_shape(profile: ProfileText, link: NoteLink) -> ProfileShape:
    """A profile note as it is now."""
    return {
        "path": profile.path,
        "link": link(profile.path),
        "exists": profile.exists,
        "text": profile.text,
        "version": profile.version,
        "problems": [*profile.problems],
        "remarks": [*profile.remarks],
    }


class OperationResultShape(TypedDict):
    """One operation and its outcome; `review` is the id under which it waits for the person."""

    operation: dict[str, Any]
    outcome: OperationOutcome
    reason: str
    review: str


class ProfileChangeShape(TypedDict):
    """What operations did to a profile note, in one line and one by one."""

    path: str
    summary: str
    changed: bool
    commit: str | None
    version: str | None
    results: list[OperationResultShape]
    remarks: list[str]
    difference: str | None


def operation_shape(result: OperationResult) -> OperationResultShape:
    """One operation and what became of it."""
    return {
        "operation": result.operation.fields(),
        "outcome": result.outcome,
        "reason": result.reason,
        "review": result.review,
    }


def change_shape(change: ProfileChange) -> ProfileChangeShape:
    """What operations did to a profile note."""
    return {
        "path": change.path,
        "summary": change.summary,
        "changed": change.changed,
        "commit": change.commit,
        "version": change.version,
        "results": [operation_shape(each) for each in change.results],
        "remarks": [*change.remarks],
        "difference": change.difference,
    }


class ProfileLogShape(TypedDict):
    """One operation in the log of a profile note."""

    at: str
    path: str
    actor: str
    origin: str
    operation: dict[str, Any]
    outcome: str
    reason: str
    review: str
    commit: str | None


def log_shape(entry: ProfileLogEntry) -> ProfileLogShape:
    """One operation in the log, with who asked for it."""
    return {
        "at": time_text(entry.at),
        "path": entry.path,
        "actor": entry.actor,
        "origin": entry.origin,
        "operation": dict(entry.operation),
        "outcome": entry.outcome,
        "reason": entry.reason,
        "review": entry.review,
        "commit": entry.commit,
    }
