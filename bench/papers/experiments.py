"""The experiments of five papers, as data: their parameters, the figures that the papers give, and how assay repeats each.

    PolySI     Huang et al., Efficient Black-Box Checking of Snapshot Isolation in Databases, PVLDB 2023
    Viper      Zhang et al., Viper: A Fast Snapshot Isolation Checker, EuroSys 2023
    Emme       Clark et al., Validating Database System Isolation Level Implementations with Version Certificate
               Recovery, EuroSys 2024 (Emme, Enne and King Cobra)
    dbcop      Biswas and Enea, On the Complexity of Checking Transactional Consistency, OOPSLA 2019
    MTC        Boosting End-to-End Database Isolation Checking via Mini-Transactions, ICDE 2025

Figures that a paper only draws were read off its drawings, to about one percent of the axis. Nothing else knows any
experiment by name: to add one, add it here.
"""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional, Union

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
from rows import Generated, Recorded  # noqa: E402

SI, SER = "session-si", "session-serializable"


@dataclass(frozen=True)
class Groups:
    """So many histories beside each other, which share no key and no session."""

    each: Generated
    count: int


@dataclass(frozen=True)
class Point:
    label: str
    input: Union[Generated, Recorded, Groups]
    paper: dict = field(default_factory=dict)  # system: what the paper has for it, in the unit of the experiment
    level: Optional[str] = None  # else that of the experiment
    expect: Optional[str] = "satisfied"


@dataclass(frozen=True)
class Experiment:
    paper: str
    figure: str
    title: str
    axis: str
    points: tuple
    level: str = SI
    flags: tuple = ()
    seeds: int = 3  # histories of a point; the median counts
    memory: bool = False  # the paper's figures are in MB, not seconds
    spread: bool = False  # the fastest and the slowest seed are told beside the median
    # Lines of the table: name and more flags of `assay check`. Each is measured on every point.
    ways: tuple = (("assay", ()),)
    note: str = ""
    limit: float = 60
    may_run_out: bool = False  # of time, but for the first of its ways: that is a result then
    compare: Optional[str] = None  # the counters of --stats that the paper has, instead of seconds


def sweep(base, name, values, systems, level=None, labels=None):
    """A point for each value of one parameter."""
    points = []
    for i, value in enumerate(values):
        paper = {system: row[i] for system, row in systems.items() if row[i] is not None}
        points.append(Point(str(labels[i] if labels else value), replace(base, **{name: value}), paper, level))
    return tuple(points)


# PolySI: section 5 and the technical report.
_BASE = Generated(SI, sessions=20, txns=100, ops=15, read_share=0.5, keys=10_000)
_FIVE = (  # axis, parameter, values, seconds of PolySI, of CobraSI with GPU, of dbcop; MB of PolySI
    ("sessions", "sessions", (5, 10, 15, 20, 25, 30), (0.6, 1.2, 1.8, 2.1, 5.4, 9.2),
     (0.6, 1.8, 5.4, 13.4, 33.6, 75), (0.3, 62, 122, None, None, None), (67, 70, 73, 80, 108, 328)),
    ("transactions of a session", "txns", (10, 50, 100, 150, 200, 250), (0.4, 1.2, 3.5, 6.5, 10.2, 17.3),
     (0.2, 3.0, 12.8, 38, 64, 128), (None,) * 6, (49, None, 80, 299, 334, 537)),
    ("operations of a transaction", "ops", (5, 10, 15, 20, 25, 30), (1.0, 1.9, 3.5, 5.1, 7.4, 10.1),
     (2.7, 7.0, 13.4, 22, 32, 40), (62, None, None, None, None, None), (72, 72, 81, 129, 227, 358)),
    ("share of reads", "read_share", (0, 0.25, 0.5, 0.75, 1), (3.2, 6.3, 3.5, 1.8, 0.7),
     (None, 87, 13, 2.8, None), (None, None, None, 124, None), (172, 89, 81, 73, 54)),
    ("keys", "keys", (1000, 2000, 3000, 4000, 6000, 8000, 10_000), (22.4, 11.4, 8.2, 5.5, 4.0, 3.8, 3.4),
     (67, 49, 37, 29, 17, 17.5, 15), (None,) * 7, (654, 475, 285, 153, 117, 92, 82)),
    ("distribution of keys", "distribution", ("uniform", "zipfian", "hotspot"), (3.4, 6.3, 8.1),
     (14.2, 33.2, 31.2), (None,) * 3, (81, 170, 274)),
)
_BENCHMARKS = ("RUBiS", "TPC-C", "C-Twitter", "GeneralRH", "GeneralRW", "GeneralWH")
_FILES = {"RUBiS": "rubis-10000/hist-00000", "TPC-C": "tpcc-10000/hist-00000",
          "C-Twitter": "twitter-10000/hist-00000",
          "GeneralRH": "25_400_8_10000_0.95_uniform/hist-00000/history.bincode",
          "GeneralRW": "25_400_8_10000_0.5_uniform/hist-00000/history.bincode",
          "GeneralWH": "25_400_8_10000_0.3_uniform/hist-00000/history.bincode"}


