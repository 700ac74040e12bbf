"""The state of a project as its agents keep it between sessions: the plan, the progress so far, and its features."""

from dataclasses import dataclass
from typing import Literal, get_args

FeatureStatus = Literal["todo", "doing", "blocked", "done", "dropped"]
FEATURE_STATUSES: tuple[FeatureStatus, ...] = get_args(FeatureStatus)


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature of a project: its name, how far it is, and a remark; empty if there is none."""

    name: str
    status: FeatureStatus
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ProgressEntry:
    """One line of progress: the day and the time in UTC, the phase of work, and what was done.

    `ends_phase` says that the phase ended with it; a line without it was saved in between.
    """

    day: str
    time: str
    text: str
    phase: str = ""
    ends_phase: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectState:
    """Where the work of a project stands.

    `folder` has the three notes. `plan` is the text of the plan's note without its frontmatter, and `plan_version` what
    a new plan must name; both are empty if there is no plan. `progress` has the oldest line first. `hidden` are notes
    that their owner hides from programs.
    """

    project: str
    folder: str
    plan: str = ""
    plan_version: str = ""
    progress: tuple[ProgressEntry, ...] = ()
    features: tuple[Feature, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing was written yet."""
        return not (self.plan or self.progress or self.features)
