"""`commonplace facts | timeline | fact add | invalidate | delete`: what is known of someone or something, and when."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from commonplace.cli.door import door_of, help_alone
from commonplace.cli.entry import DryRun, EntryId, FactClass, Importance, Topics, ValidFrom, ValidUntil
from commonplace.cli.fact_view import answer_remembered, show_held
from commonplace.cli.timeline_view import show_timeline
from commonplace.errors import UsageError
from commonplace.memory import shapes

app = typer.Typer(
    help="Facts as triples: a subject, a predicate and an object, with the time in which they are true.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=help_alone,
)


@app.command()
def add(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="S", help="Of whom or what it is said; `me` for yourself.")],
    predicate: Annotated[str, typer.Argument(metavar="P", help="What is said, such as works_at or likes.")],
    object: Annotated[str, typer.Argument(metavar="O", help="The value.")],
    topic: Topics = None,
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    text: Annotated[str, typer.Option(help="The sentence, where the one made of the three does not do.")] = "",
    fact: FactClass = "",
    importance: Importance = None,
    dry_run: DryRun = False,
) -> None:
    """Add a fact. A predicate with one value at a time ends the old value; what is known already is confirmed.

    \b
    Examples:
      commonplace fact add Ada works_at Acme --valid-from 2024-01-01
      commonplace fact add Ada works_at Beta --valid-from 2026-03-01 --topic work
      commonplace fact add me likes "green tea"
    """
    door = door_of(context)
    with door.opened() as memory:
        remembered = memory.facts.add(
            subject,
            predicate,
            object,
            text=text,
            topics=topic or (),
            fact=fact,
            importance=importance,
            valid_from=valid_from,
            valid_until=valid_until,
            interface="cli",
            dry_run=dry_run,
        )
    answer_remembered(door, remembered)


@app.command()
def invalidate(
    context: typer.Context,
    id: EntryId,
    at: Annotated[str, typer.Option(metavar="D", help="From when it holds no longer; now, unless you say.")] = "",
) -> None:
    """End a fact: it was true, and is no longer. It stays known for the time in which it was.

    \b
    Examples:
      commonplace fact invalidate 3f9a1c
      commonplace fact invalidate 3f9a1c --at 2026-03-01
    """
    door = door_of(context)
    with door.opened() as memory:
        answer_remembered(door, memory.facts.invalidate(id, at=at))


@app.command()
def delete(
    context: typer.Context,
    id: EntryId,
    reason: Annotated[str, typer.Option(metavar="R", help="Why.")] = "",
) -> None:
    """Forget a fact that was never true. Its note stays with that mark, and `commonplace undo` takes it back.

    \b
    Example:
      commonplace fact delete 3f9a1c --reason "another Ada"
    """
    door = door_of(context)
    with door.opened() as memory:
        answer_remembered(door, memory.facts.delete(id, reason=reason))
    door.aside(f"`commonplace erase {id}` removes it for good")


def facts(
    context: typer.Context,
    entity: Annotated[
        str, typer.Argument(metavar="[ENTITY]", help="Someone or something, by any name of theirs.")
    ] = "",
    named: Annotated[str, typer.Option("--entity", metavar="E", help="The same, as an option.")] = "",
    topic: Annotated[str, typer.Option(metavar="T", help="Only facts on this topic.")] = "",
    predicate: Annotated[str, typer.Option(metavar="P", help="Only facts with this predicate.")] = "",
    as_of: Annotated[str, typer.Option(metavar="D", help="What was true at the end of that day, as known then.")] = "",
    known: Annotated[str, typer.Option(metavar="D", help="As it was known on another day than that; or `now`.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also what has ended, was replaced or was forgotten.")] = False,
    no_lines: Annotated[bool, typer.Option("--no-lines", help="Of the past, entries alone: quicker.")] = False,
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="The first so many.")] = None,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What belongs before this prompt, and no more.")] = "",
) -> None:
    """List what is known now, or what was true or known on a day.

    \b
    Examples:
      commonplace facts Ada
      commonplace facts Ada --as-of 2025-06-01 --known now
      commonplace facts --topic work --predicate works_at --all --json
      commonplace facts --prompt "write a letter to Ada"
    """
    door = door_of(context)
    if entity and named and entity != named:
        raise UsageError(f"both {entity!r} and {named!r} are asked for", hint="Name one of them.")
    if prompt and (entity or named or topic or predicate or as_of or known or every):
        raise UsageError("--prompt chooses the facts by itself", hint="Leave the other filters out.")
    with door.opened() as memory:
        if prompt:
            found = memory.facts.relevant(prompt, limit=limit)
        else:
            found = memory.facts.about(
                entity or named,
                topic=topic,
                predicate=predicate,
                as_of=as_of,
                known=known,
                every=every,
                lines=not no_lines,
                limit=limit,
            )

    def show() -> None:
        show_held(found, door)
        if as_of and not (known or found):
            door.aside("  --known now asks what is known today of that day")

    door.answer({"count": len(found), "facts": [shapes.held_shape(each) for each in found]}, show)


def timeline(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Someone or something, by any name of theirs.")],
) -> None:
    """Draw what is known of someone or something along the time: what began, ended, and replaced what.

    \b
    Examples:
      commonplace timeline Ada
      commonplace timeline me --json
    """
    door = door_of(context)
    with door.opened() as memory:
        moments = memory.facts.timeline(entity)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    values = {"entity": entity, "timeline": [shapes.moment_shape(each) for each in moments]}
    door.answer(values, lambda: show_timeline(moments, door, now=now))