def recorded(systems):
    return tuple(Point(name, Recorded("polysi/" + _FILES[name]),
                       {system: row[i] for system, row in systems.items() if row[i] is not None})
                 for i, name in enumerate(_BENCHMARKS))


_OFF = ("--without=replay", "--without=saturation", "--without=anti-dependency-rule", "--without=write-dependency-rule", "--without=begin-rule",
        "--without=combined-writes", "--without=early-search", "--without=local-search", "--without=update-facts", "--without=assumed-sessions",
        "--without=zones", "--without=decomposition", "--without=narrowing", "--without=carry")
# What the papers do: a constraint for each two writers, all given to the solver.
_AT_ONCE = ("--without=replay", "--without=early-search", "--without=lazy-choices")
_COUNTED = ("--without=replay", "--without=early-search", "--without=begin-rule")
_MILLION = Generated(SI, sessions=20, txns=50_000, ops=15, read_share=0.5, keys=1_000_000_000)

POLYSI = (
    *(Experiment("PolySI", f"Fig. 5{'abcdef'[i]}", f"Time against {axis}", axis,
                 sweep(_BASE, name, values, {"PolySI": polysi, "CobraSI with GPU": cobra, "dbcop": dbcop}),
                 flags=("--allow-empty",))
      for i, (axis, name, values, polysi, cobra, dbcop, _) in enumerate(_FIVE)),
    *(Experiment("PolySI", f"Fig. 6{'abcdef'[i]}", f"Memory against {axis}", axis,
                 sweep(_BASE, name, values, {"PolySI": memory}), memory=True, seeds=1,
                 flags=("--allow-empty",))
      for i, (axis, name, values, _, _, _, memory) in enumerate(_FIVE)),
    Experiment("PolySI", "Fig. 7", "Six benchmarks, the authors' recorded histories: time", "benchmark",
               recorded({"PolySI": (4.4, 29.9, 5.0, 3.1, 23.3, 54.1),
                         "Cobra with GPU (SER)": (16.3, 1.1, 18.9, 20.0, 28.7, 71.0)})),
    Experiment("PolySI", "Fig. 7", "Six benchmarks, the authors' recorded histories: memory", "benchmark",
               recorded({"PolySI": (459, 1604, 462, 196, 611, 712),
                         "Cobra with GPU (SER)": (506, 294, 487, 506, 633, 703)}), memory=True, seeds=1),
    Experiment("PolySI", "Table 3", "Constraints left after pruning", "benchmark",
               recorded({"PolySI": (149, 0, 277, 29, 2565, 6962)}), flags=_COUNTED, seeds=1,
               compare="constraints after saturation",
               note="A repetition of the paper's algorithm by others counts 219 for C-Twitter, as assay does."),
    Experiment("PolySI", "Table 3", "Constraints before pruning", "benchmark",
               recorded({"PolySI": (14_000, 386_000, 59_000, 4_000, 90_000, 167_000)}), flags=_COUNTED, seeds=1,
               compare="constraints before saturation",
               note="The paper gives thousands. Its initial transaction writes fewer keys for RUBiS."),
    Experiment("PolySI", "Table 3", "Unknown dependencies left after pruning", "benchmark",
               recorded({"PolySI": (839, 0, 776, 77, 5435, 14_376)}), flags=_COUNTED, seeds=1,
               compare="unknown dependencies after"),
    Experiment("PolySI", "Fig. 9", "What the speed-ups are worth", "benchmark",
               recorded({"PolySI": (4.3, 29.7, 5.0, 3.1, 23, 53),
                         "PolySI without pruning": (21, None, 16, 50, 4240, 11_100),
                         "PolySI without pruning and compaction": (96, None, 104, 123, 11_800, 21_700)}),
               ways=(("assay", ()), ("assay --without saturation", ("--without=saturation",)),
                     ("all constraints at once, pruned", _AT_ONCE), ("all constraints at once", (*_AT_ONCE, "--without=saturation")),
                     ("assay, every speed-up off but lazy choices", _OFF)),
               note="On TPC-C PolySI runs out of 16 GB without pruning. assay has no constraints that are not merged, so "
                    "there is no switch for compaction."),
    Experiment("PolySI", "Fig. 10", "A million transactions, 10⁹ keys: time", "share of reads",
               sweep(_MILLION, "read_share", (0.2, 0.5, 0.8), {"PolySI": (2520, 9360, 2880)}), seeds=1, limit=600,
               note="All transactions have 15 operations here; the long ones are below."),
    Experiment("PolySI", "Fig. 10", "A million transactions, 10⁹ keys: memory", "share of reads",
               sweep(_MILLION, "read_share", (0.2, 0.5, 0.8), {"PolySI": (39_000, 35_900, 37_300)}), seeds=1, limit=600,
               memory=True),
    Experiment("PolySI", "Fig. 10", "A million transactions, one in ten of them long: time", "operations of a long transaction",
               sweep(replace(_MILLION, by_session=False), "long_ops", (150,), {"PolySI": (9360,)}), seeds=1, limit=900,
               note="The paper has 300 and 450 operations too, in 14,040 and 20,880 s, and does not say how many are long. The order of "
                    "the lines is that of the commits here."),
    Experiment("PolySI", "Table 3", "Unknown dependencies before pruning", "benchmark",
               recorded({"PolySI": (171_000, 3_628_000, 307_000, 39_000, 401_000, 468_000)}), flags=_COUNTED, seeds=1,
               compare="unknown dependencies before", note="The paper gives thousands."),
    Experiment("PolySI", "Report, appendix F", "Lists: time against sessions", "sessions",
               sweep(replace(_BASE, workload="list-append"), "sessions", (5, 10, 15, 20, 25, 30),
                     {"PolySI-List": (0.31, 0.54, 0.81, 1.06, 1.37, 1.65)})),
    Experiment("PolySI", "Report, appendix F", "Lists: time against operations of a transaction", "operations",
               sweep(replace(_BASE, workload="list-append"), "ops", (5, 10, 15, 20, 25, 30),
                     {"PolySI-List": (0.63, 0.89, 1.0, 1.3, 1.6, 1.7)})),
)

