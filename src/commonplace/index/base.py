"""The index seam: fast lookup of documents, chunks and facts, by words and by vectors. All of it is derived.

Terms:
- document  one note or one item of another source, with its chunks, links, facts and Problems.
- number    identifies a chunk within one index. It is never reused; a chunk that changes gets a new one.
            Numbers differ from one index to another, so results are compared by id.
- reader    a consistent view of the index: one read transaction, which does not see later changes.
- version   the encoder that made a vector. A vector search compares vectors of one version only.
- removed   a document whose source is gone. No query returns it. It returns with its source;
            `purge` deletes documents that were removed long ago.
- staged    a document that waits for the person's approval. No search returns it.

An index gives the same results, to the last digit, in whatever order its documents were added.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from commonplace.model import (
    Bond,
    Chunk,
    Document,
    Fact,
    FactEdge,
    FactEnd,
    FactRecord,
    Filters,
    Link,
    Origin,
    Place,
    Problem,
    Stamp,
    Status,
    Topic,
    Trust,
    Voice,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Fixed = npt.NDArray[np.int16 | np.float64]  # 32767 stands for 1
    Floats = npt.NDArray[np.float32]

VAULT_SOURCE: Final = "vault"
"""The source whose documents can be targets of links: notes, each by its path."""

SIMILARITY_CHUNKS: Final = 16
SIMILARITY_REACH: Final = 64
"""`document_similarity` averages this many chunks of a document, taken from its first SIMILARITY_REACH."""

EncodedDocument = tuple[Document, "Sequence[Fixed]"]
"""A document with its vectors: one array for each chunk, or none for a document without a version."""

ID_SUFFIX_LENGTH: Final = 6
"""How many characters at the end of an id distinguish it from others: the beginning is its time."""


# ---------------------------------------------------------------- search: parameters and results


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """Weights of the FIELDS of a chunk, and the constants of BM25.

    A word that occurs in more than the share `common` of all chunks is dropped while two rarer ones remain.
    `reply` is the weight of a program's words when whole documents are scored.
    """

    fields: tuple[int, int, int, int, int] = (3, 3, 2, 2, 1)
    k1: float = 1.2
    b: float = 0.75
    common: float = 0.2
    reply: float = 0.2


class WordMatch(NamedTuple):
    """A chunk matched by words. The score is from 0 to 1; a chunk full of every word would come near 1.

    `by` holds the contribution of each word that the chunk has.
    """

    number: int
    score: float
    by: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The result of a word search, best first; `dropped` are the words that were too common to count."""

    matches: tuple[WordMatch, ...]
    dropped: tuple[str, ...]


class VectorMatch(NamedTuple):
    """A chunk compared with a vector: the cosine of the chunk itself, and of its best part with that part's position.

    `sentence` is the best cosine of its sentences, or `best` if it has none.
    """

    number: int
    cosine: float
    best: float
    part: int
    sentence: float


class ChunkAttributes(NamedTuple):
    """The attributes of a chunk that ranking needs, besides words and vectors.

    `document` is the id of its document, `first` and `last` are the numbers of that document's chunks; `path` is the
    document's path if links can point to it, else empty. `turn` is the chunk's `line`. `updated` is the document's,
    empty if it is not dated; `importance` is that of the fact which the document holds as an entry, or 0. `source` is
    the type of the document's source.
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
    source: str = ""


class WrittenNote(NamedTuple):
    """A note that a template wrote, by the keys of its frontmatter: for what, and from which version of it."""

    path: str
    key: str
    template: str
    version: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index stores it, and its document (without `chunks`, `links` and `facts`)."""

    number: int
    chunk: Chunk
    document: Document


