"""The loop in Spark: a sound history is accepted, and a lost update comes out as a violation whose certificate holds.

    spark_test.py ASSAY SOURCE
"""
import pathlib
import subprocess
import sys
import tempfile

LEVEL = "strict-serializable"


def main():
    assay, source = sys.argv[1:3]
    script = pathlib.Path(source) / "examples/spark/decide.py"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, flags, want in (("sound", ["--unknown-share", "0.02", "--level", LEVEL], 0),
                                  ("faulty", ["--bug", "lost-update", "--level", "session-si"], 1)):
            history, facts = work / f"{name}.jsonl", work / f"{name}.csv"
            subprocess.run([assay, "generate", *flags, "--sessions", "5", "--txns", "200", "--seed", "3", "-o", history], check=True)
            subprocess.run([assay, "convert", history, facts, "--to", "facts"], check=True, capture_output=True)
            run = subprocess.run([sys.executable, script, facts, "--level", LEVEL, "--assay", assay], cwd=work, capture_output=True, text=True)
            print(run.stdout)
            assert run.returncode == want, f"{name}: exit code {run.returncode}\n{run.stderr[-2000:]}"
        subprocess.run([assay, "verify", work / "violation.cert.json", work / "violation.jsonl"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
