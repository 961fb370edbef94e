"""Records what an application does through its own connections: proxies around those of DB-API and of SQLAlchemy's engines."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .recorder import Recorder, Txn

_NAME = r'["`\[]?\w+["`\]]?'
_PATH = rf"(?:{_NAME}\.)*{_NAME}"
_VALUE = r"\?|%s|%\(\w+\)s|:\w+|\$\d+|-?\d+(?:\.\d+)?|'(?:[^']|'')*'|NULL"
_PARAMETER = re.compile(r"\?|%s|%\((\w+)\)s|:(\w+)|\$(\d+)")
_WHERE = rf"\s+WHERE\s+(?P<column>{_PATH})\s*=\s*(?P<key>{_VALUE})"
_SELECT = re.compile(rf"SELECT\s+(?P<list>.+?)\s+FROM\s+(?P<table>{_PATH})(?P<rest>\s.*)?$", re.I | re.S)
_ITEM = re.compile(rf"(?P<column>{_PATH})(?:\s+(?:AS\s+)?{_NAME})?", re.I)
_ONE_ROW = re.compile(rf"{_WHERE}(?:\s+FOR\s+(?:NO\s+KEY\s+)?UPDATE|\s+FOR\s+(?:KEY\s+)?SHARE)?\s*$", re.I | re.S)
_INSERT = re.compile(rf"INSERT\s+INTO\s+(?P<table>{_PATH})\s*\((?P<columns>[^()]+)\)\s*VALUES\s*\((?P<values>[^()]+)\)\s*$", re.I | re.S)
_UPDATE = re.compile(rf"UPDATE\s+(?P<table>{_PATH})\s+SET\s+(?P<set>.+?){_WHERE}\s*$", re.I | re.S)
_DELETE = re.compile(rf"DELETE\s+FROM\s+(?P<table>{_PATH}){_WHERE}\s*$", re.I | re.S)
_WRITTEN = re.compile(rf"\b(?:INTO|UPDATE|FROM|TABLE(?:\s+IF\s+(?:NOT\s+)?EXISTS)?)\s+(?P<table>{_PATH})", re.I)
_CREATE = re.compile(r"CREATE\s+TABLE\b(?!.*\bAS\b)", re.I | re.S)  # with no rows in it
_NOT_ROWS = re.compile(r"\b(JOIN|GROUP|UNION|DISTINCT|HAVING|WITH)\b|,", re.I)
_SETTING = ("PRAGMA", "SET", "SHOW", "EXPLAIN", "ANALYZE", "VACUUM", "RELEASE", "SAVEPOINT", "CREATE INDEX")


def _bare(name: str) -> str:
    return name.split(".")[-1].strip().strip('"`[]').lower()


def _in_order(sql: str, parameters: Any) -> Callable[[str, int], Any]:
    """What a value of the statement that begins at a place stands for."""
    places = [m.start() for m in re.finditer(r"\?|%s", sql)]

    def value(written: str, at: int) -> Any:
        named = _PARAMETER.fullmatch(written)
        if named is None:
            if written.upper() == "NULL":
                return None
            if written.startswith("'"):
                return written[1:-1].replace("''", "'")
            return float(written) if "." in written else int(written)
        name = named.group(1) or named.group(2)
        if name is not None:
            return parameters[int(name) - 1] if name.isdigit() else parameters[name]
        return parameters[int(named.group(3)) - 1 if named.group(3) else places.index(at)]

    return value


class Watched:
    """What is recorded of one test, and of which tables: of each the column that names its rows."""

    def __init__(self, tables: Mapping[str, str]) -> None:
        self.tables = {_bare(table): _bare(column) for table, column in tables.items()}
        self.statements = 0
        self.not_understood: collections.Counter[str] = collections.Counter()
        self.left_out: dict[str, str] = {}  # tables, and the statement because of which
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="assay-")
        self._path = os.path.join(self._folder.name, "run.jsonl")
        self.recorder = Recorder(self._path)
        self._connections = 0
        self.columns: dict[str, set[str]] = {table: set() for table in self.tables}  # but for the key, as far as they are known
        self.described: set[str] = set()  # tables whose columns are all known
        self._known: set[str] = set()  # tables whose rows at the beginning are recorded

    def wrap(self, connection: Any) -> Connection:
        with self._lock:
            self._connections += 1
            name = f"connection {self._connections}"
            self._note_rows(connection)
        return Connection(self, connection, name)

    def _note_rows(self, connection: Any) -> None:
        for table, key in self.tables.items():
            if table in self._known:
                continue
            cursor = connection.cursor()
            try:
                cursor.execute(f"SELECT * FROM {table}")
                columns = [_bare(column[0]) for column in cursor.description]
                self.columns[table].update(column for column in columns if column != key)
                for row in cursor.fetchall():
                    held = dict(zip(columns, row, strict=True))
                    for column in columns:
                        if held[column] is not None:
                            self.recorder.holds(_key(table, held[key], column), _told(held[column]))
                self._known.add(table)
                self.described.add(table)
            except Exception:  # of any driver: the table is not there yet
                pass
            finally:
                cursor.close()
                connection.rollback()

    def miss(self, sql: str) -> None:
        with self._lock:
            self.not_understood[" ".join(sql.split())[:100]] += 1

    def leave_out(self, sql: str) -> None:
        """The statement wrote what is not known: nothing of its tables can be judged."""
        self.miss(sql)
        for found in _WRITTEN.finditer(sql):
            if _bare(found["table"]) in self.tables:
                self.left_out.setdefault(_bare(found["table"]), " ".join(sql.split())[:100])

    def lines(self) -> bytes:
        """The history, without the tables that were left out."""
        self.recorder.close()
        gone = tuple(json.dumps(f"{table}/")[1:-1] for table in self.left_out)
        kept = []
        with open(self._path, encoding="utf-8") as file:
            for line in map(json.loads, file):
                if gone and str(line.get("key", "")).startswith(gone):
                    continue
                if gone and "ops" in line:
                    line["ops"] = [op for op in line["ops"] if not str(op[1]).startswith(gone)]
                kept.append(json.dumps(line))
        return ("\n".join(kept) + "\n").encode()

    def remarks(self) -> list[str]:
        told = []
        for table, sql in self.left_out.items():
            told.append(f"The table {table} is left out because the writes of this statement are unknown: {sql}")
        if self.not_understood:
            count = sum(self.not_understood.values())
            told.append(f"{count} of {self.statements} statements were not understood and are not checked:")
            told += [f"  {times} × {sql}" for sql, times in self.not_understood.most_common(5)]
        return told


def _key(table: str, row: Any, column: str) -> str:
    return f"{table}/{row}.{column}"


def _put(txn: Txn, key: str, value: Any) -> None:
    if value is None:
        txn.delete(key)
    else:
        txn.write(key, value)


def _told(value: Any) -> Any:
    from .recorder import _told as told

    return told(value)


class Connection:
    """A connection of DB-API, and the transactions that the application has in it: from the first statement to commit or rollback."""

    def __init__(self, watched: Watched, connection: Any, name: str) -> None:
        self._watched, self._connection = watched, connection
        self._session = watched.recorder.session(name)
        self._txn: Txn | None = None
        self._begun = False  # by a statement: BEGIN

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_watched", "_connection", "_session", "_txn", "_begun"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._connection, name, value)

    def cursor(self, *arguments: Any, **named: Any) -> Cursor:
        return Cursor(self, self._connection.cursor(*arguments, **named))

    def execute(self, *arguments: Any, **named: Any) -> Cursor:
        return self.cursor().execute(*arguments, **named)

    def executemany(self, *arguments: Any, **named: Any) -> Cursor:
        return self.cursor().executemany(*arguments, **named)

    def executescript(self, script: str) -> Any:
        self._watched.leave_out(script)
        return self._connection.executescript(script)

    def commit(self) -> None:
        self._end(self._connection.commit)

    def rollback(self) -> None:
        try:
            self._connection.rollback()
        finally:
            self._abort()

    def close(self) -> None:
        self._connection.close()
        self._abort()

    def __enter__(self) -> Connection:
        self._connection.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if kind is None:
            return self._end(lambda: self._connection.__exit__(None, None, None))
        try:
            return self._connection.__exit__(kind, error, trace)
        finally:
            self._abort()

    def _begin(self) -> Txn:
        if self._txn is None:
            self._txn = self._session.begin()
        return self._txn

    def _end(self, commit: Callable[[], Any]) -> Any:
        txn, self._txn, self._begun = self._txn, None, False
        if txn is None:
            return commit()
        txn.committing()
        try:
            answer = commit()
        except BaseException:
            txn.unknown()
            raise
        txn.committed()
        return answer

    def _abort(self) -> None:
        txn, self._txn, self._begun = self._txn, None, False
        if txn is not None:
            txn.aborted()

    def _is_autocommit(self) -> bool:
        """Whether a statement outside of BEGIN is a transaction of its own."""
        connection = self._connection
        if getattr(connection, "autocommit", False) is True:
            return True
        return hasattr(connection, "isolation_level") and hasattr(connection, "in_transaction") and connection.isolation_level is None


class Cursor:
    def __init__(self, connection: Connection, cursor: Any) -> None:
        self._of, self._cursor = connection, cursor
        self._rows: collections.deque[Any] | None = None  # of a query that was recorded: read at once

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, sql: Any, parameters: Any = None, *arguments: Any, **named: Any) -> Cursor:
        given = () if parameters is None else (parameters,)
        self._run(str(sql), [parameters], lambda: self._cursor.execute(sql, *given, *arguments, **named))
        return self

    def executemany(self, sql: Any, parameters: Iterable[Any], *arguments: Any, **named: Any) -> Cursor:
        every = list(parameters)
        self._run(str(sql), every, lambda: self._cursor.executemany(sql, every, *arguments, **named))
        return self

    def fetchone(self) -> Any:
        if self._rows is None:
            return self._cursor.fetchone()
        return self._rows.popleft() if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        size = size or self._cursor.arraysize
        if self._rows is None:
            return list(self._cursor.fetchmany(size))
        return [self._rows.popleft() for _ in range(min(size, len(self._rows)))]

    def fetchall(self) -> list[Any]:
        if self._rows is None:
            return list(self._cursor.fetchall())
        rows, self._rows = list(self._rows), collections.deque()
        return rows

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: Any) -> None:
        self._cursor.close()

    def _run(self, sql: str, every: list[Any], run: Callable[[], Any]) -> None:
        self._rows = None
        sql = sql.strip().rstrip(";").strip()
        word = sql.split(None, 1)[0].upper() if sql else ""
        of = self._of
        if word in ("COMMIT", "END"):
            of._end(run)
        elif word == "ROLLBACK" and not re.match(r"ROLLBACK\s+(WORK\s+|TRANSACTION\s+)?TO\b", sql, re.I):
            try:
                run()
            finally:
                of._abort()
        elif word in ("BEGIN", "START"):
            of._begin()
            of._begun = True
            run()
        elif sql.upper().startswith(_SETTING) or _CREATE.match(sql):
            run()
        else:
            self._run_in_transaction(sql, every, run)

    def _run_in_transaction(self, sql: str, every: list[Any], run: Callable[[], Any]) -> None:
        of = self._of
        alone = of._txn is None and not of._begun and of._is_autocommit()
        txn = of._begin()
        of._watched.statements += 1
        try:
            run()
        except BaseException:
            if alone:
                of._abort()
            raise
        if sql.upper().startswith("ROLLBACK"):  # to a savepoint: what it took back is not known
            of._watched.leave_out(" ".join(f"FROM {table}" for table in of._watched.tables))
        elif not self._note(txn, sql, every, alone):
            (of._watched.miss if sql.upper().startswith("SELECT") else of._watched.leave_out)(sql)
        if alone:
            of._end(lambda: None)

    def _note(self, txn: Txn, sql: str, every: list[Any], alone: bool) -> bool:
        """Whether what the statement saw and did is recorded, or of no table that is watched."""
        tables = self._of._watched.tables
        named = {_bare(found["table"]) for found in _WRITTEN.finditer(sql)}
        if named and not named & tables.keys():
            return True
        with contextlib.suppress(KeyError, ValueError, IndexError, TypeError):
            if found := _SELECT.match(sql):
                return self._note_rows(txn, found, sql, every[0])
            if found := _INSERT.match(sql):
                return all([self._note_insert(txn, found, sql, one, len(every) == 1, alone) for one in every])
            if found := _UPDATE.match(sql):
                return all([self._note_update(txn, found, sql, one, alone) for one in every])
            if found := _DELETE.match(sql):
                return all([self._note_delete(txn, found, sql, one) for one in every])
        return False

    def _note_rows(self, txn: Txn, found: re.Match[str], sql: str, parameters: Any) -> bool:
        table, rest = _bare(found["table"]), found["rest"] or ""
        key = self._of._watched.tables[table]
        if _NOT_ROWS.search(rest) or "(" in found["list"] or self._cursor.description is None:
            return False
        self._rows = collections.deque(self._cursor.fetchall())
        columns = [_bare(column[0]) for column in self._cursor.description]
        if found["list"].strip() != "*" and not found["list"].strip().endswith(".*"):
            self._describe(table)
            items = [_ITEM.fullmatch(one.strip()) for one in found["list"].split(",")]
            columns = [_bare(item["column"]) if item else "" for item in items]
            # An expression is no column, whatever it begins with.
            if not {*columns} <= self._of._watched.columns[table] | {key}:
                return False
        self._of._watched.columns[table].update(column for column in columns if column != key)
        one = _ONE_ROW.match(rest)
        name = None
        if one and _bare(one["column"]) == key:
            name = _in_order(sql, parameters)(one["key"], found.start("rest") + one.start("key"))
            if not self._rows:
                for column in columns:
                    if column != key:
                        txn.read(_key(table, name, column), None)
                return True
        if name is None and key not in columns:
            return False
        for row in self._rows:
            held = dict(zip(columns, tuple(row), strict=True))
            for column, value in held.items():
                if column != key:
                    txn.read(_key(table, held.get(key, name), column), value)
        return True

    def _describe(self, table: str) -> None:
        """Learns the columns of a table that was made after the first connection."""
        watched = self._of._watched
        if table in watched.described:
            return
        cursor = self._of._connection.cursor()
        try:
            cursor.execute(f"SELECT * FROM {table} WHERE 1 = 0")
            watched.columns[table].update({_bare(column[0]) for column in cursor.description} - {watched.tables[table]})
            watched.described.add(table)
        finally:
            cursor.close()

    def _note_insert(self, txn: Txn, found: re.Match[str], sql: str, parameters: Any, one_row: bool, autocommit: bool) -> bool:
        table = _bare(found["table"])
        value, at, values = _in_order(sql, parameters), found.start("values"), []
        for part in found["values"].split(","):
            written = part.strip()
            if not re.fullmatch(_VALUE, written, re.I):
                return False
            values.append(value(written, at + len(part) - len(part.lstrip())))
            at += len(part) + 1
        held = dict(zip(map(_bare, found["columns"].split(",")), values, strict=True))
        self._describe(table)
        key = self._of._watched.tables[table]
        row = held.pop(key, None)
        if row is None:
            row = getattr(self._cursor, "lastrowid", None) if one_row else None
        if row is None:
            return False
        missing = self._of._watched.columns[table] - held.keys()  # what the database puts there
        self._of._watched.columns[table].update(held)
        for column, written in held.items():
            if written is not None:  # what is not there is null
                txn.write(_key(table, row, column), written)
        return not missing or (not autocommit and self._ask(txn, table, row, sorted(missing)))

    def _note_update(self, txn: Txn, found: re.Match[str], sql: str, parameters: Any, alone: bool) -> bool:
        table = _bare(found["table"])
        if _bare(found["column"]) != self._of._watched.tables[table]:
            return False
        value = _in_order(sql, parameters)
        row = value(found["key"], found.start("key"))
        if self._cursor.rowcount == 0:
            return True
        if self._cursor.rowcount != 1:
            return False
        at, computed = found.start("set"), []
        for part in re.split(r",(?![^()]*\))", found["set"]):
            column, written = (side.strip() for side in part.split("=", 1))
            if re.fullmatch(_VALUE, written, re.I):
                _put(txn, _key(table, row, _bare(column)), value(written, at + part.index(written, part.index("="))))
            else:
                computed.append(_bare(column))
            at += len(part) + 1
        return not computed or (not alone and self._ask(txn, table, row, computed))

    def _ask(self, txn: Txn, table: str, row: Any, columns: list[str]) -> bool:
        """What the database computed: its own transaction is asked."""
        if isinstance(row, bool) or not isinstance(row, (int, str)) or (isinstance(row, str) and not re.fullmatch(r"[\w .:@+-]*", row)):
            return False  # no value that is written alike everywhere
        written_row = f"'{row}'" if isinstance(row, str) else str(row)
        cursor = self._of._connection.cursor()
        try:
            cursor.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {self._of._watched.tables[table]} = {written_row}")
            for column, written in zip(columns, cursor.fetchone(), strict=True):
                _put(txn, _key(table, row, column), written)
            return True
        finally:
            cursor.close()

    def _note_delete(self, txn: Txn, found: re.Match[str], sql: str, parameters: Any) -> bool:
        table = _bare(found["table"])
        columns = self._of._watched.columns[table]
        if _bare(found["column"]) != self._of._watched.tables[table] or not columns or self._cursor.rowcount not in (0, 1):
            return False
        row = _in_order(sql, parameters)(found["key"], found.start("key"))
        for column in sorted(columns) if self._cursor.rowcount else ():
            txn.delete(_key(table, row, column))
        return True
