#!/usr/bin/env bash
# The library shows the functions of its header and nothing else, and each with a version.
#
#   symbols.sh LIBRARY SOURCE
set -euo pipefail
library=$1 source=$2
command -v nm >/dev/null || { echo "skipped: no nm here"; exit 77; }
declared=$(sed -n 's/^ASSAY_API .*\b\(assay_[a-z_]*\)(.*/\1/p' "$source/include/assay/assay_c.h" | sort)
[ "$(wc -w <<<"$declared")" -gt 50 ]
shown=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" {print $3}' | sort)
expected=$(sed 's/$/@@ASSAY_0/' <<<"$declared")
diff <(echo "$expected") <(echo "$shown") || { echo "expected (<) the functions of assay_c.h, and there are (>)"; exit 1; }
readelf -d "$library" | grep 'SONAME.*\[libassay\.so\.0\]' >/dev/null
