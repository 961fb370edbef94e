"""What earlier releases read, wrote and took holds for this program.

    compat.py ASSAY WORK
"""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
assay, work = str(pathlib.Path(sys.argv[1]).absolute()), pathlib.Path(sys.argv[2])
wrong = []


def lost(before, now, place):
    """Fields that were there and are not, or are of another type, or say something else where that is a promise."""
    if isinstance(before, dict):
        if not isinstance(now, dict):
            yield f"{place} is no object any more"
            return
        for name, value in before.items():
            if name not in now:
                yield f"{place}.{name} is gone"
            else:
                yield from lost(value, now[name], f"{place}.{name}")
    elif type(before) is not type(now) and not {type(before), type(now)} <= {int, float}:
        yield f"{place} was {json.dumps(before)} and is {json.dumps(now)}"
    elif before != now and place.rsplit(".", 1)[-1] in ("verdict", "schema", "kind", "hash", "transactions", "operations"):
        yield f"{place} was {json.dumps(before)} and is {json.dumps(now)}"


def run(folder, *arguments):
    return subprocess.run([assay, *arguments], cwd=folder, capture_output=True, text=True, check=False)


releases = sorted(path for path in HERE.iterdir() if (path / "lines.txt").is_file())
checks = 0
for release in releases:
    folder = work / release.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(release, folder)
    for name, before in json.loads((release / "check.json").read_text()).items():
        certificate = pathlib.Path(name).stem + ".cert.json"
        verified = run(folder, "verify", certificate, name)
        if verified.returncode != 0:
            wrong.append(f"{release.name}: the certificate {certificate} is refused: {verified.stderr.strip()}")
        # Without the file of the certificates, which is named in each verdict.
        told = run(folder, "check", name, "--json", "--threads", "1", "--certificate", "now.json")
        wrong += [f"{release.name}: {name}: {what}" for what in lost(before, json.loads(told.stdout), "")]
        checks += 2
    for line in (release / "lines.txt").read_text().splitlines():
        code, arguments = line.split(" ", 1)
        now = run(folder, *arguments.split())
        checks += 1
        if now.returncode != int(code):
            wrong.append(f"{release.name}: assay {arguments}: exit code {now.returncode} instead of {code}: {now.stderr.strip()[:300]}")
# That it can fail: a field that goes, a verdict that turns.
assert list(lost({"a": {"b": 1}}, {"a": {}}, "")) == [".a.b is gone"]
assert list(lost({"verdict": "violated"}, {"verdict": "satisfied"}, ""))
print(f"{len(releases)} releases, {checks} checks")
print("\n".join(wrong))
sys.exit(bool(wrong) or checks == 0)
