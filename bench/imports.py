"""How a large ChatGPT export is imported: time, peak memory, and whether a second import changes nothing.

The export is made (conversations of 2 to 400 messages, JSON as ChatGPT writes it; with `--pages`, also the pages that
ChatGPT has read, which make up most of the bytes and are not imported) and imported by `commonplace import`
as a process, whose peak memory the kernel tells. Then it is imported again, and once more from a zip. Only the first
texts are encoded: the rest is what the next sync does, and `bench/index.py` measures that.

Run it as `python bench/imports.py [--megabytes 200]`.
"""

import argparse
import os
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.figures import own_home, save

from tests.import_examples.build import large_chatgpt_export

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class ImportRun:
    """One import: its time, seconds of a core and peak memory in MB; what it counted, how many lines of progress."""

    seconds: float
    cpu: float
    peak: float
    new: int
    known: int
    messages: int
    progress: int

    def line(self, name: str, size: float) -> str:
        """A line for the table."""
        speed = (
            f"{self.seconds:8.1f} s, {self.cpu:.0f} of a core {size / self.seconds:6.1f} MB/s {self.peak:6.0f} MB peak"
        )
        return f"{name:8} {speed}  {self.new:7,} new {self.known:7,} known {self.messages:9,} messages added"


def run_import(vault: Path, file: Path, folder: Path) -> ImportRun:
    """Import the file by the command line, once for people, to see the progress, and once more for the counts."""
    out, err = folder / "out.txt", folder / "err.txt"
    command = [sys.executable, "-m", "commonplace", "--vault", str(vault), "import", str(file)]
    start = time.perf_counter()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"the import failed: {out.read_text()}{err.read_text()}")
    progress = [line for line in err.read_text().splitlines() if line.startswith(("read ", "indexed "))]
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MEGABYTE
    return ImportRun(seconds, cpu, peak, *_counts(out.read_text()), len(progress))


def _counts(printed: str) -> tuple[int, int, int]:
    """New and known conversations and new messages, from a line such as `conversations: 3 new, 2 known; 7 new ...`."""
    line = next(line for line in printed.splitlines() if "conversations: " in line)
    conversations, messages = line.partition(": ")[2].split("; ")
    counts = {
        words: int(count.replace(",", ""))
        for count, words in (each.split(" ", 1) for each in conversations.split(", "))
    }
    return counts.get("new", 0), counts.get("known", 0), int(messages.split(" ")[0].replace(",", ""))


def measure(megabytes: int, folder: Path, *, pages: bool) -> dict[str, Any]:
    """Make the export and import it three times."""
    export, zipped, vault = folder / "conversations.json", folder / "export.zip", folder / "vault"
    conversations = large_chatgpt_export(export, size=megabytes * MEGABYTE, pages=pages)
    size = export.stat().st_size / MEGABYTE
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(export, "conversations.json")
    print(f"{size:.0f} MB, {conversations:,} conversations; as a zip {zipped.stat().st_size / MEGABYTE:.0f} MB")
    subprocess.run([sys.executable, "-m", "commonplace", "init", str(vault)], check=True, capture_output=True)
    runs = dict[str, Any]()
    for name, file in (("first", export), ("second", export), ("zip", zipped)):
        run = run_import(vault, file, folder)
        print(run.line(name, size), flush=True)
        runs[name] = asdict(run)
    if runs["second"]["messages"] or runs["zip"]["messages"]:
        sys.exit("a second import added messages")
    return {"megabytes": round(size), "pages": pages, "conversations": conversations, "runs": runs}


def main() -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser(description="Import a large ChatGPT export.")
    parser.add_argument("--megabytes", type=int, default=200, help="the size of the export")
    parser.add_argument("--place", type=Path, default=None, help="where to put it; needs five times its size")
    parser.add_argument("--pages", action="store_true", help="with web pages before every fourth answer")
    arguments = parser.parse_args()
    os.environ["COMMONPLACE_EMBEDDING__PROVIDER"] = "hashing"
    with own_home(arguments.place) as folder:
        figures = measure(arguments.megabytes, folder, pages=arguments.pages)
    print(save("imports", figures))


if __name__ == "__main__":
    main()
