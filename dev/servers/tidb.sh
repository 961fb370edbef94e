# TiDB, one server on the store it brings along, built from its Go module. Sourced by dev/db.

tidb_program() {  # tidb_program VERSION
  local release=TiDBReleaseVersion
  case $1 in
    8) go_program tidb tidb/8 github.com/pingcap/tidb/cmd/tidb-server \
      -ldflags "-s -w -X github.com/pingcap/tidb/pkg/parser/mysql.$release=v8.4.0-20251126" ;;
    3.0) go_program tidb@3.0 tidb/3.0 github.com/pingcap/tidb/tidb-server \
      -ldflags "-s -w -X github.com/pingcap/parser/mysql.$release=v3.0.0-20190325" ;;
    *) die "no TiDB $1 here; there are: $names" ;;
  esac
}

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
  local folder program
  folder=$(tidb_node_folder "$1")
  command -v mariadb >/dev/null || die "a client for TiDB is not installed (Debian: mariadb-client)" 5
  program=$(tidb_program "$1")
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
