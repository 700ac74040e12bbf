"""How long a prompt waits for its hook, the whole process, at 1k, 10k and 100k chunks, beside a bare `python -c pass`.

The vault and its index are those of `bench/context.py`, behind a real daemon with the real encoder. A host runs a
program for every prompt: here it is run 200 times through the installed script and as many times as a module, for a
prompt and for the start of a session, each time beside an interpreter that does nothing. The times are those from the
start of the process to its end, with its input written and its answer read. What it computes is told apart: that is
what it costs on a machine whose other programs do not hold it up.

Run it as `python bench/hooks.py`; `--chunks 1000 10000` for the smaller sizes alone, `--save` to keep the figures.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import corpus, figures
from bench.clients import stop_daemon
from bench.context import prompts_of
from bench.context_vault import built
from bench.figures import percentile, register, say
from bench.quality_tables import table
from bench.search import Place

from commonplace.app.encoders import make_encoder
from commonplace.client.http import call
from commonplace.client.start import ensure_running
from commonplace.settings.load import load_settings

SIZES: Final = (1_000, 10_000, 100_000)
TARGET_MS: Final = 100.0
BARE: Final = "python -c pass"
WARM_UP: Final = 10
LONGEST_SYNC_S: Final = 600.0


@dataclass(slots=True)
class Way:
    """A program that is run again and again: its words, and what came of it."""

    words: Sequence[str]
    event: str = ""
    wall: list[float] = field(default_factory=list)
    computed: list[float] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def run(self, prompt: str) -> None:
        """Run it once, as a host does. Ends the program when it ends with another code than 0."""
        given = {"session_id": f"{os.getpid()} {self.words}", "cwd": "/", "prompt": prompt, "source": "startup"}
        begun = time.perf_counter()
        with subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            if not (process.stdin and process.stdout and process.stderr):
                sys.exit("the program has no pipes")
            if self.event:
                process.stdin.write(json.dumps(given).encode())
            process.stdin.close()
            out, err = process.stdout.read(), process.stderr.read()
            _, code, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(code)
        self.wall.append((time.perf_counter() - begun) * 1000)
        self.computed.append((used.ru_utime + used.ru_stime) * 1000)
        self._take(out, err, process.returncode)

    def _take(self, out: bytes, err: bytes, code: int) -> None:
        if code:
            sys.exit(f"{' '.join(self.words)} ended with {code}: {err.decode()}")
        if err:
            self.skipped.append(err.decode().strip())
        if out:
            answer = json.loads(out).get("hookSpecificOutput", {})  # without it the line on the screen alone
            self.chars.append(len(answer.get("additionalContext", "")))

    def forget(self) -> None:
        """Begin anew: what came so far was to warm up."""
        for each in (self.wall, self.computed, self.chars, self.skipped):
            each.clear()


def ways(script: Path) -> dict[str, Way]:
    """What is run, by name."""
    module = [sys.executable, "-m", "commonplace"]
    hooks = {
        f"{event}, {how}": Way([*words, "hook", event, "--host", "claude-code"], event)
        for event in ("prompt", "session-start")
        for how, words in (("script", [str(script)]), ("module", module))
    }
    return {BARE: Way([sys.executable, "-c", "pass"]), **hooks}


def measure(place: Place, prompts: Sequence[str], *, script: Path, chunks: int) -> dict[str, Any]:
    """The figures of one size; the daemon is started and stopped here."""
    os.environ["COMMONPLACE_DATA"] = str(place.folder / "data")
    register(place.vault)
    ensure_running(timeout=60)
    try:
        wait_until_synced()
        tried = ways(script)
        for number, prompt in enumerate([*prompts[:WARM_UP], *prompts]):
            if number % 50 == 0:
                say(f"{chunks} chunks: {number} of {len(prompts)} runs")
            for way in tried.values():
                if number == WARM_UP:
                    way.forget()
                way.run(prompt)
    finally:
        stop_daemon()
    return {"chunks": chunks, "ways": {name: _figures(way, tried[BARE]) for name, way in tried.items()}}


def _figures(way: Way, bare: Way) -> dict[str, Any]:
    return {
        "runs": len(way.wall),
        "p50": round(percentile(way.wall, 0.5), 1),
        "p95": round(percentile(way.wall, 0.95), 1),
        "max": round(max(way.wall), 1),
        "computed_p50": round(percentile(way.computed, 0.5), 1),
        "times_bare": round(percentile(way.wall, 0.5) / percentile(bare.wall, 0.5), 2),
        "chars_p50": percentile(way.chars, 0.5) if way.chars else 0,
        "skipped": len(way.skipped),
        "last_skip": way.skipped[-1] if way.skipped else "",
    }


def wait_until_synced() -> None:
    """Wait until the daemon has read its one vault and can search by meaning; ends the program when it never does."""
    deadline = time.monotonic() + LONGEST_SYNC_S
    while time.monotonic() < deadline:
        (vault,) = json.loads(call("GET", "/daemon/status", timeout=60).body)["vaults"]
        if vault.get("heard") and vault.get("mode") == "hybrid":
            return
        time.sleep(0.2)
    sys.exit(f"the daemon does not get ready: {vault}")


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """The figures of every size, with what misses its target."""
    heads = ["chunks", "process", "p50 / p95 ms", "target, p95", "p50, times bare python", "computed ms", "skipped"]
    yield from table(heads, [row for size in told["sizes"] for row in _rows(size)])


def _rows(size: Mapping[str, Any]) -> Iterator[list[object]]:
    for name, each in size["ways"].items():
        judged = "" if name == BARE else f"{TARGET_MS:g} {'met' if each['p95'] <= TARGET_MS else 'MISSED'}"
        skipped = f"{each['skipped']} of {each['runs']}"
        times = "" if name == BARE else each["times_bare"]
        yield [
            f"{size['chunks']:,}",
            name,
            f"{each['p50']} / {each['p95']}",
            judged,
            times,
            each["computed_p50"],
            skipped,
        ]


def checked_script(script: Path) -> Path:
    """The installed script, if it is one of this version, which does not load the command line for a hook."""
    if not script.is_file() or "commonplace.__main__" not in script.read_text():
        sys.exit(f"{script} is not the script of this version: run `make setup`, or name it with --script")
    return script


def main() -> None:
    """Measures each size and prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/ and longmemeval_s/")
    options.add_argument("--chunks", type=int, nargs="+", default=list(SIZES), help="sizes of the index")
    options.add_argument("--runs", type=int, default=corpus.QUESTIONS, help="how often each program is run")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where made indexes are kept")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument(
        "--script", type=Path, default=Path(sys.executable).parent / "commonplace", help="the installed program"
    )
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/hooks-<commit>.json")
    chosen = options.parse_args()
    script = checked_script(chosen.script)
    if not figures.archives(chosen.data):
        return
    flags = figures.with_model(chosen.model)
    encoder = make_encoder(load_settings(flags=flags).settings.embedding)
    if encoder is None:
        sys.exit("the settings name no encoder")
    os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(flags["embedding.model_folder"])
    real = corpus.real_chunks(chosen.data, chosen.cache, encoder)
    prompts = prompts_of(corpus.questions(chosen.data, real))[: chosen.runs]
    kept = []
    for chunks in chosen.chunks:
        place, _ = built(real, chunks, cache=chosen.cache, model=chosen.model)
        with figures.own_home():
            kept.append(measure(place, prompts, script=script, chunks=chunks))
    told = {"sizes": kept}
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {figures.save('hooks', told)}")


if __name__ == "__main__":
    main()
