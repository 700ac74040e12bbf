"""The verbs on templates of notes: list, show, base, run."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta, tzinfo
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError
from commonplace.flows.ingest.sync import catch_up
from commonplace.flows.stores import Session
from commonplace.flows.templates.library import TemplateLibrary, memory_base
from commonplace.history.base import AuditEntry
from commonplace.model.moment import moment_text
from commonplace.model.template import TemplateNote, TemplateStatus, TemplateText, WriteResult
from commonplace.questions.time_arguments import day_named
from commonplace.templates.render import check
from commonplace.upkeep.options import SkillsOptions, UpkeepOptions, zone_of
from commonplace.upkeep.registry import SKILLS
from commonplace.upkeep.skill import Skill, run_skill

_COUNTED: Final = timedelta(days=30)
_LATEST: Final = 5


class Templates:
    """The templates of one vault, and the skills that write notes by them. A person runs them; an agent may look."""

    def __init__(
        self, session: Session, upkeep: UpkeepOptions | None = None, skills: SkillsOptions | None = None
    ) -> None:
        self._session, self._upkeep = session, upkeep or UpkeepOptions()
        self._skills = skills or SkillsOptions()

    def list(self) -> tuple[TemplateStatus, ...]:
        """Every template: packaged or the vault's own, its skill, and what is wrong with it. Raises UsageError."""
        library = TemplateLibrary(self._session.stores, self._skills.templates_dir)
        return tuple(self._status(library.template(name)) for name in library.names())

    def show(self, name: str) -> TemplateText:
        """The text of a template. Raises NotFound, and UsageError if the folder of the settings does not exist."""
        return TemplateLibrary(self._session.stores, self._skills.templates_dir).template(name)

    def base(self) -> str:
        """The text of a file for Obsidian's Bases, with a view of people, meetings, commitments and entries each."""
        return memory_base()

    def run(
        self,
        name: str,
        *,
        day: date | str | None = None,
        about: str = "",
        dry_run: bool = False,
        zone: tzinfo | None = None,
    ) -> WriteResult:
        """Write the note of a skill for the day, by default today; what was written before is not written again.

        `about` is the person whom a profile is about, or words of the title of a meeting. A note of a day that is not
        over is brought up to date. With `dry_run` the result has the note, and nothing is written. Raises NotFound,
        Refused for an agent and where policy forbids it, UsageError for a malformed template or day, and what else went
        wrong.
        """
        skill = self._find(name)
        if self._session.actor.kind == "agent":
            raise Refused("an agent may not run skills", hint="Ask the person: `commonplace template run NAME`.")
        if about and not skill.takes_about:
            raise UsageError(f"a note of {name} is about a time, and not about {about!r}", hint="Leave out `about`.")
        zone = zone or zone_of(self._upkeep)
        chosen = day_named(day, zone=zone, now=self._session.clock()) if isinstance(day, str) else day
        catch_up(self._session.stores)
        result = run_skill(skill, chosen, self._session, zone=zone, skills=self._skills, about=about, dry_run=dry_run)
        if isinstance(result.error, CommonplaceError):
            raise result.error
        return result

    def _status(self, template: TemplateText) -> TemplateStatus:
        skill = next((each for each in SKILLS if each.name == template.name), None)
        options = self._skills.of(template.name)
        since = self._session.clock() - _COUNTED
        changes = self._session.stores.history.entries(actor="job", since=since)
        rows = [row for row in changes if row.reason.startswith(f"autowrite: {template.name} ")]
        runs = self._session.stores.history.job_runs(name=template.name, since=since)
        outcomes = Counter(step.outcome for run in runs for step in run.steps)
        problem = ""
        try:
            check(template.text, name=template.path)
        except CommonplaceError as error:
            problem = error.message
        return TemplateStatus(
            name=template.name,
            origin=template.origin,
            path=template.path,
            about=skill.about if skill else "",
            schedule=(options.schedule if options else None) or (skill.schedule if skill else ""),
            is_enabled=bool(skill and options and options.enabled and self._upkeep.enabled),
            problem=problem,
            written=len(rows),
            skipped=outcomes["unchanged"],
            failed=outcomes["failed"],
            latest=_latest(rows),
        )

    def _find(self, name: str) -> Skill:
        for skill in SKILLS:
            if skill.name == name:
                return skill
        raise NotFound(f"no skill is called {name!r}", hint=f"Skills: {', '.join(each.name for each in SKILLS)}.")


def _latest(rows: Sequence[AuditEntry]) -> tuple[TemplateNote, ...]:
    """The last notes, newest first, each once."""
    newest: dict[str, TemplateNote] = {}
    for row in sorted(rows, key=lambda row: row.when, reverse=True):
        newest.setdefault(row.path, TemplateNote(row.path, moment_text(row.when), row.commit or ""))
    return tuple(newest.values())[:_LATEST]
