"""The tools on the state of a project."""

import pytest

from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, text_of


@pytest.mark.requirement("A-04")
def test_an_agent_saves_where_the_work_stands_and_the_next_one_reads_it(ada: Memory) -> None:
    """A plan with its version, a feature and a line of progress, each by one call."""
    host = Host(ada)
    host.call("project_save", project="atlas", plan="# Atlas 2\n\n- [ ] export\n")
    host.call("project_save", project="atlas", feature="Export", status="doing")
    host.call("project_save", project="atlas", progress="the export writes CSV", phase="work", ends_phase=True)

    text = text_of(Host(ada).call("project_state", project="atlas"))

    assert "# Atlas 2" in text
    assert "- doing: Export" in text
    assert "work (end): the export writes CSV" in text
    version = ada.projects.state("atlas").plan_version
    assert f"Plan, version {version}" in text
    assert "Replaced" in text_of(host.call("project_save", project="atlas", plan="# Atlas 3\n", expected=version))


def test_a_plan_that_was_not_read_is_not_replaced(ada: Memory) -> None:
    """The error says to read it first."""
    host = Host(ada)
    host.call("project_save", project="boat", plan="# One\n")

    error = host.error("project_save", project="boat", plan="# Two\n")

    assert error["reason"] == "conflict"
    assert "Read the plan first" in error["hint"]


def test_one_call_saves_one_thing(ada: Memory) -> None:
    """A plan and progress in one call would be two commits of which one may fail."""
    error = Host(ada).error("project_save", project="atlas", plan="# One\n", progress="begun")

    assert "one of plan, progress and feature" in error["message"]
    assert Host(ada).error("project_state")["reason"] == "usage"
