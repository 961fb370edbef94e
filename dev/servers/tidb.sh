# TiDB, one server on the store it brings along, built from its Go module at the version that tidb/*/go.mod
# pins. Sourced by dev/db.

tidb_modules=$here/servers/tidb

# Builds once; minutes of processor time.
tidb_build() {  # tidb_build VERSION PROGRAM
  local log=$cache/tidb/$1.log package version
  case $1 in
    8) package=cmd/tidb-server version=tidb/pkg/parser/mysql.TiDBReleaseVersion=v8.4.0-20251126 ;;
    3.0) package=tidb-server version=parser/mysql.TiDBReleaseVersion=v3.0.0-20190325 ;;
    *) die "no TiDB $1 here; there are: $names" ;;
  esac
  build_allowed "TiDB $1" "dev/db up $(tidb_name "$1")"
  command -v go >/dev/null || die "go is not installed" 5
  mkdir -p "$cache/tidb"
  echo "dev/db: building TiDB $1, which takes some minutes; it is kept in $cache/tidb" >&2
  (cd "$tidb_modules/$1" && GOFLAGS=-mod=readonly go build -o "$2.part" \
    -ldflags "-s -w -X github.com/pingcap/$version" "github.com/pingcap/tidb/$package") \
    >"$log" 2>&1 </dev/null || die "TiDB $1 does not build: $(tail -1 "$log")" 5
  mv "$2.part" "$2"
}

tidb_name() { [ "$1" = 8 ] && echo tidb || echo "tidb@$1"; }
tidb_node_folder() { echo "$base/tidb-$1"; }
tidb_port() { echo $((90 + ${1%%.*})); }

tidb_ask() {  # tidb_ask VERSION SQL
  mariadb --no-defaults -uroot -h127.0.0.1 -P"$(port "$(tidb_port "$1")")" -N -s -e "$2" 2>/dev/null
}

tidb_node_start() {  # tidb_node_start VERSION
  local folder options=()
  folder=$(tidb_node_folder "$1")
  # The old one does not take over a socket that is left from before.
  [ "$1" = 3.0 ] || options=(-temp-dir "$folder/tmp" -socket "$folder/socket")
  running "$folder" || launch nobody "$folder" env TMPDIR="$folder/tmp" "$folder/tidb-server" \
    -host 127.0.0.1 -P "$(port "$(tidb_port "$1")")" -path "$folder/data" -report-status=false -L error \
    "${options[@]}"
  await 60 "$folder" tidb_ask "$1" "SELECT 1"
}

tidb_up() {  # tidb_up VERSION
  local folder program=$cache/tidb/$1
  folder=$(tidb_node_folder "$1")
  command -v mariadb >/dev/null || die "a client for TiDB is not installed (Debian: mariadb-client)" 5
  [ -x "$program" ] || tidb_build "$1" "$program"
  folder_for nobody "$folder"
  folder_for nobody "$folder/tmp"
  # The server's user must be able to run it.
  if [ ! -x "$folder/tidb-server" ]; then cp "$program" "$folder/tidb-server"; fi
  tidb_node_start "$1"
  tidb_ask "$1" "CREATE DATABASE IF NOT EXISTS assay"
  echo "mysql://root@127.0.0.1:$(port "$(tidb_port "$1")")/assay"
}
tidb_down() {  # tidb_down VERSION
  stop "$(tidb_node_folder "$1")"
  rm -rf "$(tidb_node_folder "$1")"
}
