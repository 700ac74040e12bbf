"""The routes of scheduled jobs, of templates and of the digest. Anyone may look; only the person may run something."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from commonplace.memory import upkeep_shapes
from commonplace.model.digest import Digest
from commonplace.model.template import TemplateStatus, TemplateText
from commonplace.model.upkeep import JobNotice, JobStatus
from commonplace.web.access import Owner, Reader
from commonplace.web.schemas import NO_QUERY, OkResponse, RequestModel, Sound, Word, body_config, declared_only

job_router = APIRouter(prefix="/jobs", tags=["jobs"])
template_router = APIRouter(prefix="/templates", tags=["templates"])
digest_router = APIRouter(prefix="/digest", tags=["digest"])

JobName = Annotated[str, Sound, Path(max_length=200, description="A job, as in the list.", examples=["sleep"])]
TemplateName = Annotated[
    str, Sound, Path(max_length=200, description="A template, as in the list.", examples=["daily_reflection"])
]


class JobLogQuery(RequestModel):
    """Which runs."""

    job: Word = Field("", description="Only runs of this job.")
    since: Word = Field("", description="Only since then: `yesterday`, 2026-03-01.")
    limit: int = Field(20, ge=1, le=200)


class RunJobBody(RequestModel):
    """How to run the job."""

    model_config = body_config(dry_run=True)

    dry_run: bool = Field(default=False, description="Say what it would do; change nothing.")


class RunTemplateBody(RequestModel):
    """For which day."""

    model_config = body_config(date="2026-03-01", dry_run=True)

    date: Word = Field("", description="Its day: 2026-03-01, `yesterday`; by default today.")
    dry_run: bool = Field(default=False, description="Send the note; write nothing.")


class DigestQuery(RequestModel):
    """From when on."""

    since: Word = Field("", description="`yesterday`, 7d, 2026-03-01; by default where the person last read it.")


@declared_only
class JobsResponse(OkResponse):
    """The jobs, and what the person should know about them; `waiting` are those that were asked for and come next."""

    count: int
    jobs: list[JobStatus]
    notices: list[JobNotice]
    waiting: list[str]


@declared_only
class JobResponse(OkResponse):
    """A job, and its newest run with its steps, also while it is running."""

    job: JobStatus
    run: upkeep_shapes.JobRunShape | None


@declared_only
class JobLogResponse(OkResponse):
    """Runs of jobs, newest first."""

    count: int
    runs: list[upkeep_shapes.JobRunShape]


@declared_only
class RunJobResponse(OkResponse):
    """What a dry run would do; or that the job begins now, or once `ahead` others have ended."""

    dry_run: bool
    plan: upkeep_shapes.JobRunShape | None
    ahead: int


@declared_only
class TemplatesResponse(OkResponse):
    """The templates."""

    count: int
    templates: list[TemplateStatus]


@declared_only
class TemplateResponse(OkResponse):
    """A template with its text."""

    template: TemplateText


@declared_only
class RunTemplateResponse(OkResponse):
    """What the template wrote, or would write."""

    dry_run: bool
    result: upkeep_shapes.TemplateResultShape


@declared_only
class DigestResponse(OkResponse):
    """What programs did, in groups; `counts` says how many things each group has."""

    digest: Digest
    counts: dict[str, int]
    summary: str


@job_router.get("", operation_id="list_jobs", summary="List the jobs", dependencies=[NO_QUERY])
def list_jobs(request: Request, memory: Reader) -> JobsResponse:
    """Every job: when it runs, when next, how its last run ended, and what hinders it."""
    jobs, waiting = memory.jobs.list(), request.app.state.jobs.waiting(memory)
    return {"ok": True, "count": len(jobs), "jobs": [*jobs], "notices": [*memory.jobs.notices()], "waiting": waiting}


@job_router.get("/log", operation_id="job_log", summary="List the runs of jobs")
def job_log(query: Annotated[JobLogQuery, Query()], memory: Reader) -> JobLogResponse:
    """What each run did, step by step; newest first."""
    runs = memory.jobs.log(query.job or None, since=query.since or None, limit=query.limit)
    return {"ok": True, "count": len(runs), "runs": [upkeep_shapes.job_run_shape(each) for each in runs]}


@job_router.get("/{name}", operation_id="show_job", summary="A job and its newest run", dependencies=[NO_QUERY])
def show_job(name: JobName, memory: Reader) -> JobResponse:
    """How far it is while it runs; else how its last run ended."""
    job, runs = memory.jobs.show(name), memory.jobs.log(name, limit=1)
    return {"ok": True, "job": job, "run": upkeep_shapes.job_run_shape(runs[0]) if runs else None}


@job_router.post("/{name}/run", operation_id="run_job", summary="Run a job now", dependencies=[NO_QUERY])
def run_job(name: JobName, body: RunJobBody, request: Request, memory: Owner) -> RunJobResponse:
    """Run it in the background, also if it is switched off; `GET /jobs/{name}` and `GET /events` tell its progress.

    A dry run is answered with what it would do.
    """
    if body.dry_run:
        plan = upkeep_shapes.job_run_shape(memory.jobs.run(name, dry_run=True))
        return {"ok": True, "dry_run": True, "plan": plan, "ahead": 0}
    return {"ok": True, "dry_run": False, "plan": None, "ahead": request.app.state.jobs.add(memory, name)}


@template_router.get("", operation_id="list_templates", summary="List the templates", dependencies=[NO_QUERY])
def list_templates(memory: Reader) -> TemplatesResponse:
    """Each with where it comes from, when its notes are written, and what is wrong with it."""
    templates = memory.templates.list()
    return {"ok": True, "count": len(templates), "templates": [*templates]}


@template_router.get("/{name}", operation_id="show_template", summary="Read a template", dependencies=[NO_QUERY])
def show_template(name: TemplateName, memory: Reader) -> TemplateResponse:
    """The text of a template: the vault's own, else the packaged one."""
    return {"ok": True, "template": memory.templates.show(name)}


@template_router.post("/{name}/run", operation_id="run_template", summary="Write its note", dependencies=[NO_QUERY])
def run_template(name: TemplateName, body: RunTemplateBody, memory: Owner) -> RunTemplateResponse:
    """Write the note of a template for a day; what was written before is not written again."""
    result = memory.templates.run(name, day=body.date or None, dry_run=body.dry_run)
    return {"ok": True, "dry_run": body.dry_run, "result": upkeep_shapes.template_result_shape(result)}


@digest_router.get("", operation_id="digest", summary="What programs did")
def digest(query: Annotated[DigestQuery, Query()], memory: Reader) -> DigestResponse:
    """What was learned, changed, archived, proposed, refused and spent, without the words of entries."""
    return _digest_response(memory.digests.read(since=query.since or None, advance=False))


@digest_router.post("/read", operation_id="read_digest", summary="Read the digest", dependencies=[NO_QUERY])
def read_digest(memory: Owner) -> DigestResponse:
    """The same with the words of entries, for the person; the next one begins where this one ends."""
    return _digest_response(memory.digests.read())


def _digest_response(digest: Digest) -> DigestResponse:
    return {"ok": True, "digest": digest, "counts": digest.counts, "summary": digest.summary}
