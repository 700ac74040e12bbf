"""The index seam: quick look-up of documents and their chunks, by words and by meaning. All of it is derived.

Terms:
- number    the place of a chunk in this index. It is never used twice; a chunk that changes gets a new one.
            Numbers differ from one index to another: answers are in terms of ids.
- reading   a look at the index at one moment: what others write meanwhile is not seen in it.
- version   the encoder that made a vector. A search by meaning sees the vectors of one version alone.
- removed   a document whose source is gone. It is found by nothing, and is there again when its source is;
            `purge` drops those that have been gone for long.

An index answers the same, to the last digit, whatever the order in which its documents came.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from commonplace.model import (
    Chunk,
    Document,
    End,
    Fact,
    FactEdge,
    Filters,
    Known,
    Link,
    Origin,
    Place,
    Problem,
    Stamp,
    Status,
    Topic,
    Voice,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Fixed = npt.NDArray[np.int16]
    Floats = npt.NDArray[np.float32]

LINKED: Final = "vault"
"""The source whose documents links may mean: notes, each by its path."""

AVERAGED: Final = 16
REACH: Final = 64
"""How many chunks of a document are averaged, and among how many, where documents are compared."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How words are weighed (BM25): one weight for each of the FIELDS, and the two constants.

    A word that stands in more than `common` of all chunks is left out while two rarer ones remain.
    `reply` is what a word counts that a program said, where whole documents are weighed.
    """

    fields: tuple[int, int, int, int, int] = (3, 3, 2, 2, 1)
    k1: float = 1.2
    b: float = 0.75
    common: float = 0.2
    reply: float = 0.2


class WordMatch(NamedTuple):
    """A chunk found by words: its score from 0 to 1, 1 being what a chunk full of every word would come near to.

    `by` holds the share of each word that it has.
    """

    number: int
    score: float
    by: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """What a search by words found, best first; `dropped` are the words too common to count."""

    matches: tuple[WordMatch, ...]
    dropped: tuple[str, ...]


class SenseMatch(NamedTuple):
    """A chunk found by meaning: the cosine of the chunk itself, and the best of all its parts with its place.

    `sentence` is the best cosine of its sentences; that of its best part, where it has none.
    """

    number: int
    cosine: float
    best: float
    part: int
    sentence: float


class Standing(NamedTuple):
    """What a ranking must know of a chunk beside its words and its meaning.

    `document` is the id of its document, `first` and `last` the numbers of that one's chunks; `path` is its source id
    where links may mean it, else empty. `turn` is the chunk's `line`. `updated` is that of the document, `importance`
    that of the fact for which it stands, or 0.
    """

    number: int
    chunk_id: str
    document: str
    first: int
    last: int
    path: str
    turn: int
    place: Place
    voice: Voice
    speaker: str
    at: str
    updated: str = ""
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk as the index keeps it, with the document it belongs to (`chunks`, `links`, `facts` left empty)."""

    number: int
    chunk: Chunk
    document: Document


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two documents, by path; `target` is as written, `path` None where there is no such note.

    `relation` is what the link says of the two, or the Bond between the facts for which they stand; empty where it
    says nothing.
    """

    source: str
    target: str
    path: str | None
    line: int
    relation: str = ""


TAIL: Final = 6
"""How many characters at the end of an id tell it from others: the beginning is its time."""


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts are wanted; an empty field leaves all of them in, and all fields must fit.

    `prefix` is the beginning of an id, `suffix` its end, of TAIL characters at least.
    `names` are entities as `Rules.entity` writes them: facts whose subject or
    object is one of them fit, and entries that link to a note of that name. `claims` are as `Rules.claim` writes them.
    `sensitive` False leaves out those of sensitive documents. Staged facts come only where `staged` says so.
    """

    ids: tuple[str, ...] = ()
    prefix: str = ""
    suffix: str = ""
    paths: tuple[str, ...] = ()
    fingerprint: str = ""
    claims: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    predicate: str = ""
    topics: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    origins: tuple[Origin, ...] = ()
    always_load: bool = False
    sensitive: bool = True
    staged: bool = False
    limit: int | None = None


