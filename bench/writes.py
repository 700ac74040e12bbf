"""What one safe write costs beside plain `git add` and `git commit`, and what a note costs in a bulk write.

Two equal repositories are made for each size. In one, a note is written through the library: lock, compare, journal,
publish, flush, commit, index, audit. In the other, an equal file is there already, and only `git add FILE` and
`git commit -q -m x -- FILE` are timed, with the flush settings that the library gives to its own git, and without
hooks, signing and gc, as in the library. They take turns in one run, and who begins alternates. The process is warm.

Run it as `python bench/writes.py`; `--notes 1000 10000 100000` for the largest too, `--save` to keep the figures.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.figures import own_home, save

from commonplace.app import open_memory, put_under_git
from commonplace.memory import Memory
from commonplace.vault.git.run import fsync_settings

TARGET_RATIO = 1.3
TARGET_BULK_MS = 5.0
BULK = 1000
KINDS = ("fact", "decision", "preference", "event", "person")
WORDS = ("memories", "vaults", "agents", "indexes", "gardens", "rivers", "stones", "letters", "winters", "signals")
LIKE_OURS = (
    "user.name=Bench",
    "user.email=bench@localhost",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Times of one kind of write at one size, in milliseconds; the ratio is that of the medians."""

    notes: int
    what: str
    rounds: int
    ours_p50: float
    ours_p95: float
    plain_p50: float
    plain_p95: float
    ratio: float

    @staticmethod
    def of(notes: int, what: str, ours: Sequence[float], plain: Sequence[float]) -> "Compared":
        """The figures of these times, given in seconds."""
        own, other = statistics.median(ours), statistics.median(plain)
        return Compared(
            notes, what, len(ours), _ms(own), _ms(_p95(ours)), _ms(other), _ms(_p95(plain)), round(own / other, 3)
        )


@dataclass(frozen=True, slots=True)
class Bulk:
    """Milliseconds a note when many are written in one call; plain is one `git add` and one `git commit` of them."""

    notes: int
    written: int
    rounds: int
    ours_ms_a_note: float
    plain_ms_a_note: float


Writer = Callable[[dict[str, str]], float]
"""Brings texts into a repository, each at its path, and says how many seconds that took."""


def path_of(number: int) -> str:
    """Where the note of that number is: sharded by kind and month."""
    month = f"{2017 + number // 60 % 10}-{number // 5 % 12 + 1:02}"
    return f"Projects/Notes/{KINDS[number % 5]}/{month}/note-{number:06}.md"


def text_of(source: random.Random, title: str) -> str:
    """A note of about 1 KB."""
    lines = [" ".join(source.choices(WORDS, k=12)).capitalize() + "." for _ in range(12)]
    return f"---\ntitle: {title}\ntags: [bench]\n---\n# {title}\n\n" + "\n".join(lines) + "\n"


def build(root: Path, count: int) -> None:
    """A vault of so many notes, committed and checked out."""
    root.mkdir()
    put_under_git(root)
    branch = git(root, "symbolic-ref", "HEAD").strip()
    start = f"from {branch}^0\n" if git(root, "rev-parse", "-q", "--verify", "HEAD", check=False) else ""
    with tempfile.TemporaryFile() as script:
        script.write(f"commit {branch}\ncommitter B <b@localhost> 1767225600 +0000\ndata 5\nnotes\n{start}".encode())
        source = random.Random(count)
        for number in range(count):
            text = text_of(source, f"Note {number}").encode()
            script.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path_of(number).encode(), len(text), text))
        script.seek(0)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, stdin=script, check=True)
    git(root, "reset", "--quiet", "--hard")


def git(root: Path, *arguments: str, check: bool = True, given: str | None = None) -> str:
    """What plain git prints, with our flush settings, and without hooks, signing and gc."""
    command = ["git"]
    for setting in (*LIKE_OURS, *fsync_settings()):
        command += ["-c", setting]
    done = subprocess.run([*command, *arguments], cwd=root, input=given, capture_output=True, text=True, check=check)
    return done.stdout


def with_library(memory: Memory) -> Writer:
    """Writes through the library."""

    def write(texts: dict[str, str]) -> float:
        begun = time.perf_counter()
        if len(texts) == 1:
            ((path, text),) = texts.items()
            memory.notes.write(path, text)
        else:
            memory.notes.write_many(texts)
        return time.perf_counter() - begun

    return write


def with_plain_git(root: Path) -> Writer:
    """Adds and commits files; that they are put there before is not timed."""

    def write(texts: dict[str, str]) -> float:
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        named, given = (list(texts), None) if len(texts) == 1 else (["--pathspec-from-file=-"], "\n".join(texts))
        begun = time.perf_counter()
        git(root, "add", *named, given=given)
        git(root, "commit", "-q", "-m", "x", *(["--", *named] if given is None else named), given=given)
        return time.perf_counter() - begun

    return write


