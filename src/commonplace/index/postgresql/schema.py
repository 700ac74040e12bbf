"""The tables of an index in PostgreSQL: those of SQLite (docs/formats/index.md), for many tenants and builds.

A build is one index of a tenant: the vault's, one that will replace it, one of a past commit. `tenant` and `build`
begin every key. Text sorts by its bytes, as in SQLite. Keys are numbered within a build.
"""

import re
from typing import Final

from commonplace.database.postgresql import Area, Migration, TenantTable
from commonplace.index.tables.sql import INDEX_ERRORS, VECTOR_CACHE_ERRORS

_TYPES: Final = {
    "text": 'text COLLATE "C"',
    "int": "bigint",
    "count": "integer",  # sums of these are whole numbers for Python
    "flag": "smallint",
    "real": "double precision",
    "float": "real",
    "bytes": "bytea",
    "halfvec": "halfvec",
}
ARRAY_TYPES: Final = {name: declared.split(" COLLATE")[0] for name, declared in _TYPES.items()} | {"halfvec": "text"}
"""The type of the array in which many values of a column are sent; vectors are sent as text."""

# Each column with its type; a question mark after the type: may be NULL. The text after the slash is the key.
_PARTITIONED: Final = """
memory_documents: key int, id text, user_id text, source_type text, source_id text, title text, uri text,
  content_hash text, made_from text, embedding_version text, created_at text, updated_at text, dated flag,
  deleted_at text?, mtime real, size int, seen real, sensitive flag, kind text, status text, place text,
  aliases_json text, tags_json text, topics_json text, problems_json text, metadata_json text, valid_from text,
  valid_until text, ends_at text, importance real, first_chunk int, chunk_count count, encoded_count count,
  vector_count count, body_words count, reply_words count / key
memory_chunks: number int, chunk_id text, document_id text, user_id text, chunk_index int, content_hash text,
  heading_path text, line int, token_count int, voice text, speaker text, at text, embedding_version text,
  created_at text, content text / number
memory_words: number int, length int, words bytes / number
memory_vectors: number int, embedding_version text, parts int, sentences int, hashes bytes, lead bytes? / number
memory_parts: number int, part int, document int, encoder int, scale float, vector halfvec / encoder, number, part
memory_sentences: number int, encoder int, scales bytes, vectors bytes / number
memory_postings: first int, bucket int, content bytes / first, bucket
memory_labels: document int, field text, label text / document, field, label
memory_names: name text, document int / name, document
memory_links: key int, document int, position int, line int, target text, relation text, link_json text, path text?
  / key
memory_link_names: name text, link int / name, link
memory_facts: key int, document int, position int, user_id text, id text, keeps flag, path text, place text,
  sensitive flag, origin text, status text, always_load flag, fingerprint text, claim text, subject text,
  predicate text, object text, updated_at text, end_at text, end_by text, fact_json text / key
memory_fact_topics: topic text, updated_at text, id text, fact int / topic, updated_at, id, fact
memory_bonds: fact int, bond text, target text / fact, bond, target
memory_entities: name text, document int / name, document
"""
_WHOLE: Final = """
memory_state: generation int, next_number int /
memory_encoders: version text, dim int, number int / version
memory_segments: first int, last int, chunks int, buckets int / first
memory_topics: user_id text, topic text, name text, embedding_version text, documents count, sum bytes
  / user_id, topic, name, embedding_version
memory_past_commits: number int, id text, at text, form text, done flag / number
memory_past_notes: path text, first int, last int, name text, body text, marked flag / path, first
memory_past_moves: target text, source text, number int, sure flag / target, source, number
memory_past_covers: path text, number int / path
memory_past_erasures: hash bytes, number int / hash
memory_past_lines: key int, path text, id text, place text, claim text, subject text, predicate text, object text,
  first int, first_at text, last int, last_at text, fact_json text / key
memory_past_topics: topic text, line int / topic, line
memory_history: user_id text, commit_id text, derived text / user_id
memory_syncs: user_id text, at text / user_id
"""

