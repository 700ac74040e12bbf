"""What a working day puts before the model: a session's start and twelve prompts, through the daemon and its hooks.

The vault is the garden of 748 notes with the day's memories, saved by an agent, behind a real daemon with the real
encoder. Every prompt runs the program that a host runs. Counted are the characters that the host would inject, fence
and all; those of them that are the words of entries which the day's labels call needed or allowed, each entry once a
session; the needed entries that had come by the time of their prompt; and how long the processes took.

Run it as `python bench/sessions.py`; `--data` names a folder with `days.jsonl`, otherwise it is a day of our own;
`--verbose` lists each prompt, `--save` keeps the figures.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.clients import stop_daemon
from bench.figures import percentile, register, say
from bench.hooks import checked_script, wait_until_synced
from bench.memory_sets import LabelledPrompt, Person, garden_of, sets_folder
from bench.memory_vault import Needles, Opener, fold, new_vault, save_entries
from bench.quality_tables import table
from bench.sessions_days import read_days

from commonplace.client.start import ensure_running

ABOUT: Final = """## A working day through the hooks

The vault is a garden of 748 real notes with the fifteen memories of a person, saved by an agent.
One session begins and sends twelve prompts, each through the process that a host runs, to a real daemon.
Right are the characters of entries that the labels of the prompt call needed or allowed, each entry once in a session
(at its start: those of any prompt of the day), out of everything that is injected, marks and sources included.

**What this does not show**

- A day of our own, where the data folder has none, was written by those who wrote the program.
- Nothing of the session itself is recorded meanwhile, so that no conversation is recalled.
"""
HOST: Final = "claude-code"
TARGET_CHARS: Final = 5_000
TARGET_RIGHT: Final = 0.5
TARGET_MS: Final = 100.0
BEFORE: Final = {"chars": "34,083", "right": "3 %"}  # of issue 15, on a day that is not kept
WARM_UP: Final = 3


@dataclass(frozen=True, slots=True)
class HookRun:
    """One hook: what it put before the model, and why it gave up, if so.

    `ms` is what the process took, `computed_ms` what it computed itself: other programs do not hold that up.
    """

    text: str
    ms: float
    computed_ms: float
    skipped: str


@dataclass(frozen=True, slots=True)
class PromptCount:
    """What one hook of a session brought, in characters and in ids; `prompt` is empty for the start."""

    prompt: str
    chars: int
    right_chars: int
    came: tuple[str, ...]
    needed: tuple[str, ...]
    missed: tuple[str, ...]
    ms: float
    computed_ms: float
    skipped: str


def run_hook(script: Path, event: str, *, session: str, cwd: Path, prompt: str = "") -> HookRun:
    """Run the hook as the host does. Ends the program when it ends with another code than 0."""
    given = {"session_id": session, "cwd": str(cwd), "prompt": prompt, "source": "startup"}
    words = [str(script), "hook", event, "--host", HOST]
    computed, begun = _computed_ms(), time.perf_counter()
    done = subprocess.run(words, input=json.dumps(given).encode(), capture_output=True, check=False)
    took, computed = (time.perf_counter() - begun) * 1000, _computed_ms() - computed
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
    answer = json.loads(done.stdout).get("hookSpecificOutput", {}) if done.stdout.strip() else {}
    return HookRun(answer.get("additionalContext", ""), took, computed, done.stderr.decode().strip())


def _computed_ms() -> float:
    """What the processes that ended so far have computed, without what they waited."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def measure_day(day: Person, opener: Opener, garden: Path, folder: Path, script: Path) -> list[PromptCount]:
    """The session of one day, counted prompt by prompt; the daemon is started and stopped here."""
    place, project = folder / f"day-{day.name}", folder / "project"
    project.mkdir(exist_ok=True)
    new_vault(place, garden=garden)
    with opener.on_disk(place) as (memory, clock):
        memory.index.sync()
        saved = save_entries(memory, clock, day)
    if saved.missing:
        say(f"{day.name}: not held as they are: {', '.join(saved.missing)}")
    os.environ["COMMONPLACE_DATA"] = str(place / "data")
    register(place / "vault")
    ensure_running(timeout=60)
    try:
        wait_until_synced()
        for number in range(WARM_UP):
            run_hook(script, "prompt", session=f"warm-{number}", cwd=project, prompt="hello there")
        return list(_session(day, Needles(day.texts(), saved.stored), script, project))
    finally:
        stop_daemon()


