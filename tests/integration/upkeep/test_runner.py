"""The runner: due jobs once, one process each, failures put off and parked, caps, stops, notices."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, ProviderFailed, Refused, VaultUnavailable
from commonplace.flows.stores import ModelRoute, Models
from commonplace.history.base import ModelState
from commonplace.memory import Memory
from commonplace.memory.jobs import Jobs
from commonplace.model import Actor
from commonplace.model.moment import moment_text
from commonplace.model.upkeep import JobLease, JobRecord, StepOutcome
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.upkeep.lease import this_process
from commonplace.upkeep.options import JobOptions, SkillsOptions, UpkeepOptions
from tests.memories import Calendar, make_memory


@pytest.fixture
def clock() -> Calendar:
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=clock) as made:
        yield made


@dataclass
class Counter:
    """A job that counts to `until`, one step for each number, and remembers what it did."""

    until: int = 3
    done: list[int] = field(default_factory=list)
    plans: list[JobRun] = field(default_factory=list)
    error: Exception | None = None
    fails_at: tuple[int, ...] = ()
    before: Callable[[int], None] = lambda number: None

    def plan(self, run: JobRun) -> Plan:
        self.plans.append(run)
        if self.error:
            raise self.error
        numbers = [each for each in range(1, self.until + 1) if each not in self.done]
        steps = tuple(Step(action="count", subject=f"n{each}.md", said=f"Count {each}.") for each in numbers)
        return Plan(steps=steps, state={"until": self.until})

    def apply(self, step: Step, run: JobRun) -> StepResult:
        number = int(step.subject[1:-3])
        self.before(number)
        if number in self.fails_at:
            raise Conflict(f"no {number}")
        outcome: StepOutcome = "unchanged" if number in self.done else "done"
        self.done.append(number)
        return StepResult(step=step, outcome=outcome)

    def job(self, name: str = "count", schedule: str = "30 3 * * *", most_steps: int = 50, seconds: float = 600) -> Job:
        return Job(
            name=name,
            about="Counts",
            schedule=schedule,
            plan=self.plan,
            apply=self.apply,
            most_steps=most_steps,
            seconds=seconds,
        )


def jobs_of(memory: Memory, *jobs: Job, zone: str = "UTC", enabled: bool = True) -> Jobs:
    return Jobs(memory._session, UpkeepOptions(zone=zone, enabled=enabled), jobs=jobs)


def test_a_dry_run_shows_what_a_run_then_does(memory: Memory) -> None:
    """It changes nothing and is not in the log."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    planned = jobs.run("count", dry_run=True)

    assert counter.done == []
    assert jobs.log() == ()
    assert counter.plans[0].is_dry

    run = jobs.run("count")
    assert [each.step for each in run.steps] == [each.step for each in planned.steps]
    assert counter.done == [1, 2, 3]


def test_a_second_run_changes_nothing(memory: Memory) -> None:
    """The plan is empty, and the log says so."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    jobs.run("count")
    second = jobs.run("count")

    assert (second.outcome, second.said, second.steps) == ("done", "nothing to do", ())


def test_a_job_acts_as_itself_at_one_moment(memory: Memory, clock: Calendar) -> None:
    """Its session has the actor `job` with its name, and a stopped clock; its state is what the last run stored."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    jobs.run("count")
    jobs.run("count")
    first, second = counter.plans

    assert first.session.actor == Actor("job", "count")
    assert first.session.clock() == clock.at
    assert (first.state, second.state) == ({}, {"until": 3})


@pytest.mark.requirement("D-120", "I-19")
def test_a_job_runs_at_its_time_in_the_persons_zone(memory: Memory, clock: Calendar) -> None:
    """A new job waits for its first time; the minute and the day of the week are those of cron."""
    clock.at = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)  # a Sunday
    jobs = jobs_of(memory, Counter().job(schedule="30 3 * * MON"), zone="Asia/Tokyo")

    assert jobs.due() == ()
    assert jobs.list()[0].next == "2026-03-01T18:30:00Z"

    clock.at = datetime(2026, 3, 1, 18, 29, 59, tzinfo=UTC)
    assert jobs.run_due() == ()
    clock.at = datetime(2026, 3, 1, 18, 30, tzinfo=UTC)
    assert [each.outcome for each in jobs.run_due()] == ["done"]
    assert jobs.run_due() == ()
    assert jobs.list()[0].next == "2026-03-08T18:30:00Z"