# ---------------------------------------------------------------- documents, links, facts


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two documents, by path; `target` is the link's text, `path` None if there is no such note.

    `relation` is the relation that the link states, or the Bond between the facts of two entries; often empty.
    """

    source: str
    target: str
    path: str | None
    line: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Conditions on facts. A fact must meet all of them; an empty field is no condition.

    `prefix` is the beginning of an id, `suffix` its end, of ID_SUFFIX_LENGTH characters at least; `folder` is the
    beginning of a path.
    `names` are entities normalized by `Rules.entity`: matches facts whose subject or object is one of them, and
    entries that link to a note of that name. `claims` are normalized by `Rules.claim`. `bond` matches facts that have
    such a bond to another.
    `sensitive` False excludes facts of sensitive documents, `only_sensitive` all others. Staged facts are included only
    if `staged` is True; `only_staged` excludes all others.
    `text` is part of the statement, `cue` of what it is about or of when it matters; of ASCII letters the case does not
    matter. `recorded_from` and `recorded_until` are
    moments, the latter excluded. `after` is the `updated` and the id of the fact after which a page begins.
    """

    ids: tuple[str, ...] = ()
    prefix: str = ""
    suffix: str = ""
    paths: tuple[str, ...] = ()
    folder: str = ""
    fingerprint: str = ""
    claims: tuple[str, ...] = ()
    bond: Bond | None = None
    names: tuple[str, ...] = ()
    predicate: str = ""
    topics: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    origins: tuple[Origin, ...] = ()
    always_load: bool = False
    sensitive: bool = True
    only_sensitive: bool = False
    staged: bool = False
    only_staged: bool = False
    text: str = ""
    cue: str = ""
    kinds: tuple[str, ...] = ()
    trusts: tuple[Trust, ...] = ()
    recorded_from: str = ""
    recorded_until: str = ""
    after: tuple[str, str] | None = None
    limit: int | None = None


class FactCounts(NamedTuple):
    """How many facts there are, by kind, by trust and by topic (folded); a fact may have several topics."""

    total: int
    kinds: Mapping[str, int]
    trusts: Mapping[str, int]
    topics: Mapping[str, int]


class EntityCount(NamedTuple):
    """How many facts have this name, normalized by `Rules.entity`, as subject and as object.

    `spelling` is that of one of those updated last, `newest` when that was.
    """

    name: str
    spelling: str
    subjects: int
    objects: int
    newest: str


class NoteRow(NamedTuple):
    """A note as the index lists it; `names` are those by which it is known as an entity, none for an entry."""

    path: str
    title: str
    kind: str
    place: Place
    updated: str
    sensitive: bool
    is_entry: bool
    names: frozenset[str]


class ClaimConflict(NamedTuple):
    """Two active facts with the same claim: the one that no longer holds, the one that does, and since when."""

    loser: Fact
    winner: Fact
    at: str


class TopicCentroid(NamedTuple):
    """The mean direction of all documents about a topic, as a unit vector of that version."""

    topic: str
    version: str
    vector: "Floats"


@dataclass(frozen=True, slots=True)
class Counts:
    """What an index holds, and its size on disk in bytes."""

    documents: Mapping[str, int]  # by source type
    chunks: int
    removed: int
    vectors: Mapping[str, int]  # by encoder version
    waiting: int  # chunks without vectors, to be encoded
    links: int
    unresolved: int
    sensitive: int
    problems: int
    size: int
    synced: str | None  # when a whole source was last compared with the index


def vector_texts(chunk: Chunk) -> tuple[str, ...]:
    """The texts of a chunk that are encoded: its parts, then its sentences.

    Empty for a chunk without parts. Vector search cannot find it; text that may not be encoded has no parts.
    """
    return (*chunk.parts, *chunk.sentences) if chunk.parts else ()


# ---------------------------------------------------------------- the vault's history


class PastCommit(NamedTuple):
    """A commit of the vault's history that the index has read: its number, counted from the oldest, and its time."""

    number: int
    id: str
    at: str


class PastMove(NamedTuple):
    """A note that became another, by a new name or as a copy; `is_sure` if it was renamed beyond doubt."""

    source: str
    target: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class PastStep:
    """What one commit did to the notes.

    `notes` has a hash of the text of each note that it added or changed, empty for a text that is too short to tell;
    `facts` has the facts in the lines of those that are not entries, `marked` are the sensitive ones. `removed` and
    `erased` are the notes that it took away, the latter for good. A large commit comes in several steps, of which only
    the last `is_complete`; until then it does not count.
    """

    id: str
    at: str
    notes: Mapping[str, str]
    facts: Mapping[str, tuple[Fact, ...]]
    marked: frozenset[str]
    removed: tuple[str, ...]
    moves: tuple[PastMove, ...]
    erased: frozenset[str]
    is_complete: bool = True