def _session(day: Person, needles: Needles, script: Path, project: Path) -> Iterator[PromptCount]:
    """The start, then each prompt; an entry is right once, where its prompt or at the start any prompt may have it."""
    count, session = _Count(day, needles), f"bench-{day.name}"
    yield count.of(None, run_hook(script, "session-start", session=session, cwd=project))
    for prompt in day.prompts:
        yield count.of(prompt, run_hook(script, "prompt", session=session, cwd=project, prompt=prompt.prompt))


class _Count:
    """Counts what the hooks of one session brought, one after another."""

    def __init__(self, day: Person, needles: Needles) -> None:
        self._texts, self._needles = day.texts(), needles
        self._any = frozenset(id for each in day.prompts for id in (*each.gold, *each.ok))
        self._came: set[str] = set()

    def of(self, prompt: LabelledPrompt | None, run: HookRun) -> PromptCount:
        """The counts of the next hook."""
        found = self._needles.found(run.text)
        right = (self._any if prompt is None else {*prompt.gold, *prompt.ok}) & found - self._came
        self._came |= found
        gold = prompt.gold if prompt else ()
        return PromptCount(
            prompt=prompt.prompt if prompt else "",
            chars=len(run.text),
            right_chars=sum(_length_there(self._texts[id], run.text) for id in right),
            came=tuple(sorted(found)),
            needed=gold,
            missed=tuple(id for id in gold if id not in self._came),
            ms=round(run.ms, 1),
            computed_ms=round(run.computed_ms, 1),
            skipped=run.skipped,
        )


def _length_there(text: str, context: str) -> int:
    """Characters of the text that stand in the context: all of them, or those of the beginning that does."""
    there, own = fold(context), fold(text)
    if own in there:
        return len(text)
    shown = next(size for size in range(len(own), -1, -1) if own[:size] in there)
    return round(len(text) * shown / max(1, len(own)))


def figures_of(counts: Sequence[PromptCount]) -> dict[str, Any]:
    """The figures of one day."""
    prompts = [each for each in counts if each.prompt]
    idle = [each for each in prompts if not each.needed]
    needed = sum(len(each.needed) for each in prompts)
    return {
        "prompts": len(prompts),
        "chars": sum(each.chars for each in counts),
        "start_chars": sum(each.chars for each in counts if not each.prompt),
        "right_chars": sum(each.right_chars for each in counts),
        "needed": [needed - sum(len(each.missed) for each in prompts), needed],
        "idle_empty": [sum(not each.chars for each in idle), len(idle)],
        "skipped": sum(bool(each.skipped) for each in counts),
    }


