"""The statements of `index/tables`, rewritten for PostgreSQL, for one tenant and one build.

What is rewritten, and nothing else (the rules that the statements keep: `index/tables/sql.py`):
- every table becomes the rows of one tenant and build in it: the planner then skips the partitions of others
- a list is bound as an array: `x = ANY(:list)`
- rows are added from arrays, many at once: COPY does not work with row-level security
- a JSON path, `substr` from the end; what tells SQLite's planner which index to use is dropped

PostgreSQL's text has no NUL: U+FFFF, which is no character, stands for it, and U+FFFD inside JSON.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from psycopg import Cursor
from psycopg.abc import Buffer
from psycopg.types.numeric import Int8
from psycopg.types.string import StrDumper, TextLoader

from commonplace.database.postgresql import Connection
from commonplace.index.postgresql.schema import ARRAY_TYPES, COLUMNS

_SCOPE: Final = "tenant = :tenant AND build = :build"
_HINTS: Final = re.compile(r"\bINDEXED BY \w+|\bNOT INDEXED\b|\bCROSS(?= JOIN\b)|(?<=ORDER BY )\+")
_LIST: Final = re.compile(r"IN \(SELECT value FROM json_each\(:(\w+)\)\)")
_JSON: Final = re.compile(r"((?:\w+\.)?\w+_json) (->>?) '\$\.([\w.]+)'")
_TAIL: Final = re.compile(r"\bsubstr\(([\w.]+), -(\d+|length\(:\w+\))\)")
_TABLE: Final = re.compile(r"\bmemory_\w+")
_INSERT: Final = re.compile(r"\s*INSERT INTO (\w+) \(([^)]*)\)\s*VALUES \(([^)]*)\)(.*)", re.DOTALL)
_UPDATE: Final = re.compile(r"\s*UPDATE (\w+) SET (.*?) WHERE (.*)", re.DOTALL)
_DELETE: Final = re.compile(r"\s*DELETE FROM (\w+) WHERE (.*)", re.DOTALL)
_PARAMETER: Final = re.compile(r"(?<![:\w]):(\w+)")

_NUL: Final = "\uffff"
_JSON_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

Values = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement for psycopg, and the parameters that are lists; positional ones are named p0, p1, ..."""

    text: str
    lists: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Insertion:
    """A statement that adds rows from arrays c0, c1, ..., for these columns; `names` are the parameters of a row."""

    text: str
    columns: tuple[str, ...]
    names: tuple[str, ...]


class BuildConnection:
    """A connection inside a transaction, on which the statements of `index/tables` see one build of one tenant."""

    def __init__(self, connection: Connection, *, tenant: str, build: int) -> None:
        self.build = build
        self._plain = connection
        self._scope = {"tenant": tenant, "build": Int8(build)}

    def execute(self, statement: str, values: Values = (), /) -> Cursor[tuple[Any, ...]]:
        """Execute one statement with these values."""
        return self._execute(statement, values, binary=False)

    def fetch_binary(self, statement: str, values: Values, /) -> list[Any]:
        """The rows that a statement selects; vectors come in PostgreSQL's binary form."""
        return self._execute(statement, values, binary=True).fetchall()

    def executemany(self, statement: str, rows: Iterable[Values], /) -> None:
        """Execute the statement for each row of values; rows are added by one statement."""
        named = [_named(row) for row in rows]
        if not named:
            return
        if insertion := _insertion(statement):
            columns = enumerate(zip(insertion.columns, insertion.names, strict=True))
            arrays = {f"c{at}": [_bindable(row[name], column) for row in named] for at, (column, name) in columns}
            self._cursor().execute(insertion.text.encode(), arrays | self._scope)
        else:
            bound = [{name: _bindable(value, name) for name, value in row.items()} | self._scope for row in named]
            self._cursor().executemany(_rewritten(statement).text.encode(), bound)

    def _execute(self, statement: str, values: Values, *, binary: bool) -> Cursor[tuple[Any, ...]]:
        rewritten = _rewritten(statement)
        lists = rewritten.lists
        bound = {name: _bindable(each, name, is_list=name in lists) for name, each in _named(values).items()}
        if bound.get("limit") == -1:
            bound["limit"] = None
        return self._cursor(binary=binary).execute(rewritten.text.encode(), bound | self._scope)

    def _cursor(self, *, binary: bool = False) -> Cursor[tuple[Any, ...]]:
        cursor = self._plain.cursor(binary=binary)
        cursor.adapters.register_dumper(str, StrDumper)  # text is text: `unknown` has no operator of its own
        cursor.adapters.register_loader("text", _StoredTextLoader)
        return cursor


