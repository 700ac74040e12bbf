"""The head of a request, as the guard reads it: method, path and headers, nothing of the query and the body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Head:
    """Method and path (without its query), the headers as they came, and the port of ours that was reached.

    `size` counts the bytes of the whole target and of the headers.
    """

    method: str
    path: str
    headers: tuple[tuple[bytes, bytes], ...]
    port: int | None
    size: int

    def all(self, name: str) -> list[str]:
        """Every value of a header, in order."""
        wanted = name.lower().encode("ascii")
        return [value.decode("latin-1").strip() for key, value in self.headers if key == wanted]

    def one(self, name: str) -> str | None:
        """A header's first value; None where it is missing."""
        return next(iter(self.all(name)), None)

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return self.one("transfer-encoding") is not None or self.one("content-length") not in (None, "0")

    @property
    def length(self) -> int | None:
        """How many bytes the caller says will follow; None where it does not say."""
        said = self.one("content-length")
        return int(said) if said and said.isascii() and said.isdigit() else None


def head_of(scope: Mapping[str, Any]) -> Head:
    """The head of the request that an ASGI server parsed."""
    server = scope.get("server") or ("", None)
    target = len(scope.get("raw_path") or scope["path"]) + len(scope.get("query_string", b""))
    size = target + sum(len(name) + len(value) for name, value in scope["headers"])
    return Head(scope["method"], scope["path"], tuple(scope["headers"]), port=server[1], size=size)
