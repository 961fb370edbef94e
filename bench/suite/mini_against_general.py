#!/usr/bin/env python3
"""Mini-transactions against general ones on a real database, side by side as in the figures of MTC: how many attempts
abort, how long it takes to commit so many transactions, and how long to check them.

    bench/suite/mini_against_general.py ASSAY URL > table.md
"""
import json
import re
import subprocess
import sys
import tempfile

ISOLATIONS = [("repeatable read", "session-si"), ("serializable", "session-serializable")]
SHAPES = [("mini", 4), ("general", 8), ("general", 16), ("general", 24)]
SESSIONS, TXNS, KEYS, RUNS = 10, 500, 1000, 3


def run(assay, url, isolation, level, workload, ops, seed):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [assay, "run", "--database", url, "--isolation", isolation, "--workload", f"{workload}:ops={ops},keys={KEYS},distribution=zipfian",
             "--sessions", str(SESSIONS), "--txns", str(TXNS),
             "--seed", str(seed), "--level", level, "--json", "--history", f"{folder}/h.jsonl", "--force"],
            capture_output=True, text=True, check=False)
    note = re.search(r"([0-9,]+) committed, ([0-9,]+) aborted, [0-9,]+ of unknown outcome in ([0-9.]+) s", done.stderr)
    committed, aborted = (int(note[i].replace(",", "")) for i in (1, 2))
    result = json.loads(done.stdout)
    seconds = result["seconds"]
    return {"abort": aborted / (committed + aborted), "generate": float(note[3]),
            "check": seconds["read"] + seconds["check"], "verdict": result["levels"][level]["verdict"]}


def median(rows, name):
    return sorted(row[name] for row in rows)[len(rows) // 2]


def main():
    assay, url = sys.argv[1:]
    print(f"{SESSIONS} sessions of {TXNS} committed transactions on {KEYS} keys, zipfian; medians of {RUNS} runs.\n")
    print("| isolation | workload | attempts aborted | generated in | read and checked in | verdict |")
    print("|---|---|---|---|---|---|")
    for isolation, level in ISOLATIONS:
        for workload, ops in SHAPES:
            rows = [run(assay, url, isolation, level, workload, ops, seed) for seed in range(1, RUNS + 1)]
            name = "mini" if workload == "mini" else f"general, {ops} operations"
            verdicts = ", ".join(sorted({row["verdict"] for row in rows}))
            print(f"| {isolation} | {name} | {100 * median(rows, 'abort'):.1f} % | {median(rows, 'generate'):.2f} s "
                  f"| {median(rows, 'check'):.3f} s | {level} {verdicts} |", flush=True)


main()