def _named(values: Values) -> dict[str, Any]:
    return dict(values) if isinstance(values, Mapping) else {f"p{at}": value for at, value in enumerate(values)}


def _bindable(value: Any, name: str = "", *, is_list: bool = False) -> Any:
    """The value for the parameter or column of that name as PostgreSQL takes it; all whole numbers have one type."""
    if is_list:
        return [_bindable(each) for each in json.loads(value)]
    if isinstance(value, int):
        return Int8(value)
    if not isinstance(value, str):
        return value
    return _JSON_NUL.sub(r"\1\\ufffd", value) if name.endswith("_json") else value.replace("\0", _NUL)


class _StoredTextLoader(TextLoader):
    """Text as it was before `_bindable`."""

    def load(self, data: Buffer) -> str | bytes:
        text = super().load(data)
        return text.replace(_NUL, "\0") if isinstance(text, str) and _NUL in text else text


@lru_cache(maxsize=1024)  # the statements are as many as the program has; some vary with the number of names
def _rewritten(statement: str) -> _Statement:
    named = _numbered(statement)
    plain = _TAIL.sub(r"right(\1, \2)", _JSON.sub(_json_path, _HINTS.sub("", named)))
    lists = frozenset(_LIST.findall(plain))
    return _Statement(_psycopg(_scoped(_LIST.sub(r"= ANY(:\1)", plain))), lists)


def _numbered(statement: str) -> str:
    parts = statement.split("?")
    return "".join(f"{part}:p{at}" for at, part in enumerate(parts[:-1])) + parts[-1]


def _json_path(match: re.Match[str]) -> str:
    column, arrow, path = match.groups()
    place = "{" + path.replace(".", ",") + "}"
    if arrow == "->":
        return f"({column}::json #> '{place}')::text"
    return f"({column}::json #>> '{place}' COLLATE \"C\")"


def _scoped(statement: str) -> str:
    """The statement on the rows of one tenant and build."""
    if found := _INSERT.fullmatch(statement):
        table, columns, values, rest = found.groups()
        return f"INSERT INTO {table} (tenant, build, {columns}) VALUES (:tenant, :build, {values}){rest}"  # noqa: S608
    if found := _UPDATE.fullmatch(statement):
        table, changes, condition = found.groups()
        return f"UPDATE {table} SET {changes} WHERE {_SCOPE} AND ({_selected(condition)})"  # noqa: S608
    if found := _DELETE.fullmatch(statement):
        table, condition = found.groups()
        return f"DELETE FROM {table} WHERE {_SCOPE} AND ({_selected(condition)})"  # noqa: S608
    return _selected(statement)


def _selected(statement: str) -> str:
    return _TABLE.sub(rf"(SELECT * FROM \g<0> WHERE {_SCOPE})", statement)  # noqa: S608


def _psycopg(statement: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))


@lru_cache(maxsize=256)
def _insertion(statement: str) -> _Insertion | None:
    found = _INSERT.fullmatch(_numbered(statement))
    if found is None:
        return None
    table, columns, values, rest = found.groups()
    names = tuple(each.strip().removeprefix(":") for each in values.split(","))
    into = tuple(each.strip() for each in columns.split(","))
    types = [COLUMNS[table][each] for each in into]
    arrays = ", ".join(f"%(c{at})s::{ARRAY_TYPES[each]}[]" for at, each in enumerate(types))
    taken = ", ".join(f"r.c{at}::halfvec" if each == "halfvec" else f"r.c{at}" for at, each in enumerate(types))
    made = ", ".join(f"c{at}" for at in range(len(into)))
    head = f"INSERT INTO {table} (tenant, build, {', '.join(into)})"
    text = f"{head} SELECT %(tenant)s, %(build)s, {taken} FROM unnest({arrays}) AS r ({made}){rest}"  # noqa: S608
    return _Insertion(text, into, names)