@pytest.mark.requirement("I-19")
def test_an_overdue_job_runs_once_after_sleep(memory: Memory, clock: Calendar) -> None:
    """Never once for each time that has passed."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    jobs.run_due()
    clock.at += timedelta(days=40)
    runs = [len(jobs.run_due()) for _ in range(3)]

    assert runs == [1, 0, 0]
    assert len(counter.plans) == 1


def test_a_job_that_another_process_ran_meanwhile_is_not_due_any_more(memory: Memory, clock: Calendar) -> None:
    """Two daemons find the same job due: the one that gets the lease later looks again."""
    counter = Counter()
    first, second = jobs_of(memory, counter.job()), jobs_of(memory, counter.job())
    first.run_due()
    clock.at += timedelta(days=2)
    in_between: list[JobRecord] = []

    def let_the_first_run() -> bool:
        in_between.extend(first.run_due())
        return False

    late = second.run_due(stops=let_the_first_run)

    assert [each.outcome for each in in_between] == ["done"]
    assert late == ()
    assert len(counter.plans) == 1


def test_a_job_that_is_switched_off_does_not_run_by_itself(memory: Memory, clock: Calendar) -> None:
    """By its own setting or by that of all jobs; a person can still run it."""
    counter = Counter()
    options = UpkeepOptions(zone="UTC", probe=replace(UpkeepOptions().probe, enabled=False))
    own = Jobs(memory._session, options, jobs=(counter.job("probe"),))
    every = jobs_of(memory, counter.job(), enabled=False)
    for jobs in (own, every):
        jobs.run_due()
    clock.at += timedelta(days=2)

    assert [jobs.run_due() for jobs in (own, every)] == [(), ()]
    assert [jobs.list()[0].next for jobs in (own, every)] == ["", ""]
    assert own.run("probe").outcome == "done"


def test_the_settings_schedule_wins_over_the_jobs_own(memory: Memory) -> None:
    """As an interval, too."""
    options = UpkeepOptions(zone="UTC", probe=replace(UpkeepOptions().probe, schedule="every 6h"))
    jobs = Jobs(memory._session, options, jobs=(Counter().job("probe"),))
    jobs.run_due()

    assert jobs.list()[0].next == "2026-03-01T15:00:00Z"
    assert JobOptions(schedule="every 6h").schedule == "every 6h"


def test_a_failing_job_does_not_stop_another(memory: Memory, clock: Calendar) -> None:
    """Whatever it raises is its outcome."""
    counter = Counter()
    jobs = jobs_of(memory, Counter(error=RuntimeError("boom")).job("broken"), counter.job())
    jobs.run_due()
    clock.at += timedelta(days=1)
    runs = {each.job: (each.outcome, each.said) for each in jobs.run_due()}

    assert runs == {"broken": ("failed", "unexpected RuntimeError"), "count": ("done", "3 done")}


def test_a_failed_run_is_tried_again_later_and_then_parked(memory: Memory, clock: Calendar) -> None:
    """After 5 and after 15 minutes; the third failure parks it, the person is told once, and a good run ends it."""
    counter = Counter(error=Conflict("the vault moved"))
    jobs = jobs_of(memory, counter.job())
    jobs.run_due()
    clock.at += timedelta(days=1)
    waits = []
    for _ in range(2):
        jobs.run_due()
        waits.append(datetime.fromisoformat(jobs.list()[0].next) - clock.at)
        clock.at += waits[-1]
    jobs.run_due()
    parked = jobs.list()[0]
    clock.at += timedelta(days=30)

    assert waits == [timedelta(minutes=5), timedelta(minutes=15)]
    assert (parked.is_parked, parked.failures, parked.next) == (True, 3, "")
    assert jobs.run_due() == ()
    assert [each.key for each in jobs.notices()] == ["job:count"]

    counter.error = None
    jobs.run("count")
    assert not jobs.list()[0].is_parked
    assert [each.said for each in jobs.notices()] == ["The job count works again."]


def test_a_step_that_fails_does_not_stop_the_others(memory: Memory) -> None:
    """It is named in the log; the state stays, until steps failed in three runs in a row."""
    counter = Counter(until=4, fails_at=(2,))
    jobs = jobs_of(memory, counter.job())
    first = jobs.run("count")
    states = [counter.plans[-1].state]
    for _ in range(3):
        counter.done = [each for each in counter.done if each != 4]  # so that one step is left to get done
        jobs.run("count")
        states.append(counter.plans[-1].state)

    assert first.outcome == "partial"
    assert first.said == "3 done, 1 failed: no 2"
    assert {each.step.subject: each.outcome for each in first.steps}["n2.md"] == "failed"
    assert states == [{}, {}, {}, {"until": 4}]


def test_a_refused_step_is_no_failure(memory: Memory) -> None:
    """A rule forbids it, today and tomorrow."""

    def refuse(number: int) -> None:
        raise Refused("the note is marked sensitive")

    run = jobs_of(memory, Counter(before=refuse).job()).run("count")

    assert (run.outcome, run.said) == ("done", "3 refused")
    assert run.steps[0].reason == "the note is marked sensitive"


def test_many_failed_steps_in_a_row_end_the_run(memory: Memory) -> None:
    """Five of them."""
    counter = Counter(until=20, fails_at=tuple(range(3, 21)))
    run = jobs_of(memory, counter.job()).run("count")

    assert (run.outcome, len(run.steps), run.left) == ("failed", 7, 13)


def test_a_run_does_no_more_steps_than_its_cap_and_says_so(memory: Memory) -> None:
    """The rest is left for the next runs, and the state stays until all is done."""
    counter = Counter(until=7)
    jobs = jobs_of(memory, counter.job(most_steps=3))
    planned = jobs.run("count", dry_run=True)
    runs = [jobs.run("count") for _ in range(3)]

    assert [(len(each.steps), each.left) for each in (planned, *runs)] == [(3, 4), (3, 4), (3, 1), (1, 0)]
    assert "7 steps were planned, more than one run may do (3); 4 are left" in runs[0].said
    assert [each.state for each in counter.plans[1:]] == [{}, {}, {}]
    assert memory._session.stores.history.job_states()["count"].values == {"until": 7}


def test_a_run_changes_no_more_than_a_share_of_all_entries(memory: Memory) -> None:
    """More than a fifth at once is rather a fault; twenty are always allowed."""

    def plan(run: JobRun) -> Plan:
        return Plan(steps=tuple(Step(action="archive", subject=f"id-{each}", said="Old.") for each in range(40)))

    job = replace(Counter().job(), plan=plan, apply=lambda step, run: StepResult(step=step, outcome="done"))
    run = jobs_of(memory, job).run("count")

    assert (len(run.steps), run.left) == (20, 20)


def test_a_run_ends_at_its_time_limit(memory: Memory, clock: Calendar) -> None:
    """Before the next step; the rest is for the next scheduled run."""
    run = jobs_of(memory, Counter().job(seconds=0.0)).run("count")

    assert (run.outcome, run.steps, run.left) == ("stopped", (), 3)
    assert "time limit" in run.said


def test_a_run_that_is_asked_to_end_is_resumed_at_once(memory: Memory, clock: Calendar) -> None:
    """As when the daemon ends: the step that has begun is finished, nothing is done twice."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    jobs.run_due()
    clock.at += timedelta(days=1)
    runs = jobs.run_due(stops=lambda: bool(counter.done))

    assert [(each.outcome, each.left) for each in runs] == [("stopped", 2)]
    assert [each.said for each in jobs.run_due()] == ["2 done"]
    assert counter.done == [1, 2, 3]


