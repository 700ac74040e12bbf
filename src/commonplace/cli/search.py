"""`commonplace search`: the right section of the right note, with the reason."""

import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from commonplace.cli.door import Door, defused, door_of, local_zone, print_line
from commonplace.memory import shapes
from commonplace.model import MODES, Answer, Hit


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What you want to know, in your own words.")],
    k: Annotated[int | None, typer.Option("-k", help="How many hits, at most.")] = None,
    mode: Annotated[str, typer.Option(help=f"How to search: {', '.join(MODES)}.")] = "hybrid",
    by: Annotated[
        str, typer.Option(help="What to rank: chunk, or document for whole notes and conversations.")
    ] = "chunk",
    source: Annotated[list[str] | None, typer.Option(help="Only this source: vault or chat.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only notes of this kind.")] = None,
    path: Annotated[str, typer.Option(help="Only notes in this folder, or this note.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only notes with this tag, or one below it.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only notes on this topic.")] = None,
    entity: Annotated[
        list[str] | None, typer.Option(help="Only the note of this name and those that link to it.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only notes updated since: 2026-03-01, 2026-03, yesterday, 7d.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only notes updated before the end of: 2026-03-01, 2026-03.")
    ] = None,
    as_of: Annotated[str | None, typer.Option(help="The vault as it stood at the end of that day.")] = None,
    min_score: Annotated[float | None, typer.Option(help="The least cosine of a hit that shares no word.")] = None,
    include_archive: Annotated[
        bool, typer.Option("--include-archive", help="Also what was archived or replaced.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
) -> None:
    """Search the vault by words and by meaning.

    \b
    Examples:
      commonplace search "how do we water the beds in summer?"
      commonplace search budget --path Projects --tag greenhouse -k 3
      commonplace search "sensor review" --mode words --explain
      commonplace search "what did you suggest last week?" --source chat --by document
      commonplace search "who leads the project" --as-of 2026-10-01 --json
    """
    door = door_of(context)
    with door.opened() as memory:
        answer = memory.search(
            " ".join(query),
            k=k,
            mode=mode,
            by=by,
            sources=source or (),
            kinds=kind or (),
            path=path,
            tags=tag or (),
            topics=topic or (),
            entities=entity or (),
            since=since,
            until=until,
            as_of=as_of,
            min_score=min_score,
            include_archive=include_archive,
            zone=local_zone(),
            snippets=not door.json,
        )
    door.answer(shapes.answer_shape(answer, explain=explain), lambda: show_answer(answer, door, explain=explain))


def show_answer(answer: Answer, door: Door, *, explain: bool = False) -> None:
    """The hits for people, and beside them how the search went."""
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            print_line()
        _show_hit(rank, hit)
        if explain:
            for line in _reasons(hit):
                print_line(f"     {line}")
    if explain and answer.understood:
        door.aside("understood: " + ", ".join(f"{name} {_told(value)}" for name, value in answer.understood.items()))
    if answer.empty:
        door.aside(answer.empty)
    for what in answer.degraded:
        door.aside(what)
    found = "1 hit" if len(answer) == 1 else f"{len(answer)} hits"
    sure = "" if answer.confidence is None or not answer.hits else f", confidence {answer.confidence:.2f}"
    past = f", as of {answer.as_of} (history begins {answer.history_begins})" if answer.as_of else ""
    door.aside(f"{found}, {answer.mode}, {answer.took_ms:.0f} ms{sure}{past}")


def _show_hit(rank: int, hit: Hit) -> None:
    """Where the hit is, and the words that show why; on a terminal with colours."""
    place = _place(hit) + (f"  {' > '.join(hit.heading_path)}" if hit.heading_path else "")
    sensitive = "  sensitive" if hit.sensitive else ""
    if not sys.stdout.isatty():
        print_line(f"{rank:>2}. {place}  {hit.score:.2f}{sensitive}")
        print_line(textwrap.indent(hit.snippet or hit.text, "     "))
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    head = Text.assemble(f"{rank:>2}. ", (defused(place), "bold"), (f"  {hit.score:.2f}", "dim"), (sensitive, "red"))
    body = Text(defused(hit.snippet or hit.text))
    for start, end in hit.marks:
        body.stylize("bold yellow", start, end)
    console.print(head)
    console.print(Padding(body, (0, 0, 0, 5)))


def _place(hit: Hit) -> str:
    """Where to look: the line of a note, the turn of a conversation with who said it and when."""
    if hit.source_type != "chat":
        return f"{hit.path}:{hit.line}"
    who, day = hit.metadata.get("speaker") or hit.metadata.get("role"), str(hit.metadata.get("at") or "")[:10]
    said = ", ".join(filter(None, (who, day)))
    return f"conversation:{hit.path} turn {hit.line}" + (f" ({said})" if said else "")


def _reasons(hit: Hit) -> Iterator[str]:
    """One line for each part of the score."""
    for part, values in hit.why.items():
        told = ", ".join(f"{name} {_told(value)}" for name, value in values.items() if value not in (None, {}, []))
        yield f"{part}: {told}"


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name} {_told(each)}" for name, each in value.items()) + ")"
    return ", ".join(map(_told, value)) if isinstance(value, list | tuple) else str(value)
