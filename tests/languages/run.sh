#!/usr/bin/env bash
# Builds and runs the example of a language.
#
#   run.sh LANGUAGE BUILD SOURCE WORK
set -euo pipefail
language=$1 build=$2 source=$3 work=$4
need() { command -v "$1" >/dev/null || { echo "skipped: no $1 here"; exit 77; }; }
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/log"
cd "$work"
case $language in
  go)
    need go
    need pkg-config
    pc=$(dirname "$(find prefix -name assay.pc)")
    export PKG_CONFIG_PATH=$work/$pc LD_LIBRARY_PATH=$work/${pc%/pkgconfig}
    cp -r "$source/examples/go" program
    (cd program && GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="$work/cache" go vet . && GOCACHE="$work/cache" GOTOOLCHAIN=local go build -o ../check .)
    check() { ./check "$@"; } ;;
  javascript)
    need node
    export ASSAY=$work/prefix/bin/assay
    check() { node "$source/examples/javascript/check.mjs" "$@"; } ;;
esac
expect() { grep -q -- "$1" <<<"$told" || { echo "expected $1 in: $told"; exit 1; }; }

told=$(check "$source/examples/write-skew.hist" serializable "SNAPSHOT ISOLATION")
expect "session-si satisfied"
expect "serializable violated write-skew"
expect "Neither saw"
[ "$(grep -c satisfied <<<"$told")" = 1 ]
told=$(check "$source/examples/write-skew.hist")
expect "strict-serializable violated"
if told=$(check "$source/README.md" 2>&1); then echo "a page passed for a history"; exit 1; fi
expect "README.md"
if told=$(check "$source/examples/write-skew.hist" serialisable 2>&1); then echo "there is no such level"; exit 1; fi
expect "unknown level 'serialisable'"
[ "$language" = javascript ] || exit 0

cat > built.mjs <<JS
import assert from "node:assert/strict";
import { check } from "$source/examples/javascript/check.mjs";
const history = [
  { session: 1, ops: [["w", "x", 1]] },
  { session: 2, ops: [["r", "x", 1], ["w", "x", 2]] },
  { session: 3, ops: [["r", "x", 1], ["w", "x", 3]] },
];
const { levels } = await check({ history, levels: ["session-si", "causal"], time: 60 });
assert.equal(levels.causal.verdict, "satisfied");
assert.equal(levels["session-si"].anomaly, "lost-update");
process.env.ASSAY = "no-such-program";
await assert.rejects(check({ history }), /ENOENT/);
JS
node built.mjs
