"""The fixture for pytest, on SQLite through DB-API and through SQLAlchemy: what it sees, what it says it does not, how it fails."""

import sqlite3

import pytest
import sqlalchemy
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "bank.db"
    made = sqlite3.connect(path)
    made.executescript("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER, owner TEXT);"
                       "INSERT INTO accounts VALUES (1, 100, 'ann'), (2, 100, 'bob'); CREATE TABLE audit (what TEXT);")
    made.close()
    return path


@pytest.fixture
def two(isolation, path):
    isolation.watch(sqlite3, tables={"accounts": "id"})
    return sqlite3.connect(path), sqlite3.connect(path)


def read(connection, row):
    return connection.execute("SELECT balance FROM accounts WHERE id = ?", (row,)).fetchone()


def write(connection, row, balance):
    connection.execute('UPDATE "accounts" SET balance = :balance WHERE id = :id', {"id": row, "balance": balance})


def ops(isolation):
    isolation.check()
    return isolation._history.decode()


def failure(isolation, level="serializable"):
    with pytest.raises(pytest.fail.Exception) as failed:
        isolation.assert_level(level)
    return str(failed.value)


def test_a_lost_update_fails_with_the_two_transactions(isolation, two):
    a, b = two
    for connection in two:
        assert read(connection, 2) == (100,)
        connection.commit()
    read(a, 1), read(b, 1)
    write(a, 1, 90), a.commit()
    write(b, 1, 80), b.commit()
    told = failure(isolation, "snapshot-isolation")
    assert "session-si is violated: lost-update" in told
    smallest = told.split("The smallest part that still violates it:")[1]
    assert smallest.count('w("accounts/1.balance"') == 2 and "accounts/2.balance\",100)" not in smallest
    isolation.assert_level("read committed")


def test_one_after_the_other_passes(isolation, two):
    for connection in two:
        (balance,) = read(connection, 1)
        write(connection, 1, balance - 10)
        connection.commit()
    isolation.assert_serializable()


def test_what_the_database_computes_is_asked_for(isolation, two):
    a, b = two
    a.execute("UPDATE accounts SET balance = balance - ? WHERE id = ?", (30, 1))
    a.commit()
    assert read(b, 1) == (70,)
    b.commit()
    assert '["w", "accounts/1.balance", 70]' in ops(isolation)
    isolation.assert_serializable()


def test_rows_come_and_go(isolation, two):
    a, b = two
    assert read(a, 3) is None
    a.execute("INSERT INTO accounts (id, balance, owner) VALUES (?, 5, 'it''s')", (3,))
    a.commit()
    assert b.execute("SELECT * FROM accounts WHERE id = 3").fetchall() == [(3, 5, "it's")]
    b.execute("DELETE FROM accounts WHERE id = 3")
    b.commit()
    assert read(a, 3) is None
    a.rollback()
    lines = ops(isolation)
    for op in ('["r", "accounts/3.balance", null]', '["w", "accounts/3.owner", "it\'s"]', '["d", "accounts/3.balance"'):
        assert op in lines
    isolation.assert_serializable()


def test_what_is_not_understood_is_counted_and_said(isolation, two):
    a, b = two
    a.execute("INSERT INTO audit VALUES ('not watched')")
    assert a.execute("SELECT count(*) FROM accounts").fetchone() == (2,)
    read(a, 1), read(b, 1)
    write(a, 1, 90), a.commit()
    write(b, 1, 80), b.commit()
    told = failure(isolation)
    assert "1 of 6 statements were not understood" in told and "1 × SELECT count(*) FROM accounts" in told


def test_a_table_that_is_written_in_unknown_ways_is_left_out(isolation, two):
    a, b = two
    a.execute("UPDATE accounts SET balance = 0 WHERE owner = 'ann'")
    a.commit()
    assert read(b, 1) == (0,)
    b.commit()
    told = failure(isolation)
    assert "serializable is unknown" in told and "The table accounts is left out" in told


