"""The pages of scheduled jobs: what each does and when, a dry run, running one now, and the log of runs."""

from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, job_title, page_host, redirect, render

ENTRY: Final = NavigationEntry("Jobs", "/jobs", group="run", key="b")
_MOST_RUNS: Final = 20
router = APIRouter()


@router.get("/jobs")
def show_jobs(request: Request, memory: PageMemory) -> Response:
    """Every job, and the newest runs of all."""
    jobs, waiting = memory.jobs.list(), page_host(request).jobs.waiting(memory)
    return render(
        request,
        "jobs.html",
        title="Jobs",
        jobs=jobs,
        waiting=waiting,
        is_busy=bool(waiting) or any(each.is_running for each in jobs),
        notices=memory.jobs.notices(),
        runs=memory.jobs.log(limit=_MOST_RUNS),
    )


@router.get("/jobs/{name}")
def show_job(request: Request, memory: PageMemory, name: str) -> Response:
    """One job: how far it is while it runs, and its log with every step."""
    job, waiting = memory.jobs.show(name), page_host(request).jobs.waiting(memory)
    return render(
        request,
        "job.html",
        title=job_title(name),
        job=job,
        is_waiting=name in waiting and not job.is_running,
        is_busy=job.is_running or name in waiting,
        runs=memory.jobs.log(name, limit=_MOST_RUNS),
        plan=None,
        switch=switch_of(request, memory, name),
    )


def switch_of(request: Request, memory: PageMemory, name: str) -> tuple[str, bool] | None:
    """The setting that switches a job or a skill, and whether it is on; None if it cannot be changed here."""
    switches = page_host(request).settings.switches(memory.conversations.vault_folder)
    keys = (f"{block}.{name.replace('-', '_')}.enabled" for block in ("upkeep", "skills"))
    return next(((key, switches[key]) for key in keys if key in switches), None)


@router.get("/jobs/{name}/plan")
def show_plan(request: Request, memory: PageMemory, name: str) -> Response:
    """What the job would do now; nothing is changed."""
    job, plan = memory.jobs.show(name), memory.jobs.run(name, dry_run=True)
    title = f"{job_title(name)}: dry run"
    return render(
        request,
        "job.html",
        title=title,
        job=job,
        is_waiting=False,
        is_busy=False,
        runs=(),
        plan=plan,
        switch=None,
    )


@router.post("/jobs/run")
def run_job(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Run a job in the background, after those that were asked for before, and show how far it is."""
    name = form.required("name")
    ahead = page_host(request).jobs.add(memory, name)
    said = f"It runs after {ahead} other{'s' if ahead > 1 else ''}." if ahead else "It runs now, in the background."
    return redirect(request, f"/jobs/{name}", said)
