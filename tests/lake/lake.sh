#!/usr/bin/env bash
# Runs the tests of an engine in an environment of Python that has it, which it makes and keeps in WORK.
#
#   lake.sh duckdb|spark ASSAY SOURCE WORK [HISTORIES [SEED]]
set -euo pipefail
engine=$1 assay=$2 source=$3 work=$4
shift 4
skip() { echo "skipped: $1"; exit 77; }
package=duckdb
if [ "$engine" = spark ]; then
  [ -n "${ASSAY_SPARK:-}" ] || skip "Spark takes minutes; ASSAY_SPARK=1 runs it"
  command -v java >/dev/null || skip "no Java here"
  package=pyspark
fi
command -v python3 >/dev/null || skip "no python3 here"
mkdir -p "$work"
cd "$work"
if ! [ -x "$engine/bin/python" ] || ! "$engine/bin/python" -c "import $package" 2>/dev/null; then
  python3 -m venv "$engine" >log 2>&1 || skip "no environment of Python: $(tail -1 log)"
  "$engine/bin/pip" install --quiet --retries 1 $package >log 2>&1 || skip "no $package: $(tail -1 log)"
fi
if [ "$engine" = spark ]; then
  exec "$engine/bin/python" "$source/tests/lake/spark_test.py" "$assay" "$source"
fi
"$engine/bin/python" "$source/tests/lake/lake_test.py" "$assay" "$source" "$@"
"$engine/bin/python" "$source/tests/lake/agreement_test.py" "$assay" "$source" 9 60
