#!/usr/bin/env bash
# The program is built with what a compiler can do against mistakes in memory: hardened.sh PROGRAM
set -euo pipefail
program=$1
command -v readelf >/dev/null || { echo "skipped: no readelf here (Debian: binutils)"; exit 77; }
says() { readelf -W "$1" "$program" | grep -e "$2" >/dev/null || { echo "$program lacks: $3"; exit 1; }; }
says -h 'Type: *DYN' "a position-independent program"
says -l GNU_RELRO "relocations that are read-only once they are made"
says -d 'FLAGS.*NOW' "names that are bound when it starts"
says --dyn-syms __stack_chk_fail "guards of the stack"
says --dyn-syms '_chk@' "calls that check their buffers"
