#!/usr/bin/env bash
# The example of a language fails with its bug, passes without, and fails where nothing can be recorded or nothing was.
#
#   run.sh LANGUAGE ASSAY SOURCE WORK
set -euo pipefail
language=$1 assay=$2 source=$3 work=$4
need() { command -v "$1" >/dev/null || { echo "skipped: no $1 here ($2)"; exit 77; }; }
skip_without() {  # skip_without WHAT COMMAND…: of what comes from a registry
  "${@:2}" >log 2>&1 </dev/null || { echo "skipped: cannot get $1: $(tail -1 log)"; exit 77; }
}
rm -rf "$work"
mkdir -p "$work/kept"
cd "$work"
export TMPDIR=$work/kept  # histories of tests that failed
pack() { "$source/dev/packages" --testing "$source" "$work/files" "$assay" "${language/node/npm}" 2>log || { cat log; exit 1; }; }
cp -r "$source/examples/testing/$language" bank
export ASSAY_PROGRAM=$assay
if [ "$language" != clojure ]; then
  DATABASE_URL=$("$source/dev/db" up postgres 2>log | tail -1) || { echo "skipped: no PostgreSQL: $(tail -1 log)"; exit 77; }
  export DATABASE_URL
  trap '"$source/dev/db" down postgres' EXIT
fi

