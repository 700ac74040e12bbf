"""Codex, run for real against a scripted model."""

from collections.abc import Mapping
from pathlib import Path

from tests.hosts.endpoint import ScriptedModel
from tests.hosts.programs import REPOSITORY, Ran, run

_SETTINGS = """\
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""
# What Codex writes when a person lets it save without asking; it asks by itself, because a save can end an entry.
_MAY_SAVE = """
[plugins."commonplace@commonplace".mcp_servers.commonplace.tools.memory_save]
approval_mode = "approve"
"""


def settle(home: Path, model: ScriptedModel) -> Path:
    """The settings file of a person who uses that model, and who has no plugin."""
    file = home / ".codex" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(_SETTINGS.format(url=model.url))
    return file


def add_plugin(environ: Mapping[str, str], home: Path) -> None:
    """Install the plugin from this repository, as a person does, who then lets it save."""
    for words in (("marketplace", "add", str(REPOSITORY)), ("add", "commonplace@commonplace")):
        ran = run("codex", "plugin", *words, environ=environ, folder=home)
        assert ran.code == 0, ran.said + ran.errors
    with (home / ".codex" / "config.toml").open("a") as settings:
        settings.write(_MAY_SAVE)


def run_codex(*words: str, environ: Mapping[str, str], project: Path, trusts_all: bool = True) -> Ran:
    """What came of `codex exec WORDS` in that project; a person trusts hooks by hand, which `trusts_all` leaves out."""
    options = ["--skip-git-repo-check", "--strict-config"] + ["--dangerously-bypass-hook-trust"] * trusts_all
    return run("codex", "exec", *options, *words, environ=environ, folder=project)
