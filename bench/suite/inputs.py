"""Inputs: made from seeds into a cache folder, or found in the data folder."""

import contextlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace

from rows import Generated, Recorded


class Inputs:
    def __init__(self, assay: pathlib.Path, cache: pathlib.Path, data: pathlib.Path, fresh: bool):
        self.assay, self.cache, self.data, self.fresh = assay, cache, data, fresh
        self.made = set()
        cache.mkdir(parents=True, exist_ok=True)

    def path(self, wanted):
        """The file of an input, made if need be; None if it is a recorded one that is absent."""
        if isinstance(wanted, Recorded):
            found = self.data / wanted.path
            return found if found.exists() else None
        path = self.cache / (_name(wanted) + ".jsonl")
        if path not in self.made and (self.fresh or not path.exists()):
            self._make(wanted, path)
        self.made.add(path)
        return path

    def _make(self, wanted: Generated, path: pathlib.Path):
        print(f"making {path.name}", file=sys.stderr)
        part = path.with_suffix(".part")
        self._generate(wanted, part)
        if wanted.stated:
            state_orders(part)
        if wanted.open_share:
            open_up(part, wanted)
        if wanted.stale:
            make_stale(part, wanted)
        if wanted.flipped:
            flip_reads(part, wanted)
        if wanted.alone:
            give_sessions(part, wanted.seed)
        elif wanted.by_session:
            group_by_session(part)
        part.rename(path)  # so that a run that was cut short leaves no half of an input

    def _generate(self, wanted: Generated, path: pathlib.Path):
        times = (f"{wanted.times}:clock-error={self._lengths(wanted, wanted.clocks_off)},"
                 f"time-jitter={self._lengths(wanted, wanted.jitter)}")
        command = [
            self.assay, "generate", "--level", wanted.level, "--sessions", wanted.sessions, "--txns", wanted.txns,
            "--times", times, "--seed", wanted.seed, "--output", path,
        ]
        if wanted.lightweight is not None:
            command += ["--lightweight"]
        if wanted.logged:
            command += ["--version-order"]
        if wanted.timestamps:
            command += ["--timestamps"]
        if wanted.bug:
            command += ["--bug", wanted.bug]
        subprocess.run([str(word) for word in (*command, "--workload", workload(wanted))], check=True)

    def _lengths(self, wanted: Generated, count: int) -> int:
        """Nanoseconds: `count` times the mean length of a transaction, found on a small sample."""
        if not count:
            return 0
        sample = self.path(replace(wanted, clocks_off=0, jitter=0, txns=200, bug=None))
        lengths = []
        with open(sample, encoding="utf-8") as lines:
            for line in lines:
                txn = json.loads(line)
                if "begin" in txn and "end" in txn:
                    lengths.append(txn["end"] - txn["begin"])
        return round(count * statistics.fmean(lengths))


