"""The token with which a host reaches the daemon over HTTP: reused while it is valid, otherwise created."""

import json
from datetime import datetime
from typing import Final

from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files
from commonplace.daemon.tokens import Tokens
from commonplace.errors import CommonplaceError, NotFound
from commonplace.hosts.file_changes import read_file, resolve_file
from commonplace.hosts.host import Environment, Host, HostFile, InstallOptions
from commonplace.hosts.host_edits import TOKEN_PATTERN, ServerEntry, current_entry
from commonplace.hosts.jsonc import InvalidSyntax
from commonplace.identity.devices import Token

TOKEN_PLACEHOLDER: Final = "cpl_made-when-it-is-installed"  # noqa: S105 (not a token)
"""Stands for the token in a preview."""


def daemon_tokens() -> Tokens:
    """The daemon's tokens."""
    return Tokens(user_daemon_files().tokens)


def secret_in_use(host: Host, options: InstallOptions, environment: Environment) -> tuple[str, str]:
    """The secret in the host's file and its token's id; empty if no valid token for this vault is there."""
    for file in host.files(options, environment):
        secret = secret_in_file(file)
        token = daemon_tokens().find(secret) if secret else None
        if token and token.vault == environment.vault:
            return secret, token.id
    return "", ""


def secret_in_file(file: HostFile) -> str:
    """The secret in our entry of the file; empty without one, or if the file cannot be read."""
    try:
        text = (read_file(resolve_file(file.path))[0] or b"").decode("utf-8", "replace")
        entries = [current_entry(text, edit, file.format) for edit in file.edits if isinstance(edit, ServerEntry)]
    except (InvalidSyntax, CommonplaceError):
        return ""  # the error is reported when the file is changed
    match = TOKEN_PATTERN.search(json.dumps(entries, default=str))
    return match.group() if match else ""


def create_host_token(host: Host, *, vault: str, now: datetime) -> tuple[Token, str]:
    """A new token for the host, which may read and write that vault or all, and its secret. Raises VaultUnavailable."""
    make_daemon_folders(user_daemon_files())
    return daemon_tokens().create(host.name, scopes=("read", "write"), vault=vault, now=now)


def revoke_token(token: str, *, now: datetime) -> bool:
    """Revoke the token of this id; False if there is none."""
    try:
        return bool(daemon_tokens().revoke(token, now=now)) if token else False
    except NotFound:
        return False