# Viper: section 7. 24 clients, 8 operations, 2,000 keys.
def blindw(txns, sessions=24, workload="blindw-rw"):
    return Generated("adya-si", sessions=sessions, txns=-(-txns // sessions), ops=8, read_share=0.5, keys=2000,
                     workload=workload)


_VIPER5K = tuple(
    Point(name, Generated("adya-si", sessions=24, txns=209, ops=8, read_share=0.5, keys=keys, workload=workload),
          {"Viper": seconds} if seconds else {})
    for name, workload, keys, seconds in (("C-TPCC", "tpcc", 2000, 2.48), ("C-RUBiS", "rubis", 20_000, 17.39),
                                          ("C-Twitter", "twitter", 1000, 0.56), ("BlindW-RM", "blindw-rm", 2000, None),
                                          ("Range-B", "v-range-b", 2000, None), ("Range-RQH", "v-range-rqh", 2000, None),
                                          ("Range-IDH", "v-range-idh", 2000, None)))
VIPER = (
    Experiment("Viper", "Fig. 8", "BlindW-RW, all valid", "transactions",
               tuple(Point(str(n), blindw(n), {400: {"Viper": 0.04, "ASI with Mono": 115.98}, 10_000: {"Viper": 439.7}}.get(n, {}))
                     for n in (100, 200, 400, 1000, 2000, 4000, 6000, 8000, 10_000)), level="adya-si",
               note="The paper prints the figures of 400 and of 10,000 transactions."),
    Experiment("Viper", "Fig. 9", "Appends to lists", "transactions",
               tuple(Point(str(n), Generated("adya-si", sessions=24, txns=-(-n // 24), ops=8, read_share=0.5, keys=2000,
                                             workload="list-append"))
                     for n in (5000, 10_000, 20_000, 40_000, 70_000)), level="adya-si", seeds=1,
               note="The paper prints no figure: it finds Viper and Elle linear, and Elle faster."),
    Experiment("Viper", "Fig. 10", "5,000 transactions of applications", "benchmark", _VIPER5K[:3], level="adya-si"),
    Experiment("Viper", "Fig. 11", "What the optimizations are worth, 5,000 transactions", "benchmark", _VIPER5K,
               level="adya-si",
               ways=(("assay", ()), ("assay --without combined-writes,update-facts", ("--without=combined-writes", "--without=update-facts")),
                     ("assay --without saturation", ("--without=saturation",)), ("all constraints at once, pruned", _AT_ONCE),
                     ("all constraints at once", (*_AT_ONCE, "--without=saturation")), ("assay, every speed-up off but lazy choices", _OFF)),
               may_run_out=True, note="Viper without its heuristic pruning takes up to 36 times as long on C-RUBiS, 600 s and more. assay "
                    "has no heuristic pruning; these are the switches that come nearest."),
    *(Experiment("Viper", "Fig. 12", f"Concurrency, {txns} transactions of BlindW-RW", "clients",
                 tuple(Point(str(n), blindw(txns, n)) for n in (8, 16, 24, 32, 48, 64)), level="adya-si",
                 note="The paper prints no figure: flat for 2,000 and 5,000, falling for 8,000.")
      for txns in (2000, 5000, 8000)),
    Experiment("Viper", "Fig. 13", "Encodings for Z3, as a baseline", "transactions",
               tuple(Point(str(n), blindw(n), {"Z3, GSI": gsi, **({"Z3, ASI": asi} if asi else {})})
                     for n, gsi, asi in ((100, 0.95, 255.57), (200, 9.25, 94.14), (400, 413.78, None))),
               level="adya-si", note="The paper's median of three. assay has no encoding for Z3; this is assay."),
    Experiment("Viper", "Fig. 10", "Ranges, 5,000 transactions of 8 operations of one kind", "workload",
               _VIPER5K[4:], level="adya-si", note="The paper prints no figure of its ranges. Half of the keys are deleted and inserted again."),
    Experiment("Viper", "Fig. 14", "Known violations, of the same kind and size", "violation",
               tuple(Point(name, Generated("adya-si", sessions=10, txns=txns // 10, ops=4, read_share=0.5, keys=1000,
                                           bug=bug), {"Viper": seconds}, expect="violated")
                     for name, bug, txns, seconds in (
                         ("lost update, 23,200", "lost-update", 23_200, 9.75),
                         ("aborted read, 2,200", "aborted-read", 2_200, 0.97), ("G1c, 1,100", "g1c", 1_100, 0.52),
                         ("future read, 4,600", "future-read", 4_600, 2.21),
                         ("read skew, 9,300", "fractured-read", 9_300, 4.28))), level="adya-si",
               note="Faults planted in the simulated database. The paper's histories are of MongoDB and TiDB."),
    *(Experiment("Viper", "Fig. 15", f"{name} in BlindW-RW", "transactions",
                 tuple(Point(str(n), replace(blindw(n), bug=bug), paper[n], expect="violated") for n in (2000, 5000)), level="adya-si",
                 seeds=5, spread=True, note=note)
      for name, bug, paper, note in (
          ("G1c", "g1c", {2000: {"Viper": 0.10}, 5000: {"Viper": 0.26}}, "Two transactions here; the paper has three."),
          ("A long fork", "long-fork", {2000: {"Viper": 0.12}, 5000: {"Viper": 0.43}}, "Elle accepts these histories, in 2.02 and 2.42 s."),
          ("G-SIb", "fractured-read", {2000: {"Viper, fastest": 3.61, "Viper, slowest": 52.91},
                                       5000: {"Viper, fastest": 40.55, "Viper, slowest": 319.32}},
           "Two of Viper's five runs of 5,000 did not end in 20 minutes. What is planted writes blindly, as the rest does."))),
    Experiment("Viper", "beyond Fig. 15", "One stale read in BlindW-RW", "transactions",
               tuple(Point(f"{n}, {back} back", replace(blindw(n), stale=back), expect=None) for n in (2000, 5000, 10_000) for back in (1, 8)),
               level="adya-si", seeds=5, spread=True,
               note="Ours, not the paper's: a read returns an older version, and only what its transaction read beside it, and the rest of "
                    "the history, can tell. Some of these are no violation."),
)

# Emme, Enne, King Cobra: section 7.
_ITEMS = Generated("serializable", sessions=20, txns=500, ops=5, read_share=0.4, keys=1000, times="intervals",
                   by_session=False, logged=True, increment_share=0.333)
_ORDERED = replace(_ITEMS, logged=False, timestamps=True)
_PREDICATES = replace(_ITEMS, workload="predicates", keys=100, increment_share=0)


def items(base, sizes, systems):
    return tuple(Point(str(n), replace(base, txns=n // 20), systems.get(n, {})) for n in sizes)


def cobra(reads, increments):
    """The shares of reads and of read-modify-writes; the rest are blind writes."""
    return Generated("strict-serializable", sessions=20, txns=500, ops=8, read_share=reads, keys=1000,
                     increment_share=round(increments / (1 - reads), 3), stated=True, by_session=True)


_MIXES = (("read-modify-write", 0.25, 0.5), ("read/write", 0.5, 0), ("heavy write", 0.1, 0.1))
EMME = (
    Experiment("Emme", "Fig. 9, 11", "Reads and writes of items, with the order of versions", "transactions",
               items(_ITEMS, (10_000, 20_000, 40_000, 60_000, 80_000, 100_000), {100_000: {"Emme": 98.3, "Elle": 184.2}}),
               level="pl-3", seeds=1,
               note="The paper's mix: 40 % reads, 20 % increments, 40 % updates and inserts; the first write of a key inserts it."),
    Experiment("Emme", "Fig. 11", "The same in the order that the database states (Enne)", "transactions",
               items(_ORDERED, (10_000, 40_000, 100_000), {100_000: {"Enne": 1.7}}), level="serializable", seeds=1,
               flags=("--expected-order", "commit_ts")),
    Experiment("Emme", "Fig. 10, 12", "Predicates, with the order of versions", "transactions",
               items(_PREDICATES, (500, 1000, 2500, 5000), {2500: {"Emme": 76.2}}), level="pl-3"),
    Experiment("Emme", "Fig. 12", "Predicates in the order that the database states (Enne)", "transactions",
               items(replace(_ORDERED, workload="predicates", keys=100, increment_share=0), (500, 1000, 2500, 5000), {2500: {"Enne": 0.6}}), level="serializable",
               flags=("--expected-order", "commit_ts")),
    Experiment("Emme", "Fig. 10, 12", "Share of queries by predicate, 2,500 transactions", "share of queries",
               sweep(replace(_PREDICATES, txns=125), "query_share", (0.1, 0.3, 0.5, 0.7), {}), level="pl-3",
               note="The paper prints no figure: time grows with the number of queries."),
    *(Experiment("Emme", "Fig. 13", f"King Cobra, {name}", "workload",
                 tuple(Point(label, cobra(reads, increments), paper, level=level)
                       for label, level, paper in (
                           ("no session order", "serializable", {}), ("session order", SER, {}))),
                 ways=(("without version order", ("--use-order", "0%")), ("with version order", ())),
                 note=note)
      for (name, reads, increments), note in zip(_MIXES, (
          "", "King Cobra: over 300 s with neither order, at most 15 s with the order of versions alone.",
          "King Cobra: over 300 s with neither order, at most 34 s with the order of versions alone."))),
    *(Experiment("Emme", "Fig. 14", f"A part of the order of versions, {name}{', a long fork planted' if bug else ''}", "workload", (
        Point(name, replace(cobra(reads, increments), bug=bug), expect="violated" if bug else "satisfied"),), level="serializable",
        ways=tuple((f"{share} % of the order", ("--use-order", f"{share}%")) for share in (0, 25, 50, 75, 90, 100)),
        note="Faults are ours." if bug else "King Cobra needs 90 % and more for the second and third workload.")
      for bug in (None, "long-fork") for name, reads, increments in _MIXES),
)

# dbcop: section 6.
_DBCOP = Generated(SER, sessions=6, txns=30, ops=20, read_share=0.5, keys=360)
_WAYS = (("assay", ()), ("assay --engine dbcop", ("--engine", "dbcop")))


def dbcop_sweeps(figure, level):
    base = replace(_DBCOP, level=level)
    return (
        Experiment("dbcop", figure, f"{level}: sessions", "sessions",
                   tuple(Point(str(n), replace(base, sessions=n, keys=60 * n)) for n in (3, 6, 9, 12, 15)),
                   level=level, ways=_WAYS, seeds=10),
        Experiment("dbcop", figure, f"{level}: transactions of a session", "transactions",
                   sweep(base, "txns", (15, 30, 45, 60), {}), level=level, ways=_WAYS, seeds=10),
        Experiment("dbcop", figure, f"{level}: operations of a transaction", "operations",
                   sweep(base, "ops", (10, 20, 30, 40), {}), level=level, ways=_WAYS, seeds=10),
        Experiment("dbcop", figure, f"{level}: variables", "variables",
                   sweep(base, "keys", (60, 180, 360, 480), {}), level=level, ways=_WAYS, seeds=10),
    )


_DBCOP_NOTE = "The paper prints no figure: its algorithm is at least a hundred times faster than an encoding for a SAT solver."
DBCOP = (
    *(replace(e, note=_DBCOP_NOTE) for e in dbcop_sweeps("Fig. 14", SER)),
    replace(dbcop_sweeps("Fig. 15a, b", SI)[0], note=_DBCOP_NOTE),
    replace(dbcop_sweeps("Fig. 15c", "causal")[0], ways=(("assay", ()),), note=_DBCOP_NOTE),
    *(Experiment("dbcop", figure, f"Inputs that violate {level}: sessions", "sessions",
                 tuple(Point(str(n), replace(_DBCOP, level=made, sessions=n, keys=60 * n), expect=None) for n in (3, 6, 9, 12, 15)),
                 level=level, ways=_WAYS, seeds=10, spread=True, limit=10, may_run_out=True,
                 note=f"Made at {made}, as the paper's are by databases that claim {level}. Limited to 10 s.")
      for figure, made, level in (("Fig. 14", SI, SER), ("Fig. 15", "causal", SI))),
    Experiment("dbcop", "as measured by PolySI", "Snapshot isolation, 100 transactions of 15 operations a session",
               "sessions", sweep(_BASE, "sessions", (5, 10, 15), {"dbcop": (0.3, 62, 122)}), ways=_WAYS, limit=20, seeds=1, may_run_out=True,
               note="The search over prefixes is limited to 20 s here."),
    Experiment("dbcop", "Section 5", "Decomposition: groups of three sessions that share no key", "groups",
               tuple(Point(str(n), Groups(replace(_DBCOP, level=SI, sessions=3, txns=40, ops=4, keys=100), n))
                     for n in (1, 2, 4, 16, 64)), level=SI, limit=10, seeds=1, may_run_out=True,
               ways=(("assay --engine dbcop", ("--engine", "dbcop")),
                     ("assay --engine dbcop --without decomposition", ("--engine", "dbcop", "--without=decomposition"))),
               note="Limited to 10 s. The paper found no effect on its histories, which had one part."),
)

# MTC: section VI.
_MT = Generated("strict-serializable", sessions=20, txns=500, ops=4, read_share=0.5, keys=1000, workload="mini")
_MTCAXES = (("distribution", "distribution", ("uniform", "zipfian", "hotspot", "exponential")),
            ("objects", "keys", (10, 100, 1000, 10_000)), ("sessions", "sessions", (10, 20, 50, 100)),
            ("transactions of a session", "txns", (500, 1000, 5000, 10_000)))
_LWT = Generated("linearizable", sessions=20, txns=500, ops=1, read_share=0.2, keys=1, times="points",
                 by_session=False, lightweight=1)
MTC = (
    *(Experiment("MTC", f"Fig. {number}{'abcd'[i]}", f"{level}: {axis}", axis,
                 sweep(replace(_MT, level=level), name, values, {}), level=level, seeds=1,
                 note=note)
      for number, level, note in ((7, SER, "The paper: twice to five times as fast as Cobra with a GPU."),
                                  (8, SI, "The paper: up to 1,600 times as fast as PolySI."))
      for i, (axis, name, values) in enumerate(_MTCAXES)),
    Experiment("MTC", "Fig. 9a", "Lightweight transactions: share of the sessions at once", "share",
               sweep(replace(_LWT, txns=500), "lightweight", (0.25, 0.5, 0.75, 1.0), {}), level="linearizable",
               note="The paper: up to 28 times as fast as Porcupine."),
    Experiment("MTC", "Fig. 9b", "Lightweight transactions: size", "transactions",
               tuple(Point(str(n), replace(_LWT, txns=n // 20)) for n in (2000, 10_000, 40_000)), level="linearizable"),
    *(Experiment("MTC", figure, f"{level}: mini-transactions and general ones of 20 operations", "transactions of a session",
                 tuple(Point(f"{kind} {n}", replace(_MT, level=level, txns=n, workload=workload, ops=ops))
                       for kind, workload, ops in (("mini", "mini", 4), ("general", "baseline", 20))
                       for n in (100, 500, 1000)), level=level, seeds=1,
                 note="Verification alone; the paper's end-to-end times include a database.")
      for figure, level in (("Fig. 10", SER), ("Fig. 17", SI))),
    Experiment("MTC", "Table II", "Violations of the kind and at the size where the paper found them", "violation",
               tuple(Point(f"{bug}, {level}", Generated(source, sessions=10, txns=max(20, txns // 10), ops=4, read_share=0.5,
                                                        keys=100, workload="mini", bug=bug, times="points", by_session=False),
                           {"MTC": seconds}, level=level, expect="violated")
                     for bug, level, source, txns, seconds in (
                         ("lost-update", SI, "strict-serializable", 200, 1), ("aborted-read", SI, "strict-serializable", 300, 1),
                         ("causality-violation", SI, "strict-serializable", 2500, 1),
                         ("write-skew", SER, "strict-serializable", 3500, 1), ("long-fork", SER, "strict-serializable", 24_000, 2),
                         ("aborted-read", "strict-serializable", "strict-serializable", 300, 1))),
               note="Faults planted in the simulated database. The paper gives bounds: below one or two seconds. Its "
                    "histories are of releases of databases that are not run here."),
)

EXPERIMENTS = (*POLYSI, *VIPER, *EMME, *DBCOP, *MTC)

# Histories of tests/corpus whose names begin so. Those whose source says that they are ours are counted apart.
VERDICTS = (
    ("PolySI", "Figures of the paper", "polysi-"),
    ("Viper", "Histories of the paper and of its definitions, timed ones included", "viper-"),
    ("Emme", "Anomalies and predicates", "emme-"),
    ("Emme", "King Cobra's cases", "king-cobra-"),
    ("dbcop", "Separating histories", "dbcop-"),
    ("MTC", "The fourteen anomalies and controls", "mtc-"),
)
OURS = ("cases of our own", "cases after its definitions", "a control")

NOT_REPEATED = (
    ("PolySI", "Fig. 5, 6: other systems", "Their figures are the paper's."),
    ("PolySI", "Fig. 8: times of construct, prune, encode, solve",
     "assay has other stages (`assay check --stats`): it encodes nothing for a solver."),
    ("PolySI", "Fig. 9: PolySI without compaction", "assay has no constraints that are not merged over keys."),
    ("PolySI", "Section 5.2: 2,477 known anomalies", "The histories are not published as a set."),
    ("PolySI", "Section 5.2: three bugs in live databases", "Dgraph and YugabyteDB are not at hand. `assay run` drives Galera."),
    ("Viper", "Fig. 14: the recorded histories", "They are not published."),
    ("Viper", "Fig. 11: heuristic pruning", "assay has none to switch off."),
    ("Emme", "Section 7: bugs of PostgreSQL 12.3 and of CockroachDB builds", "Needs servers; the builds are not published."),
    ("Emme", "Section 7: time to recover version orders", "Needs servers: bench/suite/version-order-overhead."),
    ("dbcop", "Fig. 14, 15: SAT baseline", "bench/suite/sat-baseline measures it; it needs CaDiCaL."),
    ("dbcop", "Table 2: violated criteria by database", "The databases of 2019 are not at hand; the simulated database violates "
     "what it is told to."),
    ("MTC", "Fig. 7, 8, 9: Cobra, PolySI, Porcupine", "Porcupine is measured by bench/rivals; the others are not run."),
    ("MTC", "Fig. 11: abort rates", "Needs a server: bench/suite/abort-rates."),
    ("MTC", "Fig. 13, 14: trials in 30 minutes", "Needs servers: bench/suite/mini_against_general.py."),
)
