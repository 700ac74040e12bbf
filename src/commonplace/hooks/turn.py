"""One event of a session, from what the host says to what it is answered."""

import json
import os
from collections.abc import Mapping

from commonplace.client.paths import Unreachable, registry_path
from commonplace.client.vault_asked import vault_header
from commonplace.hooks.asking import NotRunning, Reply, ask
from commonplace.hooks.deadline import Deadline
from commonplace.hooks.given import Given, NotUnderstood, host_of, passed_on, read_given
from commonplace.hooks.line import AUTO, Line

_CALLED = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
_TOKENS = {"codex": 2400}  # what a host takes of injected text; of others the characters count
_FOR_THE_WAY_BACK = 0.06  # seconds of what is left that the daemon may not use up


class Skipped(Exception):
    """Nothing is done this time; the text says why, and is empty where there is nothing to say."""


def take_turn(line: Line, deadline: Deadline) -> str:
    """What is written for the host: one JSON object, or nothing. The line learns its host by it. Raises Skipped."""
    if line.wrong:
        raise Skipped(line.wrong)
    try:
        given = {} if line.event == "ping" else read_given()
        if given.get("stop_hook_active") is True:  # a stop that a hook of somebody's brought about
            return ""
        if line.host == AUTO:
            line.host = host_of(given, os.environ)
        return _shown(line.event, _asked(line, given, deadline))
    except NotUnderstood as error:
        raise Skipped(str(error)) from error
    except NotRunning as error:
        raise Skipped(_beginning()) from error
    except Unreachable as error:
        raise Skipped(str(error)) from error


def _asked(line: Line, given: Given, deadline: Deadline) -> Mapping[str, object]:
    within = round(max(0.0, deadline.left - _FOR_THE_WAY_BACK), 3)
    body = {**passed_on(given), "phase": line.phase, "tokens": _TOKENS.get(line.host, 0), "within": within}
    vault = vault_header(line.vault)
    reply = ask(f"/hooks/v1/{line.event}", body, headers={"Commonplace-Client": line.host, **vault}, deadline=deadline)
    if reply.status not in (200, 202):
        raise Skipped(_refusal(reply))
    return reply.said


def _shown(event: str, said: Mapping[str, object]) -> str:
    """The answer in the words that all hosts understand; they refuse others."""
    if not (text := said.get("context")) or event not in _CALLED:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": _CALLED[event], "additionalContext": text}})


def _refusal(reply: Reply) -> str:
    error = reply.said.get("error")
    said = error.get("message") if isinstance(error, dict) else None
    return str(said or f"the daemon answered with HTTP status {reply.status}")


def _beginning() -> str:
    """Starts a daemon for the next time, and says so; where there is no vault for it, nothing is done or said."""
    try:
        if not os.path.exists(registry_path()):
            return ""
        from commonplace.client.launching import begin

        return "the daemon did not run, and was started" if begin() else "the daemon is starting"
    except Unreachable as error:
        return str(error)
