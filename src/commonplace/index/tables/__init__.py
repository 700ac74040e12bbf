"""The rows of an index in SQL that SQLite and PostgreSQL both execute: one text, one meaning, two engines.

- changes         adding, changing and removing one document, with everything that depends on it
- documents       rows of documents, chunks and vectors, written and read
- links           rows of links, and how they are resolved again
- facts           rows of facts and topics, and how they are kept up to date
- filters         filters as SQL
- queries         chunks, counts, notes, links; built on `fact_queries`: facts, entities, topics
- past_lines      the vault's history
- sql             what these modules ask of a connection, and the rules that their statements keep

Tables and columns: docs/formats/index.md. `index/postgresql/statements.py` has the rewriting for PostgreSQL.
"""
