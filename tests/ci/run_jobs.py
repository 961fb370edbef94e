"""Runs the action for GitHub and the jobs of examples/ci as their hosts would: the steps that are shell, with the variables that they name.

run_jobs.py SOURCE FOLDER-OF-ASSAY WORK-FOLDER
run_jobs.py SOURCE --release FILES WORK-FOLDER     only the action, where no assay is on the PATH: it installs the one of these files
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1])
released = pathlib.Path(sys.argv[3]) if sys.argv[2] == "--release" else None
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "GITHUB_"))}
if not released:
    clean["PATH"] = f"{sys.argv[2]}:{clean['PATH']}"


def shell(command, folder, variables=None):
    """As GitHub runs a step whose shell is bash."""
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command], cwd=folder,
                          env=clean | (variables or {}), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def folder(name):
    made = work / name
    made.mkdir()
    return made


def check_reports(where, violated):
    """What a host shows of a run."""
    for name in ("history.jsonl.zst", "certificates.json", "report.html", "report.xml", "report.md", "found.json"):
        expect((where / name).stat().st_size > 0, f"{where / name} is empty")
    sarif = json.loads((where / "report.sarif").read_text())
    results = sarif["runs"][0]["results"]
    expect(bool(results) == violated, f"{len(results)} results in {where}/report.sarif")
    for result in results:
        rule = sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]
        expect(rule["id"] == result["ruleId"], "a result names another rule than its index")


# The seed decides how its sessions interleave: with this one, write skew shows in every run.
FLAWED = {"ASSAY_DATABASE_URL": "simulated:session-si", "ASSAY_SEED": "7"}
FLAGS = "--workload write-skew:keys=4 --txns 1000 --sessions 4"


def plain_shell():
    here = folder("shell")
    job = f"{source}/examples/ci/isolation.sh out {FLAGS}"
    status, output = shell(job, here, FLAWED)
    expect(status == 1 and "write-skew" in output, f"a fault is found; got {status}:\n{output}")
    check_reports(here / "out", True)
    # The second run knows what the first has found.
    shutil.copy(here / "out/found.json", here / "known.json")
    status, output = shell(job, here, FLAWED | {"ASSAY_BASELINE": "known.json"})
    expect(status == 0 and "known" in output, f"a known fault passes; got {status}:\n{output}")
    (here / "known.json").write_text('{"assay_baseline":1,"known":[{"level":"causal","anomaly":"long-fork"}]}')
    status, output = shell(job, here, FLAWED | {"ASSAY_BASELINE": "known.json"})
    expect(status == 1, f"another fault does not pass; got {status}:\n{output}")
    status, output = shell(f"{source}/examples/ci/isolation.sh out --txns 20", here, {"ASSAY_SEED": "1"})
    expect(status == 0, f"SQLite is serializable; got {status}:\n{output}")
    check_reports(here / "out", False)
    wants = {"ASSAY_LEVEL": "linearizable"}
    status, _ = shell(f"{source}/examples/ci/isolation.sh out --txns 20", here, wants)
    expect(status == 2, f"linearizable is about single operations; got {status}")
    status, _ = shell(f"{source}/examples/ci/isolation.sh out --txns 20", here, wants | {"ASSAY_ALLOW_UNKNOWN": "yes"})
    expect(status == 0, f"unknown is allowed; got {status}")


def filled(text, values):
    """An expression of the host, for those that the action uses."""
    def value(match):
        name = match.group(1).strip()
        if name == "inputs.allow-unknown == 'true' && 'yes' || ''":
            return "yes" if values["inputs.allow-unknown"] == "true" else ""
        return values[name]
    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))


def run_action(here, given):
    """Runs the steps in their order. Returns the status of the last step, and the summary."""
    action = yaml.safe_load((source / "action.yml").read_text())
    values = {"github.action_path": str(source), "github.run_id": "7", "github.job": "test", "runner.temp": str(here / "temp"),
              "github.server_url": "https://github.invalid", "github.action_repository": "owner/assay", "github.action_ref": "v0.9.0"}
    expect(set(given) <= set(action["inputs"]), f"the action has the inputs {given}")
    for name, declared in action["inputs"].items():
        values[f"inputs.{name}"] = filled(given.get(name, declared["default"]), values)
    files = {name: str(here / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
    for file in files.values():
        pathlib.Path(file).touch()
    status, printed = 0, ""
    for step in action["runs"]["steps"]:
        if "run" not in step:
            uses = {filled(v, values) for v in step["with"].values()}
            expect(any((here / u).exists() for u in uses), f"{step['name']} takes what there is, not {uses}")
            continue
        expect(step["shell"] == "bash", f"{step['name']} runs in bash")
        added = pathlib.Path(files["GITHUB_PATH"]).read_text().split()
        variables = {k: filled(v, values) for k, v in step.get("env", {}).items()} | files
        variables["PATH"] = ":".join([*reversed(added), clean["PATH"]])
        status, output = shell(step["run"], here, variables)
        if "id" in step:
            for line in pathlib.Path(files["GITHUB_OUTPUT"]).read_text().splitlines():
                name, _, value = line.partition("=")
                values[f"steps.{step['id']}.outputs.{name}"] = value
        if step["name"] == "Install assay" and status != 0:
            return status, output
        expect(status == 0 or step["name"] == "Verdict", f"{step['name']}: {status}\n{output}")
        printed += output
    expect(filled(action["outputs"]["verdict"]["value"], values) == str(status), "the action's output is the verdict")
    return status, pathlib.Path(files["GITHUB_STEP_SUMMARY"]).read_text() + printed


def github_on_sqlite(name="github-sqlite", more=None):
    here = folder(name)
    status, summary = run_action(here, {"flags": "--txns 50 --sessions 4", "level": "strict-serializable"} | (more or {}))
    expect(status == 0, f"SQLite is strictly serializable; got {status}")
    check_reports(here / "isolation", False)
    expect("| `strict-serializable` | satisfied |" in summary, f"the summary has the verdict:\n{summary}")


def github_where_something_is_wrong():
    here = folder("github-flawed")
    given = {"database": FLAWED["ASSAY_DATABASE_URL"], "flags": FLAGS}
    status, summary = run_action(here, given)
    expect(status == 1, f"the job fails with the verdict; got {status}")
    check_reports(here / "isolation", True)
    expect("| `session-serializable` | **violated** | write-skew |" in summary, f"the summary has the verdict:\n{summary}")
    expect("```mermaid" in summary, f"the summary has a drawing:\n{summary}")
    expect("\n::error title=write-skew%3A not session-serializable on simulated at session-si::" in summary, f"the change is annotated:\n{summary}")
    known = str(here / "isolation/found.json")
    status, _ = run_action(folder("github-known"), given | {"baseline": known})
    expect(status == 0, f"a known fault passes; got {status}")
    given = {"level": "linearizable", "flags": "--txns 20"}
    status, _ = run_action(folder("github-unknown"), given)
    expect(status == 2, f"linearizable is about single operations; got {status}")
    status, _ = run_action(folder("github-allowed"), given | {"allow-unknown": "true"})
    expect(status == 0, f"unknown is allowed; got {status}")


def github_workflow():
    action = yaml.safe_load((source / "action.yml").read_text())
    workflow = yaml.safe_load((source / ".github/workflows/ci.yml").read_text())
    steps = workflow["jobs"]["isolation"]["steps"]
    own = next(s for s in steps if s.get("uses", "").startswith("./"))
    expect((source / own["uses"] / "action.yml").exists(), "this repository uses the action")
    expect(set(own["with"]) <= set(action["inputs"]), "the workflow gives inputs that the action has")


def gitlab():
    here = folder("gitlab")
    template = yaml.safe_load((source / "examples/ci/gitlab.yml").read_text())[".isolation"]
    (here / "examples").symlink_to(source / "examples")
    variables = {k: str(v).replace("$CI_PIPELINE_ID", "7") for k, v in template["variables"].items()}
    variables |= {"ASSAY_DATABASE_URL": FLAWED["ASSAY_DATABASE_URL"], "ASSAY_FLAGS": FLAGS}
    status, output = shell("\n".join(template["script"]), here, variables)
    expect(status == 1, f"the job fails; got {status}:\n{output}")
    kept = template["artifacts"]
    expect((here / kept["paths"][0]).is_dir() and (here / kept["reports"]["junit"]).is_file(), "what is kept is there")


def github_installs(files):
    """What a release has, checked against its sums."""
    expect(shutil.which("assay", path=clean["PATH"]) is None, "assay is not on the PATH yet")
    release = folder("release")
    for file in files.glob("assay-isolation-*.tgz"):
        shutil.copy(file, release)
        (release / "SHA256SUMS").write_text(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
    given = {"release": release.as_uri()}
    github_on_sqlite("github-installs", given)
    for file in release.glob("*.tgz"):
        file.write_bytes(file.read_bytes() + b"\0")
    status, output = run_action(folder("github-altered"), given)
    expect(status != 0 and "FAILED" in output, f"another file than that of the sums is not run; got {status}:\n{output}")
    status, output = run_action(folder("github-absent"), {"release": folder("nothing").as_uri()})
    expect(status != 0 and "curl" in output, f"a release that is not there is said; got {status}:\n{output}")


if released:
    github_installs(released)
else:
    plain_shell()
    github_on_sqlite()
    github_where_something_is_wrong()
    github_workflow()
    gitlab()
print("all jobs did what they should")
