"""`commonplace facts | timeline | fact`: facts about people and things, with the time in which they are true."""

from typing import Annotated

import typer

from commonplace.cli.fact_view import answer_remembered, inform_of_name, show_facts
from commonplace.cli.invocation import invocation_of, show_help
from commonplace.cli.neighbours import show_neighbours
from commonplace.cli.parameters import (
    About,
    Both,
    DryRun,
    EntryId,
    FactClass,
    Importance,
    NoProject,
    ProjectName,
    Topics,
    ValidFrom,
    ValidUntil,
    When,
    project_of,
)
from commonplace.cli.progress import ProgressLine
from commonplace.client.paths import working_folder
from commonplace.errors import UsageError
from commonplace.memory import fact_shapes

app = typer.Typer(
    help="Add and end facts: a subject, a predicate and an object.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)


@app.command()
def add(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="S", help="Who or what the fact is about; `me` for yourself.")],
    predicate: Annotated[str, typer.Argument(metavar="P", help="The relation, such as works_at or likes.")],
    object: Annotated[str, typer.Argument(metavar="O", help="The value.")],
    topic: Topics = None,
    about: About = "",
    when: When = "",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    text: Annotated[str, typer.Option(help="A sentence to use instead of the generated one.")] = "",
    fact: FactClass = "",
    importance: Importance = None,
    project: ProjectName = "",
    no_project: NoProject = False,
    both: Both = None,
    dry_run: DryRun = False,
) -> None:
    """Add a fact.

    If the predicate has one value at a time, the old value ends, unless you name it with `--both`. A fact that is
    already known is confirmed.

    \b
    Examples:
      commonplace fact add Ada works_at Acme --valid-from 2024-01-01
      commonplace fact add Ada works_at Beta --valid-from 2026-03-01 --topic work
      commonplace fact add Ada works_at Gamma --both 3f9a1c
      commonplace fact add me likes "green tea"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        remembered = memory.facts.add(
            subject,
            predicate,
            object,
            text=text,
            topics=topic or (),
            about=about,
            when=when,
            fact=fact,
            importance=importance,
            valid_from=valid_from,
            valid_until=valid_until,
            project=project_of(project, without=no_project),
            folder=working_folder(),
            interface="cli",
            both=both or (),
            dry_run=dry_run,
        )
        answer_remembered(invocation, remembered, memory)
        show_neighbours(remembered, memory, invocation)


@app.command()
def end(
    context: typer.Context,
    id: EntryId,
    at: Annotated[str, typer.Option(metavar="D", help="When it stopped being true. [default: now]")] = "",
) -> None:
    """End a fact that is no longer true; it stays known for the time when it was.

    \b
    Examples:
      commonplace fact end 3f9a1c
      commonplace fact end 3f9a1c --at 2026-03-01
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        answer_remembered(invocation, memory.facts.end(id, at=at), memory)


_AsOf = Annotated[str, typer.Option(metavar="D", help="What was true at the end of that day, as it is known now.")]
_Known = Annotated[
    str, typer.Option(metavar="D", help="What was known at the end of that day; with --as-of, about the other.")
]


def facts(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="[ENTITY]", help="A person or thing, by any of its names.")] = "",
    named: Annotated[str, typer.Option("--entity", metavar="E", help="ENTITY as an option.")] = "",
    topic: Annotated[str, typer.Option(metavar="T", help="Only facts on this topic.")] = "",
    about: Annotated[
        str, typer.Option(metavar="Q", help="Only entries that say so of what they are about, or of when they matter.")
    ] = "",
    predicate: Annotated[str, typer.Option(metavar="P", help="Only facts with this predicate.")] = "",
    project: Annotated[str, typer.Option(metavar="NAME", help="Only entries of this project.")] = "",
    as_of: _AsOf = "",
    known: _Known = "",
    every: Annotated[bool, typer.Option("--all", help="Include facts that ended, were replaced or deleted.")] = False,
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="At most this many.")] = None,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="Only facts that are relevant to this prompt.")] = "",
) -> None:
    """List facts that are true now, or that were true or known on a day.

    `--as-of` asks what was true on a day, also if you learned it later. `--known` asks what your notes said on a day,
    also if it was wrong. Lines of notes count: one that was removed was true until then.

    \b
    Examples:
      commonplace facts Ada
      commonplace facts Ada --as-of 2025-06-01
      commonplace facts Ada --known 2025-06-01
      commonplace facts Ada --as-of 2024-12-31 --known 2025-06-01
      commonplace facts --topic work --predicate works_at --all --json
      commonplace facts --prompt "write a letter to Ada"
    """
    invocation = invocation_of(context)
    if entity and named and entity != named:
        raise UsageError(f"two entities given: {entity!r} and {named!r}", hint="Name one of them.")
    filters = {
        "topic": topic,
        "about": about,
        "predicate": predicate,
        "project": project,
        "as_of": as_of,
        "known": known,
    }
    if prompt and (entity or named or any(filters.values()) or every):
        raise UsageError("--prompt cannot be combined with other filters", hint="Use --prompt alone.")
    with invocation.memory() as memory, ProgressLine(invocation) as progress:
        meant = memory.facts.named(entity or named)
        if prompt:
            facts_found = memory.facts.relevant(prompt, limit=limit)
        else:
            facts_found = memory.facts.about(entity or named, **filters, every=every, limit=limit, progress=progress)
        link = memory.notes.link

    def show() -> None:
        show_facts(facts_found, invocation, link)
        inform_of_name(entity or named, meant, invocation)

    rows = [fact_shapes.snapshot_shape(each, link) for each in facts_found]
    invocation.answer({"count": len(rows), "facts": rows}, show)
