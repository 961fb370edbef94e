#!/usr/bin/env python3
"""An application on PostgreSQL that records what its transactions saw: on_call.py URL ISOLATION HISTORY

Whoever is on call may leave as long as somebody else stays. Two do so at the same time, again and again. docs/tutorials/application.md
goes through it; it needs psycopg2 (Debian: python3-psycopg2).
"""
import pathlib
import sys
import threading

import psycopg2

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "recorders"))
from recorder import Recorder  # noqa: E402

url, isolation, path = sys.argv[1:4]
DOCTORS = ["alice", "bob"]


def prepare():
    db = psycopg2.connect(url)
    with db, db.cursor() as sql:
        sql.execute("DROP TABLE IF EXISTS on_call; CREATE TABLE on_call (doctor text PRIMARY KEY, shift bigint)")
        for doctor in DOCTORS:
            sql.execute("INSERT INTO on_call VALUES (%s, 0)", (doctor,))
    db.close()


def shift_of(sql, txn, doctor):
    sql.execute("SELECT shift FROM on_call WHERE doctor = %s", (doctor,))
    shift = sql.fetchone()[0]
    txn.read(doctor, shift)
    return shift


def change(sql, txn, doctor, number):
    """An odd shift is one off call. Each is a new number, so that a read tells which transaction it saw."""
    shifts = [shift_of(sql, txn, d) for d in DOCTORS]
    leaves = all(shift % 2 == 0 for shift in shifts)
    shift = 2 * number + leaves
    sql.execute("UPDATE on_call SET shift = %s WHERE doctor = %s", (shift, doctor))
    txn.write(doctor, shift)


def work(session, doctor, together):
    db = psycopg2.connect(url)
    db.set_session(isolation_level=isolation)
    for number in range(1, 101):
        together.wait(timeout=60)
        txn = session.begin()
        committing = False
        try:
            with db.cursor() as sql:
                change(sql, txn, doctor, number)
            txn.committing()
            committing = True
            db.commit()
        except psycopg2.errors.SerializationFailure:
            db.rollback()
            txn.aborted()
        except psycopg2.OperationalError:
            # The connection broke: after COMMIT was sent nobody knows whether it took effect.
            txn.unknown() if committing else txn.aborted()
            raise
        else:
            txn.committed()
    db.close()


prepare()
recorder = Recorder(path, initial=0)
together = threading.Barrier(len(DOCTORS))
threads = [threading.Thread(target=work, args=(recorder.session(doctor), doctor, together))
           for doctor in DOCTORS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
recorder.close()
