#!/usr/bin/env bash
# The action for GitHub takes the program from the files of a release: installs.sh ASSAY SOURCE WORK
set -euo pipefail
for tool in npm curl; do command -v "$tool" >/dev/null || { echo "skipped: no $tool here (Debian: $tool)"; exit 77; }; done
rm -rf "$3"
mkdir -p "$3"
"$2/dev/packages" --testing "$2" "$3/files" "$1" npm
exec python3 "$2/tests/ci/run_jobs.py" "$2" --release "$3/files" "$3/jobs"
