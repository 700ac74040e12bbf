"""`commonplace eval`: how well search works on this vault, by questions that are made from its own notes."""

import signal
from typing import Annotated, Any

import typer

from commonplace.cli.door import Door, door_of, print_line, wiping
from commonplace.model import MODES, Evaluation, Miss, Score


def evaluate(
    context: typer.Context,
    questions: Annotated[int, typer.Option(help="How many questions, at most.")] = 100,
    mode: Annotated[list[str] | None, typer.Option(help=f"A mode to ask; may be repeated: {', '.join(MODES)}.")] = None,
    misses: Annotated[int, typer.Option(help="How many of the missed questions are shown.", min=0)] = 5,
    seed: Annotated[int, typer.Option(help="Another number gives other questions.")] = 0,
) -> None:
    """See how well search finds your notes by words of theirs that it has not seen.

    \b
    Questions are made from headings, aliases, link texts and definitions. They are held out of a temporary
    index, which is then asked. Your vault and its index stay as they are.

    \b
    Examples:
      commonplace eval
      commonplace eval --questions 300 --mode hybrid --mode words --misses 20
      commonplace eval --seed 7 --json
    """
    door = door_of(context)
    for each in (signal.SIGINT, signal.SIGTERM):  # however it is stopped, the temporary index goes
        signal.signal(each, signal.default_int_handler)
    shown = {
        "indexed": wiping(lambda done, total: f"indexed {done} of {total} notes"),
        "asked": wiping(lambda done, total: f"asked {done} of {total} questions"),
    }
    with door.opened() as memory:
        evaluation = memory.index.evaluate(
            questions=questions,
            modes=mode or (),
            seed=seed,
            progress=lambda what, done, total: shown[what](done, total),
        )
    door.answer(_as_json(evaluation, seed=seed), lambda: _show(evaluation, door, most=misses))


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


def _show(evaluation: Evaluation, door: Door, *, most: int) -> None:
    print_line(f"{'mode':8} {'kind':12} {'n':>5} {'@1':>6} {'@5':>6} {'@10':>6} {'MRR':>6}")
    for row in evaluation.rows:
        print_line(_line(row))
    shown = evaluation.modes[0]
    missed = [miss for miss in evaluation.misses if miss.mode == shown]
    if missed:
        print_line(f"\nnot among the first ten hits, by {shown}: {len(missed)} of {evaluation.questions}")
    for miss in missed[:most]:
        _show_miss(miss)
    if evaluation.missing:
        door.aside(f"words only: {evaluation.missing}")
    door.aside(
        f"{evaluation.questions} questions to {evaluation.notes} notes; {evaluation.encoded} texts encoded,"
        f" {evaluation.seconds:.1f} s"
    )


def _line(row: Score) -> str:
    shares = " ".join(f"{share:6.2f}" for share in (row.at_1, row.at_5, row.at_10, row.mrr))
    return f"{row.mode:8} {row.kind:12} {row.n:5} {shares}"


def _show_miss(miss: Miss) -> None:
    print_line(f"  {miss.kind}: {miss.question}")
    print_line(f"    wanted  {miss.expected}")
    print_line(f"    came    {', '.join(miss.instead) or 'nothing'}")
