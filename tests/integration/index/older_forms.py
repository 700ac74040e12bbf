"""The tables of an index that an earlier program made: of the last form but the present one, which has them all."""

OLDER_TABLES = """
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
-- These two answer what each save asks of all documents: how many vectors there are, and which are below a folder.
CREATE INDEX memory_documents_by_version
ON memory_documents (user_id, deleted_at, embedding_version, encoded_count, chunk_count);
CREATE INDEX memory_documents_by_path
ON memory_documents (user_id, source_id, deleted_at, place, status, sensitive, first_chunk, chunk_count);
CREATE INDEX memory_documents_by_chunk ON memory_documents (first_chunk, chunk_count);
CREATE INDEX memory_documents_by_begin ON memory_documents (user_id, valid_from) WHERE valid_from <> '';
CREATE INDEX memory_documents_by_end ON memory_documents (user_id, ends_at) WHERE ends_at <> '';

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

-- The vectors of chunks that no segment file holds yet: scales and rows in the order of the hashes.
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

CREATE TABLE memory_fact_topics (
  topic TEXT NOT NULL,
  fact  INTEGER NOT NULL REFERENCES memory_facts (key) ON DELETE CASCADE,
  PRIMARY KEY (topic, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_fact_topics_by_fact ON memory_fact_topics (fact);

CREATE TABLE memory_bonds (
  fact   INTEGER NOT NULL REFERENCES memory_facts (key) ON DELETE CASCADE,
  bond   TEXT NOT NULL CHECK (bond IN ('update', 'extend', 'derive', 'contradict')),
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
  name   TEXT NOT NULL UNIQUE,
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL
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
