# Redis; every write is in its log, on the disk, before it is answered. Sourced by dev/db.

redis_node_folder() { echo "$base/redis"; }
redis_node_start() {
  local folder=$base/redis
  running "$folder" || launch nobody "$folder" redis-server --port "$(port 78)" --bind 127.0.0.1 \
    --tls-port "$(port 82)" --tls-cert-file "$(tls_folder)/server.pem" --tls-key-file "$(tls_folder)/server.key" \
    --tls-auth-clients no --tls-ca-cert-file "$(tls_folder)/ca.pem" \
    --save '' --appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0 --dir "$folder" --daemonize no
  await 10 "$folder" bash -c "exec 3<>/dev/tcp/127.0.0.1/$(port 78); echo PING >&3; read -r -t 1 answer <&3; [ \"\${answer%?}\" = +PONG ]"
}
redis_up() {
  command -v redis-server >/dev/null || die "Redis is not installed (Debian: redis-server)" 5
  tls_up
  folder_for nobody "$base/redis"
  redis_node_start
  echo "redis://127.0.0.1:$(port 78)/0"
}
redis_down() {
  stop "$base/redis"
  rm -rf "$base/redis"
}