def test_what_was_rolled_back_was_not_written(isolation, two):
    a, b = two
    write(a, 1, 1)
    a.rollback()
    read(b, 1)
    b.commit()
    with a:
        write(a, 1, 2)
    assert ops(isolation).count('"status": "aborted"') == 1
    isolation.assert_serializable()


def test_without_effort_it_says_that_nothing_was_shrunk(isolation, two):
    a, b = two
    read(a, 1), read(b, 1)
    write(a, 1, 90), a.commit()
    write(b, 1, 80), b.commit()
    isolation.shrink_effort = 1
    told = failure(isolation)
    assert "Not shrunk (" in told and "connection 1-1" in told


def test_connect_is_put_back(path):
    assert isinstance(sqlite3.connect(path), sqlite3.Connection)


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    balance: Mapped[int]


def test_the_orm_of_sqlalchemy_loses_an_update(isolation, path):
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    isolation.watch(engine, tables={"accounts": "id"})
    with Session(engine) as one, Session(engine) as two:
        accounts = [session.get(Account, 1) for session in (one, two)]
        for session, account, left in zip((one, two), accounts, (90, 80), strict=True):
            account.balance = left
            session.commit()
    told = failure(isolation)
    assert "lost-update" in told and 'w("accounts/1.balance",80)' in told
    assert "not understood" not in told


def test_core_of_sqlalchemy(isolation, path):
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    isolation.watch(engine, tables={"accounts": "id"})
    with engine.begin() as connection:
        connection.execute(sqlalchemy.insert(Account).values(id=7, balance=7))
        connection.execute(sqlalchemy.update(Account).where(Account.id == 7).values(balance=Account.balance + 1))
    with engine.begin() as connection:
        assert connection.execute(sqlalchemy.select(Account.balance).where(Account.id == 7)).scalar() == 8
    assert '["w", "accounts/7.balance", 8]' in ops(isolation)
    isolation.assert_serializable()


def test_expressions_are_no_columns(isolation, two):
    a, _ = two
    write(a, 1, 90)
    for listed in ("balance + 1", "id, balance * 2", "DISTINCT balance", "1", "id, -balance", "id, NULL", "CASE WHEN balance > 1 THEN 2 END", "'balance'"):
        a.execute(f"SELECT {listed} FROM accounts WHERE id = 1").fetchall()
    assert a.execute("SELECT accounts.balance AS held, owner FROM accounts WHERE id = 1").fetchone() == (90, "ann")
    a.commit()
    isolation.assert_serializable()
    assert sum(isolation._watched.not_understood.values()) == 8


def test_what_the_database_puts_into_a_new_row_is_asked_for(isolation, path):
    isolation.watch(sqlite3, tables={"orders": "id"})
    a = sqlite3.connect(path)
    a.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT, state TEXT DEFAULT 'new')")
    a.commit()
    a.execute("INSERT INTO orders (what) VALUES (?)", ("tea",))
    a.commit()
    assert a.execute("SELECT * FROM orders WHERE id = 1").fetchone() == (1, "tea", "new")
    a.commit()
    assert '["w", "orders/1.state", "new"]' in ops(isolation)
    isolation.assert_serializable()


def test_with_autocommit_a_row_that_the_database_fills_leaves_its_table_out(isolation, path):
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT, state TEXT DEFAULT 'new')")
    made.close()
    isolation.watch(sqlite3, tables={"orders": "id"})
    a = sqlite3.connect(path, isolation_level=None)
    a.execute("INSERT INTO orders (what) VALUES ('tea')")
    assert a.execute("SELECT * FROM orders WHERE id = 1").fetchone() == (1, "tea", "new")
    assert "orders is left out" in failure(isolation)


def test_null_is_a_value_that_is_not_there(isolation, two):
    a, b = two
    a.execute("UPDATE accounts SET owner = ? WHERE id = 1", (None,))
    a.execute("INSERT INTO accounts (id, balance, owner) VALUES (5, 1, NULL)")
    a.commit()
    assert b.execute("SELECT owner FROM accounts WHERE id = 1").fetchone() == (None,)
    assert b.execute("SELECT id, owner FROM accounts WHERE id = 5").fetchone() == (5, None)
    b.commit()
    isolation.assert_serializable()
