"""Who may connect over TCP, and how the daemon proves that it is the daemon. Tokens are stored as hashes.

A host sends its token to whoever listens on the port, which may be another user's program while the daemon is down.
So a token counts only from programs of this user, where the system tells whose a connection is; and a program of ours
asks for a proof before it trusts a port: an HMAC with a key that only this user can read.

Many programs may change the file; a lock next to it serializes them, and readers always see a whole file. A running
daemon sees a change at the next request, because it checks the file's identity before it answers. A file that cannot
be read lets nobody in.

If several daemons share the people of a server, the tokens of people are in their database, and count on each of them;
those of the user who runs this daemon stay in the file. Tokens of people that are in the file from before do not count
then: a revocation by another daemon would not reach them.
"""

import hashlib
import hmac
import http.client
import json
import os
import re
import secrets
import socket
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from commonplace.client.paths import is_client_name
from commonplace.daemon.service.state_files import (
    file_lock,
    make_daemon_folders,
    running_daemon,
    user_daemon_files,
    write_private_file,
)
from commonplace.errors import CommonplaceError, NotFound, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.identity.devices import DeviceTokens, Token
from commonplace.model import SCOPES, Scope
from commonplace.model.moment import moment_text

_PREFIX: Final = "cpl_"
_TCP_TABLE: Final = Path("/proc/net/tcp")
_ROOT: Final = 0
_PROOF_SECONDS: Final = 5.0
_PROOF_BYTES: Final = 10_000  # of an answer that may come from any program
PROOF_FILE: Final = "proof.json"
"""In the daemon's folder: the key of its proofs."""
_NONCE: Final = re.compile("[0-9a-f]{32,128}")
_VERSION: Final = 1
_FileIdentity = tuple[int, int, int]
"""Inode, size and time: different after each change."""


class Tokens:
    """The tokens in one file, and those of people in a shared database. Open one for a daemon's life or one command."""

    def __init__(self, path: Path, shared: DeviceTokens | None = None) -> None:
        self._file, self._shared = TokenFile(path), shared
        self._stores: tuple[TokenFile | DeviceTokens, ...] = (self._file, *([shared] if shared else []))
        self._uses: dict[str, str] = {}

    def create(
        self, client: str, *, scopes: Iterable[Scope], vault: str, now: datetime, person: str = ""
    ) -> tuple[Token, str]:
        """A new token and its secret, which is stored nowhere. Raises UsageError for an invalid name or scope."""
        _check(client, scopes)
        secret = _PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=secrets.token_hex(4),
            client=client,
            scopes=tuple(scope for scope in SCOPES if scope in set(scopes)),
            vault=vault,
            created=moment_text(now),
            hash=_hash(secret),
            person=person,
        )
        store = self._shared if person and self._shared else self._file
        with store.changing() as tokens:
            tokens.append(token)
        return token, secret

    def list(self) -> tuple[Token, ...]:
        """All tokens, including revoked ones, oldest first."""
        return tuple(self._with_use(token) for store in self._stores for token in self._counting(store, store.read()))

    def revoke(self, which: str, *, now: datetime) -> tuple[Token, ...]:
        """Revoke the tokens of that id or client, and return them. Raises NotFound if there are none."""
        revoked = self._revoke(lambda token: which in (token.id, token.client), now=now)
        if not revoked:
            raise NotFound(f"no token {which}", hint="`commonplace token list` shows ids and clients.")
        return revoked

    def revoke_all(self, *, person: str, vault: str = "", now: datetime) -> tuple[Token, ...]:
        """Revoke the person's tokens, or those for one vault, and return those that were valid."""
        return self._revoke(lambda token: _is_of(token, person, vault) and not token.revoked, now=now)

    def _revoke(self, is_meant: Callable[[Token], bool], *, now: datetime) -> tuple[Token, ...]:
        """Revoke the tokens that are meant, wherever they are, and return them."""
        revoked: list[Token] = []
        for store in self._stores:
            if not any(map(is_meant, store.read())):
                continue
            with store.changing() as tokens:
                ended = {
                    each: replace(each, revoked=each.revoked or moment_text(now)) for each in tokens if is_meant(each)
                }
                tokens[:] = [ended.get(each, each) for each in tokens]
            revoked += self._counting(store, ended.values())
        return tuple(revoked)

    def find(self, secret: str) -> Token | None:
        """The valid token of that secret, or None. Takes equally long for a near miss and for any other guess."""
        presented = _hash(secret)
        matches = [token for store in self._stores for token in self._counting(store, store.with_hash(presented))]
        return next((token for token in matches if not token.revoked), None)

    def touch(self, token: Token, *, now: datetime) -> None:
        """Remember that the token was used; `write_uses` writes it later, so that a request waits for no disk."""
        self._uses[token.id] = moment_text(now)

    def write_uses(self) -> str:
        """Write when tokens were used; returns how many. Raises VaultUnavailable, and forgets no use then."""
        uses = dict(self._uses)
        if uses:
            for store in self._stores:
                store.record_uses(uses)
            for id_, time in uses.items():
                if self._uses.get(id_) == time:  # otherwise it was used again meanwhile
                    del self._uses[id_]
        return f"{len(uses)} tokens were used"

    def close(self) -> None:
        """Write when tokens were used. An error is only logged: losing a time of use is no reason to fail."""
        try:
            self.write_uses()
        except CommonplaceError as error:
            emit("token_uses_not_written", level="warning", **error.as_dict())

    def _counting(self, store: "TokenFile | DeviceTokens", tokens: Iterable[Token]) -> Iterator[Token]:
        """Those of a store's tokens that count: of the file none of people, if their tokens are in a database."""
        return (each for each in tokens if store is not self._file or self._shared is None or not each.person)

    def _with_use(self, token: Token) -> Token:
        return replace(token, last_used=max(token.last_used, self._uses.get(token.id, "")))


