"""The rivals: how each is started, on which files, and how its answer is read. Adding one is an entry of RIVALS.

A rival lies in a folder that the user names, built as docs/rivals.md says; nothing is fetched here. `command` gets the program, the
file, the level and the seconds that it has.
"""

import re
from dataclasses import dataclass
from typing import Callable

# Of exit code and output: satisfied, violated or unknown; or error.
Reading = Callable[[int, str], str]


def by_exit_code(satisfied=(0,), violated=(1,)) -> Reading:
    return lambda code, _: "satisfied" if code in satisfied else "violated" if code in violated else "error"


def by_words(satisfied: str, violated: str, unknown: str = r"\bunknown\b") -> Reading:
    def read(_, text):
        for verdict, words in (("violated", violated), ("satisfied", satisfied), ("unknown", unknown)):
            if re.search(words, text):
                return verdict
        return "error"
    return read


@dataclass(frozen=True)
class Rival:
    name: str
    program: str  # in the folder
    levels: dict  # a level of assay: what the rival calls it
    kinds: tuple  # of inputs: registers, repeated, lists, single
    format: str  # what `assay convert --to` calls it; "" is assay's own
    command: Callable
    read: Reading
    tried: bool = False  # run by us, not only written after its documentation


def model(kind):  # as Elle calls it
    return "list-append" if kind == "lists" else "rw-register"


def adya(program, file, level, limit, kind):
    return [program, "check", "-m", model(kind), "-c", level, file]


def elle_cli(program, file, level, limit, kind):
    return ["java", "-jar", program, "-m", model(kind), "-c", level, file]


RIVALS = (
    Rival("Porcupine 1.3.1", "porcupine", {"linearizable": ""}, ("single",), "",
          lambda program, file, level, limit, kind: [program, file, f"{limit:g}"],
          by_words(r"^ok$", r"^illegal$"), tried=True),
    Rival("adya 0.1.0", "bin/adya", {"session-serializable": "strong-session-serializable", "serializable": "serializable",
                                     "adya-si": "snapshot-isolation", "strict-serializable": "strict-serializable"},
          ("registers", "lists"), "jepsen", adya, by_exit_code(), tried=True),
    Rival("Elle (elle-cli)", "elle-cli.jar", {"serializable": "serializable", "adya-si": "snapshot-isolation",
                                              "strict-serializable": "strict-serializable"},
          ("registers", "lists"), "jepsen", elle_cli, by_words(r"\ttrue$", r"\tfalse$", r"\tunknown$")),
    Rival("PolySI", "PolySI.jar", {"session-si": ""}, ("registers",), "dbcop",
          lambda program, file, level, limit, kind: ["java", "-jar", program, "audit", "-t", "dbcop", file],
          by_exit_code(violated=(255,))),
    Rival("VeriStrong", "veristrong", {"session-si": "si", "session-serializable": "ser"}, ("registers", "repeated"), "dbcop",
          lambda program, file, level, limit, kind: [program, "--pruning", "fast", "--history-type", "dbcop", "--isolation-level", level, file],
          by_words(r"accept: true", r"accept: false"), tried=True),
    Rival("AWDIT 0.2.1", "awdit", {level: level for level in ("read-committed", "read-atomic", "causal")}, ("registers",), "polysi",
          lambda program, file, level, limit, kind: [program, "check", "-i", level, "-r", "first", "-f", "plume", file],
          lambda code, text: "error" if code != 0 else "satisfied" if re.search(r"^Consistent\.$", text, re.M) else "violated", tried=True),
    Rival("Plume", "plume.jar", {"read-committed": "RC", "read-atomic": "RA", "causal": "TCC"}, ("registers",), "polysi",
          lambda program, file, level, limit, kind: ["java", "-jar", program, "-i", level, "-t", "PLUME", file],
          by_words(r"ACCEPT", r"REJECT")),
    Rival("dbcop (2025)", "dbcop", {"read-committed": "read-committed", "read-atomic": "atomic-read", "causal": "causal",
                                    "session-si": "snapshot-isolation", "session-serializable": "serializable"},
          ("registers",), "dbcop-json",
          lambda program, file, level, limit, kind: [program, "verify", "--input-dir", str(file.parent), "--consistency", level],
          by_exit_code()),
)
