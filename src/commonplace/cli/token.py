"""`commonplace token`: the keys by which programs reach the daemon over TCP."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.door import Door, door_of, help_alone, print_line, print_table
from commonplace.errors import UsageError
from commonplace.model import SCOPES, Scope

if TYPE_CHECKING:
    from commonplace.daemon.token_file import Token
    from commonplace.daemon.tokens import Tokens

app = typer.Typer(
    help="The keys by which programs reach the daemon over TCP.",
    callback=help_alone,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.command("create")
def create(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="What to call the program that will use it.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", metavar="read|write|admin", help="What it may do; may be repeated. Else read and write."
        ),
    ] = None,
) -> None:
    """Make a token and print it, this once: only its hash is kept. With --vault it is good for that vault alone.

    \b
    Examples:
      commonplace token create claude-code
      commonplace token create dashboard --scope read --vault ~/Notes | pbcopy
    """
    door = door_of(context)
    scopes, vault = _scopes(scope or ["read", "write"]), _vault_meant(door)
    token, secret = _tokens().create(client, scopes=scopes, vault=vault, now=datetime.now(UTC))

    def show() -> None:
        print_line(secret)
        door.aside(f"token {token.id} for {token.client} may {', '.join(token.scopes)}; it is not shown again")

    door.answer({**_shape(token), "secret": secret}, show)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the tokens: whose they are, what they may do, and when they were used. Never the tokens themselves.

    \b
    Example:
      commonplace token list
    """
    door = door_of(context)
    found = _tokens().list()

    def show() -> None:
        print_table(
            ["id", "client", "scopes", "vault", "created", "last used", "state"], [_row(each) for each in found]
        )
        if not found:
            door.aside("no tokens yet: `commonplace token create CLIENT` makes one")

    door.answer({"count": len(found), "tokens": [_shape(each) for each in found]}, show)


@app.command("revoke")
def revoke(
    context: typer.Context,
    which: Annotated[str, typer.Argument(metavar="ID|CLIENT", help="One token, or all those of a client.")],
) -> None:
    """Take tokens out of use: from the next request on, the daemon does not know them.

    \b
    Examples:
      commonplace token revoke 4f1d20b7
      commonplace token revoke claude-code
    """
    revoked = _tokens().revoke(which, now=datetime.now(UTC))

    def show() -> None:
        for token in revoked:
            print_line(f"revoked: {token.id} {token.client}")

    door_of(context).answer({"count": len(revoked), "tokens": [_shape(each) for each in revoked]}, show)


def _tokens() -> "Tokens":
    from commonplace.daemon.single import make_folders, our_places
    from commonplace.daemon.tokens import Tokens

    where = our_places()
    make_folders(where)
    return Tokens(where.tokens)


def _scopes(words: list[str]) -> list[Scope]:
    """The scopes of these names. Raises UsageError for one that is none."""
    if strange := [word for word in words if word not in SCOPES]:
        raise UsageError(f"{strange[0]!r} is no scope", hint=f"Choose from {', '.join(SCOPES)}.")
    return [scope for scope in SCOPES if scope in words]


def _vault_meant(door: Door) -> str:
    """The path of the registered vault that --vault names; empty without it. Raises NotFound, UsageError."""
    from commonplace.daemon.registry import Registry

    named = door.flags.get("vault.root")
    if not isinstance(named, str):
        return ""
    registry, path = Registry(door.flags), Path(named).expanduser().resolve()
    return str(registry.meant(str(path) if path in registry.vaults else named))


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
    state = f"revoked {token.revoked}" if token.revoked else "good"
    used = token.last_used or "never"
    return [token.id, token.client, ",".join(token.scopes), token.vault or "any vault", token.created, used, state]
