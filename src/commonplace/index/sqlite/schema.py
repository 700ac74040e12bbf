"""The tables of `index.db` and `vectors.db`; `user_version` is the version of a file's schema.

An index is derived: the tables of an older version are dropped, and the next sync fills the new ones.
Times are text such as 2026-03-01T09:12:44Z, so that text order is time order.
"""

from typing import Final

# A document's chunks have the numbers first_chunk, first_chunk + 1, ...: a search knows them without reading chunks.
# Words are stored as hashes with counts, so that a text is in the file once, in `content`.
_TABLES = """
CREATE TABLE memory_documents (
  key               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  user_id           TEXT NOT NULL,
  source_type       TEXT NOT NULL,
  source_id         TEXT NOT NULL,
  title             TEXT NOT NULL,
  uri               TEXT NOT NULL,
  content_hash      TEXT NOT NULL,
  made_from         TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??Z'),
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??Z'),
  dated             INTEGER NOT NULL CHECK (dated IN (0, 1)), -- 0 if `updated_at` is only the time of a file
  deleted_at        TEXT CHECK (deleted_at GLOB '????-??-??T??:??:??Z'),
  mtime             REAL NOT NULL,
  size              INTEGER NOT NULL,
  seen              REAL NOT NULL,
  sensitive         INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
  kind              TEXT NOT NULL,
  status            TEXT NOT NULL,
  place             TEXT NOT NULL CHECK (place IN ('', 'inbox', 'archive', 'staging')),
  aliases_json      TEXT NOT NULL CHECK (json_valid(aliases_json)),
  tags_json         TEXT NOT NULL CHECK (json_valid(tags_json)),
  topics_json       TEXT NOT NULL CHECK (json_valid(topics_json)),
  problems_json     TEXT NOT NULL CHECK (json_valid(problems_json)),
  metadata_json     TEXT NOT NULL CHECK (json_valid(metadata_json)),
  valid_from        TEXT NOT NULL,
  valid_until       TEXT NOT NULL,
  ends_at           TEXT NOT NULL, -- the earlier of valid_until and the moment at which another fact takes over
  importance        REAL NOT NULL, -- of the fact for which it stands, or 0
  first_chunk       INTEGER NOT NULL,
  chunk_count       INTEGER NOT NULL,
  encoded_count     INTEGER NOT NULL,
  vector_count      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX ux_memory_doc_user_source ON memory_documents (user_id, source_type, source_id);
CREATE INDEX memory_documents_by_update ON memory_documents (user_id, updated_at);
-- Whatever a search without filters must know of a document is in this one.
CREATE INDEX memory_documents_by_removal
ON memory_documents (user_id, deleted_at, place, status, valid_from, ends_at, first_chunk, chunk_count);
-- This one answers what a first save asks of all documents: which are below a folder.
CREATE INDEX memory_documents_by_path
ON memory_documents (user_id, source_id, deleted_at, place, status, sensitive, first_chunk, chunk_count);
CREATE INDEX memory_documents_by_chunk ON memory_documents (first_chunk, chunk_count);
CREATE INDEX memory_documents_by_begin ON memory_documents (user_id, valid_from) WHERE valid_from <> '';
CREATE INDEX memory_documents_by_end
ON memory_documents (user_id, ends_at, first_chunk, chunk_count) WHERE ends_at <> '';

CREATE TABLE memory_chunks (
  number            INTEGER PRIMARY KEY AUTOINCREMENT,
  chunk_id          TEXT NOT NULL,
  document_id       TEXT NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE ON UPDATE CASCADE,
  user_id           TEXT NOT NULL,
  chunk_index       INTEGER NOT NULL,
  content_hash      TEXT NOT NULL,
  heading_path      TEXT NOT NULL CHECK (json_type(heading_path) = 'array'),
  line              INTEGER NOT NULL,
  token_count       INTEGER NOT NULL,
  voice             TEXT NOT NULL CHECK (voice IN ('', 'user', 'assistant')),
  speaker           TEXT NOT NULL,
  at                TEXT NOT NULL CHECK (at = '' OR at GLOB '????-??-??T??:??:??Z'),
  embedding_version TEXT NOT NULL,
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??Z'),
  content           TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_chunks_by_document ON memory_chunks (document_id, chunk_index);
CREATE INDEX memory_chunks_by_version ON memory_chunks (user_id, embedding_version);

-- In a table of their own: two rows of half a page each leave less of a page empty than one of a whole page.
CREATE TABLE memory_words (
  number INTEGER PRIMARY KEY REFERENCES memory_chunks (number) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  words  BLOB NOT NULL
) STRICT;

CREATE TABLE memory_encoders (
  version TEXT PRIMARY KEY,
  dim     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The hashes of the parts, then of the sentences. `lead` is the scale and the vector of the first part of a document,
-- from which topics are made.
CREATE TABLE memory_vectors (
  number            INTEGER PRIMARY KEY REFERENCES memory_chunks (number) ON DELETE CASCADE,
  embedding_version TEXT NOT NULL,
  parts             INTEGER NOT NULL CHECK (parts > 0),
  sentences         INTEGER NOT NULL CHECK (sentences >= 0),
  hashes            BLOB NOT NULL CHECK (length(hashes) = 32 * (parts + sentences)),
  lead              BLOB
) STRICT;

-- The vectors of chunks that no segment file holds yet: scales and rows in the order of the hashes; those of parts have
-- 8 bits, those of sentences 4.
CREATE TABLE memory_new_vectors (
  number  INTEGER PRIMARY KEY REFERENCES memory_vectors (number) ON DELETE CASCADE,
  scales  BLOB NOT NULL,
  vectors BLOB NOT NULL
) STRICT;

CREATE TABLE memory_labels (
  document INTEGER NOT NULL REFERENCES memory_documents (key) ON DELETE CASCADE,
  field    TEXT NOT NULL CHECK (field IN ('kind', 'tag', 'topic', 'title', 'speaker')),
  label    TEXT NOT NULL,
  PRIMARY KEY (document, field, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_labels_by_label ON memory_labels (field, label);

CREATE TABLE memory_names (
  name     TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES memory_documents (key) ON DELETE CASCADE,
  PRIMARY KEY (name, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_names_by_document ON memory_names (document);

CREATE TABLE memory_links (
  key       INTEGER PRIMARY KEY,
  document  INTEGER NOT NULL REFERENCES memory_documents (key) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  line      INTEGER NOT NULL,
  target    TEXT NOT NULL,
  relation  TEXT NOT NULL,
  link_json TEXT NOT NULL CHECK (json_valid(link_json)),
  path      TEXT
) STRICT;
CREATE INDEX memory_links_by_document ON memory_links (document);
CREATE INDEX memory_links_by_path ON memory_links (path) WHERE path IS NOT NULL;

CREATE TABLE memory_link_names (
  name TEXT NOT NULL,
  link INTEGER NOT NULL REFERENCES memory_links (key) ON DELETE CASCADE,
  PRIMARY KEY (name, link)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_link_names_by_link ON memory_link_names (link);

-- The facts of documents that were not removed; subject and object as they compare. `keeps` is 1 where the fact is
-- the one of its id: an id may stand at two paths. `fact_json` is all of the fact but what is usual.
CREATE TABLE memory_facts (
  key         INTEGER PRIMARY KEY,
  document    INTEGER NOT NULL REFERENCES memory_documents (key) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  user_id     TEXT NOT NULL,
  id          TEXT NOT NULL,
  keeps       INTEGER NOT NULL CHECK (keeps IN (0, 1)),
  path        TEXT NOT NULL,
  place       TEXT NOT NULL,
  sensitive   INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
  origin      TEXT NOT NULL CHECK (origin IN ('entry', 'line')),
  status      TEXT NOT NULL,
  always_load INTEGER NOT NULL CHECK (always_load IN (0, 1)),
  fingerprint TEXT NOT NULL,
  claim       TEXT NOT NULL,
  subject     TEXT NOT NULL,
  predicate   TEXT NOT NULL,
  object      TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  end_at      TEXT NOT NULL,
  end_by      TEXT NOT NULL,
  fact_json   TEXT NOT NULL CHECK (json_valid(fact_json))
) STRICT;
CREATE UNIQUE INDEX memory_facts_by_document ON memory_facts (document, position);
CREATE INDEX memory_facts_by_id ON memory_facts (user_id, id);
CREATE INDEX memory_facts_by_tail ON memory_facts (user_id, substr(id, -6));
CREATE INDEX memory_facts_by_path ON memory_facts (user_id, path);
CREATE INDEX memory_facts_by_update ON memory_facts (user_id, updated_at DESC, id);
CREATE INDEX memory_facts_by_fingerprint ON memory_facts (user_id, fingerprint) WHERE fingerprint <> '';
CREATE INDEX memory_facts_by_claim ON memory_facts (user_id, claim) WHERE claim <> '';
CREATE INDEX memory_facts_by_subject ON memory_facts (user_id, subject, updated_at DESC, id) WHERE subject <> '';
CREATE INDEX memory_facts_by_object ON memory_facts (user_id, object, updated_at DESC, id) WHERE object <> '';
CREATE INDEX memory_facts_by_predicate
ON memory_facts (user_id, predicate, updated_at DESC, id) WHERE predicate <> '';
CREATE INDEX memory_facts_loaded_always ON memory_facts (user_id) WHERE always_load = 1;
CREATE INDEX memory_facts_ended ON memory_facts (user_id) WHERE end_by <> '';
CREATE INDEX memory_facts_of_twins ON memory_facts (user_id) WHERE keeps = 0;

-- In the order in which facts of a topic are asked for: the last updated first.
CREATE TABLE memory_fact_topics (
  topic      TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  id         TEXT NOT NULL,
  fact       INTEGER NOT NULL REFERENCES memory_facts (key) ON DELETE CASCADE,
  PRIMARY KEY (topic, updated_at DESC, id, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_fact_topics_by_fact ON memory_fact_topics (fact);

CREATE TABLE memory_bonds (
  fact   INTEGER NOT NULL REFERENCES memory_facts (key) ON DELETE CASCADE,
  bond   TEXT NOT NULL CHECK (bond IN ('update', 'extend', 'derive', 'contradict', 'both', 'end')),
  target TEXT NOT NULL,
  PRIMARY KEY (fact, bond, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_bonds_by_target ON memory_bonds (target);

-- The names of notes, as those of entities compare.
CREATE TABLE memory_entities (
  name     TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES memory_documents (key) ON DELETE CASCADE,
  PRIMARY KEY (name, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entities_by_document ON memory_entities (document);

-- A row for each spelling of a topic and each version: how many documents, and the sum of what they mean.
CREATE TABLE memory_topics (
  user_id           TEXT NOT NULL,
  topic             TEXT NOT NULL,
  name              TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  documents         INTEGER NOT NULL CHECK (documents > 0),
  sum               BLOB NOT NULL CHECK (length(sum) % 8 = 0),
  PRIMARY KEY (user_id, topic, name, embedding_version)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_segments (
  first  INTEGER PRIMARY KEY,
  last   INTEGER NOT NULL CHECK (last >= first),
  chunks INTEGER NOT NULL,
  living INTEGER NOT NULL, -- how many of the chunks still exist
  name   TEXT NOT NULL UNIQUE,
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL
) STRICT;

-- How many chunks of each version there are in documents that were not removed, how many of these have vectors, and how
-- many vectors: counted when a document changes, and not by each save anew.
CREATE TABLE memory_versions (
  user_id           TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  chunks            INTEGER NOT NULL,
  encoded           INTEGER NOT NULL,
  vectors           INTEGER NOT NULL,
  PRIMARY KEY (user_id, embedding_version)
) STRICT, WITHOUT ROWID;

-- The chunks of documents that were added, changed or deleted in the last generations: what a process has in memory of
-- an earlier generation is brought up to date with these alone.
CREATE TABLE memory_changes (
  generation INTEGER NOT NULL,
  first      INTEGER NOT NULL,
  chunks     INTEGER NOT NULL,
  PRIMARY KEY (generation, first)
) STRICT, WITHOUT ROWID;

-- The vault's history: the commits of its first-parent line by number, oldest first. Nothing of an erased note is here
-- but the hash of its path.
CREATE TABLE memory_past_commits (
  number INTEGER PRIMARY KEY,
  id     TEXT NOT NULL UNIQUE,
  at     TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  form   TEXT NOT NULL,
  done   INTEGER NOT NULL CHECK (done IN (0, 1)) -- 0 until all notes of the commit are here
) STRICT;

-- The notes as the commits have them: a row for each text, from `first` until `last` (0 while it is there).
CREATE TABLE memory_past_notes (
  path   TEXT NOT NULL,
  first  INTEGER NOT NULL,
  last   INTEGER NOT NULL,
  name   TEXT NOT NULL,
  body   TEXT NOT NULL,
  marked INTEGER NOT NULL CHECK (marked IN (0, 1)),
  PRIMARY KEY (path, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_past_notes_by_body ON memory_past_notes (body, first) WHERE body <> '';
CREATE INDEX memory_past_notes_by_name ON memory_past_notes (name, last) WHERE last > 0;
CREATE INDEX memory_past_notes_by_mark ON memory_past_notes (first) WHERE marked = 1;

CREATE TABLE memory_past_moves (
  target TEXT NOT NULL,
  source TEXT NOT NULL,
  number INTEGER NOT NULL,
  sure   INTEGER NOT NULL CHECK (sure IN (0, 1)),
  PRIMARY KEY (target, source, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_past_moves_by_source ON memory_past_moves (source, target);

CREATE TABLE memory_past_covers (
  path   TEXT PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_past_erasures (
  hash   BLOB PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The facts in lines of notes, from the commit `first` until `last` (0 while the line is there).
CREATE TABLE memory_past_lines (
  key       INTEGER PRIMARY KEY,
  path      TEXT NOT NULL,
  id        TEXT NOT NULL,
  place     TEXT NOT NULL,
  claim     TEXT NOT NULL,
  subject   TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object    TEXT NOT NULL,
  first     INTEGER NOT NULL,
  first_at  TEXT NOT NULL,
  last      INTEGER NOT NULL,
  last_at   TEXT NOT NULL,
  fact_json TEXT NOT NULL CHECK (json_valid(fact_json))
) STRICT;
CREATE INDEX memory_past_lines_by_path ON memory_past_lines (path, last);
CREATE INDEX memory_past_lines_by_claim ON memory_past_lines (claim) WHERE claim <> '';
CREATE INDEX memory_past_lines_by_subject ON memory_past_lines (subject) WHERE subject <> '';
CREATE INDEX memory_past_lines_by_object ON memory_past_lines (object) WHERE object <> '';
CREATE INDEX memory_past_lines_by_predicate ON memory_past_lines (predicate) WHERE predicate <> '';

CREATE TABLE memory_past_topics (
  topic TEXT NOT NULL,
  line  INTEGER NOT NULL REFERENCES memory_past_lines (key) ON DELETE CASCADE,
  PRIMARY KEY (topic, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_past_topics_by_line ON memory_past_topics (line);

-- Up to which commit of the vault the index follows its history, and what was derived from the history until then.
CREATE TABLE memory_history (
  user_id   TEXT PRIMARY KEY,
  commit_id TEXT NOT NULL,
  derived   TEXT NOT NULL
) STRICT;

CREATE TABLE memory_syncs (
  user_id TEXT PRIMARY KEY,
  at      TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_state (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  identity   TEXT NOT NULL,
  generation INTEGER NOT NULL
) STRICT;
INSERT INTO memory_state VALUES (1, lower(hex(randomblob(16))), 0);
"""

