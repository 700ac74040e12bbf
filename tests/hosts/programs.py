"""The hosts' own programs, as npm has them, run for real."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import patience
from tests.npm_packages import host_programs
from tests.warm import warm_program

REPOSITORY: Final = Path(__file__).parents[2]
PLUGIN: Final = REPOSITORY / "plugins" / "commonplace"
_LONGEST: Final = 120.0  # seconds; a run takes about two, on a machine that does nothing else


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has ended."""

    code: int
    said: str
    errors: str


def installed(program: str) -> Path:
    """Where `claude` or `codex` is; fetched where it is not there yet."""
    return host_programs() / program


def run(program: str | Path, *words: str, environ: Mapping[str, str], folder: Path) -> Ran:
    """What came of `PROGRAM WORDS` in that folder, with nothing on its standard input; a name is one of `installed`."""
    ran = subprocess.run(
        [installed(program) if isinstance(program, str) else program, *words],
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_LONGEST,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def with_commonplace(environ: Mapping[str, str], *, hooks: str = patience.HOOKS) -> dict[str, str]:
    """The same surroundings with a `commonplace` to call in them: the one of this checkout, with patient hooks."""
    folder = Path(warm_program(hooks)).parent
    return {**without_commonplace(environ), "PATH": f"{folder}{os.pathsep}{without_commonplace(environ)['PATH']}"}


def without_commonplace(environ: Mapping[str, str]) -> dict[str, str]:
    """The same surroundings with no `commonplace` to be found in them, and no other host around."""
    folders = environ["PATH"].split(os.pathsep)
    path = [folder for folder in folders if not shutil.which("commonplace", path=folder)]
    hosts = ("CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "PLUGIN_", "GEMINI_", "GOOGLE_")
    kept = {name: value for name, value in environ.items() if not name.startswith(hosts)}
    return {**kept, "PATH": os.pathsep.join(path)}
