# H2 with its PostgreSQL protocol server. Sourced by dev/db.

h2_version=2.2.224

h2_jar() {
  local jar=$cache/h2/h2-$h2_version.jar
  if [ ! -f "$jar" ]; then
    command -v mvn >/dev/null || die "maven is not installed" 5
    mkdir -p "$cache/h2"
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact="com.h2database:h2:$h2_version" -DoutputDirectory="$cache/h2" >/dev/null 2>&1 </dev/null ||
      die "cannot get H2 from Maven Central" 5
  fi
  echo "$jar"
}

h2_node_folder() { echo "$base/h2"; }
h2_node_start() {
  local folder=$base/h2
  running "$folder" || launch nobody "$folder" java -Xmx256m -cp "$folder/h2.jar" org.h2.tools.Server \
    -pg -pgPort "$(port 77)" -ifNotExists -baseDir "$folder"
  await 20 "$folder" bash -c "exec 3<>/dev/tcp/127.0.0.1/$(port 77)"
}
h2_up() {
  local jar
  command -v java >/dev/null || die "java is not installed (Debian: openjdk-17-jre-headless)" 5
  jar=$(h2_jar)
  folder_for nobody "$base/h2"
  cp "$jar" "$base/h2/h2.jar"
  chmod a+r "$base/h2/h2.jar"
  h2_node_start
  echo "h2://sa:sa@127.0.0.1:$(port 77)/assay"
}
h2_down() {
  stop "$base/h2"
  rm -rf "$base/h2"
}
