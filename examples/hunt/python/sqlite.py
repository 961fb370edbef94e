"""SQLite from Python's standard library, a connection for each thread. Modes: wal, delete (the journal); wal-deferred: BEGIN, not BEGIN IMMEDIATE."""
import os
import sqlite3
import threading

from hunt import Conflict, DURABLE, PRESENT


class Store:
    reads, writes, ranges = ["select", "exists", "count"], ["replace", "upsert"], ["between", "scan"]
    version = sqlite3.sqlite_version

    def __init__(self, directory, mode):
        self.path, self.mode, self.local = os.path.join(directory, "hunt.db"), mode, threading.local()
        db = self.connect()
        db.execute(f"PRAGMA journal_mode={'DELETE' if mode == 'delete' else 'WAL'}")
        db.execute("CREATE TABLE IF NOT EXISTS kv (k INTEGER PRIMARY KEY, v INTEGER)")

    def connect(self):
        db = sqlite3.connect(self.path, isolation_level=None, timeout=0.2)
        db.execute(f"PRAGMA synchronous={'FULL' if DURABLE else 'OFF'}")
        return db

    def begin(self, read_only):
        if not hasattr(self.local, "db"):
            self.local.db = self.connect()
        return Txn(self.local.db, "BEGIN" if read_only or self.mode != "wal" else "BEGIN IMMEDIATE")

    def close(self):
        pass


class Txn:
    def __init__(self, db, begin):
        self.db = db
        self.do(begin)

    def do(self, sql, *args):
        try:
            return self.db.execute(sql, args).fetchall()
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise Conflict from error
            raise

    def get(self, how, key):
        if how == 1:
            return PRESENT if self.do("SELECT EXISTS (SELECT 1 FROM kv WHERE k = ?)", key)[0][0] else None
        if how == 2:
            return PRESENT if self.do("SELECT count(*) FROM kv WHERE k = ?", key)[0][0] else None
        rows = self.do("SELECT v FROM kv WHERE k = ?", key)
        return rows[0][0] if rows else None

    def put(self, how, key, value):
        self.do(["REPLACE INTO kv VALUES (?, ?)", "INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v"][how], key, value)

    def delete(self, key):
        self.do("DELETE FROM kv WHERE k = ?", key)

    def range(self, how, low, high):
        return self.do(["SELECT k, v FROM kv WHERE k BETWEEN ? AND ? ORDER BY k",
                        "SELECT k, v FROM kv NOT INDEXED WHERE +k >= ? AND +k <= ? ORDER BY +k"][how], low, high)

    def commit(self):
        self.do("COMMIT")

    def abort(self):
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
