#!/usr/bin/env bash
# dev/hunt must find what is wrong on purpose, keep still about what is right, and write what it found.
#
#   hunt.sh LANGUAGE ASSAY SOURCE WORK
set -euo pipefail
language=$1 assay=$2 source=$3 work=$4
need() { command -v "$1" >/dev/null || { echo "skipped: no $1 here"; exit 77; }; }
need python3
rm -rf "$work"
mkdir -p "$work"
export PYTHONDONTWRITEBYTECODE=1
hunt() {  # hunt EXIT_CODE STORE… : what it says, and that it ends with this code
  local expected=$1 code=0
  shift
  # The times only end what hangs.
  "$source/dev/hunt" --assay "$assay" --work "$work/build" --output "$work" --time 30m --patience 600 --after 0 "$@" || code=$?
  [ "$code" -eq "$expected" ] || { echo "dev/hunt $*: exit code $code, not $expected"; exit 1; }
}
controls=$source/examples/hunt/controls.jsonl
case $language in
  python)
    if python3 -c 'import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 24))'; then
      hunt 0 --transactions 2000 sqlite:wal
      hunt 0 --kill --kills 12 sqlite:wal
    fi
    # Without --assay it takes what ./quickstart builds, and says so where there is nothing.
    mkdir -p "$work/tree/build/quickstart"
    cp -r "$source/dev" "$work/tree/dev"
    ln -s "$source/examples" "$work/tree/examples"
    alone() { env -u ASSAY "$work/tree/dev/hunt" --registry "$controls" --output "$work/alone" --time 30m --patience 600 --transactions 200 memory:locked; }
    if alone 2>"$work/nothing"; then echo "it ran without assay"; exit 1; fi
    grep -q 'run ./quickstart' "$work/nothing"
    ln -s "$assay" "$work/tree/build/quickstart/assay"
    alone
    right=memory:locked wrong=memory:broken ;;
  java)
    need javac
    right=memory-java:locked wrong=memory-java:stale ;;
  javascript)
    need node
    right=file-javascript:locked wrong=file-javascript:broken ;;
  cpp)
    need g++
    right=memory-cpp:locked wrong=memory-cpp:broken ;;
  go)
    need go
    right=memory-go:locked wrong=memory-go:broken ;;
  rust)
    need cargo
    right=memory-rust:locked wrong=memory-rust:broken ;;
esac
hunt 0 --registry "$controls" --transactions 2000 "$right"
hunt 1 --registry "$controls" "$wrong"
# What lives in memory is gone after a kill, and what was written to a file is not.
[ "$language" = javascript ] || hunt 1 --registry "$controls" --kill --until-lost "$right"
logged=${right%:*}:logged
! grep -q "\"${logged%:*}\",\"mode\":\"logged\"" "$controls" || hunt 0 --registry "$controls" --kill --kills 12 "$logged"
python3 - "$work" "${wrong%:*}" <<'P'
import json
import sys
cells = {(cell["store"], cell["mode"]): cell for cell in json.load(open(f"{sys.argv[1]}/matrix.json"))}
right, = (cell for (store, mode), cell in cells.items() if store == sys.argv[2] and mode == "locked")
wrong, = (cell for (store, mode), cell in cells.items() if store == sys.argv[2] and mode != "locked")
assert right["strongest"]["strict-serializable"] >= 1000 and not right["violated"] and not right["errors"], right
assert wrong["claim"] in wrong["violated"] and wrong["smallest"] and len(wrong["certificate"]) == 16 and not wrong["errors"], wrong
if sys.argv[2] != "file-javascript":
    assert right["killed"]["lost"] > 0, right
for durable in (cells.get(("sqlite", "wal")), cells.get((sys.argv[2], "logged"))):
    if durable is not None:
        killed = durable["killed"]
        assert killed["kills"] > 0 and killed["acknowledged"] > 0 and not any(killed[name] for name in ("lost", "not isolated", "not reopened")), durable
page = open(f"{sys.argv[1]}/matrix.md").read()
assert f"**`{wrong['claim']}` violated**" in page, page
P
