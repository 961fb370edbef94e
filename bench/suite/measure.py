"""One measured run of `assay check`: a whole process, as a user would start it."""

import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Optional


@dataclass
class Run:
    wall: float  # seconds from start to exit
    cpu: float  # user and system seconds of all threads
    memory: int  # bytes, peak resident
    verdict: str  # satisfied, violated, unknown or error
    verified: bool  # its certificate was re-checked and holds
    anomaly: Optional[str] = None
    transactions: int = 0
    operations: int = 0
    stages: dict = field(default_factory=dict)  # seconds, from --stats
    note: str = ""  # why there is no verdict
    cause: str = ""  # the same as one of the causes of an unknown

    @property
    def floor(self) -> float:
        """What no checker can go under: reading the file and matching reads to writes."""
        return self.stages.get("read", 0) + self.stages.get("match", 0)

    @property
    def shared(self) -> float:
        """The stages that are split among threads, or do the same for each part of a history."""
        return sum(self.stages.get(stage, 0) for stage in ("read", "match", "replay", "verify"))

    @property
    def ratio(self) -> float:
        return self.wall / self.floor if self.floor else float("inf")


# Starts what it is told and writes what that cost. The system counts a child's memory from the moment at which its parent made it, so
# the parent must be small: a bare interpreter has 9 MB, below the least that a check takes.
LAUNCH = """
import os, sys, time
start = time.monotonic()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
cost = f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss} {time.monotonic() - start}"
os.write(int(sys.argv[1]), cost.encode())
"""


@dataclass
class Cost:
    code: int  # of its exit
    wall: float  # seconds
    cpu: float
    memory: int  # bytes, peak resident
    out: str
    err: str


def launch(command, limit) -> Cost:
    """A program from its start to its end, which is brought about after `limit` seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as cost:
        start = time.monotonic()
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", LAUNCH, str(cost.fileno()), *map(str, command)], stdout=out,
                                 stderr=err, pass_fds=(cost.fileno(),), start_new_session=True)
        killer = threading.Timer(limit, os.killpg, (child.pid, signal.SIGKILL))
        killer.start()
        child.wait()
        killer.cancel()
        texts = []
        for file in (cost, out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        code, cpu, memory, wall = (texts[0] or f"-9 0 0 {time.monotonic() - start}").split()
        return Cost(int(code), float(wall), float(cpu), int(memory) * 1024, *texts[1:])


def check(assay: pathlib.Path, history: pathlib.Path, level: str, limit: float, flags=()) -> Run:
    # A check that overruns its own limit by this much does not honour it.
    done = launch([assay, "check", "--level", level, "--json", "--stats", "--time", f"{limit:g}s", *flags, history], limit * 1.5 + 30)
    run = Run(done.wall, done.cpu, done.memory, "error", False)
    _read_stats(run, done.err)
    _read_verdict(run, done.out, level, done.code)
    return run


def best(runs) -> Run:
    return min(runs, key=lambda run: run.wall)


def _read_verdict(run: Run, text: str, level: str, code: int):
    try:
        report = json.loads(text)
        found = report["levels"][level]
    except (ValueError, KeyError):
        run.note = f"no verdict, exit code {code}"
        return
    run.verdict = found["verdict"]
    run.anomaly = found.get("anomaly")
    run.note = found.get("reason", "")
    run.cause = found.get("cause", "")
    certificate = found.get("certificate")
    run.verified = isinstance(certificate, dict) and certificate.get("verified") is True
    run.transactions = report["history"]["transactions"]
    run.operations = report["history"]["operations"]


def _read_stats(run: Run, text: str):
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and words[-1] == "s":  # read 0.193 s
            run.stages[" ".join(words[:-2])] = float(words[-2])
        elif len(words) >= 5 and words[-1] == "MiB" and words[-3] == "s":  # match 0.05 s 60 MiB
            name = " ".join(words[:-4])
            run.stages[name] = run.stages.get(name, 0) + float(words[-4])


def commit() -> str:
    """Of the tree that this stands in, with -dirty where it was changed."""
    return subprocess.run(["git", "-C", str(pathlib.Path(__file__).parent), "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def machine(assay) -> str:
    """The lines that say what was measured on."""
    model = memory = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemTotal"):
            memory = f"{int(line.split()[1]) / (1 << 20):.0f} GiB"
    version = subprocess.run([str(assay), "version"], capture_output=True, text=True, check=True)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (f"- {version.stdout.splitlines()[0]}, commit {commit()}\n"
            f"- {model}, {os.cpu_count()} CPUs, {memory}, {platform.system()} {platform.release()}\n"
            f"- load average at the start (1, 5, 15 minutes): {load}\n")
