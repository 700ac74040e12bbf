"""The file of tokens: private, replaced as a whole, changed by one program at a time."""

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from commonplace.daemon.private_files import turn_at, write_privately
from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.model import SCOPES, Scope

_VERSION: Final = 1

Identity = tuple[int, int, int]
"""Which file, of what size and time: another one after each change."""


@dataclass(frozen=True, slots=True)
class Token:
    """A client's key to the daemon, by its hash. `revoked` and `last_used` are empty until they happen."""

    id: str
    client: str
    scopes: tuple[Scope, ...]
    created: str
    hash: str = field(repr=False)
    vault: str = ""
    last_used: str = ""
    revoked: str = ""


class TokenFile:
    """The tokens as they are on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: Identity | None = None
        self._tokens: tuple[Token, ...] = ()

    def read(self) -> tuple[Token, ...]:
        """The tokens as the file has them now; none where there is no file. Raises VaultUnavailable(damaged)."""
        try:
            identity = self._identity()
            if identity != self._seen:
                self._tokens = _parsed(json.loads(self._path.read_bytes()))
                self._seen = identity
        except FileNotFoundError:
            self._seen, self._tokens = None, ()
        except OSError as error:
            raise self._trouble(error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._trouble("it does not hold what we wrote") from error
        return self._tokens

    @contextmanager
    def changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed in place: written when the block ends well. Other programs wait meanwhile."""
        with self._turn():
            tokens = list(self.read())
            yield tokens
            self._write(tokens)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Our turn to change the file. Raises VaultUnavailable(locked) when it does not come."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with turn_at(self._path):
                yield
        except TimeoutError as error:
            message, hint = "another program is changing the list of tokens", "Try again in a moment."
            raise VaultUnavailable(message, path=str(self._path), reason="locked", hint=hint) from error
        except OSError as error:
            raise self._trouble(error.strerror or str(error)) from error

    def _identity(self) -> Identity:
        found = self._path.stat()
        if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._trouble("others may write it")
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _write(self, tokens: Sequence[Token]) -> None:
        try:
            write_privately(self._path, {"version": _VERSION, "tokens": [asdict(token) for token in tokens]})
        except OSError as error:
            raise self._trouble(error.strerror or str(error), doing="written") from error

    def _trouble(self, why: str, *, doing: str = "read") -> CommonplaceError:
        return VaultUnavailable(
            f"the list of tokens cannot be {doing}: {why}",
            path=str(self._path),
            reason="damaged" if doing == "read" else "unavailable",
            hint="Mend its mode or its disk; or remove it, and run `commonplace token create` for each client.",
        )


def _parsed(listed: Any) -> tuple[Token, ...]:
    """Raises ValueError, KeyError or TypeError for anything but what `_write` wrote."""
    if listed["version"] != _VERSION:
        raise ValueError("another version")
    return tuple(_token(fields) for fields in listed["tokens"])


def _token(fields: dict[str, Any]) -> Token:
    scopes = tuple(fields["scopes"])
    texts = {name: value for name, value in fields.items() if name != "scopes"}
    if not set(scopes) <= set(SCOPES) or not all(isinstance(value, str) for value in texts.values()):
        raise ValueError("a token of another form")
    if not re.fullmatch("[0-9a-f]{64}", texts["hash"]):
        raise ValueError("no hash")
    return Token(**texts, scopes=scopes)
