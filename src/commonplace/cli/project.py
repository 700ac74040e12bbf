"""`commonplace project`: where the work of a project stands, as agents keep it between sessions."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, local_time, print_line, print_text, show_help
from commonplace.cli.note import incoming, show_change
from commonplace.cli.parameters import DryRun, ProjectName
from commonplace.client.paths import working_folder
from commonplace.memory import shapes
from commonplace.model import Changed
from commonplace.model.project_state import FEATURE_STATUSES, ProjectState

app = typer.Typer(
    help="Show and save where the work of a project stands: plan, progress, features.",
    invoke_without_command=True,
    rich_markup_mode=None,
    callback=show_help,
)

_SHOWN: int = 10  # lines of progress, the newest last


@app.command("show")
def show(context: typer.Context, project: ProjectName = "") -> None:
    """Show where the work of a project stands: its plan, features and newest progress.

    \b
    Examples:
      commonplace project show
      commonplace project show --project atlas --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        state = memory.projects.state(project or None, folder=working_folder())
    invocation.answer({"state": shapes.project_state_shape(state)}, lambda: _show_state(state, invocation))


@app.command("plan")
def plan(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Option(help="Read the plan from this file; `-` or nothing reads standard input.")
    ] = None,
    expect: Annotated[
        str | None, typer.Option(metavar="VERSION", help="The version that `show` printed; needed to replace a plan.")
    ] = None,
    project: ProjectName = "",
    dry_run: DryRun = False,
) -> None:
    """Write the plan of a project, in one commit that can be undone.

    \b
    Examples:
      commonplace project plan --file plan.md
      my-planner | commonplace project plan --file -
      commonplace project plan --file plan.md --expect 9f86d081884c
    """
    invocation = invocation_of(context)
    if file is None and sys.stdin.isatty():
        invocation.inform("Type the plan; finish with Ctrl-D.")
    with invocation.memory() as memory:
        text = incoming(file, memory.notes.max_bytes + 1).decode(errors="replace")
        changed = memory.projects.write_plan(
            text, project=project or None, folder=working_folder(), expected=expect, dry_run=dry_run
        )
    _answer(invocation, changed)


@app.command("progress")
def progress(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What was done, in one line.")],
    phase: Annotated[str, typer.Option(metavar="NAME", help="The phase of work, such as plan, work or review.")] = "",
    ends_phase: Annotated[bool, typer.Option("--end", help="The phase ends with it.")] = False,
    project: ProjectName = "",
    dry_run: DryRun = False,
) -> None:
    """Add a line of progress: at the end of a phase, or whenever there is something to save.

    \b
    Examples:
      commonplace project progress "the parser reads frontmatter" --phase work
      commonplace project progress "all tests pass" --phase review --end
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        changed = memory.projects.add_progress(
            " ".join(text),
            project=project or None,
            folder=working_folder(),
            phase=phase,
            ends_phase=ends_phase,
            dry_run=dry_run,
        )
    _answer(invocation, changed)


@app.command("feature")
def feature(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The feature.")],
    status: Annotated[
        str,
        typer.Argument(
            metavar="STATUS", help=f"One of {', '.join(FEATURE_STATUSES)}.", autocompletion=offer(*FEATURE_STATUSES)
        ),
    ],
    remark: Annotated[str, typer.Option(metavar="TEXT", help="A remark in a few words.")] = "",
    project: ProjectName = "",
    dry_run: DryRun = False,
) -> None:
    """Add a feature of a project, or set its status.

    \b
    Examples:
      commonplace project feature "Parser" doing
      commonplace project feature "Export" blocked --remark "waits for the new format"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        changed = memory.projects.set_feature(
            name, status, remark=remark, project=project or None, folder=working_folder(), dry_run=dry_run
        )
    _answer(invocation, changed)


def _answer(invocation: Invocation, changed: Changed) -> None:
    invocation.answer({"change": changed}, lambda: show_change(changed))


def _show_state(state: ProjectState, invocation: Invocation) -> None:
    print_line(f"{state.project}  {state.folder}")
    if state.is_empty:
        invocation.inform("nothing is saved yet: `commonplace project plan`, `commonplace project progress`")
    if state.plan:
        print_line(f"\nplan, version {state.plan_version[:12]}")
        print_text(f"{state.plan}\n")
    for number, each in enumerate(state.features):
        print_line(
            f"{'' if number else chr(10)}{each.status:<8} {each.name}" + (f" ({each.remark})" if each.remark else "")
        )
    for number, line in enumerate(state.progress[-_SHOWN:]):
        phase = f" {line.phase}{' (end)' if line.ends_phase else ''}" if line.phase else ""
        at = local_time(f"{line.day}T{line.time}:00Z")
        print_line(f"{'' if number else chr(10)}{at}{phase}  {line.text}")
