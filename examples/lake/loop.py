"""The loop that decides a level for a history that is a table (docs/lake.md); an engine of SQL runs its queries.

The query accepts; what it does not accept is a residue, which assay decides: an order to splice in, or a certified violation.
An engine has a `dialect` of `assay sql`, and these methods:

    open(name, files)     makes the table of facts known by this name: one file of CSV, or Parquet files
    count(query)          how many rows the query has
    save(query, file)     writes its rows as CSV with a header; how many they are
    placed(file)          makes a CSV of `assay residue --placed` known as the table `placed`
    table(name, query)    makes a table of the query's rows
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

BAD_INPUT, USAGE = 3, 4  # exit codes of assay, and of these scripts: no verdict
FIRST_MARGIN = 1_000_000  # of the order's units: a millisecond where places are nanoseconds
WHOLE = 1 << 62


class Failure(Exception):
    """Why there is no verdict, and the exit code that says so."""

    def __init__(self, why, code):
        super().__init__(why)
        self.code = code


def assay(*command, most=0):
    """A run of assay that ends with this exit code at most."""
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode > most or run.returncode < 0:
        raise Failure(run.stderr.strip() or f"{command[0]} ended with {run.returncode}", run.returncode if run.returncode in (BAD_INPUT, USAGE) else USAGE)
    return run


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(f"{message}; see --help", USAGE)


class Table:
    """The table of facts, and what the queries of `assay sql` say of it."""

    def __init__(self, engine, files, args, work):
        self.engine, self.args, self.work = engine, args, work
        self.version = 0
        engine.open("facts_0", files)

    def sql(self, part, *keys):
        command = [self.args.assay, "sql", "--level", self.args.level, "--dialect", self.engine.dialect,
                   "--part", ",".join([f"{part}:facts=facts_{self.version}", *keys])]
        if self.args.initial is not None:
            command += ["--initial", self.args.initial]
        if self.args.deletions:
            command += ["--deletions"]
        return assay(*command).stdout

    def objections(self):
        return self.engine.count(self.sql("accept"))

    def save(self, part, name, *keys):
        """The rows of a query as a table in CSV; how many there are."""
        file = self.work / name
        return file, self.engine.save(self.sql(part, *keys), file)

    def splice(self, placed):
        query = self.sql("splice")
        self.engine.placed(placed)
        self.engine.table(f"facts_{self.version + 1}", query)
        self.version += 1


def residue(table, file, placed, *flags):
    """What `assay residue` says of a table: its exit code, and its words."""
    args = table.args
    command = [args.assay, "residue", str(file), "--level", args.level, "--placed", str(placed),
               "--history", args.history, "--certificate", args.certificate, "--json", *flags]
    if args.initial is not None:
        command += ["--initial", args.initial.strip("'")]
    run = assay(*command, most=2)
    return run.returncode, json.loads(run.stdout)


def decide(table):
    objections = table.objections()
    print(f"{objections} objections to the proposed order")
    if objections == 0:
        return 0
    file, rows = table.save("refute", "refute.csv")
    if rows > 0:
        code, said = residue(table, file, table.work / "placed.csv")
        if code == 1:
            print(f"violated: {said['anomaly']} of {', '.join(said['violating'])}")
            return 1
    margin, flags = 0, []
    for _ in range(table.args.rounds):
        file, _ = table.save("residue", "residue.csv", f"margin={margin}")
        placed = table.work / "placed.csv"
        code, said = residue(table, file, placed, *flags)
        print(f"{said['transactions']} transactions in {said['windows']} windows, {said['placed']} of them in order again")
        for why in said["stuck"][:3]:
            print(f"  {why}")
        if code == 1:
            print(f"violated: {said['anomaly']} of {', '.join(said['violating'])}")
            return 1
        if said["placed"] > 0:
            table.splice(placed)
            before, objections = objections, table.objections()
            # Where nothing moves, whoever is of unknown outcome may not have taken effect at all.
            flags = ["--leave-out-unread"] if objections >= before / 2 and not flags else []
            print(f"{objections} objections are left")
            if objections == 0:
                return 0
        if margin >= WHOLE:
            break
        margin = max(FIRST_MARGIN, 16 * margin) if margin < WHOLE // 1024 else WHOLE
    return 2


def main(make_engine, description):
    """Decides in the engine that make_engine(args, work) opens. Exit code: 0 satisfied, 1 violated, 2 undecided, 3 or 4 no verdict."""
    try:
        return run(make_engine, description)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return failure.code
    except Exception as fault:  # of the engine, whose exceptions are its own: an uncaught one would exit with 1, violated
        print(f"the engine failed: {type(fault).__name__}: {fault}", file=sys.stderr)
        return USAGE


def run(make_engine, description):
    parser = Arguments(description=description)
    parser.add_argument("files", help="a table of facts: FILE.csv, or Parquet files")
    parser.add_argument("--level", required=True)
    parser.add_argument("--assay", default="assay", help="the program")
    parser.add_argument("--initial", help="what every key holds at first, as a literal of SQL")
    parser.add_argument("--deletions", action="store_true", help="the history may delete keys")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--memory", help="of the engine, such as 4GB")
    parser.add_argument("--history", default="violation.jsonl", help="where the part that is violated is written")
    parser.add_argument("--certificate", default="violation.cert.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder)
        code = decide(Table(make_engine(args, work), args.files, args, work))
    print(f"{args.level}: {['satisfied', 'violated', 'undecided'][code]}")
    return code
