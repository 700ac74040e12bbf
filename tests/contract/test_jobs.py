"""Both histories keep leases, states, runs and notices of scheduled jobs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from commonplace.history.base import ERASED, RUN_DAYS, History
from commonplace.model.moment import moment_text
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, Step, StepResult

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
AT = moment_text(NOW)
LEASE = JobLease(job="archive", owner="a", boot="b1", process="12.5", until=moment_text(NOW + timedelta(minutes=10)))
STEP = Step(action="archive", subject="Agent/Memory/T3/Old.md", said="Archive an entry that went cold.")


def run(history: History, *results: StepResult, job: str = "archive", now: datetime = NOW) -> JobRecord:
    """A run of that job with these steps, as the log has it."""
    number = history.begin_run(job, now=now)
    for each in results:
        history.add_step(number, each)
    ended = JobRecord(job=job, began=moment_text(now), outcome="done", ended=moment_text(now), number=number)
    history.end_run(replace(ended, said="2 of 2 done", planned=2, left=1, seconds=0.5), now=now)
    return history.job_runs(limit=1)[0]


def test_one_owner_has_a_lease_at_a_time(history: History) -> None:
    """A second owner gets it only when the first gave it back."""
    second = replace(LEASE, owner="b")

    assert history.take_lease(LEASE, now=NOW)
    assert not history.take_lease(second, now=NOW)
    assert history.job_lease("archive") == LEASE

    history.end_lease(second)
    assert history.job_lease("archive") == LEASE

    history.end_lease(LEASE)
    assert history.job_lease("archive") is None
    assert history.take_lease(second, now=NOW)


def test_leases_of_two_jobs_do_not_meet(history: History) -> None:
    """Each job has one of its own."""
    assert history.take_lease(LEASE, now=NOW)
    assert history.take_lease(replace(LEASE, job="probe", owner="b"), now=NOW)


def test_an_owner_may_renew_its_lease(history: History) -> None:
    """The later end is stored."""
    later = replace(LEASE, until=moment_text(NOW + timedelta(hours=1)))
    history.take_lease(LEASE, now=NOW)

    assert history.take_lease(later, now=NOW)
    assert history.job_lease("archive") == later


def test_an_expired_lease_is_taken_over(history: History) -> None:
    """From its very second on, and its former owner cannot renew it."""
    second = replace(LEASE, owner="b", until=moment_text(NOW + timedelta(hours=1)))
    history.take_lease(LEASE, now=NOW)

    assert not history.take_lease(second, now=NOW + timedelta(minutes=9, seconds=59))
    assert history.take_lease(second, now=NOW + timedelta(minutes=10))
    assert not history.take_lease(LEASE, now=NOW + timedelta(minutes=11))


def test_the_lease_of_a_dead_owner_is_taken_over_by_one_of_two(history: History) -> None:
    """Whoever names the owner that it replaces gets it once: the next one finds another owner."""
    history.take_lease(LEASE, now=NOW)

    assert history.take_lease(replace(LEASE, owner="b"), now=NOW, replaces="a")
    assert not history.take_lease(replace(LEASE, owner="c"), now=NOW, replaces="a")


def test_states_are_kept_by_name(history: History) -> None:
    """The last one counts; JSON values come back as they were."""
    state = JobState(job="sleep", values={"cursor": 7, "days": ["2026-03-01"], "ä": None}, since=AT)
    failed = JobState(job="archive", failures=2, reason="disk full", retry_at=AT, is_parked=True, since=AT)
    for each in (JobState(job="sleep"), failed, state):
        history.save_job_state(each)

    assert history.job_states() == {"archive": failed, "sleep": state}
    assert list(history.job_states()) == ["archive", "sleep"]


def test_a_run_has_its_steps_in_order_without_their_values(history: History) -> None:
    """What `apply` needed besides is not kept."""
    first = StepResult(step=replace(STEP, values={"secret": "x"}), outcome="done", commit="abc")
    second = StepResult(step=replace(STEP, subject="k-1"), outcome="failed", reason="disk full", review="r1")
    record = run(history, first, second)

    assert record == JobRecord(
        job="archive",
        began=AT,
        ended=AT,
        outcome="done",
        said="2 of 2 done",
        planned=2,
        left=1,
        seconds=0.5,
        steps=(replace(first, step=STEP), second),
        number=record.number,
    )


def test_a_run_that_ends_stores_the_state_with_it(history: History) -> None:
    """Both or neither."""
    state = JobState(job="archive", values={"cursor": 1}, since=AT)
    number = history.begin_run("archive", now=NOW)
    history.end_run(JobRecord(job="archive", began=AT, outcome="done", number=number), state=state, now=NOW)

    assert history.job_states() == {"archive": state}


def test_a_run_that_never_ended_is_marked_by_the_next_one(history: History) -> None:
    """It was killed; its steps stay, and it cannot end any more."""
    number = history.begin_run("archive", now=NOW)
    other = history.begin_run("probe", now=NOW)
    history.add_step(number, StepResult(step=STEP, outcome="done"))
    history.begin_run("archive", now=NOW + timedelta(hours=1))
    history.end_run(JobRecord(job="archive", began=AT, outcome="done", number=number), now=NOW)
    outcomes = {each.number: (each.outcome, len(each.steps)) for each in history.job_runs()}

    assert outcomes == {number: ("killed", 1), other: ("running", 0), other + 1: ("running", 0)}


def test_runs_are_found_by_name_and_time_newest_first(history: History) -> None:
    """At most as many as asked for."""
    first = run(history, now=NOW)
    probe = run(history, job="probe", now=NOW + timedelta(hours=1))
    last = run(history, now=NOW + timedelta(hours=2))

    assert history.job_runs() == (last, probe, first)
    assert history.job_runs(name="archive") == (last, first)
    assert history.job_runs(since=NOW + timedelta(hours=1)) == (last, probe)
    assert history.job_runs(limit=1) == (last,)


def test_runs_are_dropped_when_they_are_old(history: History) -> None:
    """After RUN_DAYS, with their steps."""
    run(history, StepResult(step=STEP, outcome="done"))
    late = run(history, now=NOW + timedelta(days=RUN_DAYS, seconds=1))

    assert history.job_runs() == (late,)


def test_a_notice_is_raised_once_until_it_is_cleared(history: History) -> None:
    """The first words stay."""
    notice = JobNotice(key="model", said="The model is away.", at=AT)

    assert history.raise_notice(notice)
    assert not history.raise_notice(replace(notice, said="Still away."))
    assert history.job_notices() == (notice,)
    assert history.clear_notice("model")
    assert not history.clear_notice("model")
    assert history.job_notices() == ()
    assert history.raise_notice(notice)


def test_steps_about_an_erased_note_are_forgotten(history: History) -> None:
    """Steps about it go, and where another step, a run or a state names it, its name goes."""
    named = replace(STEP, subject="k-2", said=f"Merge with {STEP.subject}.")
    plain = StepResult(step=replace(STEP, subject="k-3", said="Another."), outcome="done")
    number = history.begin_run("archive", now=NOW)
    for step in (STEP, named):
        history.add_step(number, StepResult(step=step, outcome="failed", reason="why"))
    history.add_step(number, plain)
    ended = JobRecord(job="archive", began=AT, outcome="done", said=f"Stopped at {STEP.subject}.", number=number)
    history.end_run(ended, state=JobState(job="archive", values={"last": STEP.subject, "n": 1}), now=NOW)
    history.forget_path(STEP.subject)
    record = history.job_runs()[0]

    assert record.said == ERASED
    assert record.steps == (StepResult(step=replace(named, said=ERASED), outcome="failed"), plain)
    assert history.job_states()["archive"].values == {"last": ERASED, "n": 1}


def test_steps_about_an_erased_entry_or_conversation_are_forgotten(history: History) -> None:
    """By the id of either."""
    run(history, *(StepResult(step=replace(STEP, subject=each), outcome="done") for each in ("k-1", "c-1", "k-9")))
    history.forget_learned(["k-1"])
    history.forget_conversation("c-1")

    assert [each.step.subject for each in history.job_runs()[0].steps] == ["k-9"]
