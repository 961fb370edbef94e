#!/usr/bin/env bash
# Cuts a release without its packages, twice, and looks at what is there: sources of that version, SBOM, notes, checksums.
#
#   release.sh SOURCE WORK
set -euo pipefail
source=$1 work=$2
git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: not a checkout of git"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
for folder in one two; do
  "$source/dev/release" --without-packages 0.9.0 "$work/$folder" >log || { cat log; exit 1; }
done
diff -r one two
cd one
sha256sum --quiet -c SHA256SUMS
tar -xzf assay-0.9.0-source.tar.gz
grep -q "^project(assay VERSION 0.9.0 " assay-0.9.0/CMakeLists.txt
grep -q "^## \[0.9.0\] - 20" assay-0.9.0/CHANGELOG.md
[ "$(head -1 NOTES.md)" = "### Added" ]
python3 - <<'P'
import hashlib, json
told = json.load(open("assay-0.9.0.cdx.json"))
assert told["bomFormat"] == "CycloneDX" and told["metadata"]["component"]["version"] == "0.9.0"
kinds = {part["name"]: part for part in told["components"]}
for name in ("zlib", "zstd", "dagre"):
    assert kinds[name]["version"], name
archive = kinds["assay-0.9.0-source.tar.gz"]["hashes"][0]
assert archive["content"] == hashlib.sha256(open("assay-0.9.0-source.tar.gz", "rb").read()).hexdigest()
P
# Neither over another release, nor one whose promises are not kept.
! "$source/dev/release" --without-packages 0.9.0 "$work/one" 2>said || exit 1
grep -q "is not empty" said
! "$source/dev/release" --without-packages 99.0.0 "$work/three" 2>said || exit 1
grep -q "tests/compat/99.0.0 is not there" said