class PastLine(NamedTuple):
    """A fact in a line of a note, from the commit `first` on; `last_at` is when a commit removed it, or empty."""

    fact: Fact
    first: int
    first_at: str
    last_at: str


class PastCover(NamedTuple):
    """The newest commit in which a note was sensitive, under whatever name, and the newest that erased it; else 0.

    `stands` if the newest commit of all has a note at this path.
    """

    marked: int = 0
    erased: int = 0
    stands: bool = False


MOST_RELATIVES: Final = 8
"""A note that is new is taken for another one with its text, or for one of its name that is gone: so many at most."""


# ---------------------------------------------------------------- what callers tell the index about links and facts


class Linker(Protocol):
    """How links resolve to notes. The index asks it whenever a document is added, removed or renamed."""

    def names_of(self, path: str, aliases: Sequence[str]) -> frozenset[str]:
        """The names by which a link can refer to the note at that path."""

    def names_in(self, link: Link) -> frozenset[str]:
        """The names that this link may refer to; a note with none of them is not its target."""

    def resolve(self, link: Link, *, source: str, among: Mapping[str, tuple[str, ...]]) -> str | None:
        """The path to which the link in the note `source` resolves, among these paths with their aliases."""


class Rules(Protocol):
    """The logic of facts. The index asks it whenever a document with facts is added, removed or changed."""

    def entity(self, name: str) -> str:
        """The normalized name of an entity: equal for all spellings of one name; empty if there is no name."""

    def claim(self, fact: Fact) -> str:
        """The normalized claim that only one fact can make at a time; empty if many facts can."""

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, FactEnd]:
        """Of facts with the same claim, the ends of those that another one replaces, by id."""


# ---------------------------------------------------------------- queries, all within one read transaction


class SearchQueries(Protocol):
    """Search by words and by vectors, and what ranking needs of the chunks found."""

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, bm25: Bm25Parameters, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, at least `limit` if there are as many; ties are not cut.

        Chunks whose numbers are in `also` are always included if they have one of the words and pass the filters.
        """

    def chunks_with(self, words: Sequence[str], filters: Filters) -> tuple[int, ...]:
        """The numbers of the chunks that have all of these words and pass the filters, ascending; none for no words."""

    def match_vector(self, vector: "Fixed", filters: Filters, *, version: str, limit: int) -> tuple[VectorMatch, ...]:
        """The chunks of that version nearest to the vector, at least `limit` if there are as many.

        Chunks are found by their parts; sentences are compared only for the chunks found.
        """

    def score_vector(self, vector: "Fixed", numbers: Sequence[int], *, version: str) -> tuple[VectorMatch, ...]:
        """These chunks compared with the vector; those without a vector of that version are left out."""

    def chunk_attributes(self, numbers: Sequence[int]) -> Mapping[int, ChunkAttributes]:
        """The attributes of these chunks, in this order."""

    def score_documents(
        self, words: Sequence[str], documents: Sequence[ChunkAttributes], *, bm25: Bm25Parameters
    ) -> list[float]:
        """The BM25 score of each of these documents, from 0 to 1, all its chunks taken as one text.

        A program's words count by `bm25.reply`. A word's inverse document frequency is that among chunks.
        """

    def document_similarity(self, documents: Sequence[ChunkAttributes], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, its cosine with each of the first `top`.

        A document's vector is the mean of its first SIMILARITY_CHUNKS chunks, among its first SIMILARITY_REACH,
        replies left out.
        """

    def chunks(self, numbers: Sequence[int]) -> tuple[StoredChunk, ...]:
        """The chunks with these numbers, in this order."""

    def count_documents(self, filters: Filters) -> int:
        """How many documents pass the filters."""

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all speakers in the index, with or without those of sensitive documents."""

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""


class DocumentQueries(Protocol):
    """What the index holds, and how documents link to each other."""

    def counts(self) -> Counts:
        """What the index holds."""

    def last_sync(self) -> str | None:
        """When a whole source was last compared with the index, or None."""

    def memory_sources(self) -> Mapping[str, str]:
        """The notes that are marked `memory: source` and not sensitive: for each path the hash of its text."""

    def written_notes(self, *, key: str = "", template: str = "") -> tuple[WrittenNote, ...]:
        """The notes whose frontmatter has an idempotency key: with that key, or of that template; sorted by path."""

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, sorted."""

    def note_rows(self) -> tuple[NoteRow, ...]:
        """Every note, by path."""

    def titles_with(self, part: str, *, sensitive: bool) -> tuple[str, ...]:
        """The titles of documents and the names of notes that contain this text, each once, folded and sorted.

        Neither of staged documents nor, unless `sensitive`, of sensitive ones.
        """

    def edges(self, paths: Iterable[str] = (), *, among: bool = False) -> tuple[Edge, ...]:
        """Links from or to these documents, or all links; then the bonds between facts of different documents.

        With `among`, only those between two of these documents.
        """


