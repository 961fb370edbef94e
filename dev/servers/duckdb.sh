# DuckDB is embedded: there is no server, only its library, from an npm package. Sourced by dev/db.

duckdb_up() {
  local kept=$cache/duckdb-1.5.6 module=@duckdb/node-bindings-linux-x64
  if [ ! -f "$kept/libduckdb.so" ]; then
    command -v npm >/dev/null || die "npm is not installed" 5
    mkdir -p "$kept"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$kept" "$module@1.5.6-r.1" \
      >/dev/null 2>&1 </dev/null || die "cannot get DuckDB from npm" 5
    mv "$kept/node_modules/$module/libduckdb.so" "$kept/libduckdb.so"
  fi
  echo "$kept/libduckdb.so"
}
duckdb_down() { :; }
