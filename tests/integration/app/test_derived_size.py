"""How many bytes the derived data has for each text that was encoded."""

from pathlib import Path

from commonplace.flows.ingest.sync import rebuild, sync
from commonplace.flows.stores import Stores
from commonplace.history.sqlite.history import SqliteHistory
from tests.stores import DEFAULT_ENCODER, make_stores

# A vector of 384 numbers is stored twice in 8 bits, in the cache and in a segment; the sha256 of its text in the index
# and in the log of calls; then there are text and words. The garden of 748 notes has 1,400 bytes a text, and had 3,020.
MOST_BYTES = 1350
NOTES, SENTENCES = 50, 30
WORDS = ("soil", "rain", "clay", "sand", "loam", "peat", "moss", "fern", "bark", "leaf", "root", "seed", "stem", "reed")


def test_an_encoded_text_takes_little_more_than_its_vector_twice(tmp_path: Path) -> None:
    """All files together, with the room that is empty in them; a rebuild returns to the disk what it replaces."""
    for note in range(NOTES):
        body = " ".join(_sentence(note, place) for place in range(SENTENCES))
        (tmp_path / f"note-{note}.md").write_text(f"# Note {note}\n\n{body}\n")
    data = tmp_path / "data"
    stores = make_stores(tmp_path, data, history=SqliteHistory(data / "history.db"), least=NOTES)
    sync(stores)
    before = _bytes(stores, data)
    with stores.index.reader() as reader:
        texts = reader.counts().vectors[DEFAULT_ENCODER.version]
    rebuild(stores)

    assert texts > NOTES * SENTENCES
    assert before / texts < MOST_BYTES
    assert _bytes(stores, data) < before * 1.05


def _sentence(note: int, place: int) -> str:
    words = [WORDS[(note * 7 + place * 3 + step * (note + 1)) % len(WORDS)] for step in range(8)]
    return f"Number {note} {place} {' '.join(words)}."


def _bytes(stores: Stores, data: Path) -> int:
    """The size of all files once they are closed, which ends their logs."""
    for each in (stores.parts().index, stores.cache, stores.history):
        each.close()
    return sum(file.stat().st_size for file in data.rglob("*") if file.is_file() and not file.is_symlink())