class Contest(NamedTuple):
    """Two facts that claim the same thing at once: the one that holds no longer, the one that holds, and since when."""

    loser: Fact
    winner: Fact
    at: str


class Centroid(NamedTuple):
    """The middle of all that is about a topic, as a unit vector of that version."""

    topic: str
    version: str
    vector: "Floats"


@dataclass(frozen=True, slots=True)
class Counts:
    """What an index holds, and on the disk how many bytes."""

    documents: Mapping[str, int]  # by type of source
    chunks: int
    removed: int
    vectors: Mapping[str, int]  # by version of the encoder
    waiting: int  # chunks that are still to be encoded
    links: int
    unresolved: int
    sensitive: int
    problems: int
    size: int
    synced: str | None  # when a whole source was last compared with the index


def vector_texts(chunk: Chunk) -> tuple[str, ...]:
    """The texts of which a chunk has vectors: its parts, then its sentences.

    One without parts has none: nothing finds it by meaning, and what may not be encoded has no parts.
    """
    return (*chunk.parts, *chunk.sentences) if chunk.parts else ()


class Linker(Protocol):
    """How links find notes. The index asks it whenever a document comes, goes or changes its names."""

    def names_of(self, path: str, aliases: Sequence[str]) -> frozenset[str]:
        """The names under which a link may mean the note at that path."""

    def names_in(self, link: Link) -> frozenset[str]:
        """The names that this link may mean; a note that has none of them is not meant by it."""

    def resolve(self, link: Link, *, source: str, among: Mapping[str, tuple[str, ...]]) -> str | None:
        """The path that the link in the note `source` means, among these paths and the aliases of each."""


class Rules(Protocol):
    """What the index must know of facts. It asks whenever a document with facts comes, goes or changes."""

    def entity(self, name: str) -> str:
        """The name of an entity as it compares: the same for all spellings of one name; empty for none."""

    def claim(self, fact: Fact) -> str:
        """What only one fact may say at a time, as a text that compares; empty where many may."""

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, End]:
        """Of facts with the same claim, those that hold no longer because another begins, by id."""


