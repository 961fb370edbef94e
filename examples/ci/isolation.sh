#!/usr/bin/env bash
# Drives a database, decides the level that it is asked for, and leaves in a folder what a job in CI keeps and shows.
#
#   isolation.sh FOLDER [FLAG…]      further flags go to `assay run`: --workload mini --txns 5000 --duration 60s
#
#   ASSAY_DATABASE_URL   the database; by default an embedded SQLite database
#   ASSAY_LEVEL          the level that it must give; by default session-serializable
#   ASSAY_SEED           of the random numbers; by default the time, and it is printed
#   ASSAY_BASELINE       violations that are known already (`assay check --write-baseline`); only others fail the job
#   ASSAY_ALLOW_UNKNOWN  not empty: a verdict that stays unknown does not fail the job
#
# In FOLDER: history.jsonl.zst, certificates.json, report.html, report.xml (JUnit), report.sarif, report.md, report.github (lines that a
# job of GitHub prints), found.json (what was found, as the next baseline). Ends with assay's exit code: 0 satisfied, 1 violated, 2 unknown, 3 and 4 errors.
set -uo pipefail

if [ $# -lt 1 ]; then
  echo "usage: isolation.sh FOLDER [FLAG…]" >&2
  exit 4
fi
folder=$1
shift
seed=${ASSAY_SEED:-$(date +%s)}
baseline=()
if [ -n "${ASSAY_BASELINE:-}" ]; then baseline=(--baseline "$ASSAY_BASELINE"); fi
mkdir -p "$folder" || exit 4
echo "isolation.sh: seed $seed" >&2

assay run --seed "$seed" --history "$folder/history.jsonl.zst" --force \
  --level "${ASSAY_LEVEL:-session-serializable}" --certificate "$folder/certificates.json" \
  --report "$folder/report.html" --report "$folder/report.xml" --report "$folder/report.sarif" \
  --report "$folder/report.md" --report "$folder/report.github" --write-baseline "$folder/found.json" "${baseline[@]}" "$@"
verdict=$?
if [ "$verdict" -eq 2 ] && [ -n "${ASSAY_ALLOW_UNKNOWN:-}" ]; then verdict=0; fi
exit "$verdict"
