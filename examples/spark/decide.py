#!/usr/bin/env python3
"""Decides a level for a history that is a table, in Spark (docs/lake.md).

    pip install pyspark                                           # and Java 17
    assay convert run.jsonl run.csv --to facts
    python3 decide.py run.csv --level strict-serializable         # or Parquet files: 'lake/*.parquet'

SPARK_MASTER names the cluster; without it two threads of this machine are used. Exit code: 0 satisfied, 1 violated, 2 undecided, 3 a table
that cannot be read, 4 anything else without a verdict.
"""
import csv
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lake"))
import loop  # noqa: E402


def in_csv(value):
    return str(value).lower() if isinstance(value, bool) else value  # None is written as nothing


class Spark:
    dialect = "spark"

    def __init__(self, args, work):
        from pyspark.sql import SparkSession  # here, so that its absence has an exit code of its own

        self.spark = (SparkSession.builder.master(os.environ.get("SPARK_MASTER", "local[2]")).appName("assay")
                      .config("spark.driver.memory", args.memory or "2g").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
                      .config("spark.sql.shuffle.partitions", os.environ.get("SPARK_PARTITIONS", "16"))
                      .config("spark.local.dir", str(work)).getOrCreate())
        self.spark.sparkContext.setLogLevel("ERROR")

    def open(self, name, files):
        if files.endswith(".csv"):
            facts = self.spark.read.csv(files, header=True, inferSchema=True, escape='"')
        else:
            facts = self.spark.read.parquet(files)
        facts.withColumn("txn", facts.txn.cast("string")).createOrReplaceTempView(name)

    def count(self, query):
        return self.spark.sql(query).count()

    def save(self, query, file):
        rows = self.spark.sql(query)
        count = 0
        with open(file, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(rows.columns)
            for row in rows.toLocalIterator():
                writer.writerow([in_csv(value) for value in row])
                count += 1
        return count

    def placed(self, file):
        placed = self.spark.read.csv(str(file), header=True, inferSchema=True, escape='"')
        for column, kind in (("txn", "string"), ("no_effect", "boolean")):
            placed = placed.withColumn(column, placed[column].cast(kind))
        placed.createOrReplaceTempView("placed")

    def table(self, name, query):
        from pyspark import StorageLevel

        made = self.spark.sql(query).persist(StorageLevel.MEMORY_AND_DISK)
        made.count()  # before `placed` becomes another table
        made.createOrReplaceTempView(name)


if __name__ == "__main__":
    sys.exit(loop.main(Spark, __doc__.splitlines()[0]))
