"""`commonplace welcome`: tell your agents who you are, and see what can be imported."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from commonplace.app.import_sources import import_commands
from commonplace.cli.invocation import Invocation, invocation_of, print_line, printable
from commonplace.memory import Memory, fact_shapes

if TYPE_CHECKING:
    from commonplace.memory.welcome import WelcomeAnswers
    from commonplace.model import EntryResult

_SKIP: Final = "Enter skips a question, or keeps what is known."


def welcome(
    context: typer.Context,
    name: Annotated[str, typer.Option(metavar="NAME", help="Your name.")] = "",
    language: Annotated[str, typer.Option(metavar="LANGUAGE", help="In which language agents should answer.")] = "",
    use: Annotated[str, typer.Option(metavar="TEXT", help="What you mainly use agents for.")] = "",
    prefer: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What agents should always keep in mind; repeatable.")
    ] = None,
    exports: Annotated[
        bool, typer.Option("--exports", help="Also look for exports of ChatGPT and Claude in ~/Downloads.")
    ] = False,
) -> None:
    """Tell your agents who you are, and see what can be imported.

    On a terminal it asks a few questions, all of which may be skipped; with options, or elsewhere, it asks nothing.
    Answers are saved as your own word. Run it again to change an answer: the others stay. Nothing is imported: it
    prints the commands that would.

    \b
    Examples:
      commonplace welcome
      commonplace welcome --name Ada --language English --use "software for a boat yard"
      commonplace welcome --prefer "Keep answers short." --json
    """
    from commonplace.memory.welcome import WelcomeAnswers

    invocation = invocation_of(context)
    given = WelcomeAnswers(name=name, language=language, use=use, preferences=tuple(prefer or ()))
    asks = given == WelcomeAnswers() and sys.stdin.isatty() and sys.stdout.isatty() and not invocation.json
    with invocation.memory() as memory:
        saved = _ask(memory, invocation) if asks else memory.welcome.save(given)
        known = memory.welcome.known()
        link = memory.notes.link
    looks = exports or (asks and typer.confirm("Look for exports of ChatGPT and Claude in ~/Downloads?", default=False))
    commands = import_commands(Path.home(), looks_in_downloads=looks)
    values: dict[str, Any] = {
        "known": known,
        "saved": [fact_shapes.entry_result_shape(each, link) for each in saved],
        "imports": commands,
    }
    invocation.answer(values, lambda: _show(known, saved, commands))


def _ask(memory: Memory, invocation: Invocation) -> "list[EntryResult]":
    """Ask each question and save each answer at once, so that Ctrl-C loses none."""
    from commonplace.memory.welcome import PREFERENCE_QUESTION, QUESTIONS, WelcomeAnswers

    known, saved = memory.welcome.known(), list["EntryResult"]()
    print_line(_SKIP)
    for each in QUESTIONS:
        before = getattr(known, each.name)
        shown = f" [{printable(before)}]" if before else ""
        if answer := _typed(f"{each.question}{shown}"):
            saved += memory.welcome.save(replace(WelcomeAnswers(), **{each.name: answer}))  # type: ignore[arg-type]
    for line in known.preferences:
        invocation.inform(f"known: {line}")
    while answer := _typed(f"{PREFERENCE_QUESTION} (Enter to finish)"):
        saved += memory.welcome.save(WelcomeAnswers(preferences=(answer,)))
    return saved


def _typed(question: str) -> str:
    return str(typer.prompt(question, default="", show_default=False)).strip()


def _show(known: "WelcomeAnswers", saved: "Sequence[EntryResult]", commands: Sequence[str]) -> None:
    for label, answer in (("name", known.name), ("language", known.language), ("main use", known.use)):
        print_line(f"{label}: {answer or '-'}")
    for each in known.preferences:
        print_line(f"keep in mind: {each}")
    print_line(f"saved: {len(saved)}" if saved else "Nothing was changed.")
    if commands:
        print_line("On this machine are conversations that you can import; add --dry-run to see what is in them:")
    for command in commands:
        print_line(f"  {command}")
