"""Errors as they leave by this door: an MCP error with the reason, what happened and what to do about it."""

import functools
import logging
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from fastmcp.exceptions import FastMCPError
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from commonplace.errors import CommonplaceError, UsageError, answer_to
from commonplace.events import emit

Given = ParamSpec("Given")
Back = TypeVar("Back")

_SHOWN: Final = 3  # wrong arguments that an error names
_LONGEST: Final = 600  # characters of a message, a path or a hint, which may quote what was asked


class Failed(FastMCPError):
    """An error on its way out. FastMCP hands it on as it is, and writes no traceback of it."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__(said(error), log_level=logging.DEBUG)
        self.error = error


def failing(call: Callable[Given, Back]) -> Callable[Given, Back]:
    """The same call; whatever goes wrong in it comes out as Failed, and a fault of ours is told in the log alone."""

    @functools.wraps(call)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> Back:
        try:
            return call(*args, **kwargs)
        except CommonplaceError as error:
            raise Failed(error) from error
        except Exception as error:
            emit("mcp_call_failed", level="error", call=call.__qualname__, exc_info=error)
            raise Failed(_fault()) from error

    return made


def said(error: CommonplaceError) -> str:
    """The error in one line: its reason, what happened, and what to do."""
    told = f"{error.reason}: {_short(error.message).rstrip('.')}."
    return f"{told} {_short(error.hint)}" if error.hint else told


def as_result(error: CommonplaceError) -> ToolResult:
    """The error as the answer of a tool."""
    return ToolResult(content=said(error), structured_content={"ok": False, "error": _fields(error)}, is_error=True)


def as_protocol_error(error: CommonplaceError) -> MCPError:
    """The error as the answer to a request that has no other way to say it."""
    return MCPError(answer_to(error).mcp, said(error), _fields(error))


def wrong_arguments(error: Exception, *, name: str, known: list[str]) -> UsageError:
    """What is wrong with the arguments of a call, and which there are."""
    cause = error.__cause__
    found = [_wrong(each) for each in cause.errors()[:_SHOWN]] if isinstance(cause, ValidationError) else []
    told = "; ".join(found) or "they do not fit"
    hint = f"Arguments: {', '.join(known)}." if known else "It takes no arguments."
    return UsageError(f"wrong arguments for {name}: {told}", hint=hint)


def _fields(error: CommonplaceError) -> dict[str, str]:
    return {name: _short(value) for name, value in error.as_dict().items()}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _wrong(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg'][:1].lower()}{detail['msg'][1:]}" if where else str(detail["msg"])


def _fault() -> CommonplaceError:
    return CommonplaceError(
        "something went wrong in Commonplace itself", hint="The person finds it in the log: `commonplace status`."
    )
