"""`commonplace hook`: what hosts run at each event of a session."""

from typing import Annotated

import typer

from commonplace.cli.door import door_of


def hook(
    context: typer.Context,
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="session-start, prompt, stop, pre-compact, session-end or ping.")
    ],
    host: Annotated[
        str, typer.Option(metavar="HOST", help="claude-code, codex or another; `auto` tells these two apart.")
    ] = "auto",
    phase: Annotated[str, typer.Option(metavar="PHASE", help="The phase of work, for what is recalled.")] = "",
) -> None:
    """Answer an event of an agent's session: what memory puts before a prompt, or the transcript to be captured.

    Hosts run this, as `commonplace install` tells them; it reads their JSON on standard input. It never fails and
    never holds them up: after half a second (0.8 s at the start of a session) it gives up with one line on standard
    error. The vault is --vault, else $COMMONPLACE_VAULT, else the default one; the current folder plays no part.

    \b
    Example:
      echo '{"prompt": "What heats the greenhouse?"}' | commonplace hook prompt --host claude-code
    """
    from commonplace.hooks.line import Line
    from commonplace.hooks.running import run_hook

    vault = door_of(context).flags.get("vault.root")
    run_hook(Line(event, host=host, phase=phase, vault=vault if isinstance(vault, str) else ""))
