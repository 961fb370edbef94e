#!/usr/bin/env python3
"""Decides a level for a history that is a table, in DuckDB (docs/lake.md).

    pip install duckdb
    assay convert run.jsonl run.csv --to facts
    python3 decide.py run.csv --level strict-serializable        # or Parquet files: 'lake/*.parquet'

Exit code: 0 satisfied, 1 violated, 2 undecided, 3 a table that cannot be read, 4 anything else without a verdict.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lake"))
import loop  # noqa: E402

VALUES = ("seen", "written", "expected", "instead")


class DuckDb:
    dialect = "duckdb"

    def __init__(self, args, work):
        import duckdb  # here, so that its absence has an exit code of its own

        self.db = duckdb.connect(str(work / "lake.db"))
        self.db.execute("SET enable_progress_bar = false")
        self.db.execute("SET preserve_insertion_order = false")
        if args.memory:
            self.db.execute(f"SET memory_limit = '{args.memory}'")

    def open(self, name, files):
        reader = self.csv(files) if files.endswith(".csv") else f"read_parquet({files!r})"
        self.db.execute(f"CREATE VIEW {name} AS FROM {reader}")

    def csv(self, file):
        """Reads values as texts if one of them is: columns that are compared have one type."""
        def reader(texts):
            return f"read_csv({file!r}, types = {{{', '.join(f'{column!r}: {kind!r}' for column, kind in texts.items())}}})"

        types = {"txn": "VARCHAR"}
        found = self.db.execute(f"DESCRIBE FROM {reader(types)}").fetchall()
        values = {column: kind for column, kind, *_ in found if column in VALUES}
        texts = [column for column, kind in values.items() if kind == "VARCHAR"]
        if texts and self.count(f"FROM {reader(types)} WHERE coalesce({', '.join(texts)}) IS NOT NULL") > 0:
            types |= {column: "VARCHAR" for column in values}
        return reader(types)

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