_INDEXES: Final = """
UNIQUE memory_documents: id
UNIQUE memory_documents: user_id, source_type, source_id
memory_documents: user_id, source_id
memory_documents: user_id, ends_at WHERE ends_at <> ''
UNIQUE memory_chunks: document_id, chunk_index
memory_parts: document
memory_parts: number
memory_labels: field, label
memory_names: document
memory_links: document
memory_links: path WHERE path IS NOT NULL
memory_link_names: link
UNIQUE memory_facts: document, position
memory_facts: user_id, id
memory_facts: user_id, right(id, 6)
memory_facts: user_id, path
memory_facts: user_id, updated_at DESC, id
memory_facts: user_id, fingerprint WHERE fingerprint <> ''
memory_facts: user_id, claim WHERE claim <> ''
memory_facts: user_id, subject, updated_at DESC, id WHERE subject <> ''
memory_facts: user_id, object, updated_at DESC, id WHERE object <> ''
memory_facts: user_id, predicate, updated_at DESC, id WHERE predicate <> ''
memory_facts: user_id WHERE always_load = 1
memory_facts: user_id WHERE end_by <> ''
memory_facts: user_id WHERE keeps = 0
memory_fact_topics: fact
memory_bonds: target
memory_entities: document
memory_past_notes: body, first WHERE body <> ''
memory_past_notes: name, last WHERE last > 0
memory_past_moves: source, target
memory_past_lines: path, last
memory_past_lines: claim WHERE claim <> ''
memory_past_lines: subject WHERE subject <> ''
memory_past_lines: object WHERE object <> ''
memory_past_lines: predicate WHERE predicate <> ''
memory_past_topics: line
"""
# What a row belongs to: it is deleted with that.
_OWNERS: Final = """
memory_chunks: document_id -> memory_documents: id
memory_words: number -> memory_chunks: number
memory_vectors: number -> memory_chunks: number
memory_sentences: number -> memory_chunks: number
memory_parts: document -> memory_documents: key
memory_labels: document -> memory_documents: key
memory_names: document -> memory_documents: key
memory_links: document -> memory_documents: key
memory_link_names: link -> memory_links: key
memory_facts: document -> memory_documents: key
memory_fact_topics: fact -> memory_facts: key
memory_bonds: fact -> memory_facts: key
memory_entities: document -> memory_documents: key
memory_past_topics: line -> memory_past_lines: key
"""
_BUILD_NUMBERS: Final = "CREATE SEQUENCE memory_build_numbers"
_BUILDS: Final = TenantTable(
    "memory_builds", 'name text COLLATE "C" NOT NULL, build bigint NOT NULL, used timestamptz NOT NULL', "name"
)


def _entries(text: str) -> list[str]:
    """One entry of a list for each line; a line that begins with spaces continues the one before."""
    return [line for line in re.sub(r"\n +", " ", text).splitlines() if line]


def _columns(text: str) -> dict[str, dict[str, str]]:
    """For each table its columns, each with the name of its type."""
    tables = (entry.partition(":") for entry in _entries(text))
    pairs = {name: rest.partition("/")[0].split(",") for name, _, rest in tables}
    return {name: dict(each.split() for each in columns) for name, columns in pairs.items()}


COLUMNS: Final = {
    name: {column: type_.rstrip("?") for column, type_ in columns.items()}
    for name, columns in _columns(_PARTITIONED + _WHOLE).items()
}
"""For each table its columns without tenant and build, each with the name of its type."""


def _tables(text: str, *, partitioned: bool) -> list[TenantTable]:
    declared = []
    keys = {entry.partition(":")[0]: entry.partition("/")[2].strip() for entry in _entries(text)}
    for name, columns in _columns(text).items():
        lines = ["build bigint NOT NULL"]
        lines += [
            f"{each} {_TYPES[t.rstrip('?')]}{'' if t.endswith('?') else ' NOT NULL'}" for each, t in columns.items()
        ]
        key = f"build, {keys[name]}" if keys[name] else "build"
        declared.append(TenantTable(name, ", ".join(lines), key, partitioned=partitioned))
    return declared


def _indexes() -> list[str]:
    made = []
    for entry in _entries(_INDEXES):
        head, _, rest = entry.partition(": ")
        columns, where, condition = rest.partition(" WHERE ")
        unique, table = ("UNIQUE ", head.removeprefix("UNIQUE ")) if head.startswith("UNIQUE ") else ("", head)
        made.append(f"CREATE {unique}INDEX ON {table} (tenant, build, {columns}){where}{condition}")
    return made


def _owners() -> list[str]:
    made = []
    for entry in _entries(_OWNERS):
        table, column, owner, key = re.fullmatch(r"(\w+): (\w+) -> (\w+): (\w+)", entry).groups()  # type: ignore[union-attr]
        made.append(
            f"ALTER TABLE {table} ADD FOREIGN KEY (tenant, build, {column}) REFERENCES {owner} (tenant, build, {key})"
            " ON DELETE CASCADE ON UPDATE CASCADE"
        )
    return made


AREA: Final = Area(
    "index",
    (
        Migration(
            (
                _BUILD_NUMBERS,
                _BUILDS,
                *_tables(_PARTITIONED, partitioned=True),
                *_tables(_WHOLE, partitioned=False),
                *_indexes(),
                *_owners(),
                "ALTER TABLE memory_postings ALTER content SET STORAGE EXTERNAL",  # it is compressed already
                "ALTER TABLE memory_encoders ALTER number SET DEFAULT nextval('memory_build_numbers')",
            )
        ),
    ),
    INDEX_ERRORS,
)

_CACHED: Final = TenantTable(
    "cached_vectors",
    'hash bytea NOT NULL, version text COLLATE "C" NOT NULL, used integer NOT NULL, vector bytea NOT NULL',
    "hash, version",
    partitioned=True,
)
VECTOR_CACHE_AREA: Final = Area("vectors", (Migration((_CACHED,)),), VECTOR_CACHE_ERRORS)
