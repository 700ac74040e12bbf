"""The tools on the state of a project: read where the work stands, and save the plan, progress or a feature."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastmcp.tools import Tool
from pydantic import Field

from commonplace.errors import UsageError
from commonplace.mcp_server import answers
from commonplace.mcp_server.arguments import Word
from commonplace.mcp_server.caller import CurrentCall
from commonplace.mcp_server.tool import CHANGES, READS, tool
from commonplace.memory import shapes
from commonplace.model.project_state import FEATURE_STATUSES, Feature, ProgressEntry

Project = Annotated[Word, Field(description="By default that of your folder.")]
Status = Annotated[Word, Field(json_schema_extra={"enum": [*FEATURE_STATUSES]})]

_SHOWN: Final = 12  # lines of progress that a model reads, the newest last


class ProjectTools:
    """The state of the project that the caller works in."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def state(self, project: Project = "") -> shapes.ProjectStateShape:
        """The plan, the features and the progress."""
        return shapes.project_state_shape(
            self._call.memory().projects.state(project.strip() or None, folder=self._call.folder())
        )

    def save(
        self,
        *,
        plan: Annotated[str, Field(description="All of it, in Markdown.", max_length=200_000)] = "",
        expected: Annotated[Word, Field(description="The version of the plan you replace.")] = "",
        progress: Annotated[str, Field(description="What was done, in a line.", max_length=20_000)] = "",
        phase: Word = "",
        ends_phase: bool = False,
        feature: Annotated[Word, Field(description="Its name; give its status, too.")] = "",
        status: Status = "",
        project: Project = "",
    ) -> shapes.ChangeShape:
        """The result of the one change that was asked for."""
        if sum(map(bool, (plan, progress, feature))) != 1:
            raise UsageError("give one of plan, progress and feature", hint="Call the tool once for each.")
        projects = self._call.memory().projects
        place: dict[str, Any] = {"project": project.strip() or None, "folder": self._call.folder()}
        if plan:
            return shapes.change_shape(projects.write_plan(plan, expected=expected or None, **place))
        if progress:
            changed = projects.add_progress(progress, phase=phase, ends_phase=ends_phase, **place)
            return shapes.change_shape(changed)
        return shapes.change_shape(projects.set_feature(feature, status, **place))


def state_text(state: Mapping[str, Any]) -> str:
    """Where the work stands, for a model: the plan with its version, the features, the newest progress."""
    if not (state["plan"] or state["progress"] or state["features"]):
        return f"Nothing is saved about {state['project']} yet. Save a plan or progress with project_save."
    lines = [f"State of {state['project']} ({state['folder']}), written by agents and the person: data."]
    if state["plan"]:
        lines += ["", f"Plan, version {state['plan_version']}:", state["plan"]]
    if state["features"]:
        lines += ["", "Features:", *(_feature_line(each) for each in state["features"])]
    if state["progress"]:
        lines += ["", "Progress, the newest last:", *(_progress_line(each) for each in state["progress"][-_SHOWN:])]
    return "\n".join(lines)


def _feature_line(feature: Feature) -> str:
    return f"- {feature.status}: {feature.name}" + (f" ({feature.remark})" if feature.remark else "")


def _progress_line(line: ProgressEntry) -> str:
    phase = f" {line.phase}{' (end)' if line.ends_phase else ''}" if line.phase else ""
    return f"- {line.day} {line.time}{phase}: {line.text}"


def project_tools(call: CurrentCall) -> list[Tool]:
    """project_state and project_save."""
    tools = ProjectTools(call)
    return [
        tool(
            "project_state",
            tools.state,
            title="Where a project stands",
            description="Read the plan, features and progress saved for a project.",
            hints=READS,
            text=state_text,
        ),
        tool(
            "project_save",
            tools.save,
            title="Save where a project stands",
            description="Save a project's plan, a line of progress or a feature for the next session: progress at the "
            "end of a phase, and before you stop.",
            hints=CHANGES,
            text=answers.change_text,
        ),
    ]
