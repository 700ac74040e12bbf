"""Who is at the door: by a token over TCP, by the owner's folder on the socket."""

from collections.abc import Callable
from datetime import datetime
from pathlib import PurePath
from typing import Final
from urllib.parse import unquote

from commonplace.client.names import is_client_name
from commonplace.daemon.head import Head
from commonplace.daemon.limits import Rates
from commonplace.daemon.refusals import (
    Refusal,
    malformed,
    other_vault,
    token_wanted,
    tokens_unreadable,
    too_many_guesses,
)
from commonplace.daemon.token_file import Token
from commonplace.daemon.tokens import Tokens
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.model import SCOPES, Caller, Scope

_LONGEST_VAULT: Final = 4096  # bytes, the longest path there is
_WRONG_A_SECOND: Final = 5.0
_WRONG_AT_ONCE: Final = 50


class Callers:
    """Tells callers by their tokens, and slows those down who try wrong ones."""

    def __init__(self, tokens: Tokens, *, clock: Callable[[], datetime]) -> None:
        self._tokens = tokens
        self._clock = clock
        self._wrong = Rates(per_second=_WRONG_A_SECOND, burst=_WRONG_AT_ONCE)

    def by_token(self, head: Head) -> Caller | Refusal:
        """The caller over TCP. A good token is let in however many wrong ones came before."""
        try:
            token = self._token(head)
        except CommonplaceError as error:
            emit("tokens_unreadable", level="error", **error.as_dict())
            return tokens_unreadable()
        if token is None:
            wait = self._wrong.draw("", now=self._clock().timestamp())
            return too_many_guesses(wait) if wait else token_wanted()
        asked = _asked(head)
        if isinstance(asked, Refusal):
            return asked
        if token.vault and asked[1] and asked[1] not in (token.vault, PurePath(token.vault).name):
            return other_vault()
        self._tokens.touch(token, now=self._clock())
        return Caller(token.client, frozenset(token.scopes), vault=token.vault or asked[1], via="tcp")

    def by_socket(self, head: Head) -> Caller | Refusal:
        """The caller on the socket: the person who owns it, by a program that gives its own name."""
        asked = _asked(head)
        if isinstance(asked, Refusal):
            return asked
        return Caller(asked[0] or "socket", frozenset(SCOPES), vault=asked[1], via="socket")

    def _token(self, head: Head) -> Token | None:
        presented = head.all("authorization")
        if len(presented) != 1:
            return None
        scheme, _, secret = presented[0].partition(" ")
        return self._tokens.find(secret.strip()) if scheme.lower() == "bearer" and secret else None


def scope_for(path: str) -> Scope:
    """What a caller must have to be let in to this path; the doors behind it may want more."""
    return "admin" if path == "/daemon" or path.startswith("/daemon/") else "read"


def _asked(head: Head) -> tuple[str, str] | Refusal:
    """The name and the vault that the headers give; empty where they give none."""
    names, vaults = head.all("commonplace-client"), head.all("commonplace-vault")
    if len(names) > 1 or len(vaults) > 1:
        return malformed("a header of ours came twice", hint="Send Commonplace-Client and Commonplace-Vault once each.")
    if names and not is_client_name(names[0]):
        hint = "Use 1 to 64 letters, digits, blanks, dots, underscores and dashes."
        return malformed("Commonplace-Client is no name for a client", hint=hint)
    vault = _decoded(vaults[0]) if vaults else ""
    if vault is None:
        hint = "Send the path or the folder name of a registered vault, as percent-encoded UTF-8."
        return malformed("Commonplace-Vault is no path", hint=hint)
    return (names[0] if names else "", vault)


def _decoded(value: str) -> str | None:
    """A path that may be percent-encoded; None where it is no UTF-8, too long, or holds what no path does."""
    try:
        text = unquote(value.encode("latin-1").decode("utf-8"), errors="strict")
    except UnicodeDecodeError:
        return None
    fits = len(text.encode("utf-8")) <= _LONGEST_VAULT and text.isprintable()
    return text if fits else None
