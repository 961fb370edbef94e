"""DuckDB: of two concurrent transactions one updates a row and the other deletes it. Both commit. One thread, two connections.

    pip install duckdb==1.4.3; python3 update_delete.py"""
import duckdb

UPDATE, DELETE = "UPDATE account SET balance = balance + 10 WHERE id = 1", "DELETE FROM account WHERE id = 1"


def run(first, second, first_commits):
    alice = duckdb.connect()
    alice.execute("CREATE TABLE account (id BIGINT, balance BIGINT)")
    alice.execute("INSERT INTO account VALUES (1, 100)")
    bob = alice.cursor()
    outcome = []
    for one in (alice, bob):
        one.execute("BEGIN")
        one.execute("SELECT balance FROM account WHERE id = 1").fetchall()  # here the snapshot is taken
    try:
        rows = alice.execute(first).fetchall()[0][0]
        if first_commits:
            alice.execute("COMMIT")
        rows += bob.execute(second).fetchall()[0][0]
        outcome.append(f"{rows} rows changed")
        for one in ([] if first_commits else [alice]) + [bob]:
            one.execute("COMMIT")
        outcome.append("both committed")
    except duckdb.Error as error:
        outcome.append("refused: " + str(error).splitlines()[0])
    left = alice.cursor().execute("SELECT * FROM account").fetchall()
    order = f"{first.split()[0]}{', COMMIT' if first_commits else ''}, {second.split()[0]}"
    print(f"{order}: {', '.join(outcome)}; the table has {left}")


print("DuckDB", duckdb.__version__)
for first, second in ((UPDATE, UPDATE), (DELETE, DELETE), (UPDATE, DELETE), (DELETE, UPDATE)):
    for first_commits in (False, True):
        run(first, second, first_commits)
