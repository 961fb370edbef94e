#!/usr/bin/env bash
# assay-portable where there is glibc and nothing else.
#
#   portable.sh BUILD SOURCE WORK
set -euo pipefail
. "$(dirname "$0")/linked.sh"
source=$2
link_into_empty_folder assay-portable "$1" "$3"
needed=$(readelf -d root/assay | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | xargs)
case "$needed" in
  *libpq*|*libmariadb*|*libcurl*|*libhiredis*|*libfmt*|*libsqlite*|*libstdc*) echo "it needs $needed"; exit 1 ;;
esac
# The loader and the libraries that it named.
ldd root/assay | grep -o '/[^ ]*' | while read -r file; do
  mkdir -p "root$(dirname "$file")"
  cp -L "$file" "root$file"
done
caged /assay version >/dev/null 2>&1 || { echo "skipped: no chroot here"; exit 77; }

cp "$source/examples/write-skew.hist" root/
expect 1 "violated   serializable  (write-skew)" caged /assay check /write-skew.hist --level serializable
expect 0 "Strongest levels satisfied: strong-si, strict-serializable" \
  caged /assay run --database sqlite:/app.db --txns 50 --sessions 3 --history /run.jsonl
while read -r database file package; do
  expect 4 "client library is not installed ($file.*; in Debian: apt install $package" \
    caged /assay run --database "$database" --history /none.jsonl
done <<'D'
postgresql://u@127.0.0.1/d libpq.so libpq5
mysql://u@127.0.0.1/d libmariadb.so libmariadb3
etcd://127.0.0.1:1 libcurl.so libcurl4
redis://127.0.0.1:1/0 libhiredis.so libhiredis
D
expect 0 "not yet: libpq.so.* apt install libpq5" caged /assay doctor
[ ! -e root/none.jsonl ] || { echo "a history without a database"; exit 1; }
