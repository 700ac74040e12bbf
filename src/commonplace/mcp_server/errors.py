"""Errors as MCP sends them: the reason, what happened and what to do about it."""

import functools
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec, TypeVar

from fastmcp.exceptions import FastMCPError
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from commonplace.errors import CommonplaceError, UsageError, codes_for
from commonplace.events import emit
from commonplace.model.untrusted_text import break_marks

Params = ParamSpec("Params")
Result = TypeVar("Result")

_MAX_ARGUMENTS: Final = 3  # wrong arguments that an error names
_MAX_CHARS: Final = 600  # of a message, a path or a hint, which may quote the request


_TOOL_FOR: Final[Mapping[str, str]] = {
    "note list": "note_list",
    "note read": "note_read",
    "note write": "note_write",
    "search": "memory_search",
    "facts": "memory_facts",
    "timeline": "memory_facts with `timeline`",
    "save": "memory_save",
    "settle": "memory_save",
    "forget": "memory_forget",
    "undo": "undo_last",
}
"""Commands of the command line, and the tool that does the same."""

_COMMAND: Final = re.compile(r"`commonplace ([a-z]+(?: [a-z]+)?)[^`]*`")
_TELL: Final = "Tell the person: "


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


def for_agents(text: str) -> str:
    """The text with tools in place of commands; one that only a person can run is for the person to be asked."""

    def tool(command: re.Match[str]) -> str:
        words = command[1].split()
        return next((name for n in (2, 1) if (name := _TOOL_FOR.get(" ".join(words[:n])))), command[0])

    text = _COMMAND.sub(tool, text)
    return f"{_TELL}{text}" if _COMMAND.search(text) and not text.startswith((_TELL, "Ask the person")) else text


def error_line(error: CommonplaceError) -> str:
    """The error in one line: its reason, what happened, and what to do."""
    line = f"{error.reason}: {_shortened(error.message).rstrip('.')}."
    return f"{line} {_shortened(for_agents(error.hint))}" if error.hint else line


def error_result(error: CommonplaceError) -> ToolResult:
    """The error as the result of a tool."""
    content = {"ok": False, "error": _fields(error)}
    return ToolResult(content=error_line(error), structured_content=content, is_error=True)


def protocol_error(error: CommonplaceError) -> MCPError:
    """The error as one of the protocol, for requests other than tool calls."""
    return MCPError(codes_for(error).mcp, error_line(error), _fields(error))


def argument_error(error: Exception, *, tool: str, names: list[str]) -> UsageError:
    """What is wrong with the arguments of a call; the hint lists the `names` of all arguments."""
    cause = error if isinstance(error, ValidationError) else error.__cause__  # FastMCP raises one of its own
    details = cause.errors()[:_MAX_ARGUMENTS] if isinstance(cause, ValidationError) else []
    problems = "; ".join(map(_problem, details)) or "invalid"
    hint = f"Arguments: {', '.join(names)}." if names else "It takes no arguments."
    return UsageError(f"wrong arguments for {tool}: {problems}", hint=hint)


def _fields(error: CommonplaceError) -> dict[str, str]:
    fields = {name: _shortened(value) for name, value in error.as_dict().items()}
    return fields | ({"hint": _shortened(for_agents(error.hint))} if error.hint else {})


def _shortened(text: str) -> str:
    """The beginning of a text that may quote the vault or the request, without marks and hidden characters."""
    text = break_marks(text[: 2 * _MAX_CHARS])
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"


def _problem(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    said = detail["msg"].replace("valid tuple", "list")  # JSON has lists
    return f"{where}: {said[:1].lower()}{said[1:]}" if where else said


def _unexpected() -> CommonplaceError:
    return CommonplaceError(
        "something went wrong in Commonplace itself",
        hint="`commonplace status` says where the log is; it has the details.",
    )
