"""`commonplace context`: preview what is put before a prompt, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.completion import kinds, offer, phases
from commonplace.cli.invocation import Invocation, invocation_of, print_context, print_line
from commonplace.cli.progress import ProgressLine
from commonplace.memory import shapes
from commonplace.model import Context


def context(
    context: typer.Context,
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="[PROMPT]", help="The prompt; without one, the profile.")
    ] = None,
    phase: Annotated[
        str,
        typer.Option(metavar="P", help="The phase of work: plan, work, review, briefing, ...", autocompletion=phases),
    ] = "",
    scope: Annotated[str, typer.Option(metavar="channel:TOKEN", help="Add the memory of this channel.")] = "",
    conversation: Annotated[
        str, typer.Option(metavar="ID", help="The conversation; what it has been given is left out.")
    ] = "",
    folder: Annotated[str, typer.Option(metavar="DIR", help="Where the session works; default: this folder.")] = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Recall only this kind; `note` means notes that are not entries.", autocompletion=kinds),
    ] = None,
    notes: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="Passages of notes: auto, always, asked or off.",
            autocompletion=offer("auto", "always", "asked", "off"),
        ),
    ] = "",
    profile: Annotated[bool, typer.Option("--profile", help="Show the profile as well as the prompt's part.")] = False,
    budget: Annotated[int | None, typer.Option(metavar="N", help="At most this many characters.")] = None,
    tokens: Annotated[
        int | None, typer.Option(metavar="N", help="At most this many tokens, by a conservative estimate.")
    ] = None,
    within: Annotated[
        int | None, typer.Option(metavar="MS", help="Stop after this many milliseconds with what is ready.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each piece was included or left out.")] = False,
) -> None:
    """Print the memory that would be put before a prompt.

    Without a prompt, print the profile that a session gets once. A preview does not count as use of the memories.

    \b
    Examples:
      commonplace context
      commonplace context "review my pull request" --phase review
      commonplace context "what did we decide about the greenhouse?" --budget 2000 --explain
    """
    invocation = invocation_of(context)
    words, seconds = " ".join(prompt or ()), None if within is None else within / 1000
    where = str(Path(folder).absolute()) if folder else str(Path.cwd())
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        if words.strip():
            result = memory.context(
                words,
                phase=phase,
                scope=scope,
                conversation=conversation,
                folder=where,
                kinds=kind or (),
                notes=notes,
                profile=profile or bool(conversation),
                budget=budget,
                tokens=tokens,
                within=seconds,
                peek=True,
                progress=progress,
            )
        else:
            result = memory.context.start(
                phase=phase,
                scope=scope,
                conversation=conversation,
                folder=where,
                budget=budget,
                tokens=tokens,
                within=seconds,
                peek=True,
                progress=progress,
            )
        shape = shapes.context_shape(result, memory.notes.link)
    invocation.answer(shape, lambda: _show(result, invocation, explain=explain))


def _show(result: Context, invocation: Invocation, *, explain: bool) -> None:
    if result.text:
        print_context(f"{result.text}\n")
    if explain:
        for line in _reasons(result):
            print_line(line)
    for what in result.degraded:
        invocation.inform(what)
    if not result.text:
        invocation.inform("nothing would be put before this prompt" + ("" if explain else " (--explain shows why)"))
    elif result.is_over:
        invocation.inform("USER.md and CHANNEL.md alone exceed the budget; they are never cut")
    invocation.inform(
        f"{len(result.text)} of {result.budget} characters, about {result.tokens} tokens, {result.took_ms:.0f} ms"
    )


def _reasons(result: Context) -> Iterator[str]:
    """One line for each piece, included or left out."""
    about = [
        f"topics {', '.join(result.topics)}" if result.topics else "",
        f"style {result.style}" if result.style else "",
    ]
    if any(about):
        yield ", ".join(filter(None, about))
    for each in result.included:
        piece = each.piece
        marks = [piece.why, "cut" if each.is_cut else "", f"not sure: {piece.doubt}" if piece.doubt else ""]
        yield f"+ {piece.section:9} {each.chars:>5}  {piece.source}  {', '.join(filter(None, marks))}"
    for out in result.left_out:
        yield f"- {out.section:9} {out.why:>8}  {out.source}  {out.said}"
