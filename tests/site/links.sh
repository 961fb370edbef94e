#!/usr/bin/env bash
# Renders the site and follows its links.
#
#   links.sh SOURCE SITE
set -euo pipefail
source=$1 site=$2
command -v python3 >/dev/null || { echo "skipped: no python3 here"; exit 77; }
if ! [ -x "$source/build/site-tools/bin/mkdocs" ]; then
  python3 -m venv "$source/build/site-tools" >log 2>&1 &&
    "$source/build/site-tools/bin/pip" download --quiet --no-deps --retries 1 --dest "$(mktemp -d)" mkdocs-material >log 2>&1 ||
    { rm -rf "$source/build/site-tools"; echo "skipped: no mkdocs-material: $(tail -1 log)"; exit 77; }
  rm -rf "$source/build/site-tools"
fi
"$source/dev/site" "$site"
python3 "$source/tests/site/links.py" "$source" "$site"
