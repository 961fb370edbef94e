# Dolt, a server of MySQL's protocol on versioned storage, built from its Go module. Sourced by dev/db.

dolt_ask() {  # dolt_ask SQL
  mariadb --no-defaults -uroot -h127.0.0.1 -P"$(port 95)" -N -s -e "$1" 2>/dev/null
}

dolt_node_folder() { echo "$base/dolt"; }
dolt_node_start() {
  local folder=$base/dolt
  running "$folder" || launch nobody "$folder" env DOLT_DISABLE_EVENT_FLUSH=true DOLT_ROOT_PATH="$folder" \
    TMPDIR="$folder/tmp" "$folder/dolt" sql-server --host 127.0.0.1 --port "$(port 95)" \
    --data-dir "$folder/data" --max-connections 300 --loglevel error
  await 30 "$folder" dolt_ask "SELECT 1"
}
dolt_up() {
  local folder=$base/dolt program
  command -v mariadb >/dev/null || die "a client for Dolt is not installed (Debian: mariadb-client)" 5
  program=$(go_program dolt dolt github.com/dolthub/dolt/go/cmd/dolt -tags gms_pure_go -ldflags "-s -w")
  folder_for nobody "$folder"
  folder_for nobody "$folder/data"
  folder_for nobody "$folder/tmp"
  # The server's user must be able to run it.
  if [ ! -x "$folder/dolt" ]; then cp "$program" "$folder/dolt"; fi
  dolt_node_start
  dolt_ask "CREATE DATABASE IF NOT EXISTS assay"
  echo "mysql://root@127.0.0.1:$(port 95)/assay"
}
dolt_down() {
  stop "$base/dolt"
  rm -rf "$base/dolt"
}
