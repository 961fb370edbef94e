"""The loop in an engine: a sound history is accepted, and a lost update comes out as a violation whose certificate holds.

    loop_test.py ENGINE ASSAY SOURCE

With DuckDB the table is a Parquet file.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

LEVELS = ("strict-serializable", "session-si")


def check_parquet(assay, work):
    """Parquet holds what the table in CSV holds: integers, texts, and texts that look like neither."""
    import duckdb  # of this test's environment

    (work / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [
        {"assay": 1},
        {"session": "a", "txn": "t,1", "ops": [["w", "x", 1], ["w", "y\n", 'say "two"'], ["w", "7", "7"]]},
        {"session": 2, "txn": "t2", "ops": [["r", "x", 1], ["r", "y\n", 'say "two"'], ["r", "7", "7"], ["r", 7, None], ["d", "x", "gone"]]}]))
    for name, texts in (("texts", True), ("sound", False)):
        subprocess.run([assay, "convert", work / f"{name}.jsonl", work / f"{name}.csv", "--to", "facts"], check=True, capture_output=True)
        subprocess.run([assay, "convert", work / f"{name}.jsonl", work / "made.parquet"], check=True, capture_output=True)
        made = duckdb.sql(f"FROM '{work}/made.parquet'")
        assert ("VARCHAR" if texts else "BIGINT") == str(dict(zip(made.columns, made.types))["item"])
        rows = duckdb.sql(f"FROM read_csv('{work}/{name}.csv', all_varchar = true)").fetchall()
        assert rows == [tuple(None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in row)
                        for row in made.fetchall()]
        assert len(rows) > 0


def check_without_a_verdict(script, assay, work):
    """What cannot be decided ends with neither exit code of a verdict, and without a traceback."""
    (work / "absent.hist").write_text("s0: T0 { d(b,t1) }\ns1: T1 { r(b,t1) }\n")
    subprocess.run([assay, "convert", work / "absent.hist", work / "absent.csv", "--to", "facts"], check=True, capture_output=True)
    (work / "texts.hist").write_text("s0: A { r(x,on) w(x,1) }\ns1: B { r(x,1) }\n")
    subprocess.run([assay, "convert", work / "texts.hist", work / "texts.csv", "--to", "facts"], check=True, capture_output=True)
    for flags, want in (([work / "texts.csv", "--level", "session-si", "--initial", "'on'"], {0}),
                        ([work / "absent.csv", "--level", "session-si", "--deletions"], {0}),  # the tombstone that was read is no value
                        ([work / "absent.csv", "--level", "session-si", "--initial", "on"], {3, 4}),  # no literal of SQL
                        ([work / "missing.csv", "--level", "session-si"], {3, 4}),
                        ([work / "absent.csv", "--level", "no-such-level"], {3, 4}),
                        ([work / "absent.csv"], {3, 4})):
        run = subprocess.run([sys.executable, script, *flags, "--assay", assay], cwd=work, capture_output=True, text=True)
        assert run.returncode in want and "Traceback" not in run.stderr, f"{flags}: exit code {run.returncode}\n{run.stderr[-2000:]}"
        assert run.returncode == 0 or run.stderr, flags


def main():
    engine, assay, source = sys.argv[1:4]
    script = pathlib.Path(source) / "examples" / engine / "decide.py"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, flags, want in (("sound", ["--workload", "general:unknown-share=0.02", "--level", LEVELS[0]], 0),
                                  ("faulty", ["--bug", "lost-update", "--level", "session-si"], 1)):
            history, facts = work / f"{name}.jsonl", work / f"{name}.{'parquet' if engine == 'duckdb' else 'csv'}"
            subprocess.run([assay, "generate", *flags, "--sessions", "5", "--txns", "200", "--seed", "3", "-o", history], check=True)
            subprocess.run([assay, "convert", history, facts, "--to", "facts"], check=True, capture_output=True)
            for level in LEVELS:
                run = subprocess.run([sys.executable, script, facts, "--level", level, "--assay", assay], cwd=work, capture_output=True, text=True)
                print(run.stdout)
                assert run.returncode == want, f"{name}: exit code {run.returncode}\n{run.stderr[-2000:]}"
                if want == 1:
                    subprocess.run([assay, "verify", work / "violation.cert.json", work / "violation.jsonl"], check=True)
        check_without_a_verdict(script, assay, work)
        if engine == "duckdb":
            check_parquet(assay, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
