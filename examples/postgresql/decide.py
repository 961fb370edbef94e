#!/usr/bin/env python3
"""Decides a level for a history that is a table, in PostgreSQL (docs/lake.md).

    pip install 'psycopg[binary]'
    assay convert run.jsonl run.csv --to facts
    DATABASE_URL=postgresql://localhost/postgres python3 decide.py run.csv --level strict-serializable

Instead of run.csv it may be the name of a table that is there. Tables of its own are temporary. Exit code: 0 satisfied, 1 violated, 2 undecided, 3 a table
that cannot be read, 4 anything else without a verdict.
"""
import csv
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lake"))
import loop  # noqa: E402

BOOLEANS = {"unknown", "reads", "writes", "contradicts", "no_effect"}
COMPARED = (("session_id",), ("item",), ("seen", "written", "expected", "instead"))  # columns that have one type


class PostgreSql:
    dialect = "postgresql"

    def __init__(self, args, work):
        import psycopg  # here, so that its absence has an exit code of its own

        self.db = psycopg.connect(os.environ.get("DATABASE_URL", ""), autocommit=True)
        if args.memory:
            self.db.execute(f"SET work_mem = '{args.memory}'")

    def load(self, name, file):
        """The table of a file of CSV. Keys and values that are all integers are of that type."""
        with open(file, newline="") as rows:
            columns = next(csv.reader(rows))
        self.db.execute(f"CREATE TEMPORARY TABLE loaded ({', '.join(column + ' text' for column in columns)})")
        with self.db.cursor().copy("COPY loaded FROM STDIN (FORMAT csv, HEADER)") as copy, open(file, "rb") as rows:
            while block := rows.read(1 << 20):
                copy.write(block)
        types = {column: "boolean" if column in BOOLEANS else "text" if column == "txn" else "bigint" for column in columns}
        for group in COMPARED:
            here = [column for column in group if column in columns]
            integers = " AND ".join(f"coalesce(bool_and({column} ~ '^-?[0-9]+$'), true)" for column in here)
            if here and not self.db.execute(f"SELECT {integers} FROM loaded").fetchone()[0]:
                types.update((column, "text") for column in here)
        self.table(name, f"SELECT {', '.join(f'{column}::{kind}' for column, kind in types.items())} FROM loaded")
        self.db.execute("DROP TABLE loaded")

    def open(self, name, files):
        if files.endswith(".csv"):
            self.load(name, files)
        else:
            self.db.execute(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {files}")

    def count(self, query):
        return self.db.execute(f"SELECT count(*) FROM ({query}) AS q").fetchone()[0]

    def save(self, query, file):
        cursor = self.db.cursor()
        with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER)") as copy, open(file, "wb") as out:
            for block in copy:
                out.write(block)
        return cursor.rowcount

    def placed(self, file):
        self.db.execute("DROP TABLE IF EXISTS placed")
        self.load("placed", file)

    def table(self, name, query):
        self.db.execute(f"CREATE TEMPORARY TABLE {name} AS ({query})")
        self.db.execute(f"ANALYZE {name}")


if __name__ == "__main__":
    sys.exit(loop.main(PostgreSql, __doc__.splitlines()[0]))
