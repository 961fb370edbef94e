#!/bin/sh
# One round: a short run on the database of ASSAY_DATABASE_URL, its history kept in the folder, a line for the log.
set -u
folder=$1
name=$folder/$(date -u +%Y%m%dT%H%M%SZ)-$$
assay run --history "$name.jsonl.zst" --sessions 4 --txns 50 --seed "$$" --time 60s --statement-timeout 2s \
  --level session-serializable --report "$name.md" --json >"$name.json" 2>"$name.log"
status=$?
case $status in
  0) rm "$name.md" ;;  # the history stays
  *) echo "assay: exit code $status, see $name.md and $name.log" >&2 ;;
esac
exit $status