def compare(
    sides: Sequence[Writer], batches: Sequence[dict[str, str]], *, progress: str
) -> tuple[list[float], list[float]]:
    """The times of both sides for each batch, in turns. Both have the same notes afterwards."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn, batch in enumerate(batches):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            times[side].append(sides[side](batch))
        say(f"{progress}: {turn + 1} of {len(batches)}")
    say("")
    return times


def measure(folder: Path, count: int, *, rounds: int) -> tuple[list[Compared], Bulk]:
    """All figures for one size."""
    say(f"making two repositories of {count} notes")
    ours, plain = folder / f"ours-{count}", folder / f"plain-{count}"
    for root in (ours, plain):
        build(root, count)
    source = random.Random(1)

    def texts(numbers: Sequence[int]) -> dict[str, str]:
        return {path_of(number): text_of(source, f"Note {number} anew") for number in numbers}

    with open_memory(ours, actor="agent") as memory:
        sides = (with_library(memory), with_plain_git(plain))
        compare(sides, [texts([count]), texts([0]), texts([1])], progress="warming up")
        new = [texts([count + 1 + each]) for each in range(rounds)]
        old = [texts([number]) for number in source.sample(range(2, count), rounds)]
        compared = [
            Compared.of(count, what, *compare(sides, batches, progress=f"{count} notes, {what}"))
            for what, batches in (("new note", new), ("overwrite", old))
        ]
        return compared, _measure_bulk(sides, count, texts)


def _measure_bulk(sides: Sequence[Writer], count: int, texts: Callable[[Sequence[int]], dict[str, str]]) -> Bulk:
    starts = [count * 2 + each * BULK for each in range(3)]
    batches = [texts(range(start, start + BULK)) for start in starts]
    ours, plain = compare(sides, batches, progress=f"{count} notes, bulk")
    own, other = (round(statistics.median(each) * 1000 / BULK, 3) for each in (ours, plain))
    return Bulk(count, BULK, len(batches), own, other)


def say(what: str) -> None:
    """Show what goes on, to a person at a terminal."""
    if sys.stderr.isatty():
        print(f"\r{what:60}\r", end="", file=sys.stderr, flush=True)


def flush_cost(folder: Path) -> float:
    """Milliseconds for the flush of 4 KB here: what the disk adds to every figure, on both sides."""
    times = []
    for number in range(20):
        opened = os.open(folder / f"flush-{number}", os.O_CREAT | os.O_WRONLY)
        os.write(opened, bytes(4096))
        begun = time.perf_counter()
        os.fsync(opened)
        times.append(time.perf_counter() - begun)
        os.close(opened)
    return round(statistics.median(times) * 1000, 2)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


def _print(rows: Sequence[Compared], bulks: Sequence[Bulk]) -> None:
    print(f"{'notes':>7} {'what':10} {'ours p50':>9} {'p95':>7} {'git p50':>9} {'p95':>7}  ratio   (ms)")
    for row in rows:
        good = "" if row.ratio <= TARGET_RATIO else f"   above the target of {TARGET_RATIO}"
        print(
            f"{row.notes:>7} {row.what:10} {row.ours_p50:>9.1f} {row.ours_p95:>7.1f} "
            f"{row.plain_p50:>9.1f} {row.plain_p95:>7.1f}  {row.ratio:.2f}x{good}"
        )
    for bulk in bulks:
        good = "" if bulk.ours_ms_a_note <= TARGET_BULK_MS else f"   above the target of {TARGET_BULK_MS:g} ms"
        print(
            f"{bulk.notes:>7} bulk: {bulk.written} notes in one call {bulk.ours_ms_a_note:.2f} ms a note, "
            f"git add and commit of them {bulk.plain_ms_a_note:.2f}{good}"
        )


def main() -> None:
    """Measures each size and prints one table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000], help="sizes of the vault")
    options.add_argument("--rounds", type=int, default=30, help="writes of each kind and size")
    options.add_argument("--folder", type=Path, help="where the repositories are made: on the disk that counts")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/writes-<commit>.json")
    chosen = options.parse_args()
    rows: list[Compared] = []
    bulks: list[Bulk] = []
    with own_home(chosen.folder) as folder:
        flush = flush_cost(folder)
        print("a safe write beside `git add` + `git commit`, in turns, with the same flush settings:")
        print(f"{', '.join(fsync_settings())}; a flush of 4 KB takes {flush} ms here; {chosen.rounds} writes a row")
        for count in chosen.notes:
            compared, bulk = measure(folder, count, rounds=chosen.rounds)
            rows, bulks = rows + compared, [*bulks, bulk]
    _print(rows, bulks)
    if chosen.save:
        taken = {"flush_ms": flush, "settings": fsync_settings(), "git": git(folder.parent, "version").strip()}
        tables = {"writes": [asdict(row) for row in rows], "bulk": [asdict(bulk) for bulk in bulks]}
        print(f"saved in {save('writes', {**taken, **tables})}")


if __name__ == "__main__":
    main()
