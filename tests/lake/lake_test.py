"""Deciding in DuckDB and `assay check` agree: random histories with faults, duplicate values, deletions and unknown outcomes.

    lake_test.py ASSAY SOURCE [HISTORIES [SEED]]

Whatever is accepted is satisfied, whatever is refuted is violated, and nearly everything is decided.
"""
import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb

LEVELS = ["serializable", "session-serializable", "strict-serializable", "adya-si", "session-si", "generalized-si",
          "strong-session-si", "strong-si", "prefix"]
LEAST_DECIDED = 0.99


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def load(path):
    spec = importlib.util.spec_from_file_location("decide", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def a_history(assay, rng):
    """Lines of a random history, perhaps with a fault in it, and whether it deletes."""
    deletions = rng.random() < 0.25
    level = rng.choice(["strict-serializable", "serializable", "strong-si", "session-si", "read-committed"])
    flags = ["--level", level, "--sessions", str(rng.randint(2, 5)), "--txns", str(rng.randint(2, 12))]
    workload = f"general:ops={rng.randint(2, 4)},keys={rng.randint(2, 6)}"
    flags += ["--seed", str(rng.randrange(1 << 30))]
    workload += f",unknown-share={rng.choice([0, 0.1])}"
    if rng.random() < 0.25 and not deletions:
        workload += f",values={rng.randint(2, 5)}"
    flags += ["--workload", workload]
    made = run(assay, "generate", *flags, check=True).stdout
    lines = [json.loads(line) for line in made.splitlines()]
    if deletions:  # some writes are, and who saw them found nothing
        ops = [op for line in lines for op in line.get("ops", [])]
        gone = {(op[1], op[2]) for op in ops if op[0] == "w" and rng.random() < 0.3}
        for op in ops:
            if (op[1], op[2]) in gone:
                op[:] = ["d", op[1], f"tomb-{op[2]}"] if op[0] == "w" else ["r", op[1], None]
    if rng.random() < 0.5:  # a read sees another version
        reads = [op for line in lines for op in line.get("ops", []) if op[0] == "r"]
        writes = [op for line in lines for op in line.get("ops", []) if op[0] == "w"]
        if reads and writes:
            read = rng.choice(reads)
            same = [w[2] for w in writes if w[1] == read[1]]
            read[2] = rng.choice(same) if same else None
    return [json.dumps(line) for line in lines], deletions


class Said:
    """Takes what a decision prints."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def check_small_tables(assay):
    """What the queries make of a table of operations, and of rows that no join would find."""
    def sql(part):
        return run(assay, "sql", "--level", "session-serializable", "--part", part, check=True).stdout

    db = duckdb.connect()
    db.execute("CREATE TABLE ops (txn VARCHAR, session_id BIGINT, place BIGINT, status VARCHAR, began BIGINT, ended BIGINT, "
               "seq BIGINT, kind VARCHAR, item BIGINT, val VARCHAR)")
    db.execute("INSERT INTO ops VALUES ('a', 1, 0, NULL, 1, 9, 0, 'w', 1, '5'), ('a', 1, 0, NULL, 1, 9, 1, 'd', 1, 'tomb'), "
               "('a', 1, 0, NULL, 1, 9, 2, 'r', 1, NULL), ('b', 2, 0, 'aborted', 1, 9, 0, 'w', 2, '6'), "
               "('c', 3, 0, 'committed', 20, 30, 0, 'r', 2, '7'), ('c', 3, 0, 'committed', 20, 30, 1, 'r', 2, '8')")
    made = db.execute(f"SELECT txn, item, reads, writes, written, contradicts, expected, instead FROM ({sql('facts')}) ORDER BY 1")
    assert made.fetchall() == [("a", 1, False, True, None, False, None, None), ("c", 2, True, False, None, True, "7", "8")]

    db.execute(sql("table"))
    for rows, objections in [
        ("('a', 1, NULL, 1, 1)", {"no name"}),
        ("('a', 1, 0, 1, NULL)", {"no name"}),
        ("('a', 1, 0, 1, 1), ('b', 1, 0, 2, 1)", {"session"}),  # two at one place of a session
        ("('a', 1, 0, 1, 1), ('b', 1, 1, 2, 1)", set()),
    ]:
        db.execute("DELETE FROM facts")
        db.execute(f"INSERT INTO facts (txn, session_id, place, serial_at, item, unknown, reads) "
                   f"SELECT *, FALSE, TRUE FROM (VALUES {rows})")
        found = {row[2] for row in db.execute(sql("accept")).fetchall()}
        assert found == objections, (rows, found)


def main():
    assay, source = sys.argv[1:3]
    check_small_tables(assay)
    histories = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    example = load(pathlib.Path(source) / "examples/duckdb/decide.py")
    decide = example.loop
    texts = {}
    original = decide.Table.sql

    def cached(table, part, *flags):  # the same text each time
        key = (table.args.level, table.args.deletions, part, table.version, flags)
        if key not in texts:
            texts[key] = original(table, part, *flags)
        return texts[key]

    decide.Table.sql = cached
    asked = decided = accepted = refuted = at_once = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for number in range(histories):
            lines, deletions = a_history(assay, rng)
            history, facts = work / "h.jsonl", work / "h.csv"
            history.write_text("\n".join(lines) + "\n")
            if run(assay, "convert", history, facts, "--to", "facts").returncode != 0:
                continue
            level = rng.choice(LEVELS)
            want = json.loads(run(assay, "check", history, "--level", level, "--allow-empty", "--json").stdout)
            want = want["levels"][level]["verdict"]
            with tempfile.TemporaryDirectory() as inner:
                args = argparse.Namespace(assay=assay, level=level, initial=None, deletions=deletions, rounds=12, memory=None,
                                          history=str(work / "v.jsonl"), certificate=str(work / "v.cert.json"))
                engine = example.DuckDb(args, pathlib.Path(inner))
                table = decide.Table(engine, str(facts), args, pathlib.Path(inner))
                told, sys.stdout = sys.stdout, Said()
                try:
                    code = decide.decide(table)
                finally:
                    said, sys.stdout = sys.stdout.text, told
                engine.db.close()
            got = ["satisfied", "violated", "unknown"][code]
            asked += 1
            decided += got != "unknown"
            accepted += got == "satisfied"
            at_once += said.startswith("0 objections")
            refuted += got == "violated"
            if got not in ("unknown", want):
                print(f"{level}: in SQL {got}, assay check says {want}\n{said}")
                pathlib.Path("disagreement.jsonl").write_text("\n".join(lines) + "\n")
                return 1
            if got == "violated" and run(assay, "verify", args.certificate, args.history).returncode != 0:
                print(f"{level}: the certificate is refused")
                return 1
            if got == "unknown":
                print(f"{level}: undecided, assay check says {want}\n{said}")
                pathlib.Path(f"undecided-{number}.jsonl").write_text("\n".join(lines) + "\n")
    print(f"{asked} histories: {accepted} accepted ({at_once} at once), {refuted} refuted, {asked - decided} undecided")
    enough = asked >= histories / 2 and accepted > 0 and refuted > 0 and decided >= LEAST_DECIDED * asked
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
