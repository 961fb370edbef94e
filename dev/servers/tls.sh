# An authority of our own and a certificate of it for the servers on loopback; and another authority, which nobody must
# be believed by. Sourced by dev/db.

tls_folder() { echo "$base/tls"; }

tls_authority() {  # tls_authority NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -subj "/CN=assay $1" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# Makes what is not there yet. Every server's user may read the key: it guards nothing.
tls_up() {
  local folder
  folder=$(tls_folder)
  [ ! -f "$folder/server.pem" ] || return 0
  command -v openssl >/dev/null || die "openssl is not installed (Debian: openssl)" 5
  mkdir -p "$folder.part"
  (
    cd "$folder.part"
    tls_authority ca
    tls_authority other-ca
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
      -keyout server.key -out server.csr 2>/dev/null
    echo "subjectAltName = DNS:localhost, IP:127.0.0.1" >names
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile names \
      -out server.pem 2>/dev/null
    chmod a+r ./*
  )
  chmod a+rx "$folder.part"
  mv -T "$folder.part" "$folder" 2>/dev/null || rm -rf "$folder.part"
}
