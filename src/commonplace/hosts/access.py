"""The token by which a host reaches the daemon over HTTP: found again where it is still good, else made anew."""

import json
from datetime import datetime
from typing import Final

from commonplace.daemon.single import make_folders, our_places
from commonplace.daemon.token_file import Token
from commonplace.daemon.tokens import Tokens
from commonplace.errors import CommonplaceError, NotFound
from commonplace.hosts.applying import read_file, real_file
from commonplace.hosts.edits import Server, said
from commonplace.hosts.host import Around, Asked, Host, HostFile
from commonplace.hosts.jsonc import NotParsed
from commonplace.hosts.ours import SECRET

SHOWN: Final = "cpl_made-when-it-is-installed"
"""Stands for the token in what is only shown."""


def our_tokens() -> Tokens:
    """The daemon's tokens."""
    return Tokens(our_places().tokens)


def secret_in_use(host: Host, asked: Asked, around: Around) -> tuple[str, str]:
    """The secret that the host's file holds and its token's id; empty where none counts, or not for this vault."""
    for file in host.files(asked, around):
        secret = secret_in(file)
        token = our_tokens().find(secret) if secret else None
        if token and token.vault == around.vault:
            return secret, token.id
    return "", ""


def secret_in(file: HostFile) -> str:
    """The secret that stands in the entry of ours; empty without one, or where the file cannot be read."""
    try:
        text = (read_file(real_file(file.path))[0] or b"").decode("utf-8", "replace")
        entries = [said(text, edit, file.form) for edit in file.edits if isinstance(edit, Server)]
    except (NotParsed, CommonplaceError):
        return ""  # whoever changes the file is told what is wrong with it
    found = SECRET.search(json.dumps(entries, default=str))
    return found.group() if found else ""


def make_token(host: Host, *, vault: str, now: datetime) -> tuple[Token, str]:
    """A new token for the host, which may read and write that vault or all, and its secret. Raises VaultUnavailable."""
    make_folders(our_places())
    return our_tokens().create(host.name, scopes=("read", "write"), vault=vault, now=now)


def revoke_token(token: str, *, now: datetime) -> bool:
    """Take the token of this id out of use; whether there was one."""
    try:
        return bool(our_tokens().revoke(token, now=now)) if token else False
    except NotFound:
        return False
