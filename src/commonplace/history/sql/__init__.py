"""The history in SQL that SQLite and PostgreSQL both understand; `sqlite/` and `postgresql/` give it their tables.

- tables          the tables and their columns
- transaction     the notation of the statements, and what a database must offer
- conversations   conversations, use of facts, topic locks, what their models have been given
- learning        what was learned from conversations
- jobs            scheduled jobs
- calendars       the mirror of calendars
- history         `SqlHistory`: audit, grants and model calls, on top of the others
- copy            copy a history from one database to another
"""
