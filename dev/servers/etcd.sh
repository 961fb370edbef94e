# etcd, one member. Sourced by dev/db.

etcd_node_folder() { echo "$base/etcd"; }
etcd_node_start() {
  local folder=$base/etcd client peer
  client=http://127.0.0.1:$(port 79)
  peer=http://127.0.0.1:$(port 80)
  running "$folder" || launch nobody "$folder" etcd --data-dir "$folder/data" --logger zap --log-level error \
    --listen-client-urls "$client,https://127.0.0.1:$(port 83)" --advertise-client-urls "$client" \
    --cert-file "$(tls_folder)/server.pem" --key-file "$(tls_folder)/server.key" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
  await 30 "$folder" env ETCDCTL_API=3 etcdctl --endpoints "$client" endpoint health
}
etcd_up() {
  command -v etcd >/dev/null && command -v etcdctl >/dev/null ||
    die "etcd is not installed (Debian: etcd-server, etcd-client)" 5
  tls_up
  folder_for nobody "$base/etcd"
  etcd_node_start
  echo "etcd://127.0.0.1:$(port 79)"
}
etcd_down() {
  stop "$base/etcd"
  rm -rf "$base/etcd"
}
