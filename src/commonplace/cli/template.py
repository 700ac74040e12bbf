"""`commonplace template`: the notes that Commonplace writes by itself, and the templates they are made from."""

from typing import Annotated

import typer

from commonplace.cli.invocation import invocation_of, print_line
from commonplace.memory.jobs import schedule_words
from commonplace.model.template import TemplateStatus, WriteResult

app = typer.Typer(
    help="List, show and run the templates of notes that are written by themselves.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the templates: where each comes from, when its notes are written, and what is wrong with it.

    \b
    Examples:
      commonplace template list
      commonplace template list --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        templates = memory.templates.list()

    def show() -> None:
        for each in templates:
            print_line(f"{each.name:<18}  {each.about or 'no skill uses it'}")
            print_line(f"{'':<18}  {_state(each)}")
            if each.written or each.failed:
                print_line(f"{'':<18}  in 30 days: {each.written} written, {each.failed} failed")
            if each.problem:
                print_line(f"{'':<18}  problem: {each.problem}")

    invocation.answer({"count": len(templates), "templates": templates}, show)


@app.command("show")
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The template, as in `template list`.")],
) -> None:
    """Print a template. Saved in the vault as Templates/commonplace/NAME.md, your version replaces it.

    \b
    Examples:
      commonplace template show daily_reflection
      commonplace template show weekly_review > ~/Notes/Templates/commonplace/weekly_review.md
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        template = memory.templates.show(name)
    invocation.answer({"template": template}, lambda: print_line(template.text.rstrip("\n")))


@app.command("base")
def base(context: typer.Context) -> None:
    """Print a file for Obsidian's Bases: people, meetings, commitments, what waits for review, stale facts.

    Save it anywhere in your vault; it is yours to change, and nothing overwrites it.

    \b
    Examples:
      commonplace template base > ~/Notes/Memory.base
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        text = memory.templates.base()
    invocation.answer({"text": text}, lambda: print_line(text.rstrip("\n")))


@app.command("run")
def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The skill, as in `template list`.")],
    date: Annotated[
        str | None, typer.Option("--date", metavar="DAY", help="Its day: 2026-03-01, `yesterday`; by default today.")
    ] = None,
    about: Annotated[
        str,
        typer.Option(
            "--about", metavar="NAME", help="The person, for `person_profile`; words of its title, for `meeting_note`."
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the note; write nothing.")] = False,
) -> None:
    """Write the note of a skill now. What was written before is not written again.

    A note of a day or week that is not over is brought up to date; sections that you edited are left alone, and their
    changes wait in `commonplace review`.

    \b
    Examples:
      commonplace template run daily_reflection --dry-run
      commonplace template run daily_reflection --date yesterday
      commonplace template run person_profile --about "Ada Lovelace"
      commonplace template run meeting_note --date yesterday --about "Offer sync"
      commonplace template run commitment_log --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        result = memory.templates.run(name, day=date, about=about, dry_run=dry_run)
    values = {
        "dry_run": dry_run,
        "path": result.path,
        "sha": result.sha,
        "skipped": result.skipped,
        "reason": result.reason,
        "redirected_to_inbox": result.redirected_to_inbox,
        "review": result.review,
        "text": result.text,
    }
    invocation.answer(values, lambda: _show(result, is_dry=dry_run))


_REASONS = {
    "idempotent": "was written before",
    "unchanged": "is up to date",
    "taken_over": "is yours: it is left alone",
    "removed": "is not written again: you removed it",
    "nothing": "is not written: nothing was recorded",
    "rejected": "is yours, and you rejected these sections before",
}


def _show(result: WriteResult, *, is_dry: bool) -> None:
    if result.reason == "proposed":
        print_line(f"{result.path} is yours: the sections wait: commonplace review show {result.review}")
    elif result.skipped:
        print_line(f"{result.path} {_REASONS.get(result.reason, f'was not written: {result.reason}')}")
    elif is_dry:
        print_line(result.text.rstrip("\n"))
    else:
        print_line(f"wrote {result.path}")
        if result.review:
            print_line(f"you edited parts of it; their changes wait: commonplace review show {result.review}")


def _state(template: TemplateStatus) -> str:
    origin = "packaged" if template.origin == "packaged" else f"yours: {template.path}"
    if not template.schedule:
        return origin
    return f"{origin}; {schedule_words(template.schedule) if template.is_enabled else 'switched off'}"
