"""`commonplace mcp`: MCP on standard input and output, for hosts that start a program of their own."""

from typing import Annotated

import typer

from commonplace.cli.door import door_of


def mcp(
    context: typer.Context,
    client: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call the agent in the log; else as it calls itself.")
    ] = None,
) -> None:
    """Speak MCP on standard input and output, through the daemon, which is started if it does not run.

    This is what a host is told to run that cannot speak MCP over HTTP. The vault is --vault, else $COMMONPLACE_VAULT,
    else the default one; the current folder plays no part.

    Example: commonplace mcp --vault ~/Notes --client claude-desktop
    """
    from commonplace.client.stdio import serve_stdio

    vault = door_of(context).flags.get("vault.root")
    raise typer.Exit(serve_stdio(vault=vault if isinstance(vault, str) else None, client=client))