_TRIGGERS = """
CREATE TRIGGER memory_documents_added AFTER INSERT ON memory_documents WHEN NEW.chunk_count > 0 BEGIN
  INSERT OR IGNORE INTO memory_changes SELECT generation + 1, NEW.first_chunk, NEW.chunk_count FROM memory_state;
END;
CREATE TRIGGER memory_documents_changed AFTER UPDATE ON memory_documents WHEN NEW.chunk_count > 0 BEGIN
  INSERT OR IGNORE INTO memory_changes SELECT generation + 1, NEW.first_chunk, NEW.chunk_count FROM memory_state;
END;
CREATE TRIGGER memory_documents_deleted AFTER DELETE ON memory_documents WHEN OLD.chunk_count > 0 BEGIN
  INSERT OR IGNORE INTO memory_changes SELECT generation + 1, OLD.first_chunk, OLD.chunk_count FROM memory_state;
  UPDATE memory_segments
  SET living = living - (min(OLD.first_chunk + OLD.chunk_count - 1, last) - max(OLD.first_chunk, first) + 1)
  WHERE first < OLD.first_chunk + OLD.chunk_count AND last >= OLD.first_chunk;
END;
CREATE TRIGGER memory_versions_added AFTER INSERT ON memory_documents WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO memory_versions
  VALUES (NEW.user_id, NEW.embedding_version, NEW.chunk_count, NEW.encoded_count, NEW.vector_count)
  ON CONFLICT DO UPDATE
  SET chunks = chunks + excluded.chunks, encoded = encoded + excluded.encoded, vectors = vectors + excluded.vectors;
END;
CREATE TRIGGER memory_versions_deleted AFTER DELETE ON memory_documents WHEN OLD.deleted_at IS NULL BEGIN
  UPDATE memory_versions
  SET chunks = chunks - OLD.chunk_count, encoded = encoded - OLD.encoded_count, vectors = vectors - OLD.vector_count
  WHERE user_id = OLD.user_id AND embedding_version = OLD.embedding_version;
END;
-- A change of a document leaves the number and the version of its chunks as they are.
CREATE TRIGGER memory_versions_removed AFTER UPDATE OF deleted_at ON memory_documents
WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE memory_versions
  SET chunks = chunks - OLD.chunk_count, encoded = encoded - OLD.encoded_count, vectors = vectors - OLD.vector_count
  WHERE user_id = OLD.user_id AND embedding_version = OLD.embedding_version;
END;
CREATE TRIGGER memory_versions_restored AFTER UPDATE OF deleted_at ON memory_documents
WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL BEGIN
  UPDATE memory_versions
  SET chunks = chunks + NEW.chunk_count, encoded = encoded + NEW.encoded_count, vectors = vectors + NEW.vector_count
  WHERE user_id = NEW.user_id AND embedding_version = NEW.embedding_version;
END;
"""

