"""Claude Code, run for real against a scripted model."""

import atexit
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests import patience
from tests.hosts.endpoint import ScriptedModel
from tests.hosts.programs import PLUGIN, Ran, run, with_commonplace


@cache
def patient_plugin() -> Path:
    """The plugin, with hooks for which Claude Code waits a minute: other tests may keep the machine busy."""
    folder = Path(tempfile.mkdtemp(prefix="commonplace-plugin-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    plugin = shutil.copytree(PLUGIN, folder / PLUGIN.name)
    hooks = plugin / "hooks" / "hooks.json"
    hooks.write_text(re.sub(r'"timeout": \d+', '"timeout": 60', hooks.read_text()))
    return plugin


def run_claude(
    *words: str,
    model: ScriptedModel,
    environ: Mapping[str, str],
    project: Path,
    plugins: Sequence[Path] | None = None,
) -> Ran:
    """What came of `claude -p WORDS` in that project, with these plugins, else with ours and all the time it needs."""
    if plugins is None:
        plugins, environ = [patient_plugin()], with_commonplace(environ, hooks=patience.UNHURRIED_HOOKS)
    offline = {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    loaded = [word for plugin in plugins for word in ("--plugin-dir", str(plugin))]
    return run("claude", "-p", *words, *loaded, environ={**environ, **offline}, folder=project)
