"""The rows of the suite: which input, which level, what verdict, and what we aim at.

A row is data. To add one, add it here; nothing else knows any row by name.
"""

from dataclasses import dataclass, replace
from typing import Optional, Union

GB = 1 << 30


@dataclass(frozen=True)
class Generated:
    """An input of `assay generate`. Aborts by the client and lost outcomes are off, so that the
    number of committed transactions is sessions * txns; conflicts still abort some."""

    level: str
    sessions: int
    txns: int  # committed, of each session
    ops: int
    read_share: float
    keys: int
    distribution: str = "uniform"
    workload: str = "general"
    # Of `predicates`: the share of queries among the operations, and that of the values which satisfy one.
    query_share: Optional[float] = None
    query_width: float = 0.1
    # Of `general` and `predicates`: the share of the writes that read their key first.
    increment_share: float = 0
    # Of `general`: operations of long transactions, one in ten.
    long_ops: Optional[int] = None
    # So many versions back lies what one read is made to return (inputs.make_stale).
    stale: int = 0
    # So many reads are made to return another value of their key (inputs.flip_reads).
    flipped: int = 0
    unknown_share: float = 0  # of the transactions have an unknown outcome
    times: str = "none"  # none, points, intervals
    clocks_off: int = 0  # clocks are off by up to so many mean transaction lengths
    jitter: int = 0  # the times of each transaction are, by an amount of their own
    bug: Optional[str] = None
    seed: int = 1
    # The simulated database writes transactions down as they end, so the order of the lines would
    # give the order of commits away even without times. Grouped by session it does not.
    by_session: bool = True
    # Each transaction in a session of its own, in an order that says nothing.
    alone: bool = False
    # The order of the versions of every key is stated: the order of the lines, which are in the order of commits.
    stated: bool = False
    # The database's log says so: every version with its transaction, and that none is missing.
    logged: bool = False
    # The database states its own times of each transaction.
    timestamps: bool = False
    values: Optional[int] = None  # that each key ever holds; not given: every write has its own
    # Compare-and-sets, reads and inserts of single keys; this share of the sessions at once.
    lightweight: Optional[float] = None
    # This share of the transactions has an unknown outcome, as many read a range of ten keys, and as many
    # writes have a value that their key had before.
    open_share: float = 0

    def scaled(self, divisor: int) -> "Generated":
        return replace(self, txns=max(20, self.txns // divisor))


@dataclass(frozen=True)
class Recorded:
    """A history recorded elsewhere, below the data folder; its rows are skipped without it."""

    path: str


@dataclass(frozen=True)
class Target:
    seconds: Optional[float] = None
    ratio: Optional[float] = None  # of the whole to the floor
    more: float = 0  # seconds, on top of that
    memory: Optional[float] = None  # bytes


@dataclass(frozen=True)
class Row:
    name: str
    input: Union[Generated, Recorded]
    level: str
    expect: Optional[str] = "satisfied"  # None: whatever is found
    target: Target = Target()
    flags: tuple = ()  # of assay check, in every run of the row
    repeat: int = 2  # the fastest counts
    switches: bool = False  # also measured with each speed-up off
    planted: int = 0  # also measured with each planted fault, of so many seeds
    quick: int = 1  # the divisor of its size with --quick; 0 leaves it out


def _timed(level: str, txns: int, **more) -> Generated:
    fields = dict(sessions=20, ops=15, read_share=0.5, keys=1_000_000, distribution="zipfian",
                  times="points", by_session=False)
    return Generated(level=level, txns=txns, **{**fields, **more})


_EXACT = Target(seconds=15, ratio=2.5, memory=3 * GB)
_JITTERED = Target(ratio=4)
_SWEEP = Generated("session-si", sessions=20, txns=100, ops=15, read_share=0.5, keys=10_000)
_BLIND = Generated("session-si", sessions=20, txns=100, ops=15, read_share=0, keys=10_000,
                   distribution="zipfian")
_BLINDW = Generated("session-si", sessions=24, txns=417, ops=8, read_share=0.5, keys=2000,
                    workload="blindw-rw")
_TWITTER = Generated("session-si", sessions=25, txns=4000, ops=8, read_share=0.5, keys=1000,
                     workload="twitter")
_RUBIS = replace(_TWITTER, keys=20_000, workload="rubis")
_UNIFORM = Generated("session-si", sessions=25, txns=4000, ops=8, read_share=0.5, keys=2000)

_WEAK = Generated("causal", sessions=100, txns=10_000, ops=20, read_share=0.5, keys=1_000_000,
                  distribution="zipfian")
_MINI = Generated("strict-serializable", sessions=20, txns=50_000, ops=4, read_share=0.5, keys=2000,
                  distribution="zipfian", workload="mini", times="points", by_session=False)
_LIGHTWEIGHT = Generated("linearizable", sessions=20, txns=50_000, ops=1, read_share=0.2, keys=100,
                         times="points", by_session=False, lightweight=1)

_ALONE = Generated("session-si", sessions=20, txns=5000, ops=8, read_share=0.5, keys=10_000,
                   alone=True)
_STATED = Generated("strict-serializable", sessions=20, txns=2000, ops=8, read_share=0.5, keys=10_000)

_LOGGED = Generated("serializable", sessions=10, txns=4000, ops=8, read_share=0.5, keys=10_000,
                    times="intervals", by_session=False, logged=True)

# Queries by condition, of clients that recorded no times.
_QUERIES = Generated("session-serializable", sessions=20, txns=1000, ops=5, read_share=0.5, keys=2000,
                     workload="predicates", query_share=0.2, query_width=0.005)
_MANY_QUERIES = replace(_QUERIES, txns=5000, keys=10_000, query_width=0.001)
# What Emme's authors measured. King Cobra's three workloads: here not serial in the order of the clocks, which are off.
_ITEMS = Generated("serializable", sessions=20, txns=5000, ops=5, read_share=0.4, keys=1000, times="intervals",
                   by_session=False)
_MIX = Generated("session-serializable", sessions=20, txns=500, ops=8, read_share=0.5, keys=1000, times="points",
                 clocks_off=10, by_session=False, stated=True)
_MIXES = (("read-modify-write", replace(_MIX, workload="increment")), ("read/write", _MIX),
          ("heavy write", replace(_MIX, read_share=0.2)))

_RECORDED = (
    ("GeneralRH", "25_400_8_10000_0.95_uniform/hist-00000/history.bincode", 0.05),
    ("GeneralRW", "25_400_8_10000_0.5_uniform/hist-00000/history.bincode", 0.15),
    ("GeneralWH", "25_400_8_10000_0.3_uniform/hist-00000/history.bincode", 0.2),
    ("RUBiS", "rubis-10000/hist-00000", 0.1),
    ("TPC-C", "tpcc-10000/hist-00000", 0.3),
    ("C-Twitter", "twitter-10000/hist-00000", 0.1),
)

GROWTH = ("100k x 15, times", "1M x 15, times", 13.0)

ROWS = (
    Row(GROWTH[0], _timed("strong-si", 5000), "session-si", planted=5, quick=10),
    Row("100k x 15, times, clocks off", _timed("strong-si", 5000, clocks_off=10), "session-si",
        target=_JITTERED, quick=10),
    Row(GROWTH[1], _timed("strong-si", 50_000), "session-si", target=_EXACT, repeat=1, planted=2,
        quick=0),
    Row("1M x 15, times, reads of older points", _timed("session-si", 50_000), "session-si",
        target=_EXACT, repeat=1, quick=100),
    Row("1M x 15, times, serial", _timed("strict-serializable", 50_000), "session-serializable",
        target=_EXACT, repeat=1, quick=100),
    Row("1M x 15, times, clocks off", _timed("strong-si", 50_000, clocks_off=10), "session-si",
        target=_JITTERED, repeat=1, quick=100),
    Row("1M x 15, times, clocks off, serial", _timed("strict-serializable", 50_000, clocks_off=10),
        "session-serializable", target=_JITTERED, repeat=1, quick=100),
    Row("100k x 15, times jittered", _timed("strong-si", 5000, jitter=10), "session-si",
        target=_JITTERED, quick=10),
    Row("1M x 15, times jittered", _timed("strong-si", 50_000, jitter=10), "session-si",
        target=_JITTERED, repeat=1, quick=100),
    Row("1M x 15, times jittered, serial", _timed("strict-serializable", 50_000, jitter=10),
        "session-serializable", target=_JITTERED, repeat=1, quick=100),
    *(Row(f"PolySI {name}", Recorded(f"polysi/{path}"), level, expect=expect,
          target=Target(seconds), switches=True)
      for level, expect in (("session-si", "satisfied"), ("session-serializable", None))
      for name, path, seconds in _RECORDED),
    Row("100k x 8, uniform, 2k keys", _UNIFORM, "session-si", target=Target(3, memory=GB),
        switches=True, planted=5, quick=20),
    Row("100k x 8, uniform, in the order of ends", replace(_UNIFORM, by_session=False), "session-si",
        quick=20),
    Row("100k x 15, zipfian, 10k keys",
        Generated("session-si", sessions=20, txns=5000, ops=15, read_share=0.5, keys=10_000,
                  distribution="zipfian"),
        "session-si", target=Target(5, memory=1.5 * GB), switches=True, planted=5, quick=20),
    Row("1M x 8, zipfian, 100k keys",
        Generated("session-si", sessions=25, txns=40_000, ops=8, read_share=0.5, keys=100_000,
                  distribution="zipfian"),
        "session-si", target=Target(60, memory=8 * GB), repeat=1, planted=2, quick=0),
    *(Row(f"100k, {name}-like", made, level, expect=expect, target=Target(3, memory=GB),
          planted=5 if level == "session-si" else 0, quick=20)
      for name, made in (("Twitter", _TWITTER), ("RUBiS", _RUBIS))
      for level, expect in (("session-si", "satisfied"), ("session-serializable", None))),
    Row("BlindW-RW 10k x 8, 2k keys", _BLINDW, "adya-si", target=Target(0.3), switches=True,
        planted=5, quick=4),
    Row("BlindW-RW, sessions not in order", replace(_BLINDW, level="adya-si"), "adya-si",
        target=Target(0.3), switches=True, quick=4),
    Row("sweep: 30 sessions", replace(_SWEEP, sessions=30), "session-si", target=Target(0.2)),
    Row("sweep: 250 a session", replace(_SWEEP, txns=250), "session-si", target=Target(0.2)),
    Row("sweep: 30 operations", replace(_SWEEP, ops=30), "session-si", target=Target(0.2)),
    Row("sweep: 1,000 keys", replace(_SWEEP, keys=1000), "session-si", target=Target(0.2)),
    Row("sweep: hotspot", replace(_SWEEP, distribution="hotspot"), "session-si",
        target=Target(0.2)),
    *(Row(f"sweep: {sessions} sessions, dbcop's search", replace(_SWEEP, sessions=sessions, level=level),
          level, target=Target(seconds), flags=("--engine", "dbcop"))
      for sessions, seconds in ((10, 62), (15, 122))  # what dbcop took in PolySI's evaluation
      for level in ("session-si", "session-serializable")),
    Row("2k x 15, writes only", _BLIND, "session-si", target=Target(0.1), switches=True,
        flags=("--allow-empty",)),
    Row("2k x 15, 5 % reads", replace(_BLIND, read_share=0.05), "session-si", target=Target(0.5),
        switches=True),
    Row("27k x 3, 85 keys",
        Generated("session-si", sessions=25, txns=1080, ops=3, read_share=0.65, keys=85),
        "session-si", target=Target(1), switches=True, planted=5, quick=10),
    *(Row(f"{txns} x 10, {values} values a key, {keys} keys{', zipfian' if skewed else ''}",
          Generated(level, sessions=10, txns=txns // 10, ops=10, read_share=0.5, keys=keys,
                    distribution="zipfian" if skewed else "uniform", values=values),
          level, target=Target(seconds),
          quick=0 if many or (skewed and txns >= 10_000) else 10)  # many: as hard at a tenth of it
      for txns, keys, values, seconds, many in (
          (200, 100, 5, 1, False), (800, 100, 20, 1, False), (1_600, 1_000, 5, 1, False),
          (3_200, 1_000, 100, 1, False), (10_000, 1_000, 100, 1, False),
          (100_000, 10_000, 100, 10, False), (10_000, 100, 20, 10, False),
          (10_000, 100, 5, 60, True), (100_000, 1_000, 20, 60, True))
      for skewed in (False, True)
      for level in ("session-serializable", "session-si")),
    *(Row(f"20 sessions of {txns} x {ops}, 5k keys, values of a pool of {pool}",
          Generated(level, sessions=20, txns=txns, ops=ops, read_share=0.5, keys=5000, values=pool),
          level, target=Target(1), quick=5)
      for txns, ops in ((100, 15), (250, 30)) for pool in (1250, 10_000)
      for level in ("session-serializable", "session-si")),
    *(Row(f"1M x 8, times{', 1 % each of unknown, repeated, ranges' if share else ''}",
          Generated("strict-serializable", sessions=20, txns=50_000, ops=8, read_share=0.5,
                    keys=1_000_000, times="points", by_session=False, open_share=share),
          "session-serializable", repeat=1, quick=100)
      for share in (0, 0.01)),
    *(Row("100k x 8, 10k keys, each its own session", _ALONE, level,
          target=Target(10, memory=2 * GB), repeat=1, quick=20)
      for level in ("read-committed", "read-atomic", "causal", "session-si")),
    *(Row(f"{sessions * txns} x 8, {sessions} sessions, 1k keys, 10 % reads",
          Generated("session-si", sessions=sessions, txns=txns, ops=8, read_share=0.1, keys=1000),
          "session-si", target=Target(10), repeat=1, quick=0)  # as hard at any size
      for sessions, txns in ((1000, 2), (1000, 10), (2000, 2))),
    *(Row(f"40k x 8{', times' if times != 'none' else ''}{', orders stated' if stated else ''}",
          replace(_STATED, times=times, stated=stated), "session-serializable", quick=10)
      for times in ("none", "points") for stated in (False, True)),
    *(Row(f"{count} x 8, {'complete order' if logged else 'no order'}, all levels",
          replace(_LOGGED, txns=txns, keys=keys, logged=logged), "session-serializable",
          flags=("--level", "all"), repeat=repeat, quick=quick,
          target=Target(ratio=1.1, more=3) if logged else Target())
      for count, txns, keys, repeat, quick in (("40k", 4000, 10_000, 2, 10),
                                               ("1M", 100_000, 100_000, 1, 100))
      for logged in (False, True)),
    Row("100k x 5, 1k keys, complete order", replace(_ITEMS, logged=True), "pl-3", target=Target(0.5), repeat=5,
        quick=20),
    *(Row("2.5k x 5, half of them queries, 100 keys, complete order",
          replace(_QUERIES, txns=125, keys=100, query_share=0.5, query_width=0.1, logged=True, times="intervals",
                  by_session=False), level, target=Target(0.3), repeat=5, quick=1)
      for level in ("pl-3", "serializable")),
    *(Row("20k x 5, a fifth of them queries of ten rows, 2k keys", _QUERIES, level, target=Target(10, memory=GB), repeat=2,
          quick=10)
      for level in ("serializable", "session-serializable", "session-si")),
    *(Row("100k x 5, a fifth of them queries of ten rows, 10k keys, complete order",
          replace(_MANY_QUERIES, logged=True, times="intervals", by_session=False), level,
          target=Target(5, memory=GB), repeat=2, quick=10)
      for level in ("pl-3", "serializable")),
    *(Row("100k x 5, a fifth of them queries of ten rows, 10k keys", _MANY_QUERIES, level,
          target=Target(10, memory=GB), repeat=2, quick=10)
      for level in ("serializable", "session-si")),
    *(Row(f"100k x 5, a fifth of them queries of ten rows, 10k keys, a {bug} planted", replace(_MANY_QUERIES, bug=bug), level,
          expect="violated", target=Target(10, memory=GB), repeat=2, quick=0)
      for level, bug in (("serializable", "write-skew"), ("session-si", "lost-update"))),
    Row("100k x 5, 1k keys, the database's order", replace(_ITEMS, timestamps=True), "serializable",
        flags=("--expected-order", "commit_ts"), target=Target(0.25), repeat=5, quick=20),
    *(Row(f"10k x 8, {name}, clocks off, {share} % of the order", made, level, flags=("--use-order", f"{share}%"),
          target=Target(0.1), repeat=3, quick=10)
      for name, made in _MIXES
      for level in ("serializable", "session-serializable")
      for share in (0, 50, 90, 100)),
    *(Row(f"100k x 8, four levels mixed, {keys} keys",
          Generated("read-committed,causal,session-si,serializable", sessions=20, txns=5000, ops=8, read_share=0.5,
                    keys=keys, by_session=False),
          "mixed", target=Target(5, memory=GB), quick=20)
      for keys in (10_000, 1000)),
    Row("10k on one register, 64 clients, 5 values",
        Generated("linearizable", sessions=64, txns=156, ops=1, read_share=0.5, keys=1, values=5,
                  times="intervals"),
        "linearizable", target=Target(5, memory=GB / 2)),
    Row("1M mini-transactions, ten keys",
        Generated("strict-serializable", sessions=20, txns=50_000, ops=4, read_share=0.5, keys=10,
                  workload="mini", times="points", by_session=False),
        "strict-serializable", target=Target(ratio=2.5), repeat=1, quick=100),
    *(Row("1M x 20, 100 sessions, weak", _WEAK, level, target=target, repeat=1, quick=100)
      for level, target in (("read-committed", Target(20, memory=6 * GB)),
                            ("read-atomic", Target(20, memory=6 * GB)),
                            ("causal", Target(20, ratio=3, memory=6 * GB)))),
    *(Row("1M mini-transactions, zipfian, 2k keys", _MINI, level, target=Target(ratio=2), repeat=1,
          quick=100)
      for level in ("session-serializable", "session-si", "strict-serializable")),
    Row("1M lightweight, 100 keys, all at once", _LIGHTWEIGHT, "linearizable",
        target=Target(ratio=2), repeat=1, quick=100),
    Row("1M lightweight, 100 keys, one by one", replace(_LIGHTWEIGHT, lightweight=0), "linearizable",
        target=Target(ratio=2), repeat=1, quick=100),
)

# Each is forbidden by the level of every row with `planted`.
BUGS = ("lost-update", "long-fork", "causality-violation")
REJECT_RATIO = 2.0  # time to reject to time to accept
SPREAD = 2.0  # slowest seed to fastest seed

SWITCHES = ("--without=replay", "--without=saturation", "--without=early-search", "--without=local-search", "--without=carry",
            "--without=update-facts", "--without=assumed-sessions")
