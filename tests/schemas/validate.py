"""What assay writes for programs is as docs/schemas says, and what is not is refused by the schemas.

validate.py SOURCE ASSAY WORK-FOLDER
"""

import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema for Python here")
    sys.exit(77)

source, assay, work = map(pathlib.Path, sys.argv[1:4])
work.mkdir(parents=True, exist_ok=True)


def schema(name):
    loaded = json.loads((source / "docs/schemas" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(loaded)
    return jsonschema.Draft202012Validator(loaded)


check, certificate, baseline = schema("check"), schema("certificate"), schema("baseline")
seen = set()  # kinds of things that were met


def kinds(value):
    """The words by which the schemas tell kinds apart, as far as they occur."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("verdict", "kind", "cause", "outcome", "fault"):
                seen.add(f"{name} {inner}")
            if name in ("bad_read", "exhausted", "sources", "given", "list_read", "known_order", "derived",
                        "effect", "expected_order", "obstacle", "error", "known", "path"):
                seen.add(name)
            kinds(inner)
    elif isinstance(value, list):
        for inner in value:
            kinds(inner)


def validate(validator, value, what):
    kinds(value)
    errors = list(validator.iter_errors(value))
    if errors:
        sys.exit(f"failed: {what}: {jsonschema.exceptions.best_match(errors).message}\n{json.dumps(value)[:2000]}")


def run(*flags, stdin=None):
    return subprocess.run([assay, *flags], input=stdin, capture_output=True).stdout


def look_at(file, *flags):
    written = work / "certificates.json"
    written.unlink(missing_ok=True)
    for line in run("check", file, "--json", "--certificate", written, *flags).decode().splitlines():
        validate(check, json.loads(line), file)
    if written.exists():
        validate(certificate, json.loads(written.read_bytes().decode(errors="replace")), file)


def histories():
    yield from sorted((source / "examples").glob("*.hist"))
    yield from sorted((source / "examples").glob("*.jsonl"))
    yield from sorted((source / "tests/corpus").rglob("*.hist"))
    yield from sorted((source / "tests/boundary").rglob("*.hist"))


for history in histories():
    look_at(history, "--level", "all")
for bug in ("lost-update", "long-fork", "causality-violation", "aborted-read", "real-time-violation"):
    made = work / f"{bug}.jsonl"
    made.write_bytes(run("generate", "--bug", bug, "--level", "strict-serializable", "--txns", "30", "--workload", "general:keys=30"))
    look_at(made, "--level", "all")
made.write_bytes(run("generate", "--level", "serializable", "--txns", "20", "--timestamps"))
look_at(made, "--expected-order", "commit_ts")
look_at(source / "examples/write-skew.hist", "--expected-order", "commit_ts")
look_at(source / "examples/commit-timestamps.jsonl", "--expected-order", "commit_ts")
look_at(source / "README.md")
look_at(made, "--time", "0.000001s")
made.write_bytes(run("generate", "--hard", "cnf:size=12,density=8"))
look_at(made, "--level", "session-serializable")

made.write_bytes(run("generate", "--level", "strict-serializable", "--txns", "20", "--workload", "general:unknown-share=0"))
slices = json.loads(run("check", "--slices", made, "--level", "strict-serializable", "--level", "strong-si", "--json"))
validate(check, slices, "slices")
if {v["verdict"] for v in slices["levels"].values()} != {"satisfied", "unknown"}:
    sys.exit(f"failed: {slices}")

known = work / "known.json"
run("check", source / "examples/write-skew.hist", "--level", "ser", "--write-baseline", known)
validate(baseline, json.loads(known.read_text()), known)
look_at(source / "examples/write-skew.hist", "--level", "ser", "--baseline", known)

predicted = work / "predicted"
run("predict", source / "examples/write-skew.hist", "--output", predicted)
schedules = json.loads((predicted / "transactions-snapshot-isolation.cert.json").read_text())
validate(certificate, schedules, "schedules")
# Two that write, and nobody leads from who changes what the first has read to who reads what it changes.
made.write_text("".join(f'{{"session":{i},"ops":[{ops}],"meta":{{"program":"{p}"}}}}\n' for i, (p, ops) in enumerate(
    (("cut", '["r","x",null],["w","y",1]'), ("other", '["w","x",2]'), ("other", '["r","y",1]')))))
run("predict", made, "--output", predicted, "--at", "snapshot-isolation,ssi")
holds = json.loads((predicted / "cut-snapshot-isolation.cert.json").read_text())
validate(certificate, holds, "holds")
validate(certificate, json.loads((predicted / "cut-ssi.cert.json").read_text()), "holds at ssi")
if holds["holds"][0]["transactions"][0]["cuts"] != [{"after": 1, "because": "apart", "reached": [1]}]:
    sys.exit(f"failed: {holds}")
made.write_text('{"session":1,"ops":[["w","y",1],["r","x",null]]}\n{"session":2,"ops":[["w","x",2],["r","y",1]]}\n')
run("predict", made, "--output", predicted, "--at", "causal")
executions = json.loads((predicted / "causal.cert.json").read_text())
validate(certificate, executions, "executions")
refuse_later = (holds | {"certificates": []}, {k: v for k, v in holds.items() if k != "holds"})

missing = {"verdict satisfied", "verdict violated", "verdict unknown", "kind order", "kind proof", "kind bad-read",
           "kind read-dependency", "kind session", "kind real-time", "kind write-dependency", "kind anti-dependency",
           "kind forced", "path", "outcome satisfied", "outcome violated", "bad_read", "sources", "given", "derived",
           "list_read", "known_order", "expected_order", "obstacle", "fault operation", "error", "known",
           "cause lacks-times"} - seen
if missing:
    sys.exit(f"failed: no history showed {', '.join(sorted(missing))}")


def refuse(validator, value, what):
    if validator.is_valid(value):
        sys.exit(f"failed: {what} passes")


for one in refuse_later:
    refuse(certificate, one, json.dumps(one)[:300])

# A field too many, one too few, and a wrong word, wherever there is an object.
def broken(value):
    if isinstance(value, list):
        for i, inner in enumerate(value):
            for b in broken(inner):
                yield value[:i] + [b] + value[i + 1:]
    if isinstance(value, dict):
        yield value | {"unheard_of": 1}
        for name, inner in value.items():
            for b in broken(inner):
                yield value | {name: b}
            if isinstance(inner, str) and name in ("verdict", "kind", "outcome", "cause"):
                yield value | {name: inner + "s"}


written = work / "certificates.json"
line = json.loads(run("check", source / "examples/write-skew.hist", "--json", "--certificate", written))
proof = json.loads(written.read_text())
for validator, value in ((check, line), (check, slices), (certificate, proof), (certificate, schedules), (certificate, holds), (certificate, executions), (baseline, json.loads(known.read_text()))):
    count = 0
    for one in broken(value):
        # Names of stages are free, and their values are numbers, not objects.
        if "unheard_of" in one.get("seconds", {}):
            continue
        refuse(validator, one, json.dumps(one)[:300])
        count += 1
    if count < 2:
        sys.exit("failed: too little was broken")
print(f"{len(seen)} kinds of things, all as the schemas say")
