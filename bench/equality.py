"""Whether an index that grew step by step answers as one that is made anew: on each of the real vaults, to the byte.

A copy of the vault is indexed in an odd order: half of the notes first, then the others, then edits, renames,
deletions, restored notes and edits taken back, with a sync after each. 200 questions in three modes are asked and the
answers written as JSON: ids, order, scores and reasons. Then the same after `rebuild`. Both must be the same bytes.
The Problems of each vault are listed by kind.

Run it as `python bench/equality.py`; `--real` uses the real encoder for the largest vault too (minutes), `--save`
keeps the figures. Vectors are kept in the cache folder between runs.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say

from commonplace.app import open_memory, put_under_git
from commonplace.memory import Memory
from commonplace.model import Answer, Problem

QUESTIONS: Final = 200
MODES: Final = ("hybrid", "words", "sense")
LARGE: Final = 5000  # notes; a vault above it is indexed with the hashing encoder unless --real is given
_HEADING: Final = re.compile(r"^#{1,6} +(.{4,80})$", re.MULTILINE)
Step = Callable[[], None]


def steps(vault: Path, aside: Path) -> Iterator[tuple[str, Step]]:
    """What happens to the vault before each sync; always the same."""
    source = random.Random(11)
    notes = sorted(vault.rglob("*.md"))
    later, edited = source.sample(notes, len(notes) // 2), source.sample(notes, len(notes) // 20)
    renamed, deleted = source.sample(notes, len(notes) // 30), source.sample(notes, len(notes) // 20)
    renamed = [note for note in renamed if note not in deleted and note not in edited]
    texts = {note: note.read_bytes() for note in edited}
    yield "half of the notes", lambda: _move(later, vault, aside)
    yield "the other half", lambda: _move([aside / note.relative_to(vault) for note in later], aside, vault)
    yield "edits", lambda: _edit(texts)
    yield "renames", lambda: _rename(renamed, vault)
    yield "deletions", lambda: _move(deleted, vault, aside)
    yield "restored", lambda: _move([aside / note.relative_to(vault) for note in deleted[::2]], aside, vault)
    yield "edits taken back", lambda: _take_back({note: texts[note] for note in edited[::2]})
    yield "renamed back", lambda: _rename_back(renamed[::2], vault)


def questions(vault: Path) -> list[str]:
    """Headings of the notes and their names; always the same."""
    found: set[str] = set()
    for note in sorted(vault.rglob("*.md")):
        found.update(_HEADING.findall(note.read_text(errors="replace"))[:3])
        found.add(note.stem.replace("-", " ").replace(".", " "))
    return random.Random(12).sample(sorted(found), min(QUESTIONS, len(found)))


def export(memory: Memory, asked: Sequence[str]) -> bytes:
    """All answers to all questions, as bytes."""
    answers = [_told(memory.search(question, mode=mode)) for question in asked for mode in MODES]
    return json.dumps(answers, ensure_ascii=False, indent=1).encode(errors="surrogatepass")


def examine(archive: Path, place: Path, settings: dict[str, object]) -> dict[str, Any]:
    """Whether both ways answer the same, and the Problems of the vault."""
    vault = _fresh(archive, place)
    with open_memory(vault, settings={"data": str(place / "data"), **settings}) as memory:
        begun, unread = time.perf_counter(), tuple[Problem, ...]()
        for what, happen in steps(vault, place / "aside"):
            happen()
            synced = memory.index.sync()
            unread = synced.problems
            say(f"{vault.name}, {what}: {_brief(synced.seconds)} s, {synced.encoded} encoded")
        asked, grown = questions(vault), time.perf_counter() - begun
        before = export(memory, asked)
        rebuilt = memory.index.rebuild()
        after = export(memory, asked)
        problems = tuple(sorted({*memory.index.problems(), *unread}))
        counts = memory.index.stats()
    if before != after:
        (place / "before.json").write_bytes(before)
        (place / "after.json").write_bytes(after)
    return {
        "vault": vault.name,
        "notes": sum(counts.documents.values()),
        "chunks": counts.chunks,
        "questions": len(asked) * len(MODES),
        "equal": before == after,
        "bytes": len(before),
        "sha256": hashlib.sha256(before).hexdigest(),
        "sha256_after": hashlib.sha256(after).hexdigest(),
        "hits": before.count(b'"chunk_id"'),
        "grown_s": round(grown, 1),
        "rebuild_s": round(rebuilt.seconds, 1),
        "rebuild_encoded": rebuilt.encoded,
        "problems": dict(Counter(problem.code for problem in problems).most_common()),
        "first_problems": [_line(problem) for problem in _first_of_each(problems)],
    }


def _told(answer: Answer) -> dict[str, Any]:
    hits = [
        {
            "chunk_id": hit.chunk_id,
            "path": hit.path,
            "line": hit.line,
            "heading_path": hit.heading_path,
            "score": hit.score,
            "cosine": hit.cosine,
            "updated": hit.updated,
            "why": hit.why,
            "text": hit.text,
        }
        for hit in answer.hits
    ]
    return {
        "query": answer.query,
        "mode": answer.mode,
        "degraded": answer.degraded,
        "empty": answer.empty,
        "hits": hits,
    }


def _fresh(archive: Path, place: Path) -> Path:
    """The vault as it was packed, without an index; vectors of earlier runs are kept."""
    for old in (
        *(place / name for name in ("vault", "aside")),
        *place.glob("data/*/index"),
        *place.glob("data/*/past"),
    ):
        shutil.rmtree(old, ignore_errors=True)
    vault = figures.unpack(archive, place / "vault")
    put_under_git(vault)
    return vault


def _move(notes: Sequence[Path], source: Path, target: Path) -> None:
    for note in notes:
        to = target / note.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        note.rename(to)


def _edit(texts: dict[Path, bytes]) -> None:
    for number, (note, text) in enumerate(texts.items()):
        note.write_bytes(text + f"\n\n## Added {number}\n\nWords that were added later, number {number}.\n".encode())


def _take_back(texts: dict[Path, bytes]) -> None:
    for note, text in texts.items():
        note.write_bytes(text)


def _rename(notes: Sequence[Path], vault: Path) -> None:
    for note in notes:
        to = _renamed(note, vault)
        to.parent.mkdir(parents=True, exist_ok=True)
        note.rename(to)


def _rename_back(notes: Sequence[Path], vault: Path) -> None:
    for note in notes:
        _renamed(note, vault).rename(note)


def _renamed(note: Path, vault: Path) -> Path:
    return vault / "Moved" / note.relative_to(vault).with_name(f"moved {note.name}")


def _first_of_each(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The first three of each kind."""
    seen: Counter[str] = Counter()
    for problem in problems:
        seen[problem.code] += 1
        if seen[problem.code] <= 3:
            yield problem


