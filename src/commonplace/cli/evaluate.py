"""`commonplace eval`: measure search on this vault with questions made from its own notes."""

import signal
from typing import Annotated, Any

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, print_line
from commonplace.cli.progress import ProgressLine
from commonplace.model import MODES
from commonplace.model.diagnostics import Evaluation, Miss, Score


def evaluate(
    context: typer.Context,
    questions: Annotated[int, typer.Option(help="At most this many questions.")] = 100,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A search mode to measure; may be repeated: {', '.join(MODES)}.", autocompletion=offer(*MODES)
        ),
    ] = None,
    misses: Annotated[int, typer.Option(help="Show at most this many missed questions.", min=0)] = 5,
    seed: Annotated[int, typer.Option(help="Seed for choosing the questions.")] = 0,
) -> None:
    """Measure how well search finds your notes.

    \b
    Questions are made from headings, aliases, link texts and definitions. These words are held out of a
    temporary index, which is then searched. Your vault and its index do not change.

    \b
    Examples:
      commonplace eval
      commonplace eval --questions 300 --mode hybrid --mode words --misses 20
      commonplace eval --seed 7 --json
    """
    invocation = invocation_of(context)
    for each in (signal.SIGINT, signal.SIGTERM):  # so that the temporary index is deleted however it stops
        signal.signal(each, signal.default_int_handler)
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        evaluation = memory.index.evaluate(questions=questions, modes=mode or (), seed=seed, progress=progress)
    invocation.answer(_as_json(evaluation, seed=seed), lambda: _show(evaluation, invocation, most=misses))


def _as_json(evaluation: Evaluation, *, seed: int) -> dict[str, Any]:
    return {
        "notes": evaluation.notes,
        "questions": evaluation.questions,
        "seed": seed,
        "modes": evaluation.modes,
        "rows": evaluation.rows,
        "misses": evaluation.misses,
        "missing": evaluation.missing,
        "encoded": evaluation.encoded,
        "took_ms": round(evaluation.seconds * 1000),
    }


def _show(evaluation: Evaluation, invocation: Invocation, *, most: int) -> None:
    print_line(f"{'mode':8} {'kind':12} {'n':>5} {'@1':>6} {'@5':>6} {'@10':>6} {'MRR':>6}")
    for row in evaluation.rows:
        print_line(_line(row))
    shown = evaluation.modes[0]
    missed = [miss for miss in evaluation.misses if miss.mode == shown]
    if missed:
        print_line(f"\nnot in the top ten ({shown}): {len(missed)} of {evaluation.questions}")
    for miss in missed[:most]:
        _show_miss(miss)
    if evaluation.missing:
        invocation.inform(f"words only: {evaluation.missing}")
    invocation.inform(
        f"{evaluation.questions} questions about {evaluation.notes} notes; {evaluation.encoded} texts encoded,"
        f" {evaluation.seconds:.1f} s"
    )


def _line(row: Score) -> str:
    shares = " ".join(f"{share:6.2f}" for share in (row.at_1, row.at_5, row.at_10, row.mrr))
    return f"{row.mode:8} {row.kind:12} {row.n:5} {shares}"


def _show_miss(miss: Miss) -> None:
    print_line(f"  {miss.kind}: {miss.question}")
    print_line(f"    expected  {miss.expected}")
    print_line(f"    got       {', '.join(miss.instead) or 'nothing'}")
