"""Sessions on SQLite, recorded: demo.py RECORDERS DATABASE HISTORY"""
import random
import sqlite3
import sys
import threading
from decimal import Decimal

sys.path.insert(0, sys.argv[1])
from recorder import Recorder  # noqa: E402

database, history = sys.argv[2:4]
recorder = Recorder(history, initial=0)
with sqlite3.connect(database) as db:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE kv (k PRIMARY KEY, v)")
    db.executemany("INSERT INTO kv VALUES (?, 0)", [(f"x{i}",) for i in range(5)])


def work(number):
    session = recorder.session(f"s{number}")
    rng = random.Random(number)
    db = sqlite3.connect(database, isolation_level=None, timeout=0.05)
    for i in range(60):
        txn = session.begin()
        try:
            db.execute("BEGIN IMMEDIATE")
            a, b = rng.sample(range(5), 2)
            for key in (f"x{a}", f"x{b}"):
                txn.read(key, db.execute("SELECT v FROM kv WHERE k = ?", (key,)).fetchone()[0])
            value = 1000 * number + i + 1
            db.execute("UPDATE kv SET v = ? WHERE k = ?", (value, f"x{b}"))
            txn.write(f"x{b}", value)
            txn.committing()
            db.execute("COMMIT")
        except sqlite3.OperationalError:  # busy: SQLite says so before anything is done
            if db.in_transaction:
                db.execute("ROLLBACK")
            txn.aborted()
        else:
            txn.committed()
    session.end()


threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# What is no integer and no string: told as one, or the transaction as of unknown outcome.
odd = recorder.session("odd")
for values in ((True, Decimal("1.50"), 1.5, 2.0, 2**70), (object(), 1)):
    txn = odd.begin()
    for key, value in enumerate(values):
        txn.write(key, value)
    txn.committing()
    txn.committed()
odd.end()
recorder.close()
