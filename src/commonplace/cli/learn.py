"""`commonplace learn`: facts from conversations and marked notes, and what became of each candidate."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import typer

from commonplace.cli.completion import offer
from commonplace.cli.fact_view import short
from commonplace.cli.invocation import Invocation, invocation_of, local_time, local_zone, print_line, print_table
from commonplace.cli.progress import ProgressLine
from commonplace.errors import UsageError
from commonplace.memory import Memory
from commonplace.model.learning import (
    LEARN_OUTCOMES,
    LearnedItem,
    LearningRun,
    LearningState,
    LearningStatus,
    LearnResult,
)
from commonplace.model.text import counted

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

_Conversation = Annotated[str, typer.Option("--conversation", metavar="ID", help="Only this conversation.")]
_Note = Annotated[str, typer.Option("--note", metavar="PATH", help="Only this marked note.")]
_QUIET: Final = ("rejected",)  # outcomes that the answer of a run only counts; the log lists them
_WIDTH: Final = max(map(len, LEARN_OUTCOMES))


@app.callback()
def learn(
    context: typer.Context,
    conversation: _Conversation = "",
    note: _Note = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Also from conversations that were neither closed nor silent for a while.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="From at most so many.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what failed or was parked.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be learned; change nothing.")] = False,
) -> None:
    """Learn facts from new conversations and from notes marked as sources.

    Each fact quotes the words it was made from. Facts are saved like every entry: known ones are confirmed, changed
    ones replace the old, doubtful ones wait for `commonplace review`. The daemon does the same by itself.

    \b
    Examples:
      commonplace learn
      commonplace learn --dry-run
      commonplace learn --conversation c-4f1d20b7a9e3
      commonplace learn --retry --limit 20
      commonplace learn log --outcome rejected
    """
    if context.invoked_subcommand:
        return
    if conversation and note:
        raise UsageError("--conversation and --note cannot be combined", hint="Learn from one, then from the other.")
    if retry and dry_run:
        raise UsageError("--retry and --dry-run cannot be combined", hint="Leave one of them out.")
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        retried = memory.learning.retry() if retry else 0
        run = _run(memory, invocation, source=conversation or note, limit=limit, waits=not everything, dry_run=dry_run)
        waiting = memory.reviews.count() if not dry_run else 0
    values = {
        "dry_run": dry_run,
        "retried": retried,
        "results": run.results,
        "left": run.left,
        "open": run.open,
        "said": run.said,
    }
    invocation.answer({**values, "review": waiting}, lambda: _show_run(run, invocation, is_dry=dry_run))


def _run(
    memory: Memory, invocation: Invocation, *, source: str, limit: int | None, waits: bool, dry_run: bool
) -> LearningRun:
    if source:
        return LearningRun(results=(memory.learning.learn(source, dry_run=dry_run),))
    with ProgressLine(invocation) as progress:
        return memory.learning.run(limit=limit, waits=waits, dry_run=dry_run, progress=progress)


def _show_run(run: LearningRun, invocation: Invocation, *, is_dry: bool) -> None:
    for result in run.results:
        for line in result_lines(result):
            print_line(line)
    outcomes = Counter(item.outcome for result in run.results for item in result.items)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(outcomes.items()))
    print_line(
        f"{'would learn' if is_dry else 'learned'} from {counted(len(run.results), 'source')}: {counts or 'no facts'}"
    )
    if run.said:
        invocation.inform(f"stopped early: {run.said}")
    if run.left:
        invocation.inform(f"{run.left} left: run `commonplace learn` again, or see `commonplace learn status`")
    if run.open:
        invocation.inform(
            f"{counted(run.open, 'conversation')} with new messages may still go on: --all reads them too"
        )
    if outcomes["staged"] and not is_dry:
        invocation.inform("what waits for your approval: `commonplace review`")


def result_lines(result: LearnResult) -> Iterator[str]:
    """A conversation or note from which something was learned, with the outcome of each item."""
    shown = [item for item in result.items if item.outcome not in _QUIET]
    if not shown and not result.reason:
        return
    title = f"  {result.title}" if result.title else ""
    by = f" by {result.extractor}" if result.extractor else ""
    read = "paragraph" if result.source.endswith(".md") else "message"
    yield f"{result.source}{title}  ({counted(result.turns, read)} read{by})" + (
        f": {result.reason}" if result.reason else ""
    )
    yield from (f"  {line}" for item in shown for line in item_lines(item))


def item_lines(item: LearnedItem) -> Iterator[str]:
    """An item: what became of it, the statement, its reason, and the words it was made from."""
    id_ = f"{short(item.fact)}  " if item.fact else ""
    yield f"{item.outcome:<{_WIDTH}}  {id_}{item.text}"
    where = f"{'line' if item.source.endswith('.md') else 'turn'} {item.turn}" if item.turn else ""
    quoted = f'"{item.quote}"' if item.quote else ""
    if evidence := ", ".join(filter(None, (where, quoted))):
        yield f"{'':<{_WIDTH}}  {evidence}"
    if item.reason and item.outcome not in ("stored", "confirmed"):
        yield f"{'':<{_WIDTH}}  because: {item.reason}"


@app.command("log")
def log(
    context: typer.Context,
    conversation: _Conversation = "",
    note: _Note = "",
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTCOME",
            help=f"Only these: {', '.join(LEARN_OUTCOMES)}.",
            autocompletion=offer(*LEARN_OUTCOMES),
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only since then: `yesterday`, 2026-03-01.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, help="Show at most this many, newest first.")] = 50,
) -> None:
    """List what became of everything that was extracted: stored, staged, refused and why.

    \b
    Examples:
      commonplace learn log
      commonplace learn log --outcome rejected --since yesterday
      commonplace learn log --conversation c-4f1d20b7a9e3 --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        source = memory.conversations.show(conversation, last=1)[0].id if conversation else note or None
        items = memory.learning.log(
            source=source, outcomes=outcome or (), since=since, limit=limit, zone=local_zone(invocation)
        )
        extractions = memory.learning.extractions(source) if source else ()

    def show() -> None:
        for each in extractions:
            if each.extraction.summary:
                print_line(f"summary: {each.extraction.summary}")
        _print_items(items)
        if not items:
            invocation.inform("nothing was extracted; `commonplace learn` reads what is due")

    invocation.answer({"count": len(items), "items": items, "extractions": extractions}, show)


