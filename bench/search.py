"""How long a search takes in a warm process, at 10k, 100k and 1M chunks, with the encoding of the question.

The index is made by the product from real chunks of the vaults, repeated with noise (bench/corpus.py), and kept in the
cache folder. Each size is measured in a process of its own: 200 real questions through `memory.search`, by words, by
sense and by both, with filters that keep a tenth and a hundredth; the times of the stages; the memory that is resident.
Beside it, on the same chunks, vectors and questions: sqlite-vec with FTS5, and chromadb (bench/baselines.py).

Run it as `python bench/search.py`; `--chunks 10000 100000` for the smaller sizes alone, `--save` to keep the figures.
"""

import argparse
import cProfile
import hashlib
import json
import multiprocessing
import pstats
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import corpus, figures
from bench.figures import percentile, say

from commonplace.app import open_memory, put_under_git
from commonplace.app.encoders import make_encoder, make_encoders
from commonplace.app.stores import open_index
from commonplace.app.vaults import data_folder
from commonplace.facts.claims import rules_of
from commonplace.flows.stores import IndexParts
from commonplace.index.segments.segment import WORD_ENTRY
from commonplace.index.sqlite.schema import MIGRATIONS
from commonplace.memory import Memory
from commonplace.settings.load import load_settings

TARGETS: Final = {10_000: (6, 15), 100_000: (10, 25), 1_000_000: (60, 120)}
TARGET_MB: Final = 400
TARGET_RATIO: Final = 5
BASELINES: Final = ("sqlite-vec", "chromadb")
LARGEST_BASELINE: Final = 100_000
WAYS: Final[dict[str, dict[str, Any]]] = {
    "words": {"mode": "words"},
    "sense": {"mode": "sense"},
    "hybrid": {},
    "hybrid, folder of 10 %": {"path": "tenth"},
    "hybrid, tag of 10 %": {"tags": ["tenth"]},
    "hybrid, tag of 1 %": {"tags": ["hundredth"]},
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a made index is kept: an empty vault, and the data folder with its index."""

    folder: Path
    model: Path

    def settings(self) -> dict[str, object]:
        """The settings with which it is opened."""
        return {"data": str(self.folder / "data"), **figures.with_model(self.model)}

    @property
    def vault(self) -> Path:
        """The vault, which has no notes."""
        return self.folder / "vault"


def built(real: corpus.Real, chunks: int, *, cache: Path, model: Path) -> tuple[Place, dict[str, Any]]:
    """The index of so many chunks, made unless it is in the cache; how long that took."""
    made = (MIGRATIONS, WORD_ENTRY.descr, real.version, corpus.NOISE, corpus.SENTENCES)
    form = hashlib.sha256(repr(made).encode()).hexdigest()[:8]
    place = Place(cache / f"index-{chunks}-{form}", model)
    noted = place.folder / "built.json"
    if noted.is_file():
        kept: dict[str, Any] = json.loads(noted.read_text())
        return place, kept
    shutil.rmtree(place.folder, ignore_errors=True)
    place.vault.mkdir(parents=True)
    put_under_git(place.vault)
    told = _build(real, chunks, place)
    noted.write_text(json.dumps(told))
    return place, told


def index_of(place: Place) -> IndexParts:
    """The index of that place and its vector cache, to put chunks into."""
    settings = load_settings(flags={"vault.root": str(place.vault), **place.settings()}).settings
    rules = rules_of(settings.facts, settings.user)
    return open_index(settings, data_folder(settings, place.vault), rules=rules, encoders=make_encoders)


def _build(real: corpus.Real, chunks: int, place: Place) -> dict[str, Any]:
    index = index_of(place).index
    putting, start = 0.0, time.perf_counter()
    for number, (document, vectors) in enumerate(corpus.documents(real, chunks)):
        begun = time.perf_counter()
        index.put(document, vectors, now=1.0)
        putting += time.perf_counter() - begun
        if number % 20_000 == 0:
            say(f"{chunks} chunks: {number * corpus.A_DOCUMENT} put, {time.perf_counter() - start:.0f} s")
    begun = time.perf_counter()
    index.optimize()
    settling = time.perf_counter() - begun
    index.record_sync("2026-01-01T00:00:00Z")
    index.close()
    size = sum(file.stat().st_size for file in (place.folder / "data").rglob("*") if file.is_file())
    return {"put_s": round(putting, 1), "settle_s": round(settling, 1), "disk_mb": round(size / 1e6)}


def measure(chunks: int, place: Place, questions: Sequence[str], *, profile: bool) -> dict[str, Any]:
    """All figures of one size; runs in a process of its own."""
    with open_memory(place.vault, settings=place.settings()) as memory:
        begun = time.perf_counter()
        memory.search(questions[0])
        first = (time.perf_counter() - begun) * 1000
        ways = {way: _ask(memory, questions, wanted) for way, wanted in WAYS.items()}
        if profile:
            _profile(memory, questions)
        return {"chunks": chunks, "first_search_ms": round(first, 1), "ways": ways, "memory_mb": resident()}


def _ask(memory: Memory, questions: Sequence[str], wanted: dict[str, Any]) -> dict[str, Any]:
    begun = time.perf_counter()
    memory.search(questions[0], **wanted)
    first = (time.perf_counter() - begun) * 1000
    unseen = []
    for question in questions:  # what lies on the disk, and what is known of a chunk, is in memory afterwards
        begun = time.perf_counter()
        memory.search(question, **wanted)
        unseen.append((time.perf_counter() - begun) * 1000)
    times, without, stages = [], [], dict[str, list[float]]()
    for question in questions:
        begun = time.perf_counter()
        answer = memory.search(question, **wanted)
        times.append((time.perf_counter() - begun) * 1000)
        without.append(times[-1] - answer.times.get("encode", 0.0))
        for stage, took in answer.times.items():
            stages.setdefault(stage, []).append(took)
        if answer.degraded:
            sys.exit(f"the search had to do without: {answer.degraded}")
    return {
        "p50": round(percentile(times, 0.5), 2),
        "p95": round(percentile(times, 0.95), 2),
        "first_ms": round(first, 1),
        "p50_unseen": round(percentile(unseen, 0.5), 2),
        "p95_unseen": round(percentile(unseen, 0.95), 2),
        "p50_without_encoding": round(percentile(without, 0.5), 2),
        "p95_without_encoding": round(percentile(without, 0.95), 2),
        "stages_p50": {stage: round(statistics.median(took), 2) for stage, took in stages.items()},
    }


def _profile(memory: Memory, questions: Sequence[str]) -> None:
    profile = cProfile.Profile()
    profile.enable()
    for question in questions:
        memory.search(question)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def resident() -> dict[str, int]:
    """Megabytes of this process in memory: all, and the part that is mapped files, which the system may drop."""
    status = Path("/proc/self/status").read_text()
    found = {name: re.findall(rf"{name}:\s+(\d+)", status) for name in ("VmRSS", "RssFile", "RssAnon")}
    return {name: round(int(value[0]) / 1024) for name, value in found.items() if value}


def beside(real: corpus.Real, chunks: int, questions: Sequence[str], asked: corpus.Floats) -> dict[str, Any]:
    """The figures of the peers, each by its name; one that is not to be had is left out with a line that says so."""
    found: dict[str, Any] = {}
    python = _bench_python()
    if python is None:
        return found
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        folder = Path(name)
        _write_inputs(folder, real, chunks, questions, asked)
        for peer in BASELINES:
            say(f"{peer} at {chunks} chunks")
            command = [str(python), str(figures.HERE / "baselines.py"), str(folder), peer]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{peer} left out: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
            else:
                found[peer] = json.loads(done.stdout)
    return found


def _bench_python() -> Path | None:
    """The python of the peers' own environment, made when it is not there; None when it cannot be."""
    python = figures.ROOT / ".bench-venv/bin/python"
    wanted = figures.HERE / "requirements-baselines.txt"
    if not (python.parent.parent / "installed").is_file():
        say("installing the baselines into .bench-venv")
        made = [
            subprocess.run(command, capture_output=True, text=True, check=False)
            for command in (
                [sys.executable, "-m", "venv", str(python.parent.parent)],
                [str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)],
            )
        ]
        if made[-1].returncode:
            print(f"no baselines, they cannot be installed: {made[-1].stderr.strip().splitlines()[-1]}")
            return None
        (python.parent.parent / "installed").touch()
    return python


