"""`commonplace context`: what would be put before the model for a prompt, and why."""

from collections.abc import Iterator
from typing import Annotated

import typer

from commonplace.cli.door import Door, door_of, print_line, print_text
from commonplace.memory import shapes
from commonplace.model import Context


def context(
    context: typer.Context,
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="[PROMPT]", help="The prompt; without one, the start of a session.")
    ] = None,
    phase: Annotated[str, typer.Option(metavar="P", help="The phase of work, such as plan, work or briefing.")] = "",
    scope: Annotated[str, typer.Option(metavar="channel:TOKEN", help="In a channel, its memory as well.")] = "",
    conversation: Annotated[str, typer.Option(metavar="ID", help="The conversation, whose topics count.")] = "",
    kind: Annotated[list[str] | None, typer.Option(help="Recall only this kind; `note` for what is no entry.")] = None,
    budget: Annotated[int | None, typer.Option(metavar="N", help="Characters, at most.")] = None,
    tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens, at most, by a careful estimate.")] = None,
    within: Annotated[int | None, typer.Option(metavar="MS", help="Give what is ready after so many ms.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Why each piece is there, or is not.")] = False,
) -> None:
    """Print what would be put before the model for a prompt. Looking is not counted as use.

    \b
    Examples:
      commonplace context "review my pull request" --phase review
      commonplace context "what did we decide about the greenhouse?" --budget 2000 --explain
      commonplace context
    """
    door = door_of(context)
    words, seconds = " ".join(prompt or ()), None if within is None else within / 1000
    with door.opened() as memory:
        if words.strip():
            found = memory.context(
                words,
                phase=phase,
                scope=scope,
                conversation=conversation,
                kinds=kind or (),
                budget=budget,
                tokens=tokens,
                within=seconds,
                peek=True,
            )
        else:
            found = memory.context.start(
                phase=phase, scope=scope, budget=budget, tokens=tokens, within=seconds, peek=True
            )
    door.answer(shapes.context_shape(found), lambda: _show(found, door, explain=explain))


def _show(found: Context, door: Door, *, explain: bool) -> None:
    if found.text:
        print_text(f"{found.text}\n")
    if explain:
        for line in _reasons(found):
            print_line(line)
    for what in found.degraded:
        door.aside(what)
    if not found.text:
        door.aside("nothing would be put before this prompt" + ("" if explain else "; --explain says why"))
    elif found.is_over:
        door.aside("USER.md and CHANNEL.md are never cut, and are larger than the budget by themselves")
    door.aside(f"{len(found.text)} of {found.budget} characters, about {found.tokens} tokens, {found.took_ms:.0f} ms")


def _reasons(found: Context) -> Iterator[str]:
    """One line for each piece that is in it, and for each that is not."""
    about = [f"topics {', '.join(found.topics)}" if found.topics else "", f"style {found.style}" if found.style else ""]
    if any(about):
        yield ", ".join(filter(None, about))
    for each in found.included:
        piece = each.piece
        marks = [piece.why, "cut" if each.is_cut else "", f"not sure: {piece.doubt}" if piece.doubt else ""]
        yield f"+ {piece.section:9} {each.chars:>5}  {piece.source}  {', '.join(filter(None, marks))}"
    for out in found.left_out:
        yield f"- {out.section:9} {out.why:>8}  {out.source}  {out.said}"
