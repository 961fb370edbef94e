# MariaDB, one server or three nodes of a Galera cluster. Sourced by dev/db.

mariadb_installed() {
  [ -x /usr/sbin/mariadbd ] || die "MariaDB is not installed (Debian: mariadb-server)" 5
}

mariadb_config() {  # mariadb_config FOLDER PORT
  cat >"$1/my.cnf" <<CONF
[mysqld]
datadir = $1/data
socket = $1/socket
port = $2
bind-address = 127.0.0.1
pid-file = $1/mariadbd.pid
log-error = $1/server.log
skip-name-resolve
max_connections = 300
innodb_buffer_pool_size = 64M
innodb_flush_log_at_trx_commit = 1
log_bin = $1/binlog
server_id = ${2}
binlog_format = ROW
binlog_row_image = FULL
sync_binlog = 1
log_slave_updates = ON
CONF
}

mariadb_install() {  # mariadb_install FOLDER
  as mysql mariadb-install-db --defaults-file="$1/my.cnf" --skip-test-db \
    --auth-root-authentication-method=normal >"$1/install.log" 2>&1 ||
    { cat "$1/install.log" >&2; die "MariaDB does not install"; }
}

mariadb_ask() {  # mariadb_ask FOLDER SQL
  mariadb --no-defaults -uroot -S "$1/socket" -N -s -e "$2" 2>/dev/null
}

mariadb_url() { echo "mysql://root@127.0.0.1:$(port "$1")/assay"; }

mariadb_up() {
  local folder=$base/mariadb
  mariadb_installed
  if [ ! -f "$folder/my.cnf" ]; then
    folder_for mysql "$folder"
    mariadb_config "$folder" "$(port 6)"
    # Not for the nodes of a cluster, whose state would then go through stunnel.
    tls_up
    printf 'ssl_cert = %s\nssl_key = %s\n' "$(tls_folder)/server.pem" "$(tls_folder)/server.key" >>"$folder/my.cnf"
    mariadb_install "$folder"
  fi
  mariadb_node_start
  mariadb_ask "$folder" "CREATE DATABASE IF NOT EXISTS assay"
  mariadb_url 6
}
mariadb_node_folder() { echo "$base/mariadb"; }
mariadb_node_start() {
  local folder=$base/mariadb
  running "$folder" || launch mysql "$folder" /usr/sbin/mariadbd --defaults-file="$folder/my.cnf"
  await 30 "$folder" mariadb_ask "$folder" "SELECT 1"
}
mariadb_down() {
  stop "$base/mariadb"
  rm -rf "$base/mariadb"
}

# Ports of node i: clients 10+i, group communication 2i0, incremental and whole state 2i1 and 2i2.
galera_config() {  # galera_config I
  local i=$1 folder members="" j
  folder=$(galera_node_folder "$i")
  for j in 1 2 3; do members+="${members:+,}127.0.0.1:$(port "2${j}0")"; done
  mariadb_config "$folder" "$(port $((10 + i)))"
  cat >>"$folder/my.cnf" <<CONF
default_storage_engine = InnoDB
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = /usr/lib/galera/libgalera_smm.so
wsrep_cluster_name = assay
wsrep_cluster_address = gcomm://$members
wsrep_node_name = n$i
wsrep_node_address = 127.0.0.1:$(port "2${i}0")
wsrep_provider_options = "base_port=$(port "2${i}0");gmcast.listen_addr=tcp://127.0.0.1:$(port "2${i}0");ist.recv_addr=127.0.0.1:$(port "2${i}1");gcache.size=32M;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S;evs.install_timeout=PT4S;evs.inactive_check_period=PT0.2S;evs.keepalive_period=PT0.4S"
wsrep_sst_method = rsync
wsrep_sst_receive_address = 127.0.0.1:$(port "2${i}2")
wsrep_slave_threads = 2
CONF
}

galera_synced() {  # galera_synced FOLDER
  mariadb_ask "$1" "SHOW STATUS LIKE 'wsrep_local_state_comment'" | grep Synced >/dev/null
}

galera_launch() {  # galera_launch I [OPTION…]
  local folder
  folder=$(galera_node_folder "$1")
  shift
  running "$folder" || launch mysql "$folder" /usr/sbin/mariadbd --defaults-file="$folder/my.cnf" "$@"
  await 60 "$folder" galera_synced "$folder"
}

galera_node_folder() { echo "$base/galera/n$1"; }
galera_node_start() { galera_launch "$1"; }

galera_position() {  # galera_position FOLDER: how many commits it holds
  as mysql /usr/sbin/mariadbd --defaults-file="$1/my.cnf" --log-error="$1/recover.log" --wsrep-recover >/dev/null 2>&1 || true
  sed -n 's/.*Recovered position: [^:]*:\(-\{0,1\}[0-9][0-9]*\).*/\1/p' "$1/recover.log" | tail -1
}

# Whether a cluster is there that lost its majority, as after the machine went down: by itself no node of it serves again.
galera_lost() {
  local i
  [ -f "$(galera_node_folder 1)/formed" ] || return 1
  for i in 1 2 3; do
    if running "$(galera_node_folder "$i")" && galera_synced "$(galera_node_folder "$i")"; then return 1; fi
  done
}

# Forms the cluster again from the node that holds most.
galera_form_again() {
  local i folder position best=1 most=-2
  for i in 1 2 3; do
    folder=$(galera_node_folder "$i")
    stop "$folder"
    rm -f "$folder/data/gvwstate.dat"
    [ -f "$folder/data/grastate.dat" ] || continue
    position=$(galera_position "$folder")
    if [ "${position:--1}" -gt "$most" ]; then
      best=$i
      most=${position:--1}
    fi
  done
  folder=$(galera_node_folder "$best")
  sed -i 's/^safe_to_bootstrap: 0/safe_to_bootstrap: 1/' "$folder/data/grastate.dat"
  galera_launch "$best" --wsrep-new-cluster
}

galera_up() {
  local i folder
  mariadb_installed
  [ -f /usr/lib/galera/libgalera_smm.so ] || die "Galera is not installed (Debian: galera-4)" 5
  command -v rsync >/dev/null || die "rsync is not installed" 5
  if galera_lost; then galera_form_again; fi
  for i in 1 2 3; do
    folder=$(galera_node_folder "$i")
    if [ ! -f "$folder/my.cnf" ]; then
      folder_for mysql "$base/galera"
      folder_for mysql "$folder"
      folder_for mysql "$folder/data"
      galera_config "$i"
      # The others get everything from the first.
      [ "$i" != 1 ] || mariadb_install "$folder"
    fi
    if [ "$i" = 1 ] && [ ! -f "$folder/formed" ]; then
      galera_launch 1 --wsrep-new-cluster
      touch "$folder/formed"
      mariadb_ask "$folder" "CREATE DATABASE IF NOT EXISTS assay"
    else
      galera_launch "$i"
    fi
  done
  echo "$(mariadb_url 11) $(mariadb_url 12) $(mariadb_url 13)"
}
galera_down() {
  local i
  for i in 1 2 3; do stop "$(galera_node_folder "$i")"; done
  rm -rf "$base/galera"
}
