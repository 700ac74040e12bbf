"""`commonplace save | evolve | show | recall`: one thing known, kept as a note of its own."""

import sys
from typing import Annotated, Final

import typer

from commonplace.cli.chain_view import show_chain
from commonplace.cli.door import Door, door_of
from commonplace.cli.fact_view import answer_remembered
from commonplace.cli.search import show_answer
from commonplace.errors import UsageError
from commonplace.memory import shapes
from commonplace.model import FACT_CLASSES

STANDARD_INPUT: Final = "-"
ENTRY_ID_HELP: Final = "Its id, the beginning or the last six digits of it, or its path."
EntryId = Annotated[str, typer.Argument(metavar="ID", help=ENTRY_ID_HELP)]
Text = Annotated[str, typer.Argument(metavar="[TEXT]", help="One thing, in a sentence; - or nothing: standard input.")]
Topics = Annotated[list[str] | None, typer.Option("--topic", metavar="T", help="What it is about; may be repeated.")]
ValidFrom = Annotated[str, typer.Option(metavar="D", help="True from: 2026-03-01, 2026-03, yesterday.")]
ValidUntil = Annotated[str, typer.Option(metavar="D", help="No longer true from: 2026-03-01, 2026-03.")]
FactClass = Annotated[
    str, typer.Option("--fact", metavar="F", help=f"How it ages: {', '.join(filter(None, FACT_CLASSES))}.")
]
Importance = Annotated[float | None, typer.Option(min=0, max=1, metavar="X", help="From 0 to 1.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; print the difference it would make.")]
Ids = list[str] | None


def save(
    context: typer.Context,
    text: Text = STANDARD_INPUT,
    kind: Annotated[str, typer.Option(metavar="K", help="preference, workflow, fix, idea, decision, ...")] = "",
    topic: Topics = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag of the note; may be repeated.")] = None,
    fact: FactClass = "",
    subject: Annotated[str, typer.Option(metavar="S", help="Of whom or what it is said.")] = "",
    predicate: Annotated[str, typer.Option(metavar="P", help="What is said, such as works_at.")] = "",
    object: Annotated[str, typer.Option(metavar="O", help="The value.")] = "",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    importance: Importance = None,
    always_load: Annotated[bool, typer.Option("--always-load", help="Into every conversation from its start.")] = False,
    extends: Annotated[Ids, typer.Option(metavar="ID", help="It adds to this one.")] = None,
    derived_from: Annotated[Ids, typer.Option(metavar="ID", help="It follows from this one.")] = None,
    contradicts: Annotated[Ids, typer.Option(metavar="ID", help="It speaks against this one.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Save one thing known as a note of its own. What is known already is confirmed instead, never overwritten.

    \b
    Examples:
      commonplace save "Prefers concise pull requests." --kind preference --topic coding
      commonplace save "Ada works at Acme." --subject Ada --predicate works_at --object Acme --valid-from 2026-03-01
      pbpaste | commonplace save --kind fix --topic git --dry-run
    """
    door = door_of(context)
    words = _words(text, door)
    with door.opened() as memory:
        remembered = memory.entries.save(
            words,
            kind=kind,
            fact=fact,
            subject=subject,
            predicate=predicate,
            object=object,
            topics=topic or (),
            tags=tag or (),
            importance=importance,
            valid_from=valid_from,
            valid_until=valid_until,
            always_load=always_load,
            interface="cli",
            extends=extends or (),
            derived_from=derived_from or (),
            contradicts=contradicts or (),
            dry_run=dry_run,
        )
    answer_remembered(door, remembered)


def evolve(
    context: typer.Context,
    id: EntryId,
    text: Text = STANDARD_INPUT,
    reason: Annotated[str, typer.Option(metavar="R", help="Why it has changed; needed.")] = "",
    topic: Topics = None,
    importance: Importance = None,
    object: Annotated[
        str, typer.Option(metavar="O", help="The new value of a triple, where TEXT is its sentence.")
    ] = "",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    dry_run: DryRun = False,
) -> None:
    """Put a new version in the place of an entry; the old one goes to the archive, with links both ways.

    \b
    Example:
      commonplace evolve 3f9a1c "Prefers long pull requests." --reason "said so on Monday"
    """
    door = door_of(context)
    words = _words(text, door)
    with door.opened() as memory:
        remembered = memory.entries.evolve(
            id,
            words,
            reason=reason,
            topics=topic or (),
            importance=importance,
            object=object,
            valid_from=valid_from,
            valid_until=valid_until,
            interface="cli",
            dry_run=dry_run,
        )
    answer_remembered(door, remembered)


def show(context: typer.Context, id: EntryId) -> None:
    """Print an entry or a fact with its whole chain: every version, its validity, source, confirmations and bonds.

    \b
    Examples:
      commonplace show 3f9a1c
      commonplace show Agent/Memory/preference/2026-03/concise-pull-requests-3f9a1c.md --json
    """
    door = door_of(context)
    with door.opened() as memory:
        chain = memory.entries.show(id)
    door.answer(shapes.chain_shape(chain), lambda: show_chain(chain))


def recall(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to know.")],
    k: Annotated[int | None, typer.Option("-k", help="How many entries, at most.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only entries of this kind.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only entries on this topic.")] = None,
    include_archive: Annotated[
        bool, typer.Option("--include-archive", help="Also what was replaced, has ended or was forgotten.")
    ] = False,
) -> None:
    """Search the entries alone.

    \b
    Examples:
      commonplace recall "how should I write pull requests?"
      commonplace recall "where does Ada work" --include-archive -k 3 --json
    """
    door = door_of(context)
    with door.opened() as memory:
        answer = memory.entries.recall(
            " ".join(question), k=k, kinds=kind or (), topics=topic or (), include_archive=include_archive
        )
    door.answer(shapes.answer_shape(answer), lambda: show_answer(answer, door))


def _words(text: str, door: Door) -> str:
    """The text given, or what standard input says."""
    if text != STANDARD_INPUT:
        return text
    if sys.stdin.isatty():
        door.aside("Type what is to be known; end it with Ctrl-D.")
    try:
        return sys.stdin.buffer.read().decode().strip()
    except UnicodeDecodeError as error:
        raise UsageError("what was given is no text", hint="Give it in UTF-8.") from error
