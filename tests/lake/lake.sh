#!/usr/bin/env bash
# Runs the tests of an engine in an environment of Python that has it, which it makes and keeps in WORK.
#
#   lake.sh duckdb|spark|postgresql ASSAY SOURCE WORK [HISTORIES [SEED]]
set -euo pipefail
engine=$1 assay=$2 source=$3 work=$4
shift 4
skip() { echo "skipped: $1"; exit 77; }
case $engine in
  duckdb)
    ASSAY_DUCKDB=$(ASSAY_DB_BUILD=0 "$source/dev/db" up duckdb) || skip "no library of DuckDB here"  # assay writes Parquet by it
    export ASSAY_DUCKDB
    packages=(duckdb) imports=duckdb
    ;;
  spark)
    [ -n "${ASSAY_SPARK:-}" ] || skip "Spark takes minutes; ASSAY_SPARK=1 runs it"
    command -v java >/dev/null || skip "no Java here"
    packages=(pyspark) imports=pyspark
    ;;
  postgresql)
    DATABASE_URL=$(ASSAY_DB_BUILD=0 "$source/dev/db" up postgres) || skip "no PostgreSQL here"
    export DATABASE_URL
    packages=("psycopg[binary]") imports=psycopg
    ;;
esac
command -v python3 >/dev/null || skip "no python3 here"
mkdir -p "$work"
cd "$work"
if ! [ -x "$engine/bin/python" ] || ! "$engine/bin/python" -c "import $imports" 2>/dev/null; then
  python3 -m venv "$engine" >"$engine.log" 2>&1 || skip "no environment of Python: $(tail -1 "$engine.log")"
  "$engine/bin/pip" install --quiet --retries 1 "${packages[@]}" >"$engine.log" 2>&1 || skip "no ${packages[*]}: $(tail -1 "$engine.log")"
fi
export PATH=$work/$engine/bin:$PATH
python "$source/tests/lake/loop_test.py" "$engine" "$assay" "$source"
[ "$engine" = duckdb ] || exit 0
python "$source/tests/lake/lake_test.py" "$assay" "$source" "$@"
python "$source/tests/lake/agreement_test.py" "$assay" "$source" 9 60