def tables(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """The figures of every day beside the targets, and of all days together."""
    yield from [f"### A working day through the hooks ({told['days_from']})", ""]
    heads = ["day", "prompts", "characters", "of these at the start", "right", "needed that came", "no need, empty"]
    yield from table([*heads, "skipped"], [_row(name, each) for name, each in told["days"].items()])
    yield from ["", *table(["measure", "before", "now", "target"], list(_headlines(told))), ""]
    if verbose:
        for name, each in told["days"].items():
            yield from [f"#### {name}", "", *table(_HEADS, [_prompt_row(line) for line in each["lines"]]), ""]


def _headlines(told: Mapping[str, Any]) -> Iterator[list[str]]:
    """The measures of issue 15, over all days together, each with its target and whether it is met."""
    days, times = told["days"].values(), told["hook_ms"]
    chars = sum(each["chars"] for each in days) / len(days)
    right = sum(each["right_chars"] for each in days) / max(1, sum(each["chars"] for each in days))
    target = _judged(f"{TARGET_CHARS:,}", is_met=chars <= TARGET_CHARS)
    yield ["characters in a day", BEFORE["chars"], f"{chars:,.0f}", target]
    target = _judged(f"{TARGET_RIGHT:.0%}", is_met=right >= TARGET_RIGHT)
    yield ["share that is right", BEFORE["right"], f"{right:.0%}", target]
    target = _judged(f"p95 {TARGET_MS:g}", is_met=times["p95"] <= TARGET_MS)
    yield [f"hook of a prompt, p50 / p95 ms (n {times['n']})", "", f"{times['p50']} / {times['p95']}", target]
    yield [f"the same, computed, p50 ms (load of the machine {times['load']})", "", f"{times['computed_p50']}", ""]


_HEADS: Final = ["prompt", "chars", "right", "came", "needed", "missed", "ms", "skipped"]


def _row(name: str, each: Mapping[str, Any]) -> list[object]:
    right = f"{each['right_chars']} ({each['right_chars'] / max(1, each['chars']):.0%})"
    pairs = (f"{count}/{of}" for count, of in (each["needed"], each["idle_empty"]))
    return [name, each["prompts"], f"{each['chars']:,}", each["start_chars"], right, *pairs, each["skipped"]]


def _prompt_row(line: Mapping[str, Any]) -> list[object]:
    ids = (" ".join(line[key]) for key in ("came", "needed", "missed"))
    return [line["prompt"] or "(start)", line["chars"], line["right_chars"], *ids, line["ms"], line["skipped"]]


def _judged(target: str, *, is_met: bool) -> str:
    return f"{target} {'met' if is_met else 'MISSED'}"


def main() -> None:
    """Run each day and print the tables."""
    chosen = _options().parse_args()
    script, flags = checked_script(chosen.script), figures.with_model(chosen.model)
    vectors = chosen.cache / "memory-vectors.db"
    os.environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(flags["embedding.model_folder"])
    os.environ["COMMONPLACE_EMBEDDING__CACHE_FILE"] = str(vectors)
    source, days = read_days(sets_folder(chosen.data))
    told: dict[str, Any] = {"days_from": source, "days": {}}
    runs: list[PromptCount] = []
    for day in days[: chosen.days]:
        with figures.own_home() as folder:
            garden = garden_of(chosen.data, chosen.vaults, folder / "unpacked")
            if garden is None:
                return
            say(f"{day.name}: {len(day.entries)} memories among the garden, {len(day.prompts)} prompts")
            counts = measure_day(day, Opener(flags, vectors), garden, folder, script)
        runs += [each for each in counts if each.prompt]
        told["days"][day.name] = {**figures_of(counts), "lines": [asdict(each) for each in counts]}
    told["hook_ms"] = _times(runs)
    print(json.dumps(told, indent=1) if chosen.json else "\n".join(tables(told, verbose=chosen.verbose)))
    if chosen.save:
        print(f"saved in {figures.save('sessions', told)}")


def _times(runs: Sequence[PromptCount]) -> dict[str, Any]:
    took, computed = [each.ms for each in runs], [each.computed_ms for each in runs]
    return {
        "n": len(runs),
        "p50": percentile(took, 0.5),
        "p95": percentile(took, 0.95),
        "computed_p50": percentile(computed, 0.5),
        "load": round(os.getloadavg()[0], 1),
    }


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--data", type=Path, default=figures.DATA, help="folder with memory/ or days.jsonl, and vaults/"
    )
    options.add_argument("--vaults", type=Path, default=None, help="folder with the packed garden, if not in the data")
    options.add_argument("--days", type=int, default=None, help="only so many days")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument(
        "--script", type=Path, default=Path(sys.executable).parent / "commonplace", help="the installed program"
    )
    options.add_argument("--verbose", action="store_true", help="list each prompt")
    options.add_argument("--json", action="store_true", help="print all figures as JSON")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/sessions-<commit>.json")
    return options


if __name__ == "__main__":
    main()
