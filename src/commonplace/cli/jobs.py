"""`commonplace jobs`: what runs on a schedule, by itself in the daemon or from the system's cron."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Annotated

import typer

from commonplace.cli.invocation import invocation_of, local_zone, print_line
from commonplace.errors import UsageError
from commonplace.memory.jobs import schedule_words
from commonplace.model.moment import parse_moment
from commonplace.model.text import counted
from commonplace.model.upkeep import JobNotice, JobRecord, JobStatus, StepResult

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
            for line in job_lines(job, zone=local_zone(invocation)):
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
            for line in record_lines(record, zone=local_zone(invocation), is_dry=dry_run):
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
            for line in record_lines(record, zone=local_zone(invocation)):
                print_line(line)
        if not records:
            invocation.inform("no job has run yet; `commonplace jobs list` shows when they do")

    invocation.answer({"count": len(records), "runs": records}, show)


def job_lines(job: JobStatus, *, zone: tzinfo) -> Iterator[str]:
    """A job for people: when it runs next, and how its last run ended."""
    yield f"{job.name:<15}  {job.about}"
    yield f"{'':<15}  {schedule_words(job.schedule)}: {_next_text(job, zone=zone)}"
    if job.last:
        said = f": {job.last.said}" if job.last.said else ""
        yield f"{'':<15}  last {_local(job.last.began, zone)}, {job.last.outcome}{said}"


def record_lines(record: JobRecord, *, zone: tzinfo, is_dry: bool = False) -> Iterator[str]:
    """A run for people: how it ended, and each of its steps."""
    if is_dry:
        said = f": {record.said}" if record.said else ""
        yield f"{record.job} would do {counted(len(record.steps), 'step')}{said}"
        yield from (f"  {each.step.action:<10}  {each.step.said}" for each in record.steps)
        return
    said = f": {record.said}" if record.said else ""
    yield f"{_local(record.began, zone)}  {record.job}  {record.outcome}{said} ({record.seconds:.1f} s)"
    yield from (f"  {line}" for each in record.steps for line in _step_lines(each))


def _step_lines(result: StepResult) -> Iterator[str]:
    yield f"{result.outcome:<9}  {result.step.said}"
    if result.reason:
        yield f"{'':<9}  because: {result.reason}"
    if result.commit:
        yield f"{'':<9}  take back: commonplace undo --commit {result.commit[:12]}"
    if result.review:
        yield f"{'':<9}  approve: commonplace review approve {result.review}"


def _next_text(job: JobStatus, *, zone: tzinfo) -> str:
    if job.is_running:
        return "running now"
    if job.is_parked:
        return f"parked after {job.failures} failures; `commonplace jobs run {job.name}` tries it again"
    if not job.is_enabled:
        return "switched off"
    again = f", after {counted(job.failures, 'failure')}" if job.failures else ""
    return f"{'due now' if job.is_due else f'next {_local(job.next, zone)}'}{again}"


def _show_notices(notices: Sequence[JobNotice]) -> None:
    for notice in notices:
        print_line(f"notice: {notice.said}")


def _local(moment: str, zone: tzinfo) -> str:
    return f"{parse_moment(moment).astimezone(zone):%Y-%m-%d %H:%M}"
