"""A person with a home and hosts that have been used before: their files, and what Commonplace makes of them."""

import json
import os
import shutil
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from commonplace.client.paths import Unreachable, daemon_files
from commonplace.daemon.tokens import Tokens
from commonplace.hosts.health_checks import HookStatus, check_hosts
from commonplace.hosts.host import current_environment
from commonplace.model import Finding
from tests.daemons import command, surroundings

CLAUDE = '{\n  "numStartups": 7,\n  "mcpServers": {"github": {"command": "gh-mcp"}}\n}'
VSCODE = '{\n  "inputs": [], // theirs\n  "servers": {"github": {"command": "gh-mcp"}},\n}'
CODEX = '\ufeffmodel = "gpt-5" # mine\r\n\r\n[projects."/x"]\r\ntrust_level = "trusted"'
SETTINGS = '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"command": "say done"}]}\n\t\t]\n\t}\n}\n'
FILES = {
    ".claude.json": CLAUDE,
    ".claude/settings.json": SETTINGS,
    ".codex/config.toml": CODEX,
    "config/Code/User/mcp.json": VSCODE,
}
EVENTS = ("session_start", "user_prompt_submit", "stop", "pre_compact", "session_end")


class Person:
    """A person with a home, a project, and hosts that have been used before."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project, self.environ = home, project, surroundings(home)
        for path, text in FILES.items():
            self.write(path, text)

    def without_system(self) -> None:
        """Let no program be found but git: not the one that starts daemons on the machine of who runs this test."""
        (self.home / "bin").mkdir()
        (self.home / "bin" / "git").symlink_to(str(shutil.which("git")))
        self.environ["PATH"] = str(self.home / "bin")

    def write(self, path: str, text: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def run(self, *words: str) -> CompletedProcess[str]:
        with chdir(self.project):
            return command(self.environ, *words)

    def answer(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def files(self) -> dict[str, bytes]:
        """Everything in the home and the project but what Commonplace keeps for itself, and the copies."""
        own = (self.home / "state", self.home / "config" / "commonplace", self.home / "data")
        return {
            str(path): path.read_bytes() if path.is_file() else b""
            for root in (self.home, self.project)
            for path in sorted(root.rglob("*"))
            if not any(path.is_relative_to(each) for each in own) and not path.name.endswith(".before-commonplace")
        }

    def trust_codex_hooks(self) -> None:
        """Let Codex's settings say what it writes there when the person trusts the five hooks."""
        hooks = self.home / ".codex" / "hooks.json"
        states = [f'[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:0"\n' for event in EVENTS]
        with (self.home / ".codex" / "config.toml").open("a", newline="") as file:
            file.write("\n" + "\n".join(states))

    def tokens(self) -> Tokens:
        with patch.dict(os.environ, self.environ, clear=True):
            return Tokens(daemon_files().tokens)

    def check(self, heard: HookStatus | None) -> tuple[Finding, ...]:
        def probe(host: str) -> HookStatus:
            if heard is None:
                raise Unreachable("the daemon is not running")
            return heard

        with patch.dict(os.environ, self.environ, clear=True), chdir(self.project):
            return check_hosts(current_environment(port=int(self.environ["COMMONPLACE_SERVE__PORT"])), probe=probe)