def _write_inputs(folder: Path, real: corpus.Real, chunks: int, questions: Sequence[str], asked: corpus.Floats) -> None:
    texts: list[str] = []
    vectors = np.empty((chunks, real.vectors.shape[1]), np.float32)
    for document, rows in corpus.documents(real, chunks):
        for chunk, row in zip(document.chunks, rows, strict=True):
            vectors[len(texts)] = row[0] / np.float32(32767)
            texts.append(chunk.text)
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "questions.json").write_text(json.dumps(list(questions)))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "asked.npy", asked)


def show(figure: dict[str, Any]) -> None:
    """Print one size, with what misses its target."""
    chunks, memory = figure["chunks"], figure["memory_mb"]
    p50, p95 = TARGETS.get(chunks, (None, None))
    print(f"\n{chunks} chunks (target {p50}/{p95} ms)          p50      p95   without encoding   first   stages p50")
    for way, told in figure["ways"].items():
        missed = "" if p50 is None or (told["p50"] <= p50 and told["p95"] <= p95) else "  MISSED"
        stages = ", ".join(f"{stage} {took}" for stage, took in told["stages_p50"].items())
        print(
            f"  {way:24}{told['p50']:>16.1f} {told['p95']:>8.1f} {told['p50_without_encoding']:>18.1f}"
            f" {told['first_ms']:>7.1f}   {stages}{missed}"
        )
    over = "  MISSED" if chunks == LARGEST_BASELINE and memory["VmRSS"] > TARGET_MB else ""
    print(f"  resident {memory['VmRSS']} MB, of which mapped files {memory['RssFile']} MB{over}")
    print(f"  built: {figure['build']}; first search of the process {figure['first_search_ms']} ms")
    for peer, told in figure["beside"].items():
        _show_peer(peer, told, figure["ways"])


