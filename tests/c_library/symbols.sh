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
versions=$(awk '/^ASSAY_[0-9]+ \{/ { node = $1 } /^ +assay_[a-z_]+;/ { sub(";", "", $1); print $1 "@@" node }' "$source/src/c_api/assay.map" | sort)
[ "$(cut -d@ -f1 <<<"$versions")" = "$declared" ] || { echo "assay.map names other functions than assay_c.h"; exit 1; }
expected=$versions
diff <(echo "$expected") <(echo "$shown") || { echo "expected (<) the functions of assay_c.h, and there are (>)"; exit 1; }
readelf -d "$library" | grep 'SONAME.*\[libassay\.so\.0\]' >/dev/null
