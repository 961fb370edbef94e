# TiDB, one server on the store it brings along, built from its Go module at the version that tidb/*/go.mod
# pins. Sourced by dev/db.

tidb_modules=$here/servers/tidb

# The package that is built, in the module's folder.
tidb_package() {  # tidb_package VERSION
  case $1 in
    3.0) echo github.com/pingcap/tidb/tidb-server ;;
    *) die "no TiDB $1 here; there are: $names" ;;
  esac
}

# Builds once; minutes of processor time.
tidb_build() {  # tidb_build VERSION PROGRAM
  local log=$cache/tidb/$1.log
  build_allowed "TiDB $1" "dev/db up tidb@$1"
  command -v go >/dev/null || die "go is not installed" 5
  mkdir -p "$cache/tidb"
  echo "dev/db: building TiDB $1, which takes some minutes" >&2
  (cd "$tidb_modules/$1" && CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -o "$2.part" \
    -ldflags "-s -w -X github.com/pingcap/parser/mysql.TiDBReleaseVersion=v$1" \
    "$(tidb_package "$1")") >"$log" 2>&1 </dev/null ||
    die "TiDB $1 does not build: $(tail -1 "$log")" 5
  mv "$2.part" "$2"
}

tidb_node_folder() { echo "$base/tidb-$1"; }
tidb_port() { echo $((90 + ${1%%.*})); }

tidb_ask() {  # tidb_ask VERSION SQL
  mariadb --no-defaults -uroot -h127.0.0.1 -P"$(port "$(tidb_port "$1")")" -N -s -e "$2" 2>/dev/null
}

tidb_node_start() {  # tidb_node_start VERSION
  local folder
  folder=$(tidb_node_folder "$1")
  running "$folder" || launch nobody "$folder" "$folder/tidb-server" -host 127.0.0.1 \
    -P "$(port "$(tidb_port "$1")")" -path "$folder/data" -report-status=false -L error
  await 60 "$folder" tidb_ask "$1" "SELECT 1"
}

tidb_up() {  # tidb_up VERSION
  local folder program=$cache/tidb/$1
  folder=$(tidb_node_folder "$1")
  command -v mariadb >/dev/null || die "a client for TiDB is not installed (Debian: mariadb-client)" 5
  [ -x "$program" ] || tidb_build "$1" "$program"
  folder_for nobody "$folder"
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
