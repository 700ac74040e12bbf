"""`commonplace search`: find notes and conversations, and print the hits."""

import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from commonplace.cli.completion import kinds, offer
from commonplace.cli.invocation import (
    Invocation,
    invocation_of,
    linked_text,
    local_time,
    local_zone,
    print_line,
    printable,
)
from commonplace.cli.progress import ProgressLine
from commonplace.memory import shapes
from commonplace.model import MODES, Answer, Hit
from commonplace.model.conversation import hit_speaker
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import long_day
from commonplace.model.query import SEE_NEAREST
from commonplace.model.request import SearchRequest

if TYPE_CHECKING:
    from rich.text import Text

_SOURCES: Final = ("vault", "chat", "task", "correction", "isolated")
_SEE_NEAREST_HERE: Final = "`--min-score 0` shows the nearest passages."
_DOUBTFUL: Final = 0.1  # of 841 questions of three public sets that find their answer, eight have less
_INDENT: Final = 5
_CORRECTED: Final = 50  # characters of what a correction corrects
_LINES: Final = 2  # of a hit that a terminal shows


_Mode = Annotated[str, typer.Option(help=f"Search mode: {', '.join(MODES)}.", autocompletion=offer(*MODES))]
_Unit = Annotated[
    str,
    typer.Option(
        help="Rank chunks, or documents: whole notes and conversations.", autocompletion=offer("chunk", "document")
    ),
]
_Sources = Annotated[
    list[str] | None,
    typer.Option(help=f"Only from this source: {', '.join(_SOURCES)}.", autocompletion=offer(*_SOURCES)),
]
_Entities = Annotated[list[str] | None, typer.Option(help="Only the note with this name and notes that link to it.")]
_Since = Annotated[str | None, typer.Option(help="Only notes updated since: 2026-03-01, 2026-03, yesterday, 7d.")]
_Until = Annotated[str | None, typer.Option(help="Only notes updated before the end of: 2026-03-01, 2026-03.")]
_AsOf = Annotated[
    str | None, typer.Option(help="Search the vault as it stood at the end of that day: what its notes said then.")
]
_MinScore = Annotated[
    float | None, typer.Option(help="The lowest cosine for a hit that shares no word with the query.")
]
_AllPassages = Annotated[
    bool, typer.Option("--all-passages", help="Show every passage of a note that fits, not only the best two.")
]
_Archive = Annotated[bool, typer.Option("--include-archive", help="Include archived and superseded notes.")]


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What you want to find, in your own words.")],
    k: Annotated[int | None, typer.Option("-k", help="At most this many hits.")] = None,
    mode: _Mode = "hybrid",
    by: _Unit = "chunk",
    source: _Sources = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only notes of this kind.", autocompletion=kinds)] = None,
    path: Annotated[str, typer.Option(help="Only notes in this folder, or this note.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only notes with this tag or a subtag of it.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only notes on this topic.")] = None,
    entity: _Entities = None,
    since: _Since = None,
    until: _Until = None,
    as_of: _AsOf = None,
    min_score: _MinScore = None,
    all_passages: _AllPassages = False,
    include_archive: _Archive = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score was computed.")] = False,
) -> None:
    """Search the vault by words and by meaning.

    \b
    Examples:
      commonplace search "how do we water the beds in summer?"
      commonplace search budget --path Projects --tag greenhouse -k 3
      commonplace search "sensor review" --mode words --explain
      commonplace search "soil sensors" --all-passages
      commonplace search "what did you suggest last week?" --source chat --by document
      commonplace search "who leads the project" --as-of 2026-10-01 --json
    """
    request = SearchRequest(
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
        per_note=0 if all_passages else None,
        include_archive=include_archive,
    )
    _answer_search(invocation_of(context), request, explain=explain)


def _answer_search(invocation: Invocation, request: SearchRequest, *, explain: bool) -> None:
    """Search, and print or return the hits; times in the request are in the zone of this machine."""
    request = replace(request, zone=local_zone(invocation), snippets=not invocation.json)
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        answer = memory.search.run(request, progress=progress)
    if answer.empty:
        answer = replace(answer, empty=answer.empty.replace(SEE_NEAREST, _SEE_NEAREST_HERE))
    invocation.answer(
        shapes.search_shape(answer, explain=explain), lambda: show_answer(answer, invocation, explain=explain)
    )


def show_answer(answer: Answer, invocation: Invocation, *, explain: bool = False) -> None:
    """Print the hits, and on standard error how the search went."""
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            print_line()
        _show_hit(rank, hit)
        if explain:
            for line in _reasons(hit):
                print_line(f"     {line}")
    if explain and answer.understood:
        invocation.inform(
            "understood: " + ", ".join(f"{name} {_told(value)}" for name, value in answer.understood.items())
        )
    if explain and answer.rejected:
        invocation.inform("rejected: " + ", ".join(f"{name} {value:.2f}" for name, value in answer.rejected.items()))
    if answer.empty:
        invocation.inform(answer.empty.removesuffix(SEE_NEAREST).rstrip())  # `recall` has no such option
    for what in answer.degraded:
        invocation.inform(what)
    found = "1 hit" if len(answer) == 1 else f"{len(answer)} hits"
    sure = "" if answer.confidence is None or not answer.hits else f", {_confidence_text(answer)}"
    past = f", as of {answer.as_of} (history begins {answer.history_begins})" if answer.as_of else ""
    invocation.inform(f"{found}, {answer.mode}, {answer.took_ms:.0f} ms{sure}{past}")


