"""A vault for the benchmark of contexts: a thousand entries, notes with facts in their lines, what is always loaded.

Beside it the index holds chunks made of real ones (bench/corpus.py), so that it has as many as are asked for.
"""

import hashlib
import json
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench import corpus, entries_vault
from bench.figures import say
from bench.search import Place, index_of

from commonplace.app import open_memory
from commonplace.index.segments.segment import WORD_ENTRY
from commonplace.index.sqlite.schema import MIGRATIONS

ENTRIES: Final = 1000
LINES_EVERY: Final = 20  # one note in so many has facts in its lines
_DATED: Final = ("2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08")


def built(real: corpus.Real, chunks: int, *, cache: Path, model: Path) -> tuple[Place, dict[str, Any]]:
    """The vault and its index of so many chunks, made unless they are in the cache; how long that took."""
    made = (MIGRATIONS, WORD_ENTRY.descr, real.version, corpus.NOISE, corpus.SENTENCES, ENTRIES, LINES_EVERY)
    form = hashlib.sha256(repr(made).encode()).hexdigest()[:8]
    place = Place(cache / f"context-{chunks}-{form}", model)
    noted = place.folder / "built.json"
    if noted.is_file():
        kept: dict[str, Any] = json.loads(noted.read_text())
        return place, kept
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    begun = time.perf_counter()
    _write(place.vault, documents=chunks // corpus.A_DOCUMENT)
    say(f"{chunks} chunks: indexing the vault")
    with open_memory(place.vault, settings=place.settings()) as memory:
        memory.index.sync()
    said = _fill(real, chunks, place)
    told = {"seconds": round(time.perf_counter() - begun, 1), **said}
    noted.write_text(json.dumps(told))
    return place, told


def _write(vault: Path, *, documents: int) -> None:
    entries_vault.build(vault, ENTRIES)
    for path, text in _notes(documents):
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _notes(documents: int) -> Iterator[tuple[str, str]]:
    source = random.Random(8)
    for number in range(max(10, documents // LINES_EVERY)):
        words, topic = " ".join(source.choices(entries_vault.WORDS, k=6)), source.choice(entries_vault.TOPICS)
        known = f"- knows [[Person {source.randrange(50)}]] #{topic}\n- [decision] {words} #{topic}\n"
        yield f"Notes/Note {number}.md", f"# Note {number}\n\n{words.capitalize()}.\n\n{known}"
    yield "Agent/USER.md", "# Robin\n\nShort answers first, metric units.\n"
    yield "Agent/_always-load/House rules.md", "Ask before sending anything to anyone.\n"
    for day in _DATED:
        yield f"Agent/memories/{day}.md", f"- Something that happened on {day}.\n"
    yield "Agent/styles/Letter.md", "---\ncontexts: [letter]\n---\nFriendly and formal, one page.\n"
    yield "Agent/styles/Code review.md", "---\ncontexts: [review]\n---\nFaults first, each with a reason.\n"


def _fill(real: corpus.Real, chunks: int, place: Place) -> dict[str, Any]:
    """Puts made chunks beside those of the vault, until there are as many as are wanted."""
    parts = index_of(place)
    with parts.index.reader() as reading:
        there = reading.counts().chunks
    for number, (document, vectors) in enumerate(corpus.documents(real, max(0, chunks - there))):
        parts.index.put(document, vectors, now=1.0)
        if number % 20_000 == 0:
            say(f"{chunks} chunks: {number * corpus.A_DOCUMENT} put")
    parts.index.optimize()
    parts.index.close()
    parts.cache.close()
    return {"chunks_of_the_vault": there}
