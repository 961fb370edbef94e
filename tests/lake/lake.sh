#!/usr/bin/env bash
# Runs lake_test.py in an environment of Python that has DuckDB, which it makes and keeps in WORK.
#
#   lake.sh ASSAY SOURCE WORK [HISTORIES [SEED]]
set -euo pipefail
assay=$1 source=$2 work=$3
shift 3
skip() { echo "skipped: $1"; exit 77; }
command -v python3 >/dev/null || skip "no python3 here"
mkdir -p "$work"
cd "$work"
if ! [ -x engine/bin/python ] || ! engine/bin/python -c 'import duckdb' 2>/dev/null; then
  python3 -m venv engine >log 2>&1 || skip "no environment of Python: $(tail -1 log)"
  engine/bin/pip install --quiet --retries 1 duckdb >log 2>&1 || skip "no DuckDB: $(tail -1 log)"
fi
engine/bin/python "$source/tests/lake/lake_test.py" "$assay" "$source" "$@"
