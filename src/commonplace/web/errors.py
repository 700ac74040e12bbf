"""Errors as HTTP sends them: a status, and the JSON form that errors have everywhere."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NotRequired

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, with_config
from starlette.exceptions import HTTPException
from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.errors import UNEXPECTED_CODES, CommonplaceError, NotFound, Refused, UsageError, codes_for
from commonplace.memory.shapes import ErrorShape
from commonplace.web.live_events import TooManyListeners

_UNPROCESSABLE: Final = 422
_MAX_FIELDS: Final = 10  # reported per request: the first says enough, and a request may have thousands
_MAX_CHARS: Final = 200  # of a field's name, which the caller may have made up

_EXAMPLE: Final[dict[str, Any]] = {
    "ok": False,
    "error": {
        "type": "NotFound",
        "reason": "missing",
        "message": "there is no such note",
        "hint": "Look at the list of notes.",
        "path": "Inbox/Idea.md",
    },
}


class NoCaller(Refused):
    """The request is not authenticated."""


class FieldProblem(TypedDict):
    """What is wrong with one field of a request."""

    field: str
    message: str


class RequestError(ErrorShape):
    """What happened, to what, and what to do about it; `fields` if the request is malformed."""

    fields: NotRequired[list[FieldProblem]]


@with_config(ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]}))
class FailureResponse(TypedDict):
    """The response to a request that failed."""

    ok: Literal[False]
    error: RequestError


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request asks for something impossible",
    401: "The token is missing, wrong or revoked",
    403: "Refused by policy or by the token's scope",
    404: "No such note, entry, fact or conversation",
    408: "The body did not arrive in time",
    409: "The vault has changed: read again and retry",
    413: "The body is too large",
    421: "The Host is not this machine",
    422: "A field of the request is wrong",
    429: "Too many requests",
    431: "The address and the headers are too large",
    500: "An error in Commonplace, or a damaged index",
    502: "A model did not answer",
    503: "The disk, the lock or git failed",
}
ERROR_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": FailureResponse, "description": meaning} for status, meaning in _MEANINGS.items()
}
"""Every status other than 200 that an operation may respond with."""


def install_error_handlers(api: FastAPI) -> None:
    """Make every error of this API a response in the one JSON form."""
    api.exception_handler(CommonplaceError)(_respond_to_ours)
    api.exception_handler(RequestValidationError)(_respond_to_wrong_fields)
    api.exception_handler(HTTPException)(_respond_to_missing_route)
    api.exception_handler(Exception)(_respond_to_fault)


def _response(status: int, error: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"ok": False, "error": _encodable(error)}, status_code=status, headers=headers)


async def _respond_to_ours(request: Request, error: CommonplaceError) -> JSONResponse:
    if isinstance(error, NoCaller):
        return _response(401, error.as_dict() | {"type": "Refused"}, headers={"WWW-Authenticate": "Bearer"})
    if isinstance(error, TooManyListeners):
        return _response(429, error.as_dict() | {"type": "Refused"}, headers={"Retry-After": "5"})
    return _response(codes_for(error).http, error.as_dict())


async def _respond_to_wrong_fields(request: Request, error: RequestValidationError) -> JSONResponse:
    problems = [_field_problem(each) for each in error.errors()[:_MAX_FIELDS]]
    first = problems[0]
    usage = UsageError(f"{first['field']}: {first['message']}", hint="The call is described in openapi.json.")
    return _response(_UNPROCESSABLE, usage.as_dict() | {"fields": problems})


async def _respond_to_missing_route(request: Request, error: HTTPException) -> JSONResponse:
    kind = NotFound if error.status_code == 404 else UsageError
    ours = kind(str(error.detail).lower(), hint="The routes are listed in openapi.json.")
    return _response(error.status_code, ours.as_dict(), headers=error.headers)


async def _respond_to_fault(request: Request, error: Exception) -> JSONResponse:
    """For an unexpected error. Starlette raises it again once this is sent, so that the server logs it in full."""
    ours = CommonplaceError("something went wrong in Commonplace itself", hint="The log has the details.")
    return _response(UNEXPECTED_CODES.http, ours.as_dict())


def _field_problem(detail: Mapping[str, Any]) -> FieldProblem:
    return {"field": ".".join(map(str, detail["loc"]))[:_MAX_CHARS], "message": str(detail["msg"])}


def _encodable(value: Any) -> Any:
    """The value with every lone surrogate replaced, which JSON in UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {name: _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value
