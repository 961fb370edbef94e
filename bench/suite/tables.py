"""What the suite prints: Markdown tables, and the same as JSON."""

from statistics import median

from measure import Run
from rows import REJECT_RATIO, SPREAD, Target

MIB = 1 << 20


def table(title: str, heads, lines) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return f"## {title}\n\n" + "".join("| " + " | ".join(row) + " |\n" for row in rows)


def rows_table(measured, quick: bool) -> str:
    heads = ("work", "level", "verdict", "wall s", "CPU s", "floor s", "wall / floor", "peak MiB",
             "target", "met")
    lines = []
    for row, run in measured:
        if run is None:
            lines.append([row.name, row.level, "skipped: no data"] + ["–"] * 7)
            continue
        target = "–" if quick else describe(row.target)
        met = "–" if quick or row.target == Target() else yes(is_met(row.target, run))
        lines.append([row.name, row.level, verdict(run), seconds(run.wall), seconds(run.cpu),
                      seconds(run.floor), f"{run.ratio:.1f}", f"{run.memory / MIB:.0f}", target,
                      met])
    return table("Rows", heads, lines)


def planted_table(planted) -> str:
    heads = ("work", "fault", "verdicts", "accept s", "reject s, by seed", "slowest / accept",
             "slowest / fastest", f"≤ {REJECT_RATIO:g} and ≤ {SPREAD:g}")
    lines = []
    for row, bug, accept, runs in planted:
        slowest, fastest = max(r.wall for r in runs), min(r.wall for r in runs)
        good = (slowest <= REJECT_RATIO * accept.wall and slowest <= SPREAD * fastest
                and all(r.verdict == "violated" for r in runs))
        lines.append([row.name, bug, ", ".join(sorted({verdict(r) for r in runs})),
                      seconds(accept.wall), " ".join(seconds(r.wall) for r in runs),
                      f"{slowest / accept.wall:.1f}", f"{slowest / fastest:.1f}", yes(good)])
    return table("Planted faults", heads, lines)


def switches_table(switched, switches) -> str:
    heads = ("work", "level", "all on", *switches)
    lines = []
    for row, run, off in switched:
        cells = [seconds(run.cpu)]
        cells += [seconds(r.cpu) + ("" if r.verdict == run.verdict else f" {verdict(r)}")
                  for r in off]
        lines.append([row.name, row.level, *cells])
    return table("What each speed-up is worth (CPU s with it off)", heads, lines)


def threads_table(threaded, threads: int) -> str:
    heads = ("work", "level", "one thread s", "read, match, replay, verify", f"{threads} threads s",
             "of one thread", "read", "match", "verify")
    lines = []
    for row, one, many in threaded:
        stages = [f"{many.stages.get(stage, 0) / max(one.stages.get(stage, 0), 0.001):.2f}"
                  for stage in ("read", "match", "verify")]
        lines.append([row.name, row.level, seconds(one.wall), f"{one.shared / one.wall:.0%}",
                      seconds(many.wall), f"{many.wall / one.wall:.2f}", *stages])
    return table("What more threads are worth", heads, lines)


def against_head(other: str) -> str:
    """Of lines that are printed as they come: medians of the pairs' ratios; the noise is that of the other program's runs, each
    against the one before."""
    heads = ("work", "level", "pairs", "CPU s before", "now", "ratio", "noise", "MiB before", "now", "ratio")
    return table(f"In pairs against {other}", heads, []).rstrip("\n")


def against_row(name: str, level: str, pairs) -> str:
    before, now = ([pair[i] for pair in pairs] for i in (0, 1))
    ratio = median(b.cpu / a.cpu for a, b in pairs)
    noise = median(max(a.cpu, b.cpu) / min(a.cpu, b.cpu) for a, b in zip(before, before[1:]))
    memory = [median(run.memory for run in runs) / MIB for runs in (before, now)]
    cells = [name, level, str(len(pairs)), seconds(median(run.cpu for run in before)), seconds(median(run.cpu for run in now)),
             f"{ratio:.2f}", f"{noise:.2f}", f"{memory[0]:.0f}", f"{memory[1]:.0f}", f"{memory[1] / memory[0]:.2f}"]
    return "| " + " | ".join(cells) + " |"


def growth_table(small: Run, large: Run, limit: float) -> str:
    heads = ("of", "100k s", "1M s", "times", "target", "met")
    lines = []
    for what, few, many in (("wall", small.wall, large.wall), ("CPU", small.cpu, large.cpu)):
        lines.append([what, seconds(few), seconds(many), f"{many / few:.1f}", f"≤ {limit:g}",
                      yes(many <= limit * few)])
    return table("Growth from 100,000 to 1,000,000 transactions", heads, lines)


def as_json(run: Run) -> dict:
    return {**vars(run), "floor": run.floor}


def describe(target: Target) -> str:
    parts = []
    if target.ratio:
        more = f" + {target.more:g} s" if target.more else ""
        parts.append(f"≤ {target.ratio:g} × floor{more}")
    if target.seconds:
        parts.append(f"≤ {target.seconds:g} s")
    if target.memory:
        parts.append(f"≤ {target.memory / (1 << 30):g} GB")
    return ", ".join(parts) or "–"


def is_met(target: Target, run: Run) -> bool:
    return (run.verdict in ("satisfied", "violated")
            and (target.seconds is None or run.wall <= target.seconds)
            and (target.ratio is None or run.wall <= target.ratio * run.floor + target.more)
            and (target.memory is None or run.memory <= target.memory))


def verdict(run: Run) -> str:
    if run.verdict == "violated" and run.anomaly:
        return f"violated ({run.anomaly})"
    return run.verdict


def yes(good: bool) -> str:
    return "yes" if good else "**no**"


def seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