class TokenFile:
    """The tokens on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: _FileIdentity | None = None
        self._tokens: tuple[Token, ...] = ()

    def read(self) -> tuple[Token, ...]:
        """The tokens in the file as it is now; none if there is no file. Raises VaultUnavailable(damaged)."""
        try:
            identity = self._current_identity()
            if identity != self._identity:
                self._tokens = _parse(json.loads(self._path.read_bytes()))
                self._identity = identity
        except FileNotFoundError:
            self._identity, self._tokens = None, ()
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._error("its content is not a list of tokens") from error
        return self._tokens

    def with_hash(self, hash: str) -> tuple[Token, ...]:
        """The token with that hash, if there is one; each hash takes equally long to compare."""
        return tuple(token for token in self.read() if hmac.compare_digest(token.hash, hash))

    def record_uses(self, uses: Mapping[str, str]) -> None:
        """Write when tokens were last used, by their ids. Raises VaultUnavailable."""
        if any(token.id in uses for token in self.read()):
            with self.changing() as tokens:
                tokens[:] = [replace(each, last_used=max(each.last_used, uses.get(each.id, ""))) for each in tokens]

    @contextmanager
    def changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed in place; written if the block succeeds. Other programs wait meanwhile.

        Raises VaultUnavailable.
        """
        with self._lock():
            tokens = list(self.read())
            yield tokens
            self._write(tokens)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Exclusive access to the file. Raises VaultUnavailable(locked) if it is not free in time."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with file_lock(self._path):
                yield
        except TimeoutError as error:
            message, hint = "another program is changing the list of tokens", "Try again in a moment."
            raise VaultUnavailable(message, path=str(self._path), reason="locked", hint=hint) from error
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error

    def _current_identity(self) -> _FileIdentity:
        status = self._path.stat()
        if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._error("other users may write it")
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _write(self, tokens: Sequence[Token]) -> None:
        try:
            write_private_file(self._path, {"version": _VERSION, "tokens": [asdict(token) for token in tokens]})
        except OSError as error:
            raise self._error(error.strerror or str(error), doing="written") from error

    def _error(self, reason: str, *, doing: str = "read") -> CommonplaceError:
        return VaultUnavailable(
            f"the list of tokens cannot be {doing}: {reason}",
            path=str(self._path),
            reason="damaged" if doing == "read" else "unavailable",
            hint="Fix its permissions or its disk, or remove it and run `commonplace token create` for each client.",
        )


def _parse(values: Any) -> tuple[Token, ...]:
    """Raises ValueError, KeyError or TypeError for anything but what `_write` writes."""
    if values["version"] != _VERSION:
        raise ValueError("another version")
    return tuple(_parse_token(fields) for fields in values["tokens"])


