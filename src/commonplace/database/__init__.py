"""SQLite files and PostgreSQL for the rooms that store rows (`history` and `index`), and files of other programs.

- connection   open, create and migrate a file; read and write transactions for threads and processes; file locks
- errors       translate what SQLite and the disk raise into our errors
- postgresql   connections to PostgreSQL, transactions of one tenant, row-level security and migrations
- foreign_file the plain tables of a SQLite file that another program wrote, for imports
"""

from commonplace.database.connection import Database
from commonplace.database.errors import ErrorWording, translate_errors

__all__ = ["Database", "ErrorWording", "translate_errors"]
