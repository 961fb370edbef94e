#!/usr/bin/env python3
"""A bank on PostgreSQL that knows nothing of assay: bank.py ISOLATION

Two clerks transfer money at the same time, again and again. It connects where PGHOST and PGPORT say; it needs psycopg2
(Debian: python3-psycopg2). docs/is-my-application-safe.md goes through it.
"""
import sys
import threading

import psycopg2

isolation = sys.argv[1]
ROUNDS = 20
together = threading.Barrier(2)
refused = []


def prepare():
    with psycopg2.connect("") as db, db.cursor() as sql:
        sql.execute("DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (owner text PRIMARY KEY, balance int)")
        sql.execute("INSERT INTO accounts VALUES ('ann', 100), ('bob', 100)")


def balance(sql, owner):
    sql.execute("SELECT balance FROM accounts WHERE owner = %s /*file='bank.py:27'*/", (owner,))
    return sql.fetchone()[0]


def transfer(sql):
    payer, payee = balance(sql, "ann"), balance(sql, "bob")
    together.wait()
    sql.execute("UPDATE accounts SET balance = %s WHERE owner = 'ann' /*file='bank.py:34'*/", (payer - 1,))
    sql.execute("UPDATE accounts SET balance = %s WHERE owner = 'bob' /*file='bank.py:35'*/", (payee + 1,))


def clerk():
    db = psycopg2.connect("")
    db.set_session(isolation_level=isolation)
    for _ in range(ROUNDS):
        together.wait()
        try:
            with db, db.cursor() as sql:
                transfer(sql)
        except psycopg2.errors.SerializationFailure:
            refused.append(1)
    db.close()


prepare()
clerks = [threading.Thread(target=clerk) for _ in range(2)]
for c in clerks:
    c.start()
for c in clerks:
    c.join()
with psycopg2.connect("") as db, db.cursor() as sql:
    print(f"{2 * ROUNDS - len(refused)} transfers made, {len(refused)} refused; ann paid for {100 - balance(sql, 'ann')}")
