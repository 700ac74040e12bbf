"""How many notes are read in a second: generated ones, and those of real vaults.

Run it as `python bench/parse.py`; the vaults are folders or .tar.gz files, and archives are read in memory.
"""

import argparse
import random
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

from commonplace.notes import LinkResolver, parse

VAULTS = Path(__file__).parents[2] / "shared/data/vaults"
WORDS = (
    "memory",
    "vault",
    "agent",
    "index",
    "garden",
    "river",
    "stone",
    "letter",
    "winter",
    "signal",
    "paper",
    "forest",
)


def generated(count: int) -> Iterator[tuple[str, bytes]]:
    """Notes of one to two kilobytes with properties, headings, links, lists, code and tags; always the same."""
    source = random.Random(7)
    for number in range(count):
        yield f"Folder {number % 50}/Note {number}.md", _note(source, number, count).encode()


def _note(source: random.Random, number: int, count: int) -> str:
    def sentence() -> str:
        return " ".join(source.choices(WORDS, k=source.randint(6, 12))).capitalize() + "."

    def link() -> str:
        return f"[[Note {source.randrange(count)}]]"

    def tag() -> str:
        return f"#{source.choice(WORDS)}"

    parts = [f"---\ntitle: Note {number}\ntags: [{source.choice(WORDS)}, {source.choice(WORDS)}]\n"]
    parts.append(f"created: 2026-03-{number % 28 + 1:02}\naliases:\n  - N{number}\nup: '{link()}'\n---\n")
    for level in range(source.randint(2, 4)):
        parts.append(f"{'#' * (level % 3 + 1)} {sentence()}\n\n{sentence()} {sentence()}\n")
        parts.append(f"\n{sentence()} See {link()} and {tag()}.\n\n")
        parts.append(f"- {sentence()}\n  - {link()}\n- [fact] {sentence()} {tag()}\n")
    parts.append(f"\n```python\nprint({number})\n```\n\n{sentence()} `code` [site](https://example.org) %% hidden %%\n")
    return "".join(parts)


def notes_in(vault: Path) -> list[tuple[str, bytes]]:
    """Every note of a vault, a folder or an archive."""
    if vault.is_dir():
        return [(str(path.relative_to(vault)), path.read_bytes()) for path in sorted(vault.rglob("*.md"))]
    with tarfile.open(vault) as tar:
        members = [member for member in tar if member.isfile() and member.name.endswith(".md")]
        contents = [(member.name.partition("/")[2], tar.extractfile(member)) for member in members]
        return [(path, content.read()) for path, content in contents if content]


def measure(name: str, files: list[tuple[str, bytes]]) -> None:
    """Prints one line: notes per second, and what was found."""
    begun = time.perf_counter()
    notes = [parse(raw, path=path, mtime=0.0) for path, raw in files]
    seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    LinkResolver.of((path for path, _ in files), {note.path: note.aliases for note in notes})
    names = time.perf_counter() - begun
    size = sum(note.size for note in notes)
    links = sum(len(note.links) for note in notes)
    problems = sum(len(note.problems) for note in notes)
    print(
        f"{name:26} {len(notes):6} notes {size / len(notes):7.0f} bytes each {len(notes) / seconds:7.0f} notes/s "
        f"{size / seconds / 1e6:5.1f} MB/s  names in {names * 1000:4.0f} ms  {links} links  {problems} problems"
    )


def main() -> None:
    """Measures the generated notes, then each vault there is."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=VAULTS, help="a folder of vaults, as folders or .tar.gz files")
    options.add_argument("--notes", type=int, default=10_000, help="how many notes to generate")
    chosen = options.parse_args()
    measure("generated", list(generated(chosen.notes)))
    vaults = sorted(chosen.data.iterdir()) if chosen.data.is_dir() else []
    vaults = [path for path in vaults if path.is_dir() or path.name.endswith(".tar.gz")]
    for vault in vaults:
        measure(vault.name.removesuffix(".tar.gz"), notes_in(vault))
    if not vaults:
        print(f"no vaults: {chosen.data} holds no folder and no .tar.gz file, so only generated notes were measured")


if __name__ == "__main__":
    main()
