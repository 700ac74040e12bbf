"""How a SQLite file is opened, brought up to date and shared by threads and processes: what history and index need."""

from commonplace.database.file import Database
from commonplace.database.trouble import Wording, database_trouble

__all__ = ["Database", "Wording", "database_trouble"]
