"""What is known of each host: the host of a hook, the folders of a session, and values that fit together."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace.agent_hosts import AGENT_HOSTS, HOOK_EVENTS, TRANSCRIPT_HOSTS, host_of_hook, working_folders
from tests.transcript_lines import claude

EXAMPLES = Path(__file__).parents[1] / "transcript_examples"
CLAUDE = {"session_id": "s", "transcript_path": "/home/me/.claude/projects/-p/s.jsonl", "cwd": "/p"}
CODEX = {"session_id": "s", "transcript_path": "/home/me/.codex/sessions/2026/11/15/rollout-s.jsonl", "cwd": "/p"}


def test_every_host_has_its_own_name_and_one_with_transcripts_says_where_they_are() -> None:
    """A reader without a folder would never be used, and a folder without a reader would capture nothing."""
    names = [host.name for host in AGENT_HOSTS]

    assert len({*names}) == len(names)
    for host in AGENT_HOSTS:
        assert bool(host.read_line) == bool(host.transcript_folder and host.config_folder)
        assert {*host.hook_events.values()} <= {*HOOK_EVENTS.values()}


@pytest.mark.parametrize(
    ("given", "environ", "host"),
    [
        ({**CLAUDE, "source": "startup"}, {"CLAUDECODE": "1"}, "claude-code"),
        ({**CLAUDE, "prompt_id": "p", "prompt": "x"}, {}, "claude-code"),
        ({**CODEX, "model": "m", "source": "startup"}, {}, "codex"),
        ({**CODEX, "reason": "other"}, {"CLAUDECODE": "1"}, "codex"),
        ({"session_id": "s", "turn_id": "t", "transcript_path": None}, {"CLAUDECODE": "1"}, "codex"),
        ({"session_id": "s", "model": "m"}, {}, "codex"),
        ({"session_id": "s"}, {"PLUGIN_ROOT": "/x"}, "codex"),
        ({}, {}, "claude-code"),
    ],
)
def test_the_host_is_told_by_what_it_writes(given: Mapping[str, object], environ: Mapping[str, str], host: str) -> None:
    """A Codex that was started by Claude Code has its variables, so that they come last."""
    assert host_of_hook(given, environ) == host


def test_the_folders_of_a_session_are_known_from_its_lines() -> None:
    """Each once, in order; broken lines and what is no folder count for nothing."""
    lines = (
        claude("user", 'see {"cwd": "/not/this"}', id_="1", more={"cwd": "/a"}),
        json.dumps({"type": "turn_context", "payload": {"cwd": "/b"}}) + "\n",
        claude("user", "x", id_="2", more={"cwd": "/a"}),
        '{"cwd": 3}\n{"cwd": ""}\n{"cwd": "/half',
    )

    assert working_folders("".join(lines).encode()) == ("/a", "/b")
    for host in TRANSCRIPT_HOSTS:
        named = working_folders((EXAMPLES / host / "greenhouse.jsonl").read_bytes())
        assert named == (() if host == "gemini" else ("/home/ada/garden",))  # Gemini CLI names it in its hooks alone
