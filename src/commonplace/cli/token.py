"""`commonplace token`: tokens for programs that reach the daemon over TCP."""

from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, local_time, print_line, print_table, show_help
from commonplace.errors import NotFound, UsageError
from commonplace.model import SCOPES, Scope

if TYPE_CHECKING:
    from commonplace.daemon.tokens import Tokens
    from commonplace.identity.access import Identities
    from commonplace.identity.devices import Token
    from commonplace.identity.grants import OAuthGrant

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
    person: Annotated[
        str, typer.Option(metavar="ID", help="The person whose device or agent it is; see `commonplace person`.")
    ] = "",
) -> None:
    """Create a token and print it once; only its hash is stored.

    With --vault it is valid for that vault only. With --person it opens the vaults of that person and no others.

    \b
    Examples:
      commonplace token create claude-code
      commonplace token create dashboard --scope read --vault ~/Notes | pbcopy
      commonplace token create laptop --person ada
    """
    invocation = invocation_of(context)
    scopes, vault = _scopes(scope or ["read", "write"]), vault_meant(invocation)
    if person:
        _check_person(open_identities(invocation), person, vault)
    token, secret = open_tokens(invocation).create(
        client, scopes=scopes, vault=vault, now=datetime.now(UTC), person=person
    )

    def show() -> None:
        print_line(secret)
        owner = f" of {token.person}" if token.person else ""
        invocation.inform(
            f"token {token.id} for {token.client}{owner} may {', '.join(token.scopes)}; it will not be shown again"
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
    tokens = open_tokens(invocation).list()

    def show() -> None:
        print_table(
            ["id", "client", "person", "scopes", "vault", "created", "last used", "state"],
            [_row(each) for each in tokens],
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

    The id of a program that a person allowed by OAuth, as `person show` lists it, works too.

    \b
    Examples:
      commonplace token revoke 4f1d20b7
      commonplace token revoke claude-code
    """
    invocation = invocation_of(context)
    if grant := _revoke_grant(open_identities(invocation), which):
        values = {**asdict(grant), "scopes": [*grant.scopes]}
        show_grant = partial(print_line, f"revoked: {grant.id} {grant.name} of {grant.person}")
        invocation.answer({"count": 1, "grants": [values]}, show_grant)
        return
    revoked = open_tokens(invocation).revoke(which, now=datetime.now(UTC))

    def show() -> None:
        for token in revoked:
            print_line(f"revoked: {token.id} {token.client}")

    invocation.answer({"count": len(revoked), "tokens": [_shape(each) for each in revoked]}, show)


def _revoke_grant(identities: "Identities", id: str) -> "OAuthGrant | None":
    """End the OAuth grant with that id; None if there is none."""
    if not identities.database.exists():
        return None
    try:
        return identities.grants.end(id, now=datetime.now(UTC))
    except NotFound:
        return None


def open_tokens(invocation: Invocation) -> "Tokens":
    """The tokens of this user's daemon."""
    from commonplace.app.identities import make_device_tokens, server_settings
    from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files
    from commonplace.daemon.tokens import Tokens

    where = user_daemon_files()
    make_daemon_folders(where)
    return Tokens(where.tokens, make_device_tokens(server_settings(invocation.flags)))


def open_identities(invocation: Invocation) -> "Identities":
    """The people of this user's server. Raises UsageError."""
    from commonplace.app.identities import left_in_file, make_identities, server_settings
    from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files
    from commonplace.identity.access import Identities

    make_daemon_folders(user_daemon_files())
    settings = server_settings(invocation.flags)
    if hint := left_in_file(settings):
        invocation.inform(hint)
    return Identities(make_identities(settings))


def _scopes(words: list[str]) -> list[Scope]:
    """The scopes with these names. Raises UsageError for an unknown name."""
    if strange := [word for word in words if word not in SCOPES]:
        raise UsageError(f"no such scope: {strange[0]!r}", hint=f"Choose from {', '.join(SCOPES)}.")
    return [scope for scope in SCOPES if scope in words]


def _check_person(identities: "Identities", person: str, vault: str) -> None:
    """Raise NotFound if there is no such person, UsageError if the vault is not one of theirs."""
    identities.people.require(person)
    if vault and vault not in [each.vault for each in identities.people.vaults_of(person)]:
        hint = f"Run `commonplace person share {vault} {person}` first."
        raise UsageError(f"{person} may not use {vault}", hint=hint)


def vault_meant(invocation: Invocation) -> str:
    """The registered vault that --vault names; empty without it. Raises NotFound, UsageError."""
    named = invocation.flags.get("vault.root")
    return registered_vault(named, invocation) if isinstance(named, str) else ""


def registered_vault(named: str, invocation: Invocation) -> str:
    """The path of the registered vault of that folder or name, or postgresql:NAME. Raises NotFound, UsageError."""
    from commonplace.daemon.vaults import VaultRegistry
    from commonplace.settings.database_vaults import shown_vault

    registry, path = VaultRegistry(invocation.flags), Path(named).expanduser().resolve()
    return shown_vault(registry.find(str(path) if path in registry.vaults else named))


def _shape(token: "Token") -> dict[str, Any]:
    return {
        "id": token.id,
        "client": token.client,
        "scopes": list(token.scopes),
        "vault": token.vault or None,
        "person": token.person or None,
        "created": token.created,
        "last_used": token.last_used or None,
        "revoked": token.revoked or None,
    }


def _row(token: "Token") -> list[str]:
    state = f"revoked {local_time(token.revoked)}" if token.revoked else "valid"
    used = local_time(token.last_used) or "never"
    vault = token.vault or ("their vaults" if token.person else "any vault")
    return [
        token.id,
        token.client,
        token.person or "-",
        ",".join(token.scopes),
        vault,
        local_time(token.created),
        used,
        state,
    ]
