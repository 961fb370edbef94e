"""Plans of transactions: a line for each, in the order of its session.

    SESSION KIND OPERATION… END

KIND is q if it only reads, else u. END is c for commit, a for abort. Operations, where HOW is a number in the store's list of ways:

    r:HOW:KEY           read
    w:HOW:KEY:VALUE     write
    d:HOW:KEY:VALUE     read, and delete if it was there; VALUE names the deletion
    s:HOW:LOW:HIGH      read a range
    z:MICROSECONDS      sleep

With "blind":false of its entry in stores.jsonl each write comes after a read of its key: then reads tell the order of versions.
Keys are integers. A value is written to a key once. Each round has keys of its own, so that they are absent at first.
"""


def write(path, rng, first_key, hello, entry, values=None):
    """Writes a plan; the number of keys that it takes up, and in words what it does. `values`: of the plan before on the same keys, what was written
    to each last, which is then that of this one; empty at first."""
    count = len(values) if values else rng.choice(entry.get("keys", [2, 3, 4, 6, 10, 20, 40]))
    sessions = rng.choice([2, 3, 4, 6])
    ways = {kind: [how for how, name in enumerate(hello[kind]) if name in entry.get(kind, hello[kind])] for kind in ("reads", "ranges", "writes")}
    reads, ranges, writes = ways["reads"], ways["ranges"], ways["writes"]
    before_writes = reads[0]
    deletes = entry.get("deletes", True) and rng.random() < 0.4
    # Absent keys leave open which deletion made them so: such rounds are short, or they take long to decide.
    transactions = rng.choice([300, 600] if deletes else [1000, 3000])
    transactions = min(transactions, entry.get("round", 3000))
    if rng.random() < 0.6:
        reads = [rng.choice(reads)]
    if len(ranges) > 1 and rng.random() < 0.6:
        ranges = [rng.choice(ranges)]
    naps = rng.choice([0, 0.1, 0.3])
    shapes = [shape for shape in SHAPES if (ranges or shape is not phantom) and rng.random() < 0.5] or [mixed]
    value = [] if values is None else values
    value += [0] * (count - len(value))

    def next_value(key):
        value[key] += 1
        return value[key]

    class Draw:
        keys = count

        def key(self):
            return rng.randrange(count)

        def read(self, key):
            return f"r:{rng.choice(reads)}:{first_key + key}"

        def write(self, key):
            if deletes and rng.random() < 0.3:
                return f"d:0:{first_key + key}:{next_value(key)}"
            return f"w:{rng.choice(writes)}:{first_key + key}:{next_value(key)}"

        def range(self, low, high):
            return f"s:{rng.choice(ranges)}:{first_key + low}:{first_key + high}"

    draw = Draw()
    with open(path, "w") as plan:
        for _ in range(transactions):
            ops = rng.choice(shapes)(draw, rng, bool(ranges))
            if not entry.get("blind", True):
                ops = [one for op in ops for one in ([f"r:{before_writes}:{op.split(':')[2]}", op] if op[0] == "w" else [op])]
            kind = "q" if all(op[0] in "rs" for op in ops) else "u"
            if naps:
                ops = [one for op in ops for one in ([op, f"z:{rng.choice([0, 20, 100])}"] if rng.random() < naps else [op])]
            plan.write(f"{rng.randrange(sessions)} {kind} {' '.join(ops)} {'a' if rng.random() < 0.03 else 'c'}\n")
    words = f"{sessions} sessions, {count} keys, {transactions} transactions: {', '.join(shape.__name__ for shape in shapes)}"
    names = ", ".join(hello["reads"][how] for how in reads)
    return count, words + (", deletes" if deletes else "") + f"; read by {names}"


def mixed(draw, rng, ranges):
    """Reads and writes of any keys."""
    ops = []
    for _ in range(rng.randrange(1, 7)):
        what = rng.random()
        key = draw.key()
        if ranges and what < 0.15:
            ops.append(draw.range(key, min(draw.keys - 1, key + rng.randrange(4))))
        else:
            ops.append(draw.read(key) if what < 0.55 else draw.write(key))
    return ops


def update(draw, rng, ranges):
    """Reads keys and writes them: what two of them do at once loses one of the writes, if nothing prevents it."""
    keys = {draw.key() for _ in range(rng.randrange(1, 4))}
    return [op for key in sorted(keys, key=lambda _: rng.random()) for op in (draw.read(key), draw.write(key))]


def skew(draw, rng, ranges):
    """Reads some keys and writes one of them or another."""
    keys = [draw.key() for _ in range(rng.randrange(1, 4))]
    return [draw.read(key) for key in keys] + [draw.write(rng.choice([rng.choice(keys), draw.key()]))]


def phantom(draw, rng, ranges):
    """Reads a range and writes one key, within it or not."""
    low = draw.key()
    return [draw.range(low, min(draw.keys - 1, low + rng.randrange(draw.keys))), draw.write(draw.key())]


def look(draw, rng, ranges):
    """Only reads."""
    if ranges and rng.random() < 0.5:
        return [draw.range(0, draw.keys - 1)] + [draw.read(draw.key())] * rng.randrange(2)
    return [draw.read(draw.key()) for _ in range(rng.randrange(1, 6))]


def single(draw, rng, ranges):
    """One write, of one or two keys."""
    return [draw.write(draw.key()) for _ in range(rng.randrange(1, 3))]


SHAPES = [mixed, update, skew, phantom, look, single]
