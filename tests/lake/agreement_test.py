"""The queries of DuckDB and `assay check` agree on very many small histories, which stand in one table side by side.

    agreement_test.py ASSAY SOURCE [BATCHES [HISTORIES_EACH [SEED]]]

For each batch a level, and histories with stale reads, duplicate values and unknown outcomes, each with keys, sessions and a stretch of
time of its own. Whatever the query accepts at once must be satisfied. The loop then decides all that are satisfied, in one table, and a
few of those that are violated, one by one. What the query that refutes returns is only a candidate: `assay residue` decides it.
"""
import argparse
import contextlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from lake_test import LEAST_DECIDED, LEVELS, load

ALONE = 3  # violated histories of a batch that the loop decides one by one
UNIT = 1_000_000  # of time, so that there are places between two moments
STRETCH = 10**15  # of time, for each history: more than the margins of the first rounds


def a_history(number, rng):
    """Lines of transactions that run one after the other, but for reads that are stale and intervals that overlap."""
    keys, sessions = rng.randint(1, 4), rng.randint(2, 4)
    stale = rng.choice([0, 0.1, 0.3, 0.5])
    values = rng.choice([None, None, None, 3])  # so few that they repeat
    versions = {k: [None] for k in range(keys)}
    free_at = dict.fromkeys(range(sessions), 0)
    lines, now = [], 10

    def around(moment):  # two moments are never the same
        at = number * STRETCH + UNIT * moment + rng.randrange(UNIT // 4)
        return [at, at + rng.randrange(UNIT // 2)]

    for place in range(rng.randint(2, 9)):
        session = rng.randrange(sessions)
        now += rng.randint(1, 20)
        own, ops = {}, []
        unknown = rng.random() < 0.08
        takes_effect = not unknown or rng.random() < 0.5
        for _ in range(rng.randint(1, 4)):
            key = rng.randrange(keys)
            if rng.random() < 0.5:
                seen = own.get(key, versions[key][-1])
                if key not in own and rng.random() < stale:
                    seen = rng.choice(versions[key])
                if key not in own and not (values is None and any(o[:2] == ["r", number * 8 + key] for o in ops)):
                    ops.append(["r", number * 8 + key, seen])
            else:
                own[key] = place * 8 + len(ops) + 1 if values is None else rng.randint(1, values)
                ops.append(["w", number * 8 + key, own[key]])
        if not ops:
            continue
        if takes_effect:
            for key, value in own.items():
                versions[key].append(value)
        begin = max(free_at[session], now - rng.choice([1, 5, 40]))
        end = max(begin + 1, now) + rng.choice([1, 5, 40])
        free_at[session] = end + 1
        lines.append({"session": number * 8 + session, "txn": f"{number}-{place}",
                      "status": "unknown" if unknown else "committed", "begin": around(begin),
                      **({} if unknown else {"end": around(end)}), "ops": ops})
    return lines


def told(assay, files, level):
    """What `assay check` says of each file."""
    run = subprocess.run([assay, "check", *map(str, files), "--level", level, "--allow-empty", "--json"], capture_output=True, text=True)
    return [json.loads(line)["levels"][level]["verdict"] for line in run.stdout.splitlines()]


def write(path, histories):
    with open(path, "w") as out:
        for lines in histories:
            for line in lines:
                out.write(json.dumps(line) + "\n")


class Batch:
    def __init__(self, example, assay, level, folder):
        self.example, self.level, self.folder = example, level, pathlib.Path(folder)
        self.args = argparse.Namespace(assay=assay, level=level, initial=None, deletions=False, rounds=12, memory=None,
                                       history=str(self.folder / "v.jsonl"), certificate=str(self.folder / "v.cert.json"))

    @contextlib.contextmanager
    def table(self, histories):
        with tempfile.TemporaryDirectory() as inner:
            work = pathlib.Path(inner)
            write(work / "all.jsonl", histories)
            subprocess.run([self.args.assay, "convert", work / "all.jsonl", work / "all.csv", "--to", "facts"], check=True, capture_output=True)
            engine = self.example.DuckDb(self.args, work)
            yield self.example.loop.Table(engine, str(work / "all.csv"), self.args, work)
            engine.db.close()

    def named(self, table, part):
        """The histories whose transactions the query returns."""
        rows = table.engine.db.execute(f"SELECT DISTINCT txn FROM ({table.sql(part)})").fetchall()
        return {int(txn.split("-")[0]) for (txn,) in rows}

    def decide(self, histories):
        """The loop's exit code, and which histories are still objected to."""
        with self.table(histories) as table, contextlib.redirect_stdout(io.StringIO()):
            code = self.example.loop.decide(table)
            return code, self.named(table, "accept") if code == 2 else set()


def main():
    assay, source = sys.argv[1:3]
    batches, each, seed = [int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 4), (4, 250), (5, 1))]
    rng = random.Random(seed)
    example = load(pathlib.Path(source) / "examples/duckdb/decide.py")
    asked = satisfied = accepted = condemned = open_ = alone = 0
    for number in range(batches):
        level = LEVELS[number % len(LEVELS)]
        histories = [a_history(i, rng) for i in range(each)]
        with tempfile.TemporaryDirectory() as folder:
            batch = Batch(example, assay, level, folder)
            files = [batch.folder / f"{i}.jsonl" for i in range(each)]
            for file, lines in zip(files, histories):
                write(file, [lines])
            want = told(assay, files, level)
            assert len(want) == each, f"{len(want)} verdicts of {each}"
            with batch.table(histories) as table:
                objected, refuted = batch.named(table, "accept"), batch.named(table, "refute")
            wrong = [i for i in range(each) if i not in objected and want[i] != "satisfied"]
            sound = [i for i in range(each) if want[i] == "satisfied"]
            code, left = batch.decide([histories[i] for i in sound])
            if code == 1:
                wrong.append(f"{level}: the loop calls one of the satisfied violated, see {batch.args.history}")
            faulty = [i for i in range(each) if want[i] == "violated"]
            for i in rng.sample(faulty, min(ALONE, len(faulty))):
                code, _ = batch.decide([histories[i]])
                alone += 1
                open_ += code == 2
                if code == 0:
                    wrong.append(i)
                if code == 1 and subprocess.run([assay, "verify", batch.args.certificate, batch.args.history], capture_output=True).returncode != 0:
                    wrong.append(f"{level}: the certificate of history {i} is refused")
            if wrong:
                write("disagreement.jsonl", [histories[i] for i in wrong if isinstance(i, int)])
                print(f"{level}: SQL and assay check disagree on {wrong}; see disagreement.jsonl")
                return 1
        asked += each
        if sys.stderr.isatty():
            print(f"\r{asked} of {batches * each} histories", end="", file=sys.stderr)
        satisfied += len(sound)
        accepted += each - len(objected)
        condemned += len([i for i in refuted if want[i] == "violated"])
        open_ += len(left)
    decided = satisfied + alone
    print(f"{asked} histories, {satisfied} satisfied: {accepted} accepted and {condemned} condemned by the first query; "
          f"the loop decided {decided - open_} of {decided}")
    return 0 if accepted > 0 and condemned > 0 and open_ <= (1 - LEAST_DECIDED) * decided else 1


if __name__ == "__main__":
    sys.exit(main())
