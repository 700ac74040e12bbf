"""Gemini CLI, run for real against a scripted model that speaks its API."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.hosts.endpoint import Call, Request, Say, ScriptedModel, Turn
from tests.hosts.programs import Ran, run
from tests.npm_packages import gemini_program

_PREFIX: Final = "mcp_commonplace_"


class ScriptedGemini(ScriptedModel):
    """Answers `POST .../MODEL:streamGenerateContent` as server-sent events."""

    def is_a_turn(self, request: Request) -> bool:
        """Whether this belongs to the conversation: its own questions come without a stream."""
        return request.path.endswith(":streamGenerateContent")

    def tools_in(self, request: Request) -> set[str]:
        """They bear the server's name in front."""
        declared = (each for tool in request.body.get("tools", ()) for each in tool.get("functionDeclarations", ()))
        return {each["name"].removeprefix(_PREFIX) for each in declared if each["name"].startswith(_PREFIX)}

    @property
    def pastime(self) -> Call:
        """A tool that changes nothing."""
        return Call("list_directory", {"dir_path": "."})

    def stream(self, turn: Turn, request: Request) -> Iterator[Mapping[str, Any]]:
        """One event with the whole answer: a text, or the call of a function."""
        content = {"role": "model", "parts": [_part(turn, self.tools_in(request))]}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 5, "totalTokenCount": 105}
        yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _part(turn: Turn, ours: set[str]) -> dict[str, Any]:
    if isinstance(turn, Say):
        return {"text": turn.text}
    prefix = _PREFIX if turn.tool in ours else ""
    return {"functionCall": {"name": f"{prefix}{turn.tool}", "args": dict(turn.arguments)}}


def settle_gemini(home: Path) -> Path:
    """The settings file of a person who uses a key, and who has nothing else in it."""
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    return file


def run_gemini(prompt: str, *, model: ScriptedModel, environ: Mapping[str, str], project: Path) -> Ran:
    """What came of `gemini -p PROMPT` in that project, which is trusted, with every tool allowed."""
    offline = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none", "GEMINI_TELEMETRY_ENABLED": "false"}
    options = ("--skip-trust", "--yolo", "--model", "gemini-2.5-flash", "--prompt", prompt)
    return run(gemini_program(), *options, environ={**environ, **offline}, folder=project)
