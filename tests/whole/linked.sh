# Links a program and goes to an empty folder that holds it: sourced by portable.sh and static.sh, with their arguments.
#
#   link_into_empty_folder NAME BUILD WORK
link_into_empty_folder() {
  local name=$1 build=$2 work=$3
  if ! cmake --build "$build" --target "$name" >"$build/$name.log" 2>&1; then
    grep -q "run dev/static-libraries" "$build/$name.log" && { echo "skipped: no static libraries here; dev/static-libraries makes them"; exit 77; }
    cat "$build/$name.log"
    exit 1
  fi
  rm -rf "$work"
  mkdir -p "$work/root"
  cp "$build/$name" "$work/root/assay"
  cd "$work"
}

# Runs a program with `root` as the only folder there is.
caged() {
  if [ "$(id -u)" = 0 ]; then chroot root "$@"; else unshare --user --map-root-user chroot root "$@"; fi
}

# expect CODE PART COMMAND…: how the command ends, and what it says.
expect() {
  local code=$1 part=$2 ended=0 said
  shift 2
  said=$("$@" 2>&1) || ended=$?
  if [ "$ended" != "$code" ] || ! grep -q -- "$part" <<<"$said"; then
    printf '%s\nended with %s and said:\n%s\nexpected %s and: %s\n' "$*" "$ended" "$said" "$code" "$part"
    exit 1
  fi
}
