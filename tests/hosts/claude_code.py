"""Claude Code, run for real against a scripted model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.hosts.endpoint import ScriptedModel
from tests.hosts.programs import PLUGIN, Ran, run


def run_claude(
    *words: str, model: ScriptedModel, environ: Mapping[str, str], project: Path, plugins: Sequence[Path] = (PLUGIN,)
) -> Ran:
    """What came of `claude -p WORDS` in that project, with these plugins."""
    offline = {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    loaded = [word for plugin in plugins for word in ("--plugin-dir", str(plugin))]
    return run("claude", "-p", *words, *loaded, environ={**environ, **offline}, folder=project)
