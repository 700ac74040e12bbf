"""The verbs on scheduled jobs: list, show, due, run, run_due, log, notices."""

from collections.abc import Callable
from datetime import UTC, tzinfo

from commonplace.errors import NotFound, Refused
from commonplace.flows.ingest.sync import catch_up
from commonplace.flows.stores import Session
from commonplace.model.request import When
from commonplace.model.upkeep import JobNotice, JobRecord, JobStatus
from commonplace.questions.time_arguments import start_of
from commonplace.upkeep.job import Job
from commonplace.upkeep.notices import tell_about_models
from commonplace.upkeep.options import SkillsOptions, UpkeepOptions, zone_of
from commonplace.upkeep.registry import JOBS
from commonplace.upkeep.runner import Upkeep
from commonplace.upkeep.schedule import schedule_words

__all__ = ["Jobs", "schedule_words", "zone_of"]


class Jobs:
    """The scheduled jobs of one vault. A person and the daemon run them; an agent may only look."""

    def __init__(
        self,
        session: Session,
        options: UpkeepOptions | None = None,
        skills: SkillsOptions | None = None,
        *,
        jobs: tuple[Job, ...] = JOBS,
    ) -> None:
        self._session, self._jobs = session, {job.name: job for job in jobs}
        self._upkeep = Upkeep(jobs, options or UpkeepOptions(), session, skills or SkillsOptions())

    def list(self) -> tuple[JobStatus, ...]:
        """Every job: when it runs, when next, how its last run ended, and what hinders it."""
        return self._upkeep.statuses()

    def show(self, name: str) -> JobStatus:
        """That job as `list` has it. Raises NotFound."""
        return self._upkeep.status(self._find(name))

    def due(self) -> tuple[str, ...]:
        """The names of the jobs that are due now."""
        return tuple(job.name for job in self._upkeep.due())

    def run(self, name: str, *, dry_run: bool = False, stops: Callable[[], bool] = lambda: False) -> JobRecord:
        """Run a job now, also one that is disabled or parked; with `dry_run` only plan it, and change nothing.

        Without the daemon the index is brought up to date first, as by `run_due`.

        What goes wrong in the run is in its outcome. Raises NotFound, Refused for an agent, and VaultUnavailable
        (`locked`) if another process runs the job.
        """
        job = self._find(name)
        if not dry_run:
            self._refuse_agents()
        catch_up(self._session.stores)
        if dry_run:
            return self._upkeep.plan(job)
        record = self._upkeep.run(job, stops=stops)
        tell_about_models(self._session, is_needed=record.outcome == "waiting")
        return record

    def run_due(self, *, stops: Callable[[], bool] = lambda: False) -> tuple[JobRecord, ...]:
        """Run every job that is due, each once, until `stops`; one that another process runs is left out."""
        self._refuse_agents()
        if self._upkeep.due():
            catch_up(self._session.stores)
        return self._upkeep.run_due(stops=stops)

    def log(
        self, name: str | None = None, *, since: When = None, limit: int | None = None, zone: tzinfo = UTC
    ) -> tuple[JobRecord, ...]:
        """The runs of that job, or of all, with their steps; newest first. Raises NotFound and UsageError."""
        if name is not None:
            self._find(name)
        since = start_of(since, now=self._session.clock(), zone=zone)
        return self._session.stores.history.job_runs(name=name, since=since, limit=limit)

    def notices(self) -> tuple[JobNotice, ...]:
        """What the person should know: parked jobs, models that are away, and what is over since yesterday."""
        return self._session.stores.history.job_notices()

    def _find(self, name: str) -> Job:
        if name not in self._jobs:
            raise NotFound(f"no job is called {name!r}", hint=f"Jobs: {', '.join(sorted(self._jobs))}.")
        return self._jobs[name]

    def _refuse_agents(self) -> None:
        if self._session.actor.kind == "agent":
            raise Refused("an agent may not run jobs", hint="Ask the person: `commonplace jobs run NAME`.")