def _print_items(items: Sequence[LearnedItem]) -> None:
    source = ""
    for item in items:
        if item.source != source:
            source = item.source
            print_line(f"{source}  {local_time(item.at)[:10]}")
        for line in item_lines(item):
            print_line(f"  {line}")


@app.command("status")
def status(context: typer.Context) -> None:
    """Show what is still to be learned, what failed and why, and what was learned today.

    \b
    Examples:
      commonplace learn status
      commonplace learn status --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        state = memory.learning.status()

    def show() -> None:
        for line in status_lines(state):
            print_line(line)

    invocation.answer({"learning": state}, show)


@app.command("spending")
def spending(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=400, metavar="N", help="The last so many days, in UTC.")] = 30,
) -> None:
    """Show what language models cost, by day and task, and what is left of today's budget.

    \b
    Examples:
      commonplace learn spending
      commonplace learn spending --days 7 --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        report = memory.learning.spending(days=days)

    def show() -> None:
        total = report.total
        numbers = [(each.day, each.task, each.calls, each.tokens, each.cost) for each in report.rows]
        numbers.append(("total", "", total.calls, total.tokens, total.cost))
        rows = [(day, task, f"{calls:,}", f"{tokens:,}", f"${cost:.4f}") for day, task, calls, tokens, cost in numbers]
        print_table(["day", "task", "calls", "tokens", "cost"], rows)
        print_line(f"left today: {report.left.tokens:,} tokens, ${report.left.cost:.4f}")

    invocation.answer({"spending": report}, show)


def status_lines(state: LearningStatus) -> Iterator[str]:
    """The state of learning for people."""
    yield f"extractor  {state.extractor}" + (f": {state.said}" if state.said else "")
    yield f"daemon     {'learns by itself' if state.is_enabled else 'does not learn (learn.enabled is off)'}"
    still = f", {state.open} conversations with new messages in all" if state.open else ""
    yield f"due        {counted(state.due, 'source')}{still}; {counted(state.marked_notes, 'marked note')}"
    done = ", ".join(f"{number} {name}" for name, number in state.today.items())
    yield f"today      {counted(state.read_today, 'part')} read" + (f": {done}" if done else "")
    if state.pending:
        yield f"pending    {counted(state.pending, 'item')} of an interrupted run; the next one saves them"
    yield from _failed_lines("waiting", state.waiting)
    yield from _failed_lines("parked", state.parked)
    if state.parked:
        yield "           `commonplace learn --retry` tries them again"


def _failed_lines(name: str, states: Iterable[LearningState]) -> Iterator[str]:
    for each in states:
        when = f", next try {local_time(each.retry_at)}" if each.retry_at else ""
        yield f"{name:<9}  {each.source}: {each.reason} ({counted(each.failures, 'failure')}{when})"
