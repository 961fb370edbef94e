#!/usr/bin/env python3
"""Keeps what a release reads, writes and takes, for the next ones to be held to.

    tests/compat/keep.py ASSAY VERSION

Writes tests/compat/VERSION: histories, their certificates, what `assay check --json` says of them, and command lines with their exit
codes. Once, before the release; what is there is never written again.
"""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
HISTORIES = ["write-skew.hist", "lost-update.hist", "torn-abort.hist", "on-call.hist", "long-fork.jsonl", "list-append.edn", "commit-timestamps.jsonl"]
LINES = [
    "check write-skew.hist --level serializable",
    "check write-skew.hist --level session-si",
    "check write-skew.hist",
    "check write-skew.hist lost-update.hist --json --level si --level SERIALIZABLE",
    "check missing.hist",
    "check list-append.edn --level all --threads 1 --memory 2G --effort 100000000",
    "check write-skew.hist --level serializable --allow-empty --unique-values --initial 0 --from hist",
    "check lost-update.hist --clock-drift 5ms --expected-order commit_ts --aborted-reads",
    "check write-skew.hist --level session-si --require-contention",
    "check --nonsense",
    "shrink write-skew.hist --level serializable",
    "explain lost-update.cert.json lost-update.hist",
    "verify write-skew.cert.json write-skew.hist",
    "convert long-fork.jsonl - --to hist",
    "convert --anonymize write-skew.hist -",
    "levels",
    "stats list-append.edn",
    "generate --level session-si --sessions 2 --txns 3 --seed 1",
    "version",
]


def main():
    assay, version = str(pathlib.Path(sys.argv[1]).absolute()), sys.argv[2]
    folder = HERE / version
    folder.mkdir()  # not twice
    said = {}
    for name in HISTORIES:
        shutil.copy(EXAMPLES / name, folder)
        certificate = pathlib.Path(name).stem + ".cert.json"
        told = subprocess.run([assay, "check", name, "--json", "--threads", "1", "--certificate", certificate],
                              cwd=folder, capture_output=True, text=True, check=False)
        said[name] = json.loads(told.stdout)
    (folder / "check.json").write_text(json.dumps(said, indent=1) + "\n")
    codes = [f"{subprocess.run([assay, *line.split()], cwd=folder, capture_output=True, check=False).returncode} {line}" for line in LINES]
    (folder / "lines.txt").write_text("\n".join(codes) + "\n")


main()
