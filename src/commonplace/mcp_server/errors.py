"""Errors as MCP sends them: the reason, what happened and what to do about it."""

import functools
import logging
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from fastmcp.exceptions import FastMCPError
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from commonplace.errors import CommonplaceError, UsageError, codes_for
from commonplace.events import emit

Params = ParamSpec("Params")
Result = TypeVar("Result")

_MAX_ARGUMENTS: Final = 3  # wrong arguments that an error names
_MAX_CHARS: Final = 600  # of a message, a path or a hint, which may quote the request


class CallFailed(FastMCPError):
    """Carries a CommonplaceError through FastMCP, which passes it on unchanged and logs no traceback."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__(error_line(error), log_level=logging.DEBUG)
        self.error = error


def converting_errors(call: Callable[Params, Result]) -> Callable[Params, Result]:
    """`call`, raising CallFailed for every error. An unexpected one is logged, and its details go nowhere else."""

    @functools.wraps(call)
    def converted(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return call(*args, **kwargs)
        except CommonplaceError as error:
            raise CallFailed(error) from error
        except Exception as error:
            emit("mcp_call_failed", level="error", call=call.__qualname__, exc_info=error)
            raise CallFailed(_unexpected()) from error

    return converted


def error_line(error: CommonplaceError) -> str:
    """The error in one line: its reason, what happened, and what to do."""
    line = f"{error.reason}: {_shortened(error.message).rstrip('.')}."
    return f"{line} {_shortened(error.hint)}" if error.hint else line


def error_result(error: CommonplaceError) -> ToolResult:
    """The error as the result of a tool."""
    content = {"ok": False, "error": _fields(error)}
    return ToolResult(content=error_line(error), structured_content=content, is_error=True)


def protocol_error(error: CommonplaceError) -> MCPError:
    """The error as one of the protocol, for requests other than tool calls."""
    return MCPError(codes_for(error).mcp, error_line(error), _fields(error))


def argument_error(error: Exception, *, tool: str, names: list[str]) -> UsageError:
    """What is wrong with the arguments of a call; the hint lists the `names` of all arguments."""
    cause = error.__cause__
    details = cause.errors()[:_MAX_ARGUMENTS] if isinstance(cause, ValidationError) else []
    problems = "; ".join(map(_problem, details)) or "invalid"
    hint = f"Arguments: {', '.join(names)}." if names else "It takes no arguments."
    return UsageError(f"wrong arguments for {tool}: {problems}", hint=hint)


def _fields(error: CommonplaceError) -> dict[str, str]:
    return {name: _shortened(value) for name, value in error.as_dict().items()}


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"


def _problem(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg'][:1].lower()}{detail['msg'][1:]}" if where else str(detail["msg"])


def _unexpected() -> CommonplaceError:
    return CommonplaceError(
        "something went wrong in Commonplace itself", hint="The details are in the log: `commonplace status`."
    )
