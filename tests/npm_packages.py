"""Packages from npm that tests run: fetched once, beside the rest that is installed.

python -m tests.npm_packages       # fetch all of them now; `make test` does, while it checks types
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from filelock import FileLock

from tests import components

_HOSTS: Final = ("@anthropic-ai/claude-code", "@openai/codex")
_GEMINI: Final = "@google/gemini-cli"
_AXE: Final = "axe-core@4"
_CLIENTS: Final = Path(__file__).parent / "e2e" / "typescript"


def host_programs() -> Path:
    """The folder with `claude` and `codex` in it."""
    folder = Path(sys.prefix) / "npm-hosts"
    _install(folder, wanted=" ".join(_HOSTS), packages=_HOSTS)
    return folder / "node_modules" / ".bin"


def gemini_program() -> Path:
    """The file of `gemini`: 100 MB, in a folder of its own, because only its own tests need it."""
    folder = Path(sys.prefix) / "npm-gemini"
    _install(folder, wanted=_GEMINI, packages=(_GEMINI,))
    return folder / "node_modules" / ".bin" / "gemini"


def axe_script() -> str:
    """The script that checks whether a page is accessible."""
    folder = Path(sys.prefix) / "npm-axe"
    _install(folder, wanted=_AXE, packages=(_AXE,))
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def typescript_clients() -> Path:
    """The folder with the MCP clients for TypeScript, and the program that uses them."""
    folder = Path(sys.prefix) / "npm"
    folder.mkdir(exist_ok=True)
    for file in ("package.json", "talk.mjs"):
        shutil.copy(_CLIENTS / file, folder / file)
    _install(folder, wanted=(_CLIENTS / "package.json").read_text())
    return folder


def _install(folder: Path, *, wanted: str, packages: tuple[str, ...] = ()) -> None:
    """Put the packages there, if these very ones are not yet. Without npm the test is skipped, or fails under CI."""
    components.require("node")
    folder.mkdir(exist_ok=True)
    done = folder / "installed"
    with FileLock(folder / "lock"):
        if done.exists() and done.read_text() == wanted:
            return
        ran = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", *packages],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode == 0:
            done.write_text(wanted)
        elif os.environ.get("CI") == "true":
            pytest.fail(f"npm install failed: {ran.stderr}", pytrace=False)
        else:
            pytest.skip(f"the packages are missing, and npm cannot fetch them: {ran.stderr}")


if __name__ == "__main__":
    try:
        host_programs()
        gemini_program()
        axe_script()
        typescript_clients()
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        sys.stderr.write(f"{error}\n")  # the tests that need the packages will say so, too
