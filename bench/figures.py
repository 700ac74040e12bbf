"""What the benchmarks share: a home of their own, the vaults, percentiles, and figures kept by commit and machine."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

HERE = Path(__file__).parent
ROOT = HERE.parent
DATA = Path("../shared/data")
CACHE = Path("~/.cache/commonplace-bench").expanduser()
MODEL = ROOT / ".venv/models/minilm-l6-v2"
GARDEN = "jackyzha0-garden"


def with_model(model: Path) -> dict[str, object]:
    """The settings that name the real encoder. Ends the program when its weights are not there."""
    if not (model / "tokenizer.json").is_file():
        sys.exit(f"no weights in {model}: run `make setup`, or name their folder with --model")
    return {"embedding.model_folder": str(model)}


@contextmanager
def own_home(place: Path | None = None) -> Iterator[Path]:
    """A folder that goes away, with a home in it: nothing of the person's is read or written."""
    folder = Path(tempfile.mkdtemp(prefix="commonplace-bench-", dir=place))
    use_home(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def use_home(folder: Path) -> None:
    """Let this process, and all that it starts, have their home in that folder."""
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    os.environ["GIT_CONFIG_GLOBAL"] = os.environ["GIT_CONFIG_SYSTEM"] = os.devnull


def archives(data: Path) -> list[Path]:
    """The packed vaults of the data folder; says so when there are none."""
    found = sorted((data / "vaults").glob("*.tar.gz"))
    if not found:
        print(f"no vaults (*.tar.gz) in {data / 'vaults'}: what needs them is left out")
    return found


def unpack(archive: Path, folder: Path) -> Path:
    """The vault of that archive, unpacked into a new folder."""
    folder.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (vault,) = folder.iterdir()
    return vault


def garden(data: Path, folder: Path) -> Path | None:
    """The garden of 749 notes, unpacked; None when it is not in the data folder."""
    for archive in archives(data):
        if archive.name.startswith(GARDEN):
            return unpack(archive, folder)
    print(f"no {GARDEN}*.tar.gz in {data / 'vaults'}: what needs it is left out")
    return None


def register(vault: Path) -> None:
    """Make the folder a vault and register it, without a question."""
    from commonplace.app.registration import carry_out_init, plan_init

    carry_out_init(plan_init(vault, flags={}), then=lambda: None)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def say(what: str) -> None:
    """Show what goes on."""
    print(f"... {what}", file=sys.stderr, flush=True)


def save(name: str, figures: dict[str, Any]) -> Path:
    """Keep the figures under the commit that ran, with the machine and the day."""
    now = datetime.now(UTC)
    kept = {**CODE, "date": now.strftime("%Y-%m-%d"), "at": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": machine()}
    file = HERE / f"results/{name}-{CODE['commit']}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({**kept, **figures}, indent=2) + "\n")
    return file


def machine() -> dict[str, object]:
    """The machine on which it ran."""
    cpu = "unknown"
    if (described := Path("/proc/cpuinfo")).is_file():
        models = [line for line in described.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":")[1].strip() if models else cpu
    return {"cores": os.cpu_count(), "cpu": cpu, "python": platform.python_version(), "load": os.getloadavg()[0]}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


CODE: Final = {
    "commit": _git("rev-parse", "--short=12", "HEAD"),
    "dirty": bool(_git("status", "--porcelain", "--", "src", "bench", "pyproject.toml")),
}
"""The code that runs, as it stood when it was loaded: a run takes long, and others may commit meanwhile."""
