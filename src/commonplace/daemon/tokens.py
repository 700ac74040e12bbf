"""The tokens of the daemon: who may come in over TCP. The file holds their hashes alone.

Many programs may change the file; they take turns by a lock beside it, and readers see it whole. A daemon that runs
sees a change at the next request, because it looks at the file's identity before it answers. A file that cannot be
read lets nobody in.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from commonplace.client.names import is_client_name
from commonplace.daemon.token_file import Token, TokenFile
from commonplace.errors import CommonplaceError, NotFound, UsageError
from commonplace.events import emit
from commonplace.model import SCOPES, Scope
from commonplace.model.moment import moment_text

_PREFIX: Final = "cpl_"


class Tokens:
    """The tokens in one file. Open one for the daemon's life, or for one command."""

    def __init__(self, path: Path) -> None:
        self._file = TokenFile(path)
        self._used: dict[str, str] = {}

    def create(self, client: str, *, scopes: Iterable[Scope], vault: str, now: datetime) -> tuple[Token, str]:
        """A new token and its secret, which is kept nowhere. Raises UsageError for a name or scope that is none."""
        _check(client, scopes)
        secret = _PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=secrets.token_hex(4),
            client=client,
            scopes=tuple(scope for scope in SCOPES if scope in set(scopes)),
            vault=vault,
            created=moment_text(now),
            hash=_hash(secret),
        )
        with self._file.changing() as tokens:
            tokens.append(token)
        return token, secret

    def list(self) -> tuple[Token, ...]:
        """All tokens, the revoked ones too, oldest first."""
        return tuple(self._with_use(token) for token in self._file.read())

    def revoke(self, which: str, *, now: datetime) -> tuple[Token, ...]:
        """The tokens of that id or client, which count no more. Raises NotFound where there are none."""
        with self._file.changing() as tokens:
            meant = [token for token in tokens if which in (token.id, token.client)]
            if not meant:
                raise NotFound(f"no token {which}", hint="`commonplace token list` shows ids and clients.")
            revoked = [replace(token, revoked=token.revoked or moment_text(now)) for token in meant]
            tokens[:] = [dict(zip(meant, revoked, strict=True)).get(token, token) for token in tokens]
        return tuple(revoked)

    def find(self, secret: str) -> Token | None:
        """The token of that secret; None where there is none that counts. Takes as long for a near miss as for any."""
        presented = _hash(secret)
        found = [token for token in self._file.read() if hmac.compare_digest(token.hash, presented)]
        return next((token for token in found if not token.revoked), None)

    def touch(self, token: Token, *, now: datetime) -> None:
        """Remember that it was used; the file learns of it by `write_uses`: a request waits for no disk."""
        self._used[token.id] = moment_text(now)

    def write_uses(self) -> str:
        """Write down what was used and when; says how many. Raises VaultUnavailable, and forgets no use then."""
        used = dict(self._used)
        if used:
            with self._file.changing() as tokens:
                tokens[:] = [self._with_use(token) for token in tokens]
            for id_, when in used.items():
                if self._used.get(id_) == when:  # else it was used again meanwhile
                    del self._used[id_]
        return f"{len(used)} tokens were used"

    def close(self) -> None:
        """The same, at the end: losing a time of use is no reason to fail, so trouble with the disk is told alone."""
        try:
            self.write_uses()
        except CommonplaceError as error:
            emit("token_uses_not_written", level="warning", **error.as_dict())

    def _with_use(self, token: Token) -> Token:
        return replace(token, last_used=max(token.last_used, self._used.get(token.id, "")))


def _check(client: str, scopes: Iterable[Scope]) -> None:
    if not is_client_name(client):
        hint = "Use 1 to 64 letters, digits, blanks, dots, underscores and dashes."
        raise UsageError(f"{client!r} is no name for a client", hint=hint)
    if not set(scopes) or not set(scopes) <= set(SCOPES):
        raise UsageError("a token needs scopes", hint=f"Choose from {', '.join(SCOPES)}.")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