def _line(problem: Problem) -> str:
    return f"{problem.code}: {problem.path}:{problem.line}: {problem.message}"


def _brief(seconds: float) -> str:
    return f"{seconds:.1f}"


def show(told: dict[str, Any]) -> None:
    """Print one vault."""
    equal = "byte-equal" if told["equal"] else "NOT EQUAL (before.json and after.json are in the cache folder)"
    print(
        f"{told['vault']} ({told['encoder']} encoder): {told['notes']} notes, {told['chunks']} chunks; "
        f"{told['questions']} answers, {told['hits']} hits, {told['bytes']} bytes, before and after rebuild: {equal}\n"
        f"  sha256 {told['sha256']}; rebuild {told['rebuild_s']} s, {told['rebuild_encoded']} texts encoded\n"
        f"  Problems: {', '.join(f'{count} {code}' for code, count in told['problems'].items()) or 'none'}"
    )
    for line in told["first_problems"]:
        print(f"    {line[:160]}")


def main() -> None:
    """Examine each vault; the exit code is 1 when one is not equal."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where copies and vectors are kept")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--real", action="store_true", help="the real encoder for every vault")
    options.add_argument("--only", default="", help="only vaults whose name begins so")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/equality-<commit>.json")
    chosen = options.parse_args()
    kept = []
    with figures.own_home():
        for archive in figures.archives(chosen.data):
            if archive.name.startswith(chosen.only):
                kept.append(_examined(archive, chosen))
                show(kept[-1])
    if chosen.save:
        print(f"saved in {figures.save('equality', {'vaults': kept})}")
    sys.exit(0 if all(told["equal"] for told in kept) else 1)


def _examined(archive: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    place = chosen.cache / "equality" / archive.name.removesuffix(".tar.gz")
    is_large = sum(1 for _ in _fresh(archive, place).rglob("*.md")) > LARGE
    encoder = "real" if chosen.real or not is_large else "hashing"
    hashing: dict[str, object] = {"embedding.provider": "hashing"}
    settings = figures.with_model(chosen.model) if encoder == "real" else hashing
    return {"encoder": encoder, **examine(archive, place, settings)}


if __name__ == "__main__":
    main()
