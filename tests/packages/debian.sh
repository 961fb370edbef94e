#!/usr/bin/env bash
# Makes the packages for Debian, unpacks them into one folder and uses what is there. dev/packages --try installs them in a Debian.
#
#   debian.sh BUILD SOURCE WORK
set -euo pipefail
build=$1 source=$2 work=$3
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: no dpkg-dev here"; exit 77; }
rm -rf "$work"
mkdir -p "$work/root"
export SOURCE_DATE_EPOCH=1767225600
(cd "$build" && cpack -G DEB -B "$work/pack" >"$work/log") || { cat "$work/log"; exit 1; }
cd "$work/pack"

expect() {  # expect TEXT WHERE: the field or list has this
  grep -q -- "$1" <<<"$2" || { echo "expected $1 in: $2"; exit 1; }
}
for package in assay libassay0 libassay-dev python3-assay; do
  file=$(ls "$package"_*.deb)
  [ "$(dpkg-deb -f "$file" Package)" = "$package" ]
  dpkg-deb -x "$file" "$work/root"
done
expect "libfmt9" "$(dpkg-deb -f assay_*.deb Depends)"
expect "libpq5" "$(dpkg-deb -f assay_*.deb Recommends)"
if grep -qE "libpq|libmariadb|libcurl|libhiredis" <<<"$(dpkg-deb -f assay_*.deb Depends)"; then
  echo "a client is required, not recommended: $(dpkg-deb -f assay_*.deb Depends)"
  exit 1
fi
expect "libassay0 (= " "$(dpkg-deb -f libassay-dev_*.deb Depends)"
expect "libassay0 (>= " "$(dpkg-deb -f python3-assay_*.deb Depends)"
expect "libassay 0 libassay0" "$(dpkg-deb --ctrl-tarfile libassay0_*.deb | tar -xO ./shlibs)"

root=$work/root/usr
expect "^assay " "$("$root/bin/assay" version)"
page=$root/share/man/man1/assay.1.gz
expect "expected\\\\-order" "$(zcat "$page")"
if command -v man >/dev/null; then
  said=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l -P cat "$page" 2>&1 >"$work/page")
  [ -z "$said" ] || { echo "$said"; exit 1; }
  for section in NAME SYNOPSIS DESCRIPTION EXAMPLES LEVELS COMMANDS "EXIT STATUS" ENVIRONMENT FILES; do
    expect "^$section$" "$(col -bx <"$work/page")"
  done
  [ "$(col -bx <"$work/page" | grep -c -- "^ *--without")" = 1 ] || { echo "a speed-up is not shown once"; exit 1; }
else
  echo "no man here"
fi
library=$(find "$root/lib" -name libassay.so.0)
told=$(ASSAY_LIBRARY=$library PYTHONPATH=$root/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 python3 -c "
import assay
print(assay.check('$source/examples/write-skew.hist', 'serializable')['serializable'])")
expect "serializable: violated (write-skew)" "$told"

# Packed again elsewhere and later, archives and what rpmbuild makes are the same bytes.
for generator in TGZ RPM; do
  [ "$generator" != RPM ] || command -v rpmbuild >/dev/null || { echo "no rpmbuild here"; continue; }
  for place in first elsewhere/second; do
    (cd "$build" && cpack -G "$generator" -B "$work/$place" >"$work/log") || { cat "$work/log"; exit 1; }
    sleep 1
  done
  sums() { find . -maxdepth 1 -name '*.tar.gz' -o -maxdepth 1 -name '*.rpm' | sort | xargs sha256sum; }
  expect "assay" "$(cd "$work/first" && sums)"
  [ "$(cd "$work/first" && sums)" = "$(cd "$work/elsewhere/second" && sums)" ] || { echo "$generator: the packages differ"; exit 1; }
done

if command -v rpmbuild >/dev/null; then
  owned=$(rpm -qlp "$work"/first/*.rpm | grep -xE "/usr/lib(64|/[^/]+-linux-gnu)?(/cmake|/pkgconfig)?" || true)
  [ -z "$owned" ] || { echo "a package owns folders of the system: $owned"; exit 1; }
fi

if command -v lintian >/dev/null; then
  # Whose packages they are is for who makes them to say: -DASSAY_MAINTAINER.
  said=$(lintian --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog ./*.deb 2>&1 | grep -v "running with root" || true)
  [ -z "$said" ] || { echo "$said"; exit 1; }
else
  echo "no lintian here"
fi
