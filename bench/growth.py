"""How a vault's repository grows: a year is 200 writes a day, and every write is a commit.

Writes go through the library, with the maintenance that it does by itself: new notes until there are 2,000 of them,
and more and more text in those that are there. Printed are the size of `.git` along the way, before and after a last
maintenance, and after `git gc`, which is the least it can be; bytes and milliseconds a write. Unless all 73,000 are
made (`--writes 73000`), the year is an extrapolation and is called so.

Run it as `python bench/growth.py`.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.figures import own_home

from commonplace.app import backends, open_memory, put_under_git
from commonplace.settings.schema import Settings
from commonplace.vault.obsidian import MAINTAIN_EVERY, ObsidianVault

A_YEAR = 200 * 365
NOTES = 2000
NEW = 0.3  # of the writes, until there are NOTES
LARGEST = 20_000  # characters; a note that has reached it begins again, as a log does
KINDS = ("fact", "decision", "preference", "event", "person")


@dataclass(frozen=True, slots=True)
class Size:
    """What a repository takes on the disk, and how it is kept."""

    bytes: int
    loose: int
    packs: int

    @staticmethod
    def of(root: Path) -> "Size":
        """The size of the repository of this vault."""
        taken = sum(file.lstat().st_blocks * 512 for file in (root / ".git").rglob("*"))
        said = dict(line.split(": ") for line in git(root, "count-objects", "-v").splitlines())
        return Size(taken, int(said["count"]), int(said["packs"]))

    def __str__(self) -> str:
        return f"{self.bytes / 1e6:7.1f} MB, {self.loose:6} loose objects, {self.packs:3} packs"


def writes(count: int) -> Iterator[tuple[str, str]]:
    """Paths and texts in the order they are written; always the same."""
    source = random.Random(9)
    texts: list[str] = []
    for _ in range(count):
        number = len(texts) if _begins(source, len(texts)) else source.randrange(len(texts))
        if number == len(texts):
            texts.append("")
        if not 0 < len(texts[number]) < LARGEST:
            texts[number] = f"---\ntitle: Note {number}\ntags: [bench]\n---\n# Note {number}\n\n{prose(source, 8)}"
        else:
            texts[number] += f"\n{prose(source, source.randint(1, 6))}"
        yield f"Agent/Memory/{KINDS[number % 5]}/2026-{number // 5 % 12 + 1:02}/note-{number:04}.md", texts[number]


def _begins(source: random.Random, notes: int) -> bool:
    return not notes or (notes < NOTES and source.random() < NEW)


def prose(source: random.Random, sentences: int) -> str:
    """Sentences of made-up words, few of them frequent and most of them rare: they compress about as English does."""
    lines = (" ".join(source.choices(WORDS, cum_weights=FREQUENCIES, k=13)) for _ in range(sentences))
    return " ".join(f"{line.capitalize()}." for line in lines) + "\n"


def _words(count: int) -> list[str]:
    source = random.Random(4)
    return ["".join(source.choices("etaoinshrdlucmfwyp", k=source.randint(2, 9))) for _ in range(count)]


WORDS = _words(5000)
FREQUENCIES = list(accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))  # Zipf's law


def git(root: Path, *arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def grow(root: Path, count: int, *, every: int) -> list[float]:
    """Make the writes; the seconds that each took. Prints a line now and then."""
    times: list[float] = []
    with open_memory(root, actor="agent") as memory:
        for path, text in writes(count):
            begun = time.perf_counter()
            memory.notes.write(path, text)
            times.append(time.perf_counter() - begun)
            if len(times) % every == 0:
                print(f"{len(times):7} writes {Size.of(root)}; {_told(times[-every:])}", flush=True)
    return times


def maintain(root: Path) -> float:
    """Let the backend maintain the repository, as it does by itself; the seconds that took."""
    vault = backends(Settings()).select("obsidian-vault", root=root)
    assert isinstance(vault, ObsidianVault)
    begun = time.perf_counter()
    vault.maintain()
    return time.perf_counter() - begun


def _told(times: Sequence[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(times) * 1000:.0f} ms a write, p95 {p95 * 1000:.0f}, longest {ordered[-1] * 1000:.0f}"


def _print_year(count: int, packed: Size, seconds: float) -> None:
    if count >= A_YEAR:
        return
    factor = A_YEAR / count
    print(
        f"extrapolated from what is packed, not measured: a year of {A_YEAR} writes would take "
        f"{packed.bytes * factor / 1e6:.0f} MB and {seconds * factor / 60:.0f} minutes of writing, and what is loose "
        "until the next maintenance comes on top"
    )


def main() -> None:
    """Makes the writes and prints what became of the repository."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--writes", type=int, default=5000, help=f"how many; a year has {A_YEAR}")
    options.add_argument("--folder", type=Path, help="where the vault is made: on the disk that counts")
    chosen = options.parse_args()
    with own_home(chosen.folder) as folder:
        root = folder / "vault"
        root.mkdir()
        put_under_git(root)
        empty = Size.of(root)
        print(f"{chosen.writes} writes through the library, which has git maintain itself every {MAINTAIN_EVERY}:")
        times = grow(root, chosen.writes, every=max(1, chosen.writes // 10))
        before = Size.of(root)
        took = maintain(root)
        after = Size.of(root)
        git(root, "gc", "--quiet")
        packed = Size.of(root)
        notes = [path.stat().st_size for path in root.rglob("*.md")]
        print(f"the notes themselves:  {len(notes)} notes, {sum(notes) / 1e6:.1f} MB")
        print(f"before maintenance:    {before}")
        print(f"after maintenance:     {after}; it took {took:.1f} s")
        print(f"after a full `git gc`: {packed}")
        print(f"a write: {(after.bytes - empty.bytes) / len(times):.0f} bytes; {_told(times)}")
        _print_year(chosen.writes, packed, sum(times))


if __name__ == "__main__":
    main()