def test_two_runs_of_one_job_never_overlap(memory: Memory) -> None:
    """The second is refused while the first runs, also in the same process."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    errors = []

    def run_again(number: int) -> None:
        with pytest.raises(VaultUnavailable) as caught:
            jobs.run("count")
        errors.append(caught.value.reason)
        assert jobs.list()[0].is_running

    counter.before = run_again
    run = jobs.run("count")

    assert errors == ["locked"] * 3
    assert run.outcome == "done"
    assert not jobs.list()[0].is_running


def lease(memory: Memory, **changes: str) -> JobLease:
    """The lease of the job as another run of this process holds it."""
    boot, process = this_process()
    until = moment_text(memory._session.clock() + timedelta(hours=1))
    made = JobLease(job="count", owner="other", boot=boot, process=process, until=until)
    return replace(made, **changes)


@pytest.mark.parametrize("changes", [{"process": "4194303.1"}, {"boot": "another/boot"}], ids=["killed", "rebooted"])
def test_the_lease_of_a_dead_process_is_taken_over_at_once(memory: Memory, changes: dict[str, str]) -> None:
    """A process that is gone, and any of an earlier boot."""
    memory._session.stores.history.take_lease(lease(memory, **changes), now=memory._session.clock())

    assert jobs_of(memory, Counter().job()).run("count").outcome == "done"


@pytest.mark.parametrize("place", ["{boot}/pid:[1]", "another/pid:[1]/another-machine"], ids=["container", "machine"])
def test_the_lease_of_a_process_elsewhere_is_waited_for(memory: Memory, clock: Calendar, place: str) -> None:
    """In another container, or on another machine that shares the database; when it expires it is taken over."""
    boot, process = this_process()
    elsewhere = lease(memory, boot=place.format(boot=boot.partition("/")[0]), process=process)
    memory._session.stores.history.take_lease(elsewhere, now=clock.at)
    jobs = jobs_of(memory, Counter().job())

    with pytest.raises(VaultUnavailable):
        jobs.run("count")
    clock.at += timedelta(hours=1)
    assert jobs.run("count").outcome == "done"


def test_a_run_that_lost_its_lease_stops_before_the_next_step(memory: Memory, clock: Calendar) -> None:
    """One that was late: another process may run the job by then."""
    counter = Counter()

    def lose(number: int) -> None:
        clock.at += timedelta(hours=1)
        memory._session.stores.history.take_lease(lease(memory), now=clock.at)

    counter.before = lose
    run = jobs_of(memory, counter.job()).run("count")

    assert (run.outcome, counter.done) == ("stopped", [1])


@pytest.mark.requirement("I-68")
def test_a_vault_that_is_away_is_skipped_with_a_word(memory: Memory, clock: Calendar, tmp_path: Path) -> None:
    """The job is tried again when it is back; it is not parked, nothing is lost."""
    counter = Counter()
    jobs = jobs_of(memory, counter.job())
    jobs.run_due()
    clock.at += timedelta(days=1)
    (tmp_path / "vault").rename(tmp_path / "away")
    skipped: list[JobRecord] = []
    for _ in range(4):
        skipped += jobs.run_due()
        clock.at += timedelta(minutes=10)
    (tmp_path / "away").rename(tmp_path / "vault")

    assert [each.outcome for each in skipped] == ["skipped"] * 4
    assert "No such file or directory" in skipped[0].said
    assert not jobs.list()[0].is_parked
    assert [each.outcome for each in jobs.run_due()] == ["done"]


def with_model(memory: Memory, identity: str = "m1") -> Memory:
    """The memory with a model of which only the failures matter."""
    route = ModelRoute(model=None, missing="", identity=identity, most_tokens=100, price_in=0.0, price_out=0.0)
    stores = replace(memory._session.stores, models=Models(lambda task: route))
    return Memory(replace(memory._session, stores=stores))


def test_a_model_that_is_away_is_told_once_and_once_when_it_is_back(memory: Memory, clock: Calendar) -> None:
    """However often the job is tried meanwhile; it is not parked."""
    memory = with_model(memory)
    history = memory._session.stores.history
    counter = Counter(error=ProviderFailed("the server does not answer", reason="unreachable"))
    jobs = jobs_of(memory, counter.job())
    jobs.run_due()
    clock.at += timedelta(days=1)
    history.save_model_state(ModelState("m1", 1, "unreachable", "the server does not answer"), now=clock.at)
    told = []
    for _ in range(5):
        assert [each.outcome for each in jobs.run_due()] == ["waiting"]
        told.append(jobs.notices())
        clock.at += timedelta(minutes=30)

    assert len({*told}) == 1
    assert "is away" in told[0][0].said
    assert not jobs.list()[0].is_parked

    counter.error = None
    history.save_model_state(ModelState("m1"), now=clock.at)
    jobs.run_due()
    assert [each.said for each in jobs.notices()] == ["The model answers again."]
    clock.at += timedelta(days=1)
    jobs.run_due()
    assert jobs.notices() == ()


def test_an_agent_may_look_and_plan_but_not_run(memory: Memory) -> None:
    """Jobs act with more rights than an agent has."""
    jobs = jobs_of(memory.acting(Actor("agent", "test")), Counter().job())

    with pytest.raises(Refused):
        jobs.run("count")
    with pytest.raises(Refused):
        jobs.run_due()
    assert len(jobs.run("count", dry_run=True).steps) == 3
    assert len(jobs.list()) == 1


def test_jobs_are_listed_in_the_order_in_which_they_run(memory: Memory) -> None:
    """Those that do not run by themselves come last."""
    times = [status.next for status in memory.jobs.list()]
    named = [time for time in times if time]

    assert named == sorted(named)
    assert times == [*named, *[""] * (len(times) - len(named))]
    assert len({*named}) > 3


def test_an_unknown_job_is_not_found(memory: Memory) -> None:
    """The error names those that exist."""
    with pytest.raises(NotFound) as caught:
        memory.jobs.run("prode")

    assert "probe" in str(caught.value)


def test_every_job_has_a_settings_block_and_a_valid_schedule(memory: Memory) -> None:
    """A job's name is that of its block below `upkeep`, with dashes for underscores; a skill's below `skills`."""
    for status in memory.jobs.list():
        own = SkillsOptions().of(status.name) or getattr(UpkeepOptions(), status.name.replace("-", "_"))
        assert isinstance(own, JobOptions)
        assert status.next or not status.is_enabled