def _confidence_text(answer: Answer) -> str:
    """The confidence, with a doubt if it is low although the search had all it needs."""
    confidence = answer.confidence or 0.0
    doubt = " (your notes may not contain the answer)" if confidence < _DOUBTFUL and not answer.degraded else ""
    return f"confidence {confidence:.2f}{doubt}"


def _show_hit(rank: int, hit: Hit) -> None:
    """Print where the hit is and a snippet of it; on a terminal in colours, with a link that opens the note."""
    headings, sensitive = " > ".join(hit.heading_path), "  sensitive" if hit.sensitive else ""
    more = f"({hit.more_in_note} more in this note)" if hit.more_in_note else ""
    if not sys.stdout.isatty():
        print_line(f"{rank:>2}. {_place(hit)}{f'  {headings}' if headings else ''}  {hit.score:.2f}{sensitive}")
        print_line(textwrap.indent("\n".join(filter(None, (hit.snippet or hit.text, more))), " " * _INDENT))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)  # a path that is too long is left to the terminal
    place = linked_text(_place(hit), {_place(hit): hit.link}, style="bold")
    console.print(Text.assemble(f"{rank:>2}. ", place, (f"  {hit.score:.2f}", "dim"), (sensitive, "red")))
    for line in (Text(printable(headings), style="italic"), *_snippet_lines(hit, console.width - _INDENT)):
        if line.plain:
            console.print(Text(" " * _INDENT).append_text(line))
    if more:
        console.print(Text(" " * _INDENT + more, style="dim"))


def _snippet_lines(hit: Hit, width: int) -> list["Text"]:
    """The two consecutive lines of the snippet with most of the question's words, which are marked."""
    from rich.console import Console
    from rich.text import Text

    body = Text(printable(hit.snippet or hit.text))
    for start, end in hit.marks:
        body.stylize("bold yellow", start, end)
    lines = body.wrap(Console(width=max(width, 20)), max(width - 2, 20))
    first = max(
        range(max(len(lines) - 1, 1)), key=lambda at: (sum(len(line.spans) for line in lines[at : at + 2]), -at)
    )
    shown = [Text.assemble("…" if first else "", lines[first])] if lines else []
    shown += lines[first + 1 : first + _LINES]
    if len(lines) > first + _LINES:
        shown[-1].rstrip()
        shown[-1].append("…")
    return shown


def _place(hit: Hit) -> str:
    """The line of a note, or the turn of a conversation with its speaker and day."""
    if hit.source_type not in _SOURCES[1:]:
        project = hit.metadata.get("frontmatter", {}).get("project") if is_entry_path(hit.path) else ""
        begins = hit.metadata.get("planned_from")
        about = (f"project {project}" if project else "", f"planned, from {long_day(begins)}" if begins else "")
        return " ".join([f"{hit.path}:{hit.line}", *(f"({each})" for each in about if each)])
    who, day = hit_speaker(hit.metadata), local_time(str(hit.metadata.get("at") or ""))[:10]
    corrected = textwrap.shorten(str(hit.metadata.get("corrects") or ""), _CORRECTED, placeholder=" ...")
    said = ", ".join(filter(None, (who, day, f'corrects "{corrected}"' if corrected else "")))
    noun = hit.source_type if hit.source_type in ("task", "correction") else "conversation"
    return f"{noun}:{hit.path} turn {hit.line}" + (f" ({said})" if said else "")


def _reasons(hit: Hit) -> Iterator[str]:
    """One line for each part of the score."""
    for part, values in hit.why.items():
        told = ", ".join(f"{name} {_told(value)}" for name, value in values.items() if value not in (None, {}, []))
        yield f"{part}: {told}"


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name} {_told(each)}" for name, each in value.items()) + ")"
    return ", ".join(map(_told, value)) if isinstance(value, list | tuple) else str(value)


def recall(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to find.")],
    k: Annotated[int | None, typer.Option("-k", help="At most this many entries.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only entries of this kind.", autocompletion=kinds)] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only entries on this topic.")] = None,
    include_archive: Annotated[
        bool, typer.Option("--include-archive", help="Include entries that were replaced, ended or deleted.")
    ] = False,
) -> None:
    """Search the entries only.

    \b
    Examples:
      commonplace recall "how should I write pull requests?"
      commonplace recall "where does Ada work" --include-archive -k 3 --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        answer = memory.entries.recall(
            " ".join(question),
            k=k,
            kinds=kind or (),
            topics=topic or (),
            include_archive=include_archive,
            progress=progress,
        )
    invocation.answer(shapes.search_shape(answer), lambda: show_answer(answer, invocation))
