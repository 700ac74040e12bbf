"""`commonplace context`: preview what is put before a prompt, and why."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.completion import kinds, offer, phases
from commonplace.cli.invocation import Invocation, invocation_of, print_context, print_line
from commonplace.cli.progress import ProgressLine
from commonplace.memory import shapes
from commonplace.model import Context

_Prompt = Annotated[list[str] | None, typer.Argument(metavar="[PROMPT]", help="The prompt; without one, the profile.")]
_Phase = Annotated[
    str, typer.Option(metavar="P", help="The phase of work: plan, work, review, briefing, ...", autocompletion=phases)
]
_Conversation = Annotated[str, typer.Option(metavar="ID", help="The conversation; what it has been given is left out.")]
_Kinds = Annotated[
    list[str] | None,
    typer.Option(help="Recall only this kind; `note` means notes that are not entries.", autocompletion=kinds),
]
_Notes = Annotated[
    str,
    typer.Option(
        metavar="MODE",
        help="Passages of notes: auto, always, asked or off.",
        autocompletion=offer("auto", "always", "asked", "off"),
    ),
]

_Tokens = Annotated[int | None, typer.Option(metavar="N", help="At most this many tokens, by a conservative estimate.")]
_Within = Annotated[
    int | None, typer.Option(metavar="MS", help="Stop after this many milliseconds with what is ready.")
]


def context(
    context: typer.Context,
    prompt: _Prompt = None,
    phase: _Phase = "",
    scope: Annotated[str, typer.Option(metavar="channel:TOKEN", help="Add the memory of this channel.")] = "",
    conversation: _Conversation = "",
    folder: Annotated[str, typer.Option(metavar="DIR", help="Where the session works; default: this folder.")] = "",
    kind: _Kinds = None,
    notes: _Notes = "",
    profile: Annotated[bool, typer.Option("--profile", help="Show the profile as well as the prompt's part.")] = False,
    budget: Annotated[int | None, typer.Option(metavar="N", help="At most this many characters.")] = None,
    tokens: _Tokens = None,
    within: _Within = None,
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
    words = " ".join(prompt or ())
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        build: Callable[..., Context] = memory.context.start
        if words.strip():
            profile = profile or bool(conversation)
            build = partial(memory.context, words, kinds=kind or (), notes=notes, profile=profile)
        result = build(
            phase=phase,
            scope=scope,
            conversation=conversation,
            folder=str(Path(folder).absolute()) if folder else str(Path.cwd()),
            budget=budget,
            tokens=tokens,
            within=None if within is None else within / 1000,
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
