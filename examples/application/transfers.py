"""Four clerks move money between accounts in SQLite, and a recorder writes down what they saw.

    python3 transfers.py bank.db bank.jsonl
"""

import itertools
import pathlib
import random
import sqlite3
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "recorders"))
from recorder import Recorder  # noqa: E402

ACCOUNTS = ["ann", "bob", "cleo"]
stamps = itertools.count(1)  # each balance is written with a stamp that no other has, so that a read tells which write it saw


def clerk(database, session, seed):
    rng = random.Random(seed)
    db = sqlite3.connect(database, isolation_level=None, timeout=5)
    for _ in range(50):
        txn = session.begin()
        try:
            db.execute("BEGIN IMMEDIATE")
            for account, change in zip(rng.sample(ACCOUNTS, 2), (-1, +1)):
                balance, stamp = db.execute("SELECT balance, stamp FROM accounts WHERE name = ?", (account,)).fetchone()
                txn.read(account, stamp)
                stamp = next(stamps)
                db.execute("UPDATE accounts SET balance = ?, stamp = ? WHERE name = ?", (balance + change, stamp, account))
                txn.write(account, stamp)
            txn.committing()
            db.execute("COMMIT")
        except sqlite3.OperationalError:  # busy: SQLite says so before anything is done
            if db.in_transaction:
                db.execute("ROLLBACK")
            txn.aborted()
        else:
            txn.committed()
    session.end()


def main(database, history):
    for file in (database, history):
        if pathlib.Path(file).exists():
            sys.exit(f"transfers.py: {file} is there already; name files that are not")
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER, stamp INTEGER)")
        db.executemany("INSERT INTO accounts VALUES (?, 100, 0)", [(name,) for name in ACCOUNTS])
    recorder = Recorder(history, initial=0)
    clerks = [threading.Thread(target=clerk, args=(database, recorder.session(f"clerk {n}"), n)) for n in range(4)]
    for one in clerks:
        one.start()
    for one in clerks:
        one.join()
    recorder.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
