#!/usr/bin/env bash
# assay-static is all that there is in its world.
#
#   static.sh BUILD SOURCE WORK
set -euo pipefail
. "$(dirname "$0")/linked.sh"
source=$2
link_into_empty_folder assay-static "$1" "$3"
readelf -l root/assay | grep INTERP >/dev/null && { echo "it asks for a loader of shared libraries"; exit 1; }
readelf -d root/assay 2>/dev/null | grep NEEDED >/dev/null && { echo "it asks for shared libraries"; exit 1; }
caged /assay version >/dev/null 2>&1 || { echo "skipped: no chroot here"; exit 77; }

expect 0 "^assay " caged /assay version
cp "$source/examples/write-skew.hist" root/
expect 1 "violated   serializable  (write-skew)" caged /assay check /write-skew.hist --level serializable
expect 0 "Strongest levels satisfied: strong-si, strict-serializable" \
  caged /assay run --database sqlite:/app.db --txns 50 --sessions 3 --history /run.jsonl
expect 0 "satisfied  strict-serializable" caged /assay check /run.jsonl --level strict-serializable --certificate /run.cert
expect 0 "verified" caged /assay verify /run.cert /run.jsonl
# exec: runs its command with a shell, which is not here.
expect 4 "exec: No such file" caged /assay run --database exec:/driver --txns 1 --history /none.jsonl
# Others need what cannot be loaded.
for database in postgresql://u@127.0.0.1/d mysql://u@127.0.0.1/d etcd://127.0.0.1:1 redis://127.0.0.1:1/0; do
  expect 4 "this program is linked without shared libraries" caged /assay run --database "$database" --history /none.jsonl
done
