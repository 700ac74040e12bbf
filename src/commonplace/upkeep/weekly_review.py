"""The skill `weekly_review`: on Monday morning, a note about the week that is over.

Its contract is in docs/guide/templates.md. A week in which nothing happened has no note.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

from commonplace.facts.commitments import Commitment, commitment_id
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.memory.commitments import list_commitments, told
from commonplace.flows.memory.facts import FactRequest, doubts_of, facts_about
from commonplace.flows.memory.review import waiting_count
from commonplace.flows.notes.proposals import proposals
from commonplace.model.template import NoteDraft, TemplateRequest
from commonplace.upkeep.period import Period, cut_lists, version_at, what_happened
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask

NAME: Final = "weekly_review"
FOLDER: Final = "WeeklyReview"
DRAFT: Final = NoteDraft(
    task="A review of the week {{ week }}: what the person did, decided and changed, and what comes next.",
    schema={
        "type": "object",
        "properties": {
            "summary": {"type": "string", "description": "the week in three to six sentences"},
            "open_questions": {
                "type": "array",
                "maxItems": 7,
                "items": {"type": "string"},
                "description": "questions that the material leaves open",
            },
        },
        "required": ["summary"],
    },
)


def tasks(run: SkillRun) -> Sequence[SkillTask]:
    """The last week, if something happened in it."""
    day = run.today - timedelta(days=7)
    return [on_demand(run, day)] if gather(run, day) is not None else []


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The note of the week of that day; of this week, what happened so far."""
    period, week = _week(day, run), _name(day)
    request = TemplateRequest(
        template=NAME,
        target_path=f"{FOLDER}/{week}.md",
        idempotency_key=f"{NAME}:{week}",
        source_version=version_at(period, run.now),
        draft=DRAFT,
    )
    return SkillTask(request, partial(gather, run, day), f"Write the review of {week}.")


def gather(run: SkillRun, day: date) -> Mapping[str, Any] | None:
    """What happened in the week of that day, what waits and what is doubtful now; None if nothing happened."""
    period = _week(day, run)
    found = what_happened(period, run.session)
    if found is None:
        return None
    standing = [each for each in told(list_commitments(run.session)) if each.is_open]
    lines = {(each.path, each.line) for each in standing}
    found["commitments"] = [_commitment(each) for each in standing]
    found["tasks"] = [each for each in found["tasks"] if (each["path"], each["line"]) not in lines]
    found["stale"] = _stale(run)
    found["events"] = _events(period, run)
    most = run.options.most_items
    return {
        "week": _name(day),
        "first": period.first.isoformat(),
        "last": period.last.isoformat(),
        "waiting": waiting_count(run.session),
        "proposals": [{"target": each.target} for each in proposals(run.session.stores)][:most],
        **cut_lists(found, most),
    }


def _commitment(commitment: Commitment) -> dict[str, Any]:
    return {
        "who": "" if commitment.who == ME else strip_links(commitment.who),
        "what": strip_links(commitment.what),
        "due": commitment.due,
        "is_late": commitment.state == "overdue",
        "path": commitment.path.removesuffix(".md"),
        "id": commitment_id(commitment),
    }


def _stale(run: SkillRun) -> list[dict[str, Any]]:
    """The entries that one should ask about before relying on them, and why."""
    facts = [each for each in facts_about(FactRequest(), run.session) if each.fact.origin == "entry"]
    doubts = doubts_of(facts, run.session, below=run.session.stores.context.doubt_below)
    return [
        {"text": each.fact.text, "why": doubts[each.fact.id], "digits": id_digits(each.fact.id)}
        for each in facts
        if doubts[each.fact.id]
    ]


def _events(period: Period, run: SkillRun) -> list[dict[str, Any]]:
    """The events of the week after this one, as the calendars have them; cancelled and declined ones are left out."""
    next_week = Period(period.last + timedelta(days=1), period.last + timedelta(days=7), run.zone)
    events = run.session.stores.history.events(next_week.start, next_week.end)
    return [
        {
            "title": each.title,
            "day": f"{each.start.astimezone(run.zone):%a %Y-%m-%d}",
            "time": "" if each.all_day else f"{each.start.astimezone(run.zone):%H:%M}",
            "location": each.location,
        }
        for each in events
        if each.takes_place
    ]


def _week(day: date, run: SkillRun) -> Period:
    monday = day - timedelta(days=day.weekday())
    return Period(monday, monday + timedelta(days=6), run.zone)


def _name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


SKILL = Skill(
    name=NAME,
    about="Writes a review of each week: sessions, decisions, changed facts, what waits and what may be outdated",
    schedule="0 7 * * MON",
    tasks=tasks,
    on_demand=on_demand,
)