def _parse_token(fields: dict[str, Any]) -> Token:
    scopes = tuple(fields["scopes"])
    texts = {name: value for name, value in fields.items() if name != "scopes"}
    if not set(scopes) <= set(SCOPES) or not all(isinstance(value, str) for value in texts.values()):
        raise ValueError("not a token")
    if not re.fullmatch("[0-9a-f]{64}", texts["hash"]):
        raise ValueError("not a hash")
    return Token(**texts, scopes=scopes)


def _is_of(token: Token, person: str, vault: str) -> bool:
    return token.person == person and vault in ("", token.vault)


def _check(client: str, scopes: Iterable[Scope]) -> None:
    if not is_client_name(client):
        hint = "Use 1 to 64 letters, digits, spaces, dots, underscores and dashes."
        raise UsageError(f"{client!r} is not a valid client name", hint=hint)
    if not set(scopes) or not set(scopes) <= set(SCOPES):
        raise UsageError("a token needs valid scopes", hint=f"Choose from {', '.join(SCOPES)}.")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


Peer = tuple[str, int]
"""The address and the port of one end of a connection."""


def is_own_program(peer: Peer, *, port: int, table: Path = _TCP_TABLE) -> bool:
    """True if the program at the other end of a connection to our `port` is this user's, or root's.

    Also true where the system does not tell, as on macOS. False for a program that is gone, whose connection has no
    owner.
    """
    try:
        rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    except (OSError, UnicodeDecodeError):
        return True
    far, near = _table_address(*peer), _table_address("127.0.0.1", port)
    owners = {int(row[7]) for row in rows if len(row) > 9 and row[1:3] == [far, near] and row[9] != "0"}
    return bool(owners) and owners <= {os.geteuid(), _ROOT}


def _table_address(address: str, port: int) -> str:
    """An address as the system's table of connections shows it."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"


class DaemonProof:
    """The key by which the daemon of this user proves who it is, in a file that only this user can read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def answer(self, nonce: str, *, port: int) -> str:
        """The proof for this nonce, by the daemon at that port: a program at another port cannot pass it on.

        Raises UsageError for a nonce that is not 32 to 128 hex digits, VaultUnavailable if there is no key.
        """
        if not _NONCE.fullmatch(nonce):
            raise UsageError("the nonce must be 32 to 128 hex digits", hint="Send /proof?nonce=... with random digits.")
        return hmac.new(self._key(), f"commonplace daemon {port} {nonce}".encode(), hashlib.sha256).hexdigest()

    def fits(self, proof: object, nonce: str, *, port: int) -> bool:
        """True if this is the proof of the daemon at that port. Raises as `answer` does."""
        return isinstance(proof, str) and hmac.compare_digest(proof.encode(), self.answer(nonce, port=port).encode())

    def _key(self) -> bytes:
        """The key, made at first use; every program of this user reads the same one."""
        try:
            with file_lock(self._path):
                if not self._path.exists():
                    write_private_file(self._path, {"key": secrets.token_hex(32)})
                return bytes.fromhex(json.loads(self._path.read_bytes())["key"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            hint = "Remove that file, and restart the daemon."
            raise VaultUnavailable("the daemon's key cannot be read", path=str(self._path), hint=hint) from error


PortHolder = Literal["daemon", "another", "nobody"]
"""Who listens on a port: the daemon of this user, another program, or nobody."""


def holder_of(port: int) -> PortHolder:
    """Who listens on that port of this machine, by a proof that only this user's daemon can give. No token is sent.

    Raises VaultUnavailable if the key of the proofs cannot be read.
    """
    files = user_daemon_files()
    make_daemon_folders(files)
    nonce = secrets.token_hex(16)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PROOF_SECONDS)
    try:
        connection.request("GET", f"/proof?nonce={nonce}")
        reply = connection.getresponse()
        values = json.loads(reply.read(_PROOF_BYTES)) if reply.status == 200 else {}
    except ConnectionRefusedError:
        return "nobody"
    except TimeoutError:  # it may be loading: while it runs, nobody else can listen there
        return "daemon" if (state := running_daemon(files)) and state.port == port else "another"
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return "another"
    finally:
        connection.close()
    proof = values.get("proof") if isinstance(values, dict) else None
    return "daemon" if DaemonProof(files.folder / PROOF_FILE).fits(proof, nonce, port=port) else "another"
