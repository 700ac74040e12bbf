"""The verbs on the state of a project: state, write_plan, add_progress, set_feature."""

from commonplace.errors import UsageError
from commonplace.flows.project import choose_project
from commonplace.flows.project_state import add_progress, read_project_state, set_feature, write_plan
from commonplace.flows.stores import Session
from commonplace.model import Changed
from commonplace.model.project_state import FEATURE_STATUSES, Feature, ProjectState
from commonplace.notes.harness_notes import state_lines


class Projects:
    """Where the work of each project stands, as agents keep it between sessions, for one actor.

    Every verb takes the name of a `project`, or without one the `folder` of its repository. Raises UsageError if
    neither names a project.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def state(self, project: str | None = None, *, folder: str = "") -> ProjectState:
        """The plan, the progress and the features of a project; empty if nothing was written yet."""
        return read_project_state(self._name(project, folder), self._session)

    def lines(self, state: ProjectState) -> tuple[str, ...]:
        """Where the work stands, in at most three lines, as a session of that project is told at its start."""
        return state_lines(state)

    def write_plan(
        self,
        text: str,
        *,
        project: str | None = None,
        folder: str = "",
        expected: str | None = None,
        dry_run: bool = False,
    ) -> Changed:
        """Write the plan of a project. To replace one, `expected` must be its version, as `state` gives it.

        Raises Conflict for another version, Refused, and UsageError for an empty plan.
        """
        return write_plan(self._name(project, folder), text, self._session, expected=expected, dry_run=dry_run)

    def add_progress(
        self,
        text: str,
        *,
        project: str | None = None,
        folder: str = "",
        phase: str = "",
        ends_phase: bool = False,
        dry_run: bool = False,
    ) -> Changed:
        """Add one line of progress: at the end of a phase of work, or whenever there is something to save.

        The same line twice in a row is kept once. Raises Refused, and UsageError for an empty or a long line.
        """
        name = self._name(project, folder)
        return add_progress(name, text, self._session, phase=phase, ends_phase=ends_phase, dry_run=dry_run)

    def set_feature(
        self,
        name: str,
        status: str,
        *,
        remark: str = "",
        project: str | None = None,
        folder: str = "",
        dry_run: bool = False,
    ) -> Changed:
        """Add a feature, or set its status: `todo`, `doing`, `blocked`, `done` or `dropped`.

        Without a `remark` it keeps the one it has. Raises Refused, and UsageError for another status.
        """
        known = next((each for each in FEATURE_STATUSES if each == status.strip().casefold()), None)
        if known is None:
            raise UsageError(f"{status!r} is not a status", hint=f"Give one of: {', '.join(FEATURE_STATUSES)}.")
        feature = Feature(name, known, remark)
        return set_feature(self._name(project, folder), feature, self._session, dry_run=dry_run)

    def _name(self, project: str | None, folder: str) -> str:
        named = choose_project(project or None, folder, vault=self._session.stores.vault_folder)
        if named is None:
            hint = "Name one (`--project`), or work in the folder of its git repository."
            raise UsageError("no project is named", hint=hint)
        return named.name