class FactQueries(Protocol):
    """Facts, the entities they are about, and topics."""

    def facts(self, query: FactQuery) -> tuple[FactRecord, ...]:
        """The facts that match, most recently updated first, then by id; each id once.

        If one id occurs at several paths, the path whose name ends in the last six digits of the id wins, else the
        first path in order.
        """

    def count_facts(self, query: FactQuery) -> FactCounts:
        """How many facts match, whatever the limit of the query and where its page begins."""

    def entity_counts(self, *, sensitive: bool) -> tuple[EntityCount, ...]:
        """Every subject and object of facts that are not staged, sorted by name; with those of sensitive documents
        or without."""

    def mentions(self, *, sensitive: bool) -> tuple[tuple[str, str], ...]:
        """Every path with the name of a subject or object of a fact there, sorted; facts as in `entity_counts`."""

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, sorted; includes an `update` for each fact that supersedes another."""

    def claim_conflicts(self) -> tuple[ClaimConflict, ...]:
        """Every active fact that no longer holds because another with its claim does.

        Ordered by path and position of the losing fact.
        """

    def duplicate_ids(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Ids that occur at several paths, with those paths, the winning one first."""

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes with this name, compared by `Rules.entity`; sorted."""

    def existing_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names, normalized by `Rules.entity`, that belong to a note or occur in a fact."""

    def entity_names(self, name: str) -> frozenset[str]:
        """All normalized names of the entity: this one, and titles, file names and aliases of the notes it names."""

    def topics(self) -> tuple[Topic, ...]:
        """Every topic of documents outside the archive, and how many documents are about it.

        Sorted by name; the spellings of one topic count together, under the first of them.
        Sensitive documents are not counted.
        """

    def centroids(self, version: str) -> tuple[TopicCentroid, ...]:
        """The centroid of each topic, over the first part of the first chunk of every document `topics` counts."""


class PastQueries(Protocol):
    """The vault's history, as far as `Index.add_past` has read it."""

    def past_form(self) -> str:
        """The form under which it was added; empty if there is none."""

    def past_commit(self, *, at: str = "", among: Sequence[str] = ()) -> PastCommit | None:
        """The newest commit that is not later than `at` and is one of `among`; an empty value is no condition."""

    def past_lines(self, query: FactQuery) -> tuple[PastLine, ...]:
        """The lines that the notes have or had, by path, first commit and id.

        Only `names`, `predicate`, `topics`, `claims` and `staged` of the query count.
        """

    def past_covers(self, paths: Iterable[str]) -> Mapping[str, PastCover]:
        """For each of these notes, in which commit it was sensitive or erased last.

        What a note became counts for what it was before.
        """

    def past_erasures(self) -> int:
        """The newest commit that erased a note, or 0."""

    def past_successors(self, path: str) -> frozenset[str]:
        """The paths of all notes that the note at this path became, renamed or copied; without the path itself."""


class IndexReader(SearchQueries, DocumentQueries, FactQueries, PastQueries, Protocol):
    """The index at one moment."""


# ---------------------------------------------------------------- the index and the vector cache


