"""`commonplace jobs`: what runs on a schedule, by itself in the daemon or from the system's cron."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer

from commonplace.cli.invocation import invocation_of, local_time, local_zone, print_line, with_local_times
from commonplace.errors import UsageError
from commonplace.memory.jobs import schedule_words
from commonplace.model.text import counted
from commonplace.model.upkeep import JobNotice, JobRecord, JobStatus, StepResult

_NAME: Final = 16  # the width of the longest name of a job

app = typer.Typer(
    help="List and run what runs on a schedule, and show what each run did.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the jobs: when each runs, when next, and how its last run ended.

    \b
    Examples:
      commonplace jobs list
      commonplace jobs list --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        jobs, notices = memory.jobs.list(), memory.jobs.notices()

    def show() -> None:
        for job in jobs:
            for line in job_lines(job):
                print_line(line)
        _show_notices(notices)

    invocation.answer({"count": len(jobs), "jobs": jobs, "notices": notices}, show)


@app.command("run")
def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The job, as in `jobs list`.")] = "",
    due: Annotated[bool, typer.Option("--due", help="Run every job that is due; for the system's cron.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would do; change nothing.")] = False,
) -> None:
    """Run one job now, or every job that is due.

    The daemon runs due jobs by itself. Without the daemon, let the system's cron do it, each few minutes: a job that
    was due meanwhile is run once. What a job changed, `commonplace log` shows and `commonplace undo` takes back.

    \b
    Examples:
      commonplace jobs run probe
      commonplace jobs run probe --dry-run
      commonplace jobs run --due
      */10 * * * * commonplace jobs run --due --quiet     (a line for `crontab -e`)
    """
    if bool(name) == due:
        raise UsageError("name a job, or say --due", hint="`commonplace jobs list` lists the jobs.")
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        if due and dry_run:
            records = [memory.jobs.run(each, dry_run=True) for each in memory.jobs.due()]
        elif due:
            records = [*memory.jobs.run_due()]
        else:
            records = [memory.jobs.run(name, dry_run=dry_run)]
        notices = memory.jobs.notices()

    def show() -> None:
        for record in records:
            for line in record_lines(record, is_dry=dry_run):
                print_line(line)
        if not records:
            invocation.inform("no job is due")
        else:  # cron would send a letter each time
            _show_notices(notices)

    invocation.answer({"dry_run": dry_run, "runs": records, "notices": notices}, show)
    if any(each.outcome in ("failed", "partial") for each in records):
        raise typer.Exit(1)


@app.command("log")
def log(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Only this job.")] = "",
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only since then: `yesterday`, 2026-03-01.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, help="Show at most this many, newest first.")] = 20,
) -> None:
    """List the runs of the jobs, with every step and what became of it.

    \b
    Examples:
      commonplace jobs log
      commonplace jobs log probe --since yesterday
      commonplace jobs log --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        records = memory.jobs.log(name or None, since=since, limit=limit, zone=local_zone(invocation))

    def show() -> None:
        for record in records:
            for line in record_lines(record):
                print_line(line)
        if not records:
            invocation.inform("no job has run yet; `commonplace jobs list` shows when they do")

    invocation.answer({"count": len(records), "runs": records}, show)


def job_lines(job: JobStatus) -> Iterator[str]:
    """A job for people: when it runs next, and how its last run ended."""
    yield f"{job.name:<{_NAME}}  {job.about}"
    yield f"{'':<{_NAME}}  {schedule_words(job.schedule)}: {_next_text(job)}"
    if job.last:
        said = f": {with_local_times(job.last.said)}" if job.last.said else ""
        yield f"{'':<{_NAME}}  last {local_time(job.last.began)}, {job.last.outcome}{said}"


def record_lines(record: JobRecord, *, is_dry: bool = False) -> Iterator[str]:
    """A run for people: how it ended, and each of its steps."""
    said = f": {with_local_times(record.said)}" if record.said else ""
    if is_dry:
        yield f"{record.job} would do {counted(len(record.steps), 'step')}{said}"
        yield from (f"  {each.step.action:<11}  {with_local_times(each.step.said)}" for each in record.steps)
        return
    yield f"{local_time(record.began)}  {record.job}  {record.outcome}{said} ({record.seconds:.1f} s)"
    yield from (f"  {line}" for each in record.steps for line in _step_lines(each))


def _step_lines(result: StepResult) -> Iterator[str]:
    yield f"{result.outcome:<9}  {with_local_times(result.step.said)}"
    if result.reason and result.reason != result.step.said:
        yield f"{'':<9}  because: {result.reason}"
    if result.commit and result.outcome != "proposed":
        yield f"{'':<9}  take back: commonplace undo --commit {result.commit[:12]}"
    if result.review:
        yield f"{'':<9}  approve: commonplace review approve {result.review}"
        yield f"{'':<9}  reject: commonplace review reject {result.review}"


def _next_text(job: JobStatus) -> str:
    if job.is_running:
        return "running now"
    if job.is_parked:
        return f"parked after {job.failures} failures; `commonplace jobs run {job.name}` tries it again"
    if not job.is_enabled:
        return "switched off"
    again = f", after {counted(job.failures, 'failure')}" if job.failures else ""
    return f"{'due now' if job.is_due else f'next {local_time(job.next)}'}{again}"


def _show_notices(notices: Sequence[JobNotice]) -> None:
    for notice in notices:
        print_line(f"notice: {with_local_times(notice.said)}")
