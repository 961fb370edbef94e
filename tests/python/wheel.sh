#!/usr/bin/env bash
# Builds the wheel around a library that is built already, installs it into an empty environment and runs the tests, and the
# examples of the page and of the docstrings. With ASSAY_PYTHON_EXTRAS=1, which takes a minute more, also the frames of pandas
# and polars, and a check of the types.
#
#   wheel.sh LIBRARY SOURCE WORK
set -euo pipefail
library=$(realpath "$1") source=$2 work=$3
skip() { echo "skipped: $1"; exit 77; }
command -v python3 >/dev/null || skip "no python3 here"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python is older than 3.10"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
python3 -m venv build >log 2>&1 || skip "no environment of Python: $(tail -1 log)"
build/bin/pip install --quiet --no-compile --retries 1 'scikit-build-core>=0.10' >log 2>&1 || skip "no scikit-build-core: $(tail -1 log)"
build/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir wheels "$source" \
  -C build-dir="$work/cmake" -C cmake.define.ASSAY_LIBRARY="$library"
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
