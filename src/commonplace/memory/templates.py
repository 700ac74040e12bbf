"""The verbs on templates of notes: list, show, run."""

from datetime import date, datetime, tzinfo

from commonplace.errors import CommonplaceError, NotFound, Refused
from commonplace.flows.stores import Session
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.model.template import TemplateStatus, TemplateText, WriteResult
from commonplace.questions.time_arguments import parse_time
from commonplace.templates.render import check
from commonplace.upkeep.options import SkillsOptions, UpkeepOptions, zone_of
from commonplace.upkeep.registry import SKILLS
from commonplace.upkeep.skill import Skill, run_skill


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

    def run(
        self, name: str, *, day: date | str | None = None, dry_run: bool = False, zone: tzinfo | None = None
    ) -> WriteResult:
        """Write the note of a skill for the day, by default today; what was written before is not written again.

        A note of a day that is not over is brought up to date. With `dry_run` the result has the note, and nothing is
        written. Raises NotFound, Refused for an agent and where policy forbids it, UsageError for a malformed template
        or day, and what else went wrong.
        """
        skill = self._find(name)
        if self._session.actor.kind == "agent":
            raise Refused("an agent may not run skills", hint="Ask the person: `commonplace template run NAME`.")
        zone = zone or zone_of(self._upkeep)
        chosen = _day(day, zone=zone, now=self._session.clock()) if isinstance(day, str) else day
        result = run_skill(skill, chosen, self._session, zone=zone, skills=self._skills, dry_run=dry_run)
        if isinstance(result.error, CommonplaceError):
            raise result.error
        return result

    def _status(self, template: TemplateText) -> TemplateStatus:
        skill = next((each for each in SKILLS if each.name == template.name), None)
        options = self._skills.of(template.name)
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
        )

    def _find(self, name: str) -> Skill:
        for skill in SKILLS:
            if skill.name == name:
                return skill
        raise NotFound(f"no skill is called {name!r}", hint=f"Skills: {', '.join(each.name for each in SKILLS)}.")


def _day(text: str, *, zone: tzinfo, now: datetime) -> date:
    start, _ = parse_time(text, now=now, zone=zone)
    return datetime.fromisoformat(start).astimezone(zone).date()
