"""The skill `daily_reflection`: shortly after midnight, a note about the day that is over.

Its contract is in docs/guide/templates.md. A day on which nothing happened has no note.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

from commonplace.model.moment import long_day
from commonplace.model.template import NoteDraft, TemplateRequest
from commonplace.upkeep.options import DailyOptions
from commonplace.upkeep.period import Period, cut_lists, version_at, what_happened
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask

NAME: Final = "daily_reflection"
FOLDER: Final = "Reflections"
DRAFT: Final = NoteDraft(
    task="A note about {{ title }}: what the person did, decided, learned and left open on that day.",
    schema={
        "type": "object",
        "properties": {
            "summary": {"type": "string", "description": "the day in two to four sentences"},
            "open_questions": {
                "type": "array",
                "maxItems": 5,
                "items": {"type": "string"},
                "description": "questions that the material leaves open",
            },
        },
        "required": ["summary"],
    },
)


def tasks(run: SkillRun) -> Sequence[SkillTask]:
    """The days before today that are not written yet and on which something happened."""
    days = run.options.catch_up_days if isinstance(run.options, DailyOptions) else 1
    past = (run.today - timedelta(days=number) for number in range(days, 0, -1))
    return [on_demand(run, day) for day in past if gather(run, day) is not None]


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The note of that day; of today, what happened so far."""
    period = Period(day, day, run.zone)
    request = TemplateRequest(
        template=NAME,
        target_path=f"{FOLDER}/{day.isoformat()}.md",
        idempotency_key=f"{NAME}:{day.isoformat()}",
        source_version=version_at(period, run.now),
        draft=DRAFT,
    )
    return SkillTask(request, partial(gather, run, day), f"Write what happened on {day.isoformat()}.")


def gather(run: SkillRun, day: date) -> Mapping[str, Any] | None:
    """What happened that day; None if nothing did."""
    found = what_happened(Period(day, day, run.zone), run.session)
    if found is None:
        return None
    return {
        "date": day.isoformat(),
        "title": f"{day:%A}, {long_day(day.isoformat())}",
        **cut_lists(found, run.options.most_items),
    }


SKILL = Skill(
    name=NAME,
    about="Writes a note about each day: what was done, decided, learned and left open",
    schedule="20 0 * * *",
    tasks=tasks,
    on_demand=on_demand,
)
