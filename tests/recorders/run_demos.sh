#!/usr/bin/env bash
# Builds and runs the demo of a language with its recorder, and checks what was recorded.
#
#   run_demos.sh LANGUAGE ASSAY SOURCE WORK
set -euo pipefail
language=$1 assay=$2 source=$3 work=$4
recorders=$source/examples/recorders demos=$source/tests/recorders
rm -rf "$work"
mkdir -p "$work"
cd "$work"
need() { command -v "$1" >/dev/null || { echo "skipped: no $1 here"; exit 77; }; }
case $language in
  python) need python3; python3 "$demos/demo.py" "$recorders" app.db history.jsonl ;;
  javascript) need node; node "$demos/demo.mjs" "$recorders" app.db history.jsonl ;;
  go)
    need go
    mkdir -p build/recorder
    cp "$demos/demo.go" build/
    cp "$recorders/recorder.go" build/recorder/
    printf 'module demo\n\ngo 1.22\n' > build/go.mod
    (cd build && GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="$work/cache" go build -o ../demo .)
    ./demo "$recorders" app.db history.jsonl
    # The recipe for `go test` runs, and is no test that passes whatever happens.
    cp "$recorders/isolation_test.go" build/recorder/
    export PATH="${assay%/*}:$PATH" GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="$work/cache"
    (cd build && go test -count=1 -v ./recorder >passed.txt) || { cat build/passed.txt; exit 1; }
    grep -q -e '^--- PASS: TestIsolation' build/passed.txt
    sed -i 's/database.rows\[from\], database.rows\[to\]$/0, 0/' build/recorder/isolation_test.go
    if (cd build && go test -count=1 ./recorder >broken.txt); then echo "go test passes on reads of what is not there"; exit 1; fi
    grep -q violated build/broken.txt ;;
  java)
    need javac
    javac -d build "$recorders/Recorder.java" "$demos/Demo.java"
    java -cp build Demo "$recorders" app.db history.jsonl ;;
  cpp)
    need g++
    g++ -std=c++17 -Wall -Wextra -Werror -I "$recorders" "$demos/demo.cc" -lsqlite3 -pthread -o demo
    ./demo app.db history.jsonl ;;
esac
"$assay" check history.jsonl --level strict-serializable
# Its sessions say that they end, so whoever follows the file is done then.
timeout 1200 "$assay" watch history.jsonl --follow --sessions 5
# Each transaction's line before COMMIT, and its outcome after it; enough of both outcomes that count.
pending=$(grep -c '"status": *"pending"' history.jsonl)
committed=$(grep -c '"status": *"committed"' history.jsonl)
[ "$committed" -ge 50 ] && [ "$pending" -ge "$committed" ] || { echo "$pending pending, $committed committed"; exit 1; }
# Values that are neither integers nor strings are told so that what is equal stays equal; what cannot be told leaves the outcome open.
python3 - <<'P'
import json
told, not_told = [t for t in map(json.loads, open("history.jsonl")) if t.get("session") == "odd" and t.get("status") in ("committed", "unknown")]
values = [op[2] for op in told["ops"]]
assert told["status"] == "committed" and values == [1, "1.5", "1.5", 2, "1180591620717411303424"], told
assert not_told["status"] == "unknown" and not_told["ops"] == [["w", 1, 1]] and not_told["meta"]["not_recorded"], not_told
P
# The value of a read that was changed is found out, so the check above has looked.
python3 - <<'P'
import json
lines = [json.loads(line) for line in open("history.jsonl")]
txn = next(t for t in reversed(lines) if t.get("status") == "committed" and t["session"] != "odd")
read = next(op for op in txn["ops"] if op[0] == "r")
read[2] = 999999
open("changed.jsonl", "w").write("\n".join(map(json.dumps, lines)))
P
if "$assay" check changed.jsonl --level strict-serializable >/dev/null; then
  echo "a changed value is not noticed"
  exit 1
fi
# What a key holds first is no value from nowhere.
if [ "$language" = python ]; then
  PYTHONPATH=$recorders python3 - <<'P'
from recorder import Recorder
recorder = Recorder("loaded.jsonl", initial=0)
recorder.holds("x", 5)
txn = recorder.session("1").begin()
txn.read("x", 5)
txn.committing()
txn.committed()
recorder.close()
P
  "$assay" check loaded.jsonl --level strict-serializable
fi