class Index(Protocol):
    """One index. Raises IndexDamaged if it cannot be used; a change that fails changes nothing."""

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """The stamp of every document of a source, including removed ones, by its `source_id`."""

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The stamp of one document, or None."""

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text for which the document has a vector, also if removed; () if there is no document."""

    def put(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document. Raises Conflict if it exists."""

    def put_all(self, documents: "Sequence[EncodedDocument]", *, now: float) -> None:
        """Add documents in one transaction, faster than one by one. Raises Conflict if one exists."""

    def upsert(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add or replace a document in one transaction.

        `vectors` has one array for each chunk, with one row for each of its `vector_texts`; it is empty for a document
        without a version. Links affected by the document's names are resolved again in the same transaction, here and
        in the four methods below.
        """

    def touch(self, document: Document, *, now: float) -> None:
        """Update everything but the document's chunks; restores a removed document.

        Raises NotFound, or Conflict if its chunks were made from something else: another writer came first.
        """

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and metadata of this one, and its chunks their new ids.

        Keeps words and vectors; replaces a removed document at the new path. Raises NotFound, or Conflict if the path
        is taken or the chunks differ.
        """

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Hide the document from every query; False if there was none."""

    def erase(self, source_type: str, source_id: str) -> bool:
        """Delete every trace of the document from every file of the index; False if there was none."""

    def purge(self, *, before: float) -> int:
        """Delete the documents that were removed before that time; returns how many."""

    def record_sync(self, at: str) -> None:
        """Store when a whole source was compared with the index."""

    def add_past(self, steps: Sequence[PastStep], *, form: str, after: str) -> None:
        """Add commits of the vault's history, oldest first, after the commit with that id, or as the first ones.

        A note that is new is taken for one with the same text, or for one of the same name that is gone. Raises
        Conflict if another commit is the newest, or the form is another.
        """

    def cut_past(self, number: int) -> None:
        """Forget the commits after that one, all of them for 0; everything if one of them erased a note."""

    def followed_history(self) -> tuple[str, str]:
        """The commit up to which the index follows the history, and what was derived from it; empty at first."""

    def follow_history(self, commit: str, derived: str) -> None:
        """Store the commit up to which the index follows the vault's history, and what was derived from it."""

    def advance_history(self, before: str, commit: str) -> None:
        """Follow the history up to this commit, if the index followed it up to `before`."""

    def optimize(self, *, check: bool = False) -> None:
        """Bring recent changes into the form that is searched fastest, if it is worth the work.

        What is known to be damaged in that form is made again; with `check`, it is read to find out.
        """

    def damaged_files(self) -> tuple[str, ...]:
        """The names of files that are not as they were written and are made again by `optimize`; reads all of them.

        Raises IndexDamaged if the index itself is damaged, VaultUnavailable if it cannot be written.
        """

    def reader(self) -> AbstractContextManager[IndexReader]:
        """A reader of the index at this moment."""

    def replacement(self) -> "AbstractContextManager[Index]":
        """A new, empty index. If the block succeeds it replaces this one, for every process."""

    def close(self) -> None:
        """Release what is open; the next call opens it again."""


class VectorCache(Protocol):
    """Vectors by encoder version and sha256 of their text, so that no text is encoded twice."""

    def get(self, version: str, hashes: Sequence[str]) -> "Mapping[str, Fixed]":
        """The cached vectors among these, by hash."""

    def put(self, version: str, vectors: "Mapping[str, Fixed]") -> None:
        """Cache these vectors, in the 8 bits in which an index stores them.

        So an index has the same numbers to the last digit, whether a vector comes from here or from the encoder.
        """

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete every trace of the vectors of these texts, of every version."""

    def check(self) -> None:
        """Read the whole stored cache. Raises IndexDamaged if it is unreadable, VaultUnavailable if it is read-only."""

    def repair(self) -> bool:
        """Start an empty cache if the stored one is unreadable; True if it was."""

    def drop_unused(self, *, before: date) -> int:
        """Delete the vectors that were last used before that day; returns how many."""

    def size(self) -> int:
        """How many bytes the cache has on disk; 0 in memory."""

    def close(self) -> None:
        """Release what is open; the next call opens it again."""
