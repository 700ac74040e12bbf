"""SQLite files for the rooms that store rows (`history` and `index`), and those of other programs.

- connection   open, create and migrate a file; read and write transactions for threads and processes; file locks
- errors       translate what SQLite and the disk raise into our errors
- foreign_file the plain tables of a SQLite file that another program wrote, for imports
"""

from commonplace.database.connection import Database
from commonplace.database.errors import ErrorWording, translate_errors

__all__ = ["Database", "ErrorWording", "translate_errors"]
