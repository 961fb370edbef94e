#!/usr/bin/env bash
# A driver for assay in shell: a folder with a file for each key, one transaction at a time under a lock.
#
#     assay run --workload mini --sessions 4 --database 'exec:examples/drivers/files.sh folder'
#
# One process a session. A line of JSON comes in, a line of JSON goes out; docs/formats/exec-protocol.md. Keys and values
# stay the JSON texts they came as, so that nothing has to be parsed.
set -euo pipefail
folder=$1
mkdir -p "$folder"
exec 9>"$folder/.lock"
written=$(mktemp -d)  # what the transaction has written so far
trap 'rm -rf "$written"' EXIT

finish() { rm -f "$written"/*; flock -u 9; echo '{"ok":true}'; }
commit() {
  [ -z "$(ls "$written")" ] || cp "$written"/* "$folder"/
  finish
}

path() { printf '%s' "k$1" | od -An -tx1 | tr -d ' \n'; }  # any key as the name of a file

operate() {  # operate KIND KEY [VALUE]
  local name value=null
  name=$(path "$2")
  if [ "$1" = w ]; then
    printf '%s' "$3" >"$written/$name"
    echo '{"ok":true}'
    return
  fi
  if [ -e "$written/$name" ]; then value=$(cat "$written/$name")
  elif [ -e "$folder/$name" ]; then value=$(cat "$folder/$name"); fi
  echo "{\"ok\":true,\"value\":$value}"
}

# {"do":"op","op":["w",KEY,VALUE]} with keys that hold no comma; values may be anything.
pattern='"op":\["([rw])",("([^"\\]|\\.)*"|-?[0-9]+)(,(.*))?\]\}$'
while IFS= read -r line; do
  case $line in
    *'"do":"hello"'*) echo '{"ok":true,"name":"files"}' ;;
    *'"do":"prepare"'*) rm -f "$folder"/*; echo '{"ok":true}' ;;
    *'"do":"begin"'*) if flock -w 1 9; then echo '{"ok":true}'; else echo '{"aborted":"busy"}'; fi ;;
    *'"do":"commit"'*) commit ;;
    *'"do":"abort"'*) finish ;;
    *)
      if [[ $line =~ $pattern ]]; then operate "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[5]}"
      else echo '{"fatal":"not understood"}'; fi ;;
  esac
done