def _show_peer(peer: str, told: dict[str, Any], ways: dict[str, Any]) -> None:
    """The ratios are of searches without the encoding of the question, which costs both the same."""
    ours = ways["hybrid" if peer == "sqlite-vec" else "sense"]["p50_without_encoding"]
    narrow = ways["hybrid, folder of 10 %"]["p50_without_encoding"]
    print(
        f"  {peer:10} p50/p95 {told['all']['p50']}/{told['all']['p95']} ms = {told['all']['p50'] / ours:.1f}x ours; "
        f"with a filter of 10 % {told['filter 10 %']['p50']}/{told['filter 10 %']['p95']} ms = "
        f"{told['filter 10 %']['p50'] / narrow:.1f}x ours; build {told['build_s']} s, {told['rss_mb']} MB"
        + (f", recall@10 {told['recall_at_10']}" if "recall_at_10" in told else "")
    )


def main() -> None:
    """Measures each size and prints one table for each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/ and longmemeval_s/")
    options.add_argument("--chunks", type=int, nargs="+", default=list(TARGETS), help="sizes of the index")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where made indexes are kept")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--alone", action="store_true", help="without the peers beside it")
    options.add_argument("--profile", action="store_true", help="print where the time of a hybrid search goes")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/search-<commit>.json")
    chosen = options.parse_args()
    if not figures.archives(chosen.data):
        return
    with figures.own_home():
        kept = [_measured(chosen, chunks) for chunks in chosen.chunks]
    if chosen.save:
        print(f"saved in {figures.save('search', {'questions': corpus.QUESTIONS, 'sizes': kept})}")


def _measured(chosen: argparse.Namespace, chunks: int) -> dict[str, Any]:
    encoder = make_encoder(load_settings(flags=figures.with_model(chosen.model)).settings.embedding)
    if encoder is None:
        sys.exit("the settings name no encoder")
    real = corpus.real_chunks(chosen.data, chosen.cache, encoder)
    questions = corpus.questions(chosen.data, real)
    place, build = built(real, chunks, cache=chosen.cache, model=chosen.model)
    say(f"asking {len(questions)} questions at {chunks} chunks")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        figure = pool.submit(measure, chunks, place, questions, profile=chosen.profile).result()
    wants_peers = chunks <= LARGEST_BASELINE and not chosen.alone
    peers = beside(real, chunks, questions, encoder.encode(questions)) if wants_peers else {}
    figure |= {"build": build, "beside": peers}
    show(figure)
    return figure


if __name__ == "__main__":
    main()
