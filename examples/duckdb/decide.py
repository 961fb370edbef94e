#!/usr/bin/env python3
"""Decides a level for a history that is a table, in DuckDB (docs/lake.md).

    pip install duckdb
    assay convert run.jsonl run.csv --to facts
    python3 decide.py run.csv --level strict-serializable        # or Parquet files: 'lake/*.parquet'

Exit code: 0 satisfied, 1 violated, 2 undecided.
"""
import pathlib
import sys

import duckdb

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lake"))
import loop  # noqa: E402


class DuckDb:
    dialect = "duckdb"

    def __init__(self, args, work):
        self.db = duckdb.connect(str(work / "lake.db"))
        self.db.execute("SET enable_progress_bar = false")
        self.db.execute("SET preserve_insertion_order = false")
        if args.memory:
            self.db.execute(f"SET memory_limit = '{args.memory}'")

    def open(self, name, files):
        reader = f"read_csv({files!r}, types = {{'txn': 'VARCHAR'}})" if files.endswith(".csv") else f"read_parquet({files!r})"
        self.db.execute(f"CREATE VIEW {name} AS FROM {reader}")

    def count(self, query):
        return self.db.execute(f"SELECT count(*) FROM ({query})").fetchone()[0]

    def save(self, query, file):
        return self.db.execute(f"COPY ({query}) TO '{file}' (HEADER)").fetchone()[0]

    def placed(self, file):
        self.db.execute("CREATE OR REPLACE TABLE placed AS "
                        f"FROM read_csv('{file}', types = {{'txn': 'VARCHAR', 'no_effect': 'BOOLEAN'}})")

    def table(self, name, query):
        self.db.execute(f"CREATE TABLE {name} AS ({query})")


if __name__ == "__main__":
    sys.exit(loop.main(DuckDb, __doc__.splitlines()[0]))
