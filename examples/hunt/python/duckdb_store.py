"""DuckDB in a file, a cursor (a connection of its own) for each thread."""
import os
import threading

import duckdb
from hunt import Conflict, PRESENT


class Store:
    reads, writes, ranges, version = ["primary key", "count", "scan"], ["upsert", "update or insert"], ["between", "scan"], duckdb.__version__

    def __init__(self, directory, mode):
        self.db, self.local = duckdb.connect(os.path.join(directory, "hunt.db")), threading.local()
        self.db.execute("SET threads = 1")
        self.db.execute("CREATE TABLE IF NOT EXISTS kv (k BIGINT PRIMARY KEY, v BIGINT)")

    def begin(self, read_only):
        if not hasattr(self.local, "db"):
            self.local.db = self.db.cursor()
        return Txn(self.local.db)

    def close(self):
        pass


class Txn:
    def __init__(self, db):
        self.db = db
        db.execute("BEGIN")

    def do(self, sql, *args):
        try:
            return self.db.execute(sql, args).fetchall()
        except (duckdb.TransactionException, duckdb.ConstraintException) as error:
            if "onflict" in str(error) or "uplicate" in str(error):
                raise Conflict from error
            raise

    def get(self, how, key):
        if how == 1:
            return PRESENT if self.do("SELECT count(*) FROM kv WHERE k = ?", key)[0][0] else None
        rows = self.do(["SELECT v FROM kv WHERE k = ?", "", "SELECT v FROM kv WHERE k + 0 = ?"][how], key)
        return rows[0][0] if rows else None

    def put(self, how, key, value):
        if how == 0:
            self.do("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", key, value)
        elif self.do("UPDATE kv SET v = ? WHERE k = ?", value, key)[0][0] == 0:
            self.do("INSERT INTO kv VALUES (?, ?)", key, value)

    def delete(self, key):
        self.do("DELETE FROM kv WHERE k = ?", key)

    def range(self, how, low, high):
        return self.do(["SELECT k, v FROM kv WHERE k BETWEEN ? AND ? ORDER BY k", "SELECT k, v FROM kv WHERE k + 0 >= ? AND k + 0 <= ? ORDER BY k"][how], low, high)

    def commit(self):
        self.do("COMMIT")

    def abort(self):
        self.db.execute("ROLLBACK")
