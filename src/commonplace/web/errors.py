"""How an error leaves by HTTP: its status, and the one shape that every door gives errors."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from commonplace.errors import UNEXPECTED, CommonplaceError, NotFound, Reason, Refused, UsageError, answer_to

_UNPROCESSABLE: Final = 422
_MOST_FIELDS: Final = 10  # that are told of one call: the first says enough, and a call may have thousands
_MOST_CHARS: Final = 200  # of the name of a field, which the caller may have made up


class NoCaller(Refused):
    """Nobody said who calls."""


class FieldProblem(BaseModel):
    """What is wrong with one field of a call."""

    model_config = ConfigDict(extra="forbid")

    field: str
    message: str


class ErrorShape(BaseModel):
    """What happened, to what, and what to do about it."""

    model_config = ConfigDict(extra="forbid")

    type: str
    reason: Reason
    message: str
    hint: str = ""
    path: str = ""
    expected: str = ""
    found: str = ""
    fields: tuple[FieldProblem, ...] = ()


class ErrorAnswer(BaseModel):
    """The answer to a call that came to nothing."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "ok": False,
                    "error": {
                        "type": "NotFound",
                        "reason": "missing",
                        "message": "there is no such note",
                        "hint": "Look at the list of notes.",
                        "path": "Inbox/Idea.md",
                    },
                }
            ]
        },
    )

    ok: Literal[False]
    error: ErrorShape


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The call asks for something impossible",
    401: "The token is missing, wrong or revoked",
    403: "Policy, or the scope of the token, says no",
    404: "There is no such thing",
    408: "The body did not arrive in time",
    409: "The vault moved: read again and retry",
    413: "The body is too large",
    421: "The Host is not this machine",
    422: "A field of the call is wrong",
    429: "Too many calls",
    431: "The address and the headers are too large",
    500: "A fault of Commonplace, or a damaged index",
    502: "A model did not answer",
    503: "The disk, the lock or git said no",
}
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorAnswer, "description": meaning} for status, meaning in _MEANINGS.items()
}
"""Every status other than 200 that an operation may answer with."""


def answer_errors(api: FastAPI) -> None:
    """Let every error of this API leave in the one shape."""
    api.exception_handler(CommonplaceError)(_answer_ours)
    api.exception_handler(RequestValidationError)(_answer_wrong_fields)
    api.exception_handler(HTTPException)(_answer_no_route)
    api.exception_handler(Exception)(_answer_fault)


def _answer(status: int, error: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The error in the one shape, whatever characters stand in it."""
    return JSONResponse({"ok": False, "error": _encodable(error)}, status_code=status, headers=headers)


async def _answer_ours(request: Request, error: CommonplaceError) -> JSONResponse:
    if isinstance(error, NoCaller):
        return _answer(401, error.as_dict() | {"type": "Refused"}, headers={"WWW-Authenticate": "Bearer"})
    return _answer(answer_to(error).http, error.as_dict())


async def _answer_wrong_fields(request: Request, error: RequestValidationError) -> JSONResponse:
    wrong = [{"field": _named(each["loc"]), "message": str(each["msg"])} for each in error.errors()[:_MOST_FIELDS]]
    first = wrong[0]
    told = UsageError(f"{first['field']}: {first['message']}", hint="Look the call up in openapi.json.")
    return _answer(_UNPROCESSABLE, told.as_dict() | {"fields": wrong})


async def _answer_no_route(request: Request, error: HTTPException) -> JSONResponse:
    kind = NotFound if error.status_code == 404 else UsageError
    told = kind(str(error.detail).lower(), hint="Look the call up in openapi.json.")
    return _answer(error.status_code, told.as_dict(), headers=error.headers)


async def _answer_fault(request: Request, error: Exception) -> JSONResponse:
    """For what nobody foresaw. Starlette raises it again once this is sent, so that the server's log has it whole."""
    told = CommonplaceError("something went wrong in Commonplace itself", hint="Its log says what.")
    return _answer(UNEXPECTED.http, told.as_dict())


def _named(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place))[:_MOST_CHARS]


def _encodable(value: Any) -> Any:
    """The value with no half of a surrogate pair in it, which JSON in UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {name: _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value