# Tables of earlier versions. Chunk numbers restart, so the index gets a new identity for whoever has it open.
_WITHOUT_OLDER = """
DROP TABLE IF EXISTS memory_fact_topics;
DROP TABLE IF EXISTS memory_bonds;
DROP TABLE IF EXISTS memory_facts;
DROP TABLE IF EXISTS memory_entities;
DROP TABLE IF EXISTS memory_topics;
DROP TABLE IF EXISTS memory_new_vectors;
DROP TABLE IF EXISTS memory_vectors;
DROP TABLE IF EXISTS memory_words;
DROP TABLE IF EXISTS memory_labels;
DROP TABLE IF EXISTS memory_names;
DROP TABLE IF EXISTS memory_link_names;
DROP TABLE IF EXISTS memory_links;
DROP TABLE IF EXISTS memory_chunks;
DROP TABLE IF EXISTS memory_documents;
DROP TABLE IF EXISTS memory_encoders;
DROP TABLE IF EXISTS memory_segments;
DROP TABLE IF EXISTS memory_versions;
DROP TABLE IF EXISTS memory_changes;
DROP TABLE IF EXISTS memory_past_topics;
DROP TABLE IF EXISTS memory_past_lines;
DROP TABLE IF EXISTS memory_past_erasures;
DROP TABLE IF EXISTS memory_past_covers;
DROP TABLE IF EXISTS memory_past_moves;
DROP TABLE IF EXISTS memory_past_notes;
DROP TABLE IF EXISTS memory_past_commits;
DROP TABLE IF EXISTS memory_history;
DROP TABLE IF EXISTS memory_syncs;
DROP TABLE IF EXISTS memory_state;
"""