class Reading(Protocol):
    """The index at one moment."""

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, weighing: Weighing, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, at least `limit` if there are as many; ties are not cut.

        Chunks whose numbers are in `also` are never cut off, if they have one of the words and pass the filters.
        """

    def match_sense(self, vector: "Fixed", filters: Filters, *, version: str, limit: int) -> tuple[SenseMatch, ...]:
        """The chunks nearest to the vector among those of that version, at least `limit` if there are as many.

        They are found by their parts; sentences are compared only for those that are found.
        """

    def sense_of(self, vector: "Fixed", numbers: Sequence[int], *, version: str) -> tuple[SenseMatch, ...]:
        """How near these chunks are to the vector; those without a vector of that version are left out."""

    def standings(self, numbers: Sequence[int]) -> Mapping[int, Standing]:
        """What is to be known of each of these chunks, in this order."""

    def match_whole(self, words: Sequence[str], documents: Sequence[Standing], *, weighing: Weighing) -> list[float]:
        """The score from 0 to 1 of each of these documents by words, all its chunks taken as one text.

        What a program said counts by `weighing.reply`. A word's worth is the same as for chunks.
        """

    def likeness(self, documents: Sequence[Standing], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, how alike in meaning it is to each of the first `top`, as a cosine.

        A document means what its first AVERAGED chunks mean on average, among its first REACH, replies left out.
        """

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all who speak in what the index holds; with or without those of sensitive documents."""

    def passing(self, filters: Filters) -> int:
        """How many documents pass the filters."""

    def found(self, numbers: Sequence[int]) -> tuple[Found, ...]:
        """The chunks with these numbers, in this order."""

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for theirs."""

    def synced(self) -> str | None:
        """When a whole source was last compared with the index; None when none ever was."""

    def counts(self) -> Counts:
        """What the index holds."""

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, in order."""

    def edges(self, paths: Iterable[str] = ()) -> tuple[Edge, ...]:
        """The links from or to these documents, or all links; then the bonds between the facts for which they stand."""

    def facts(self, asked: FactQuery) -> tuple[Known, ...]:
        """The facts that fit, those last updated first, then by id; each id once.

        Where one id stands at two paths, the fact is that of the path whose name ends in the last six digits of the
        id, else of the first path in order.
        """

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, `update` for each that supersedes another; in order."""

    def contests(self) -> tuple[Contest, ...]:
        """Every fact that is active and holds no longer, because another with its claim does.

        They come in the order of the paths and places of the losers.
        """

    def twins(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The ids that stand at several paths, with those paths; the one that keeps it first."""

    def named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that have this name, as `Rules.entity` writes it; in order."""

    def known_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names, as `Rules.entity` writes them, that a note has or a fact is about."""

    def entities(self, name: str) -> frozenset[str]:
        """The names, as `Rules.entity` writes them, of what this one may mean: itself, and the titles, file names and
        aliases of the notes that it names."""

    def topics(self) -> tuple[Topic, ...]:
        """Every topic of what can be found without asking for the archive, and how many documents are about it.

        They come in the order of their names; the spellings of one topic count together, under the first of them.
        Sensitive documents count for nothing here.
        """

    def centroids(self, version: str) -> tuple[Centroid, ...]:
        """The middle of each topic, by the first part of the first chunk of every document that `topics` counts."""


class Index(Protocol):
    """One index. Raises IndexDamaged when it cannot be used; a change that fails changes nothing."""

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """What is remembered of every document of a source, the removed ones too, by its `source_id`."""

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The same for one document."""

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text of which the document has a vector, a removed one too; () when it is not there."""

    def put(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document that is not there yet. Raises Conflict when it is."""

    def upsert(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document or replace it, in one transaction; one array for each chunk: a row for each part, then one
        for each sentence, in the order of `vector_texts`.

        A document without a version comes with empty `vectors`. Links that its names may have a say in are resolved
        anew, in the same transaction; so they are by the four changes below.
        """

    def touch(self, document: Document, *, now: float) -> None:
        """Bring a document up to date in everything but its chunks; one that was removed is there again.

        Raises NotFound, and Conflict when its chunks were made from something else: another writer was there since.
        """

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and particulars of this one, and its chunks their new ids.

        Words and vectors are kept; a removed document at the new path gives way. Raises NotFound, and Conflict when
        the path is taken or the chunks are others.
        """

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Let nothing find the document any more; whether it was there."""

    def erase(self, source_type: str, source_id: str) -> bool:
        """Leave no trace of the document in any file of the index; whether it was there."""

    def purge(self, *, before: float) -> int:
        """Drop the documents that were removed before that moment; how many."""

    def mark_synced(self, at: str) -> None:
        """Remember when a whole source was compared with the index."""

    def settle(self) -> None:
        """Put what was written lately into the form in which it is searched fastest, if it is worth it."""

    def reading(self) -> AbstractContextManager[Reading]:
        """A look at the index at this moment."""

    def rebuilding(self) -> "AbstractContextManager[Index]":
        """A new, empty index. When the block ends well it takes the place of this one, for every process."""

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""


class VectorCache(Protocol):
    """Vectors by encoder version and by the sha256 of their text: nothing is encoded twice."""

    def get(self, version: str, hashes: Sequence[str]) -> "Mapping[str, Fixed]":
        """Those vectors that are there, by hash."""

    def put(self, version: str, vectors: "Mapping[str, Fixed]") -> None:
        """Keep these vectors."""

    def forget(self, hashes: Sequence[str]) -> None:
        """Leave no trace of the vectors of these texts, whatever their version."""

    def mend(self) -> bool:
        """Begin anew where what is kept cannot be read; whether that was so."""

    def drop_unused(self, *, before: date) -> int:
        """Drop the vectors that were last asked for before that day; how many."""

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""