# What is edited: `fix` takes the bug away, `bypass` lets the application go around the recorder.
case $language in
  go)
    need go "go.dev, or Debian: golang"
    pack
    python3 -m zipfile -e files/assaytest-*.zip .
    export GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=$work/cache
    (cd bank && go mod edit -replace "assay.test/assaytest=$(echo ../assay.test/*)")
    (cd assay.test/* && [ -z "$(gofmt -l .)" ] && go vet .)
    skip_without "github.com/lib/pq" go -C bank mod download github.com/lib/pq
    export GOPROXY=off
    annotated=bank_test.go,line=[1-9]
    run() { (cd bank && go vet . && go test -count=1 .); }
    fix() { sed -i 's/= sql.LevelReadCommitted/= sql.LevelRepeatableRead/' bank/bank.go; }
    bypass() { sed -i 's/open(t, url)/open(t, database+"?sslmode=disable"+url[:0])/' bank/bank_test.go; } ;;
  node)
    need npm "nodejs.org, or Debian: npm"
    pack
    # Alone and without a registry, it brings the program.
    mkdir alone
    (cd alone && npm install --offline --no-audit --no-fund --silent ../files/assay-isolation-*.tgz)
    (cd alone && env -u ASSAY_PROGRAM npx --offline assay version | grep -q '^assay [0-9]')
    (cd alone && verdict=0; env -u ASSAY_PROGRAM npx --offline assay check "$source/examples/write-skew.hist" --level serializable >told || verdict=$?
      [ "$verdict" = 1 ] || { echo "expected exit code 1 of a violation, got $verdict"; exit 1; })
    sed -i "s|file:../../../testing/npm|file:$(echo "$work"/files/assay-isolation-*.tgz)|" bank/package.json
    skip_without pg npm --prefix bank install --no-audit --no-fund
    annotated=bank.test.js,line=[1-9]
    run() { npm --prefix bank test; }
    fix() { sed -i 's/"READ COMMITTED"/"REPEATABLE READ"/' bank/bank.js; }
    bypass() { sed -i 's/connectionString: url/connectionString: database/' bank/bank.test.js; } ;;
  java)
    need mvn "Debian: maven"
    pack
    [ -f files/*.jar ] || { echo "skipped: $(cat log)"; exit 77; }
    version=$(basename files/assay-junit-*.jar .jar | sed 's/assay-junit-//')
    maven=(mvn -q -B "-DargLine=-Djava.io.tmpdir=$TMPDIR" "-Dmaven.repo.local=${XDG_CACHE_HOME:-$HOME/.cache}/assay-tests/m2" -f bank/pom.xml)
    skip_without "Maven's plugins" "${maven[@]}" org.apache.maven.plugins:maven-install-plugin:3.1.3:install-file -Dfile="$(echo "$work"/files/*.jar)"
    sed -i "/assay-junit/{n;s/0.0.0/$version/}" bank/pom.xml
    skip_without "what the example needs" "${maven[@]}" test-compile
    annotated=src/test/java/bank/BankTest.java,
    run() { "${maven[@]}" test; }  # it gets what runs JUnit when it is about to
    fix() { sed -i 's/TRANSACTION_READ_COMMITTED/TRANSACTION_REPEATABLE_READ/' bank/src/main/java/bank/Bank.java; }
    bypass() { sed -i "s|getConnection(recorded.jdbcUrl())|getConnection(\"jdbc:$DATABASE_URL\".replaceFirst(\"//.*@\", \"//\") + \"?user=postgres\")|" bank/src/test/java/bank/BankTest.java; } ;;
  rust)
    need cargo "rustup.rs, or Debian: cargo"
    pack
    tar -xzf files/assay-isolation-*.crate
    crate=$(echo assay-isolation-*/)
    export CARGO_TARGET_DIR=$work/target
    cargo test --quiet --offline --manifest-path "$crate/Cargo.toml" >log 2>&1 || { cat log; exit 1; }
    sed -i "s|../../../testing/rust|../${crate%/}|" bank/Cargo.toml
    skip_without "the crate postgres" cargo fetch --quiet --manifest-path bank/Cargo.toml
    annotated=tests/withdrawals.rs,line=[1-9]
    run() { RUST_BACKTRACE=0 cargo test --quiet --offline --manifest-path bank/Cargo.toml; }
    fix() { sed -i 's/IsolationLevel::ReadCommitted/IsolationLevel::RepeatableRead/' bank/src/lib.rs; }
    bypass() { sed -i 's/connect(&recording.url/connect(\&database/' bank/tests/withdrawals.rs; } ;;
  clojure)
    need java "Debian: default-jdk-headless"
    need mvn "Debian: maven"
    for jar in clojure:1.11.1 spec.alpha:0.3.218 core.specs.alpha:0.2.62 data.json:2.5.0; do
      skip_without "org.clojure:$jar" mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$work/jars" \
        -Dartifact="org.clojure:$jar"
    done
    pack
    mkdir -p classes/assay
    cp files/assay-checker-*.clj classes/assay/checker.clj
    run() {
      java -cp "jars/*:classes:bank/src:bank/test:$source/tests/testing" clojure.main -e \
        "(require 'store-test) (System/exit (if (clojure.test/successful? (clojure.test/run-tests 'store-test)) 0 1))"
    }
    fix() { sed -i 's/refuses? false/refuses? true/' bank/src/store.clj; }
    bypass() { sed -i 's/{} (history) {}/{} [] {}/' bank/test/store_test.clj; } ;;
esac

fails() {  # fails TEXT…: the runner does, and says these
  if run >told 2>&1; then cat told; echo "it passes; expected: $1"; exit 1; fi
  for text in "$@"; do grep -q -e "$text" told || { cat told; echo "expected: $text"; exit 1; }; done
}
if [ "$language" = clojure ]; then
  fails ":valid? false, :anomaly-types \[:lost-update\]" ":also-not #{:serializable}"
else
  fails "violated   serializable  (lost-update)" "The smallest part that still violates serializable:" "r(.accounts:1.,.*w(.accounts:1.,"
  # In a job of GitHub the test is annotated.
  GITHUB_ACTIONS=true GITHUB_WORKSPACE=$work fails "::error file=bank/$annotated.*title=lost-update"
fi
fix
run >told 2>&1 || { cat told; echo "it fails without its bug"; exit 1; }
ASSAY_PROGRAM=$work/none fails none
if [ "$language" != clojure ]; then ASSAY_PROGRAM=$(command -v false) fails "cannot record"; fi
bypass
fails vacuous
