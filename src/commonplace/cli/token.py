"""`commonplace token`: tokens for programs that reach the daemon over TCP."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, show_help
from commonplace.errors import UsageError
from commonplace.model import SCOPES, Scope

if TYPE_CHECKING:
    from commonplace.daemon.tokens import Token, Tokens

app = typer.Typer(
    help="Create, list and revoke tokens for programs that reach the daemon over TCP.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.command("create")
def create(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="A name for the program that will use it.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="read|write|admin",
            help="What it may do; may be repeated. [default: read, write]",
            autocompletion=offer(*SCOPES),
        ),
    ] = None,
) -> None:
    """Create a token and print it once; only its hash is stored.

    With --vault it is valid for that vault only.

    \b
    Examples:
      commonplace token create claude-code
      commonplace token create dashboard --scope read --vault ~/Notes | pbcopy
    """
    invocation = invocation_of(context)
    scopes, vault = _scopes(scope or ["read", "write"]), _vault_meant(invocation)
    token, secret = _tokens().create(client, scopes=scopes, vault=vault, now=datetime.now(UTC))

    def show() -> None:
        print_line(secret)
        invocation.inform(
            f"token {token.id} for {token.client} may {', '.join(token.scopes)}; it will not be shown again"
        )

    invocation.answer({**_shape(token), "secret": secret}, show)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the tokens with their clients, scopes and last use; never the secrets.

    \b
    Example:
      commonplace token list
    """
    invocation = invocation_of(context)
    tokens = _tokens().list()

    def show() -> None:
        print_table(
            ["id", "client", "scopes", "vault", "created", "last used", "state"], [_row(each) for each in tokens]
        )
        if not tokens:
            invocation.inform("no tokens yet: `commonplace token create CLIENT` creates one")

    invocation.answer({"count": len(tokens), "tokens": [_shape(each) for each in tokens]}, show)


@app.command("revoke")
def revoke(
    context: typer.Context,
    which: Annotated[str, typer.Argument(metavar="ID|CLIENT", help="One token, or all tokens of a client.")],
) -> None:
    """Revoke tokens; the daemon refuses them from the next request on.

    \b
    Examples:
      commonplace token revoke 4f1d20b7
      commonplace token revoke claude-code
    """
    revoked = _tokens().revoke(which, now=datetime.now(UTC))

    def show() -> None:
        for token in revoked:
            print_line(f"revoked: {token.id} {token.client}")

    invocation_of(context).answer({"count": len(revoked), "tokens": [_shape(each) for each in revoked]}, show)


def _tokens() -> "Tokens":
    from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files
    from commonplace.daemon.tokens import Tokens

    where = user_daemon_files()
    make_daemon_folders(where)
    return Tokens(where.tokens)


def _scopes(words: list[str]) -> list[Scope]:
    """The scopes with these names. Raises UsageError for an unknown name."""
    if strange := [word for word in words if word not in SCOPES]:
        raise UsageError(f"no such scope: {strange[0]!r}", hint=f"Choose from {', '.join(SCOPES)}.")
    return [scope for scope in SCOPES if scope in words]


def _vault_meant(invocation: Invocation) -> str:
    """The path of the registered vault that --vault names; empty without it. Raises NotFound, UsageError."""
    from commonplace.daemon.vaults import VaultRegistry

    named = invocation.flags.get("vault.root")
    if not isinstance(named, str):
        return ""
    registry, path = VaultRegistry(invocation.flags), Path(named).expanduser().resolve()
    return str(registry.find(str(path) if path in registry.vaults else named))


def _shape(token: "Token") -> dict[str, Any]:
    return {
        "id": token.id,
        "client": token.client,
        "scopes": list(token.scopes),
        "vault": token.vault or None,
        "created": token.created,
        "last_used": token.last_used or None,
        "revoked": token.revoked or None,
    }


def _row(token: "Token") -> list[str]:
    state = f"revoked {token.revoked}" if token.revoked else "valid"
    used = token.last_used or "never"
    return [token.id, token.client, ",".join(token.scopes), token.vault or "any vault", token.created, used, state]
