"""The page of health: doctor's checks, the index, problems of notes, models and what they cost, and the daemon."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.memory import Memory
from commonplace.memory.learning import SpendingReport, TaskSpending
from commonplace.model import Problem
from commonplace.model.diagnostics import Finding
from commonplace.model.text import counted
from commonplace.web.page.charts import Series
from commonplace.web.page.view import (
    NavigationEntry,
    PageForm,
    PageMemory,
    page_host,
    page_session,
    paged,
    redirect,
    render,
)

ENTRY: Final = NavigationEntry("Health", "/doctor", group="run", key="h")
_CURRENT_FOR: Final = timedelta(minutes=5)
_SPENDING_DAYS: Final = 30
_MOST_HOOKS: Final = 10
router = APIRouter()

HostChecks = Callable[[], Sequence[Finding]]
_Whose = tuple[str, bool]  # the vault, and whether what is about the server counts too


@dataclass(frozen=True, slots=True)
class Checkup:
    """What doctor found, and when; both None while the first checks of a vault run."""

    findings: tuple[Finding, ...] | None
    at: datetime | None
    is_running: bool


class Checkups:
    """The newest findings of each vault. Checks run in the background, once at a time for each vault.

    They take as long as a language model or a slow disk does, and a page waits for neither. What is about the server is
    found for whoever runs it, and not for a person who signed in to a vault of theirs.
    """

    def __init__(self, host_checks: HostChecks) -> None:
        self._host_checks = host_checks
        self._lock = threading.Lock()
        self._done: dict[_Whose, tuple[tuple[Finding, ...], datetime]] = {}
        self._running: set[_Whose] = set()

    def show(self, memory: Memory, *, of_server: bool, now: datetime) -> Checkup:
        """What is known; findings older than five minutes are looked for again meanwhile."""
        whose = memory.conversations.vault_folder, of_server
        with self._lock:
            findings, at = self._done.get(whose, (None, None))
            is_current = at is not None and now - at < _CURRENT_FOR
        if not is_current:
            self.begin(memory, of_server=of_server)
        with self._lock:
            return Checkup(findings, at, whose in self._running)

    def begin(self, memory: Memory, *, of_server: bool) -> None:
        """Check that vault again, unless that is under way."""
        whose = memory.conversations.vault_folder, of_server
        with self._lock:
            if whose in self._running:
                return
            self._running.add(whose)
        threading.Thread(target=self._check, args=(memory, whose), name="doctor", daemon=True).start()

    def _check(self, memory: Memory, whose: _Whose) -> None:
        findings: tuple[Finding, ...] = ()
        try:
            findings = (*_examined(memory.index.examine), *(_examined(self._host_checks) if whose[1] else ()))
        except Exception as error:  # noqa: BLE001 (a job: whatever it is, the page says that the checks broke)
            emit("checks_broke", level="warning", exc_info=error)
            remedy = "Run `commonplace doctor` in a terminal."
            findings = (Finding("doctor", ok=False, said="the checks could not be finished", remedy=remedy),)
        finally:
            with self._lock:
                self._running.discard(whose)
                self._done[whose] = (findings, datetime.now(UTC))


@router.get("/doctor")
def show_health(request: Request, memory: PageMemory, page: int = 1) -> Response:
    """How the memory is: what doctor finds, and the state of each part; for whoever runs the server, also of that."""
    checkups: Checkups = request.app.state.checkups
    of_server = not page_session(request).person
    checkup = checkups.show(memory, of_server=of_server, now=datetime.now(UTC))
    problems = memory.index.problems()
    mode, without = memory.index.readiness()
    spending = memory.learning.spending(days=_SPENDING_DAYS)
    tasks = _per_task(spending)
    status = page_host(request).status()
    return render(
        request,
        "health.html",
        title="Health",
        checkup=checkup,
        checks=_without(problems, checkup.findings or ()),
        problems=paged(problems, page),
        obsidian=memory.notes.link,
        counts=memory.index.stats(),
        sizes=memory.index.sizes(),
        mode=mode,
        without=without,
        learning=memory.learning.status(),
        spending=spending,
        cost_by_day=_per_day(spending, lambda row: row.cost),
        tokens_by_day=_per_day(spending, lambda row: row.tokens),
        tasks=tasks,
        task_chart=[(task, cost if spending.total.cost else tokens) for task, _, tokens, cost in tasks],
        daemon=status if of_server else None,
        watched=next((each for each in status["vaults"] if each["vault"] == memory.conversations.vault_folder), None),
        hooks=status["hooks"][:_MOST_HOOKS] if of_server else [],
    )


@router.post("/doctor")
def check_again(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Run doctor's checks in the background, and show what they find."""
    checkups: Checkups = request.app.state.checkups
    checkups.begin(memory, of_server=not page_session(request).person)
    return redirect(request, "/doctor")


@router.post("/doctor/sync")
def sync(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Bring the index up to date with the notes."""
    report = memory.index.sync()
    said = f"The index is up to date: {counted(report.added, 'new note')}, {report.changed} changed."
    return redirect(request, "/doctor", said)


def _examined(check: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    """What the check finds; one that cannot be made is a finding, too."""
    try:
        return check()
    except CommonplaceError as error:
        return (Finding("doctor", ok=False, said=error.message, remedy=error.hint or "", path=error.path),)


def _without(problems: Sequence[Problem], findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings without the problems of notes, which have a list of their own; what is wrong first."""
    listed = {(each.code, each.path, each.line) for each in problems}
    rest = [each for each in findings if (each.what, each.path, each.line) not in listed]
    return tuple(sorted(rest, key=lambda each: each.ok))


def _per_day(spending: SpendingReport, value: Callable[[TaskSpending], float]) -> Series:
    """The sum of a value on each day, also on those without a call."""
    first, sums = datetime.fromisoformat(spending.since), dict[str, float]()
    for row in spending.rows:
        sums[row.day] = sums.get(row.day, 0.0) + value(row)
    days = (f"{first + timedelta(days=number):%Y-%m-%d}" for number in range(_SPENDING_DAYS))
    return [(day, sums.get(day, 0.0)) for day in days]


def _per_task(spending: SpendingReport) -> list[tuple[str, int, int, float]]:
    """Calls, tokens and dollars of each task, the dearest first."""
    sums: dict[str, tuple[int, int, float]] = {}
    for row in spending.rows:
        calls, tokens, cost = sums.get(row.task, (0, 0, 0.0))
        sums[row.task] = (calls + row.calls, tokens + row.tokens, cost + row.cost)
    rows = [(task, *values) for task, values in sums.items()]
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))