def give_sessions(path: pathlib.Path, seed: int):
    """Puts every transaction into a session of its own, and the lines in a random order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    other = [line for line in lines if not line.startswith('{"session":')]
    txns = [line for line in lines if line.startswith('{"session":')]
    random.Random(seed).shuffle(txns)
    with open(path, "w", encoding="utf-8") as out:
        for line in other:
            out.write(line + "\n")
        for session, line in enumerate(txns):
            out.write(f'{{"session":{session}{line[line.index(",", 11):]}\n')


def state_orders(path: pathlib.Path):
    """Appends the order of the versions of every key, of a history whose lines are in the order of commits."""
    orders = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            txn = json.loads(line)
            if txn.get("status", "committed") != "committed":
                continue
            written = {op[1]: op[2] for op in txn.get("ops", ()) if op[0] == "w"}
            for key, value in written.items():
                orders.setdefault(key, []).append(value)
    with open(path, "a", encoding="utf-8") as out:
        for key, order in orders.items():
            out.write(json.dumps({"key": key, "order": order}, separators=(",", ":")) + "\n")


def make_stale(path: pathlib.Path, wanted: Generated):
    """Of a history whose lines are in the order of commits: in the second half, one read of a transaction that reads several keys
    returns what its key held `stale` versions earlier. Whether that breaks a level is for the checker to say: nothing shows it but
    what the transaction read beside it."""
    versions, at, reads = {}, {}, []
    with open(path, encoding="utf-8") as lines:
        all_lines = lines.readlines()
    for number, line in enumerate(all_lines):
        txn = json.loads(line)
        if txn.get("status", "committed") != "committed" or "ops" not in txn:
            continue
        for place, op in enumerate(txn["ops"]):
            if op[0] == "w":
                at[op[1], op[2]] = len(versions.setdefault(op[1], []))
                versions[op[1]].append(op[2])
            elif number > len(all_lines) // 2 and at.get((op[1], op[2]), 0) > 0:
                reads.append((min(wanted.stale, at[op[1], op[2]]), number, place))
    furthest = max(back for back, _, _ in reads)  # fewer than asked for where no key has so many
    back, number, place = random.Random(wanted.seed).choice([read for read in reads if read[0] == furthest])
    txn = json.loads(all_lines[number])
    key, value = txn["ops"][place][1:3]
    for op in txn["ops"]:  # all reads of the key, or it would be seen twice
        if op[0] == "r" and op[1] == key:
            op[2] = versions[key][at[key, value] - back]
    all_lines[number] = json.dumps(txn, separators=(",", ":")) + "\n"
    path.write_text("".join(all_lines), encoding="utf-8")


def flip_reads(path: pathlib.Path, wanted: Generated):
    """So many reads of committed transactions return another value that was written to their key. Whether that breaks a level is for
    the checker to say."""
    with open(path, encoding="utf-8") as lines:
        txns = [json.loads(line) for line in lines]
    written, reads = {}, []
    for number, txn in enumerate(txns):
        own = set()
        for place, op in enumerate(txn.get("ops", ())):
            if op[0] == "w" or op[0] == "cas" and op[4]:
                own.add(op[1])
                written.setdefault(op[1], set()).add(op[2] if op[0] == "w" else op[3])
            elif op[0] == "r" and op[1] not in own and op[2] is not None and txn.get("status", "committed") == "committed":
                reads.append((number, place))
    chance = random.Random(wanted.seed)
    for number, place in chance.sample(reads, wanted.flipped):
        op = txns[number]["ops"][place]
        op[2] = chance.choice(sorted(written[op[1]] - {op[2]}))
    path.write_text("".join(json.dumps(txn, separators=(",", ":")) + "\n" for txn in txns), encoding="utf-8")


def open_up(path: pathlib.Path, wanted: Generated):
    """Gives a history whose lines are in the order of commits, each transaction seeing all before it, what leaves
    questions open: unknown outcomes (half of these took no effect), ranges, values that their key had before."""
    chance = random.Random(wanted.seed)
    state, former = {}, {}  # of every key: its value, and one that it had
    with open(path, encoding="utf-8") as lines:
        all_lines = lines.readlines()
    with open(path, "w", encoding="utf-8") as out:
        for line in all_lines:
            txn = json.loads(line)
            if "ops" in txn and txn.get("status", "committed") == "committed":
                _open_txn(txn, wanted, chance, state, former)
                line = json.dumps(txn, separators=(",", ":")) + "\n"
            out.write(line)


def _open_txn(txn, wanted: Generated, chance, state, former):
    own = {}
    for op in txn["ops"]:
        if op[0] == "r":
            op[2] = own.get(op[1], state.get(op[1]))
            continue
        if op[1] in former and chance.random() < wanted.open_share:
            op[2] = former[op[1]]
        own[op[1]] = op[2]
    if chance.random() < wanted.open_share:
        low = chance.randrange(wanted.keys - 9)
        rows = [[key, state[key]] for key in range(low, low + 10) if key in state]
        txn["ops"].insert(0, ["range", low, low + 9, rows])
    if chance.random() < wanted.open_share:
        txn["status"] = "unknown"
        if chance.random() < 0.5:
            return
    for key, value in own.items():
        if key in state:
            former[key] = state[key]
        state[key] = value


def group_by_session(path: pathlib.Path):
    """Rewrites a history so that each session's lines stand together, in their order. Through
    files: the process stays small, which matters because the peak memory that the system reports
    for a child starts at that of its parent."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, contextlib.ExitStack() as open_files:
        parts = {}
        with open(path, "rb") as lines:
            for line in lines:
                # {"session":13,"txn":… or the header, which comes first and stays first
                start = line.startswith(b'{"session":')
                session = int(line[11:line.index(b",", 11)]) if start else -1
                if session not in parts:
                    name = pathlib.Path(folder) / str(session)
                    parts[session] = open_files.enter_context(open(name, "w+b"))
                parts[session].write(line)
        with open(path, "wb") as out:
            for session in sorted(parts):
                parts[session].seek(0)
                while chunk := parts[session].read(1 << 20):
                    out.write(chunk)


def workload(g: Generated) -> str:
    """What --workload of `assay generate` is given for it."""
    words = [f"ops={g.ops}", f"read-share={g.read_share}", f"keys={g.keys}", f"distribution={g.distribution}", "abort-share=0",
             f"unknown-share={g.unknown_share}",
             *([] if g.lightweight is None else [f"concurrent={g.lightweight}"]),
             *([] if g.query_share is None else [f"query-share={g.query_share}", f"query-width={g.query_width}"]),
             *([f"increment-share={g.increment_share}"] if g.increment_share else []),
             *([] if g.long_ops is None else [f"long-ops={g.long_ops}"]),
             *([] if g.values is None else [f"values={g.values}"])]
    return f"{g.workload}:{','.join(words)}"


def _name(g: Generated) -> str:
    words = [g.level, g.workload, f"{g.sessions}x{g.txns}x{g.ops}", f"r{g.read_share}",
             f"k{g.keys}", g.distribution, f"t-{g.times}", f"c{g.clocks_off}", f"j{g.jitter}", g.bug or "sound",
             *(["alone"] if g.alone else []), *(["stated"] if g.stated else []), *(["logged"] if g.logged else []),
             *(["timestamps"] if g.timestamps else []),
             *([f"open{g.open_share}"] if g.open_share else []),
             *([] if g.query_share is None else [f"q{g.query_share}w{g.query_width}"]),
             *([f"i{g.increment_share}"] if g.increment_share else []),
             *([] if g.long_ops is None else [f"long{g.long_ops}"]), *([f"stale{g.stale}"] if g.stale else []),
             *([f"flipped{g.flipped}"] if g.flipped else []), *([f"u{g.unknown_share}"] if g.unknown_share else []),
             *([] if g.values is None else [f"v{g.values}"]),
             *([] if g.lightweight is None else [f"lightweight{g.lightweight}"]), f"seed{g.seed}", "sessions" if g.by_session else "ends"]
    return "_".join(words)
