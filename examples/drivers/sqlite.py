#!/usr/bin/env python3
"""A driver for assay in Python: SQLite through the standard library.

    assay run --database 'exec:python3 examples/drivers/sqlite.py app.db'
    assay run --database 'exec:python3 examples/drivers/sqlite.py app.db --times'

With --times each transaction takes the next number of a clock in the database, and says it: as transactions here
exclude each other, that is when it reads and when its writes are installed.

One process a session. A line of JSON comes in, a line of JSON goes out; docs/formats/exec-protocol.md.
"""
import json
import sqlite3
import sys

TABLES = """
DROP TABLE IF EXISTS exec_kv;
CREATE TABLE exec_kv (k PRIMARY KEY, v) WITHOUT ROWID;
DROP TABLE IF EXISTS exec_list;
CREATE TABLE exec_list (k, v, n INTEGER PRIMARY KEY AUTOINCREMENT);
DROP TABLE IF EXISTS exec_clock;
CREATE TABLE exec_clock (now);
INSERT INTO exec_clock VALUES (0);
"""
KINDS = ["r", "w", "d", "append", "list", "range", "cas", "insert"]


def operate(db, op):
    kind, key, *rest = op
    if kind == "r":
        row = db.execute("SELECT v FROM exec_kv WHERE k IS ?", (key,)).fetchone()
        return {"value": row[0] if row else None}
    if kind == "w":
        db.execute("INSERT OR REPLACE INTO exec_kv VALUES (?, ?)", (key, rest[0]))
    elif kind == "d":
        done = db.execute("DELETE FROM exec_kv WHERE k IS ?", (key,))
        return {"effect": done.rowcount == 1}
    elif kind == "append":
        db.execute("INSERT INTO exec_list (k, v) VALUES (?, ?)", (key, rest[0]))
    elif kind == "list":
        rows = db.execute("SELECT v FROM exec_list WHERE k IS ? ORDER BY n", (key,))
        return {"list": [v for (v,) in rows]}
    elif kind == "range":
        rows = db.execute("SELECT k, v FROM exec_kv WHERE (?1 IS NULL OR k >= ?1) "
                          "AND (?2 IS NULL OR k <= ?2) ORDER BY k", (key, rest[0]))
        return {"rows": [list(row) for row in rows]}
    elif kind == "insert" or kind == "cas" and rest[0] is None:
        done = db.execute("INSERT OR IGNORE INTO exec_kv VALUES (?, ?)", (key, rest[-1]))
        return {"effect": done.rowcount == 1}
    elif kind == "cas":
        done = db.execute("UPDATE exec_kv SET v = ? WHERE k IS ? AND v IS ?", (rest[1], key, rest[0]))
        return {"effect": done.rowcount == 1}
    else:
        raise LookupError(f"no operation {kind}")
    return {}


def answer(db, message):
    do = message["do"]
    if do == "hello":
        db.execute(f"PRAGMA busy_timeout = {message['timeout_ms']}")
        return {"name": "SQLite", "version": sqlite3.sqlite_version, "kinds": KINDS}
    if do == "prepare":
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(TABLES)
    elif do == "begin":
        db.execute("BEGIN IMMEDIATE")
        if "--times" in sys.argv[2:]:
            db.execute("UPDATE exec_clock SET now = now + 1")
            now = db.execute("SELECT now FROM exec_clock").fetchone()[0]
            return {"start_ts": now, "commit_ts": now}
    elif do == "op":
        return operate(db, message["op"])
    elif do == "commit":
        db.execute("COMMIT")
    elif do == "abort":
        db.execute("ROLLBACK")
    else:
        raise LookupError(f"no request {do}")
    return {}


def main():
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    for line in sys.stdin:
        try:
            reply = {"ok": True, **answer(db, json.loads(line))}
        except sqlite3.OperationalError as error:
            # Another transaction is writing. SQLite says so before anything is done, COMMIT included.
            busy = "locked" in str(error) or "busy" in str(error)
            if db.in_transaction:
                db.execute("ROLLBACK")
            reply = {"aborted" if busy else "fatal": str(error)}
        except LookupError as error:
            reply = {"fatal": str(error)}
        print(json.dumps(reply), flush=True)


main()
