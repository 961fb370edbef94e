# Apache Cassandra from its Maven artifacts: one node, or a cluster of three on 127.0.0.1 to 127.0.0.3 where each
# holds everything; of 6 with its transactions, Accord. The URLs run examples/drivers/cassandra.js. Sourced by dev/db.

cassandra_driver_version=4.10.0
cassandra_version() { case $1 in *@6) echo 6.0-alpha2 ;; *) echo 5.0.9 ;; esac; }
cassandra_nodes() { case $1 in *cluster*) seq 3 ;; *) echo 1 ;; esac; }

cassandra_jars() {  # cassandra_jars NAME: the folder of jars
  local version kept
  version=$(cassandra_version "$1")
  kept=$cache/cassandra-$version
  if [ ! -d "$kept/lib" ]; then
    build_allowed "$1"
    command -v mvn >/dev/null || die "maven is not installed" 5
    rm -rf "$kept.part"
    mkdir -p "$kept.part"
    cat >"$kept.part/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>assay</groupId>
  <artifactId>cassandra</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$kept.part/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$kept.part/lib" >/dev/null 2>&1 </dev/null ||
      die "cannot get Cassandra from Maven Central" 5
    rm -rf "$kept"
    mv "$kept.part" "$kept"
  fi
  echo "$kept/lib"
}

cassandra_driver() {  # the folder of modules with the client
  local kept=$cache/cassandra-driver-$cassandra_driver_version
  if [ ! -d "$kept/node_modules/cassandra-driver" ]; then
    command -v npm >/dev/null || die "npm is not installed" 5
    mkdir -p "$kept"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$kept" \
      "cassandra-driver@$cassandra_driver_version" >/dev/null 2>&1 </dev/null ||
      die "cannot get Cassandra's client from npm" 5
  fi
  echo "$kept/node_modules"
}

# A cluster has a port for clients and one for its nodes, the same on each address.
cassandra_port() {  # cassandra_port NAME
  case $1 in
    cassandra) port 100 ;;
    cassandra-cluster) port 102 ;;
    cassandra@6) port 104 ;;
    cassandra-cluster@6) port 106 ;;
  esac
}
cassandra_url() {  # cassandra_url NAME I
  echo "exec:NODE_PATH=$(cassandra_driver) node $(dirname "$here")/examples/drivers/cassandra.js" \
    "cassandra://127.0.0.$2:$(cassandra_port "$1")/assay"
}

# Every node is a seed, so that it starts whether or not others are there.
cassandra_config() {  # cassandra_config NAME I
  local name=$1 i=$2 folder=$base/$1/n$2 seeds="" clients j
  clients=$(cassandra_port "$name")
  for j in $(cassandra_nodes "$name"); do seeds+="${seeds:+,}127.0.0.$j:$((clients + 1))"; done
  cat >"$folder/cassandra.yaml" <<YAML
cluster_name: assay
num_tokens: 1
initial_token: $(((i - 2) * 6148914691236517206))
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "$seeds"
listen_address: 127.0.0.$i
storage_port: $((clients + 1))
rpc_address: 127.0.0.$i
native_transport_port: $clients
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_segment_size: 5MiB
auto_snapshot: false
YAML
  # A node of 6 writes to itself in order to start, and gives up if that takes too long.
  case $name in *@6)
    printf '%s\n' 'accord:' '  enabled: true' 'write_request_timeout: 10s' 'cas_contention_timeout: 10s' \
      >>"$folder/cassandra.yaml" ;;
  esac
  cat >"$folder/logback.xml" <<XML
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
XML
}

# What of the JDK it opens up; without waits for a ring that is all there, and without measuring how large a row is.
cassandra_options() {
  local package
  for package in java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi \
    java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql; do
    echo "--add-exports=$package=ALL-UNNAMED"
  done
  for package in java.io java.lang java.lang.module java.lang.reflect java.nio java.util java.util.concurrent \
    java.util.concurrent.atomic jdk.internal.loader jdk.internal.math jdk.internal.module jdk.internal.ref \
    jdk.internal.reflect jdk.internal.util.jar sun.nio.ch; do
    echo "--add-opens=java.base/$package=ALL-UNNAMED"
  done
  echo "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED"
  echo "-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
  echo "-Dcassandra-foreground=yes -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.ring_delay_ms=0"
  echo "-Dcassandra.superuser_setup_delay_ms=-1 -Dcassandra.memtable.row_overhead_size=180"
}

cassandra_launch() {  # cassandra_launch NAME I
  local folder=$base/$1/n$2
  running "$folder" && return
  rm -f "$folder/server.log"
  # shellcheck disable=SC2046
  launch nobody "$folder" java $(cassandra_options) -Dcassandra.config="file://$folder/cassandra.yaml" \
    -Dlogback.configurationFile="file://$folder/logback.xml" -Dcassandra.storagedir="$folder" \
    -cp "$base/$1/lib/*" org.apache.cassandra.service.CassandraDaemon
}

cassandra_serves() {  # cassandra_serves LOG SEEN
  grep -q 'Startup complete' "$1" && [ "$(grep -o '[^ ]* is now UP' "$1" | sort -u | wc -l)" -ge "$2" ]
}
cassandra_await() {  # cassandra_await NAME I SEEN: until it serves clients and sees so many others
  await 120 "$base/$1/n$2" cassandra_serves "$base/$1/n$2/server.log" "$3"
}

cassandra_up() {  # cassandra_up NAME
  local name=$1 jars i urls=()
  command -v java >/dev/null || die "java is not installed (Debian: openjdk-17-jre-headless)" 5
  command -v node >/dev/null || die "node is not installed (Debian: nodejs)" 5
  jars=$(cassandra_jars "$name")
  cassandra_driver >/dev/null
  folder_for nobody "$base/$name"
  [ -d "$base/$name/lib" ] || cp -r "$jars" "$base/$name/lib"
  chmod -R a+rX "$base/$name/lib"
  for i in $(cassandra_nodes "$name"); do
    folder_for nobody "$base/$name/n$i"
    cassandra_config "$name" "$i"
    cassandra_launch "$name" "$i"
    # The first node of a cluster of 6 is the one that the others ask who belongs to it.
    case $name in *@6) cassandra_await "$name" "$i" 0 ;; esac
  done
  for i in $(cassandra_nodes "$name"); do
    cassandra_await "$name" "$i" $(($(cassandra_nodes "$name" | wc -l) - 1))
    urls+=("$(cassandra_url "$name" "$i")")
  done
  echo "${urls[*]}"
}

cassandra_down() {  # cassandra_down NAME
  local folder
  for folder in "$base/$1"/n*; do stop "$folder"; done
  rm -rf "${base:?}/$1"
}

cassandra_node_folder() { echo "$base/$1/n$2"; }
cassandra_node_start() { cassandra_launch "$1" "$2" && cassandra_await "$1" "$2" 0; }