MIGRATIONS: Final = ("", "", "", "", "", _WITHOUT_OLDER + _TABLES + _TRIGGERS)

_1_VECTORS = """
CREATE TABLE cached_vectors (
  version TEXT NOT NULL,
  hash    TEXT NOT NULL,
  used    TEXT NOT NULL CHECK (used GLOB '????-??-??'),
  vector  BLOB NOT NULL,
  PRIMARY KEY (version, hash)
) STRICT;
CREATE INDEX cached_vectors_by_hash ON cached_vectors (hash);
CREATE INDEX cached_vectors_by_use ON cached_vectors (used);
"""

# Vectors in 8 bits: `eight_bits` packs one of 16. A hash is the first 16 bytes of the sha256, a day its number in the
# calendar. Rows are appended, so that pages are full; one takes 430 bytes, and took 1240.
_2_EIGHT_BITS = """
CREATE TABLE cached_versions (
  number  INTEGER PRIMARY KEY,
  version TEXT NOT NULL UNIQUE
) STRICT;
DROP INDEX cached_vectors_by_hash;
DROP INDEX cached_vectors_by_use;
ALTER TABLE cached_vectors RENAME TO older_vectors;
CREATE TABLE cached_vectors (
  number  INTEGER PRIMARY KEY,
  version INTEGER NOT NULL REFERENCES cached_versions (number),
  hash    BLOB NOT NULL CHECK (length(hash) = 16),
  used    INTEGER NOT NULL,
  vector  BLOB NOT NULL
) STRICT;
INSERT INTO cached_versions (version) SELECT DISTINCT version FROM older_vectors ORDER BY version;
INSERT INTO cached_vectors (version, hash, used, vector)
SELECT v.number, unhex(substr(o.hash, 1, 32)), CAST(julianday(o.used) - 1721424.5 AS INTEGER), eight_bits(o.vector)
FROM older_vectors o JOIN cached_versions v USING (version) WHERE length(unhex(o.hash)) = 32 ORDER BY o.rowid;
CREATE UNIQUE INDEX cached_vectors_by_hash ON cached_vectors (hash, version);
DROP TABLE older_vectors;
"""

VECTOR_MIGRATIONS: Final = (_1_VECTORS, _2_EIGHT_BITS)
