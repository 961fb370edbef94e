#!/usr/bin/env bash
# Planted bugs, each under a workload too tame to show it and under one that shows it: what `assay run` says of the bug.
#
#   planted.sh [SEED]
set -euo pipefail
seed=${1:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Whether a list of the JSON line names the bug.
lists() { grep -q "\"$1\":\[[^]]*\"$bug\"" "$work/line"; }

told() {  # LEVEL FLAGS…
  local level=$1
  shift
  assay run --database "simulated:$level?bug=$bug" --level "$level" --seed "$seed" --txns 100 "$@" --json \
    --force --history "$work/run.jsonl" >"$work/line" 2>"$work/log" || [ $? = 1 ] || { cat "$work/log"; exit 1; }
  local verdict candidate=none
  verdict=$(grep -o '"verdict":"[a-z]*"' "$work/line" | cut -d'"' -f4)
  lists could_show_apart && candidate=apart
  lists could_show_overlapping && candidate=overlapping
  echo "$verdict/$candidate"
}

printf '%-20s %-15s %-31s %-15s %-31s %s\n' bug level tame 'says, and has' 'not tame' 'says, and has'
while IFS='|' read -r bug level tame shows; do
  # A workload may have flags behind it, which are words.
  # shellcheck disable=SC2086
  printf '%-20s %-15s %-31s %-15s %-31s %s\n' "$bug" "$level" "$tame" "$(told "$level" --workload $tame)" "$shows" "$(told "$level" --workload $shows)"
done <<'ROWS'
lost-update|session-si|general:ops=1,keys=5|general:ops=4,keys=5
lost-update|session-si|general:own-writes,keys=20|general:ops=8,keys=20
write-skew|serializable|general:ops=1,keys=5|general:ops=4,keys=5
write-skew|serializable|increment:keys=5|write-skew:keys=4
long-fork|prefix|general:ops=4,keys=1|general:ops=2,keys=6
fractured-read|read-atomic|general:ops=1,keys=4|general:ops=4,keys=5
non-repeatable-read|session-si|general:ops=1,keys=5|general:ops=8,keys=3
non-monotonic-read|read-atomic|general:ops=1,keys=5|general:ops=4,keys=5
causality-violation|causal|general:keys=5 --sessions 1|general:ops=4,keys=5
aborted-read|session-si|general:ops=2,keys=100000|general:ops=4,keys=5
intermediate-read|read-committed|general:ops=1,keys=5|general:ops=8,keys=3
write-skew|serializable|general:ops=4,keys=1|general:ops=4,keys=20
ROWS
