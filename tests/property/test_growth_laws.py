"""Laws of growth and decay: whatever the jobs do and undo, the person's statements stay."""

import tempfile
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.memory import Memory
from commonplace.upkeep.archive import JOB as ARCHIVE
from commonplace.upkeep.consolidate import CONSOLIDATE, DREAM
from commonplace.upkeep.heat import JOB as HEAT
from tests.memories import Calendar, make_memory
from tests.upkeep_jobs import run_job, use_daily

TEXTS: Final = ("The gate is green.", "The green gate squeaks.", "Bees live in the attic.", "The well is dry.")
JOBS: Final = {"heat": HEAT, "archive": ARCHIVE, "dream": DREAM, "consolidate": CONSOLIDATE}
DEEDS: Final = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("tell", "say", "use")), st.sampled_from(range(len(TEXTS)))),
        st.tuples(st.just("pass"), st.sampled_from((1, 40, 200, 1200))),
        st.tuples(st.sampled_from((*JOBS, "undo")), st.just(0)),
    ),
    min_size=4,
    max_size=10,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(deeds=DEEDS)
def test_no_sequence_of_jobs_and_undos_loses_what_the_person_said(deeds: list[tuple[str, int]]) -> None:
    """Each statement that the person told is current, in their words, after every step."""
    calendar = Calendar()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with make_memory(root, clock=calendar) as memory, make_memory(root, clock=calendar, actor="agent") as agent:
            told: dict[str, str] = {}
            commits: list[str] = []
            for deed, number in deeds:
                _do(deed, number, memory, agent, calendar, told, commits)
                held = {each.fact.id: each.fact.text for each in memory.facts.about()}

                assert told.items() <= held.items()


def _do(
    deed: str,
    number: int,
    memory: Memory,
    agent: Memory,
    calendar: Calendar,
    told: dict[str, str],
    commits: list[str],
) -> None:
    if deed == "pass":
        calendar.pass_(days=number)
    elif deed == "tell":
        result = memory.entries.save(TEXTS[number], kind="fact")
        told[result.fact.id] = result.fact.text
        told.pop(result.old if result.action == "supersede" else "", None)
    elif deed == "say":
        agent.entries.save(TEXTS[number], kind="fact", project=f"p{len(commits) % 3}")
    elif deed == "use":
        for each in memory.facts.about():
            use_daily(each.fact.id, memory, calendar, days=13)
    elif deed == "undo" and commits:
        memory.notes.undo(commit=commits.pop())
    elif deed in JOBS:
        commits += [each.commit for each in run_job(JOBS[deed], memory) if each.commit]
