#include "record/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#ifdef ASSAY_OPENSSL
#include <openssl/ssl.h>

#include "collect/client_library.h"
#endif

namespace assay::internal::record {
namespace {

class Plain : public Transport {
 public:
  explicit Plain(int fd) : fd_(fd) {}
  Done read(char* to, size_t most) override {
    const ssize_t n = recv(fd_, to, most, MSG_DONTWAIT);
    return n == 0 ? Done{.over = true} : done(n, EPOLLIN);
  }
  Done write(std::string_view bytes) override {
    return done(send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL), EPOLLOUT);
  }

 private:
  static Done done(ssize_t n, uint32_t event) {
    if (n >= 0) return {.bytes = static_cast<size_t>(n)};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {.waits_for = event};
    return {.over = true};
  }
  int fd_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int fd) { return std::make_unique<Plain>(fd); }

#ifdef ASSAY_OPENSSL
namespace {

constexpr size_t kRecord = 16 << 10;  // the most that one of TLS holds
constexpr long kYears = 10L * 365 * 24 * 60 * 60;

struct Free {
  void operator()(SSL* s) const { SSL_free(s); }
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
  void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
  void operator()(X509* c) const { X509_free(c); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Error tls_error(const std::string& what, const std::string& file = {}) {
  std::array<char, 256> why{};
  ERR_error_string_n(ERR_peek_last_error(), why.data(), why.size());
  const std::string_view all = why.data();
  return io_error(fmt::format("{}: {}", what, all.substr(all.rfind(':') + 1)), file);
}

class Encrypted : public Transport {
 public:
  explicit Encrypted(Owned<SSL> ssl) : ssl_(std::move(ssl)) {}
  ~Encrypted() override {
    ERR_clear_error();
    if (!broken_) SSL_shutdown(ssl_.get());  // says so, and waits for no answer
  }
  // What was fetched from the socket is invisible to poll(): a rest is read as soon as that is
  // writable, which is at once.
  Done read(char* to, size_t most) override {
    Done all;
    bool rest = true;
    while (rest && !all.over && all.waits_for == 0 && most - all.bytes >= kRecord) {
      ERR_clear_error();
      take(all, SSL_read(ssl_.get(), to + all.bytes, static_cast<int>(most - all.bytes)));
      rest = SSL_has_pending(ssl_.get()) != 0;
    }
    if (rest && !all.over && all.waits_for == 0) all.waits_for = EPOLLOUT;
    return all;
  }
  Done write(std::string_view bytes) override {
    Done all;
    ERR_clear_error();
    take(all, SSL_write(ssl_.get(), bytes.data(),
                        static_cast<int>(std::min<size_t>(bytes.size(), 1 << 30))));
    return all;
  }

 private:
  void take(Done& all, int n) {
    if (n > 0) {
      all.bytes += static_cast<size_t>(n);
      return;
    }
    const int error = SSL_get_error(ssl_.get(), n);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
      all.waits_for = error == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT;
      return;
    }
    all.over = true;
    broken_ = error != SSL_ERROR_ZERO_RETURN;
  }

  Owned<SSL> ssl_;
  bool broken_ = false;
};

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

class OpenSsl : public Tls {
 public:
  OpenSsl(const SSL_METHOD* method, bool serves) : context_(SSL_CTX_new(method)), serves_(serves) {
    SSL_CTX_set_options(context_.get(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                         SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                         SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context_.get(), 1);  // a record by one call
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context_.get(), 0);
    // There is no user to ask for one.
    SSL_CTX_set_default_passwd_cb(context_.get(), [](char*, int, int, void*) { return 0; });
  }

  std::unique_ptr<Transport> transport(int fd) const override {
    Owned<SSL> ssl(SSL_new(context_.get()));
    SSL_set_fd(ssl.get(), fd);
    if (serves_) {
      SSL_set_accept_state(ssl.get());
    } else {
      if (trust_.named) SSL_set1_host(ssl.get(), trust_.host.c_str());
      if (!is_address(trust_.host)) SSL_set_tlsext_host_name(ssl.get(), trust_.host.c_str());
      SSL_set_connect_state(ssl.get());
    }
    return std::make_unique<Encrypted>(std::move(ssl));
  }

  Status show(const std::string& certificate, const std::string& key) {
    if (SSL_CTX_use_certificate_chain_file(context_.get(), certificate.c_str()) != 1)
      return tls_error("expected a certificate, PEM", certificate);
    if (SSL_CTX_use_PrivateKey_file(context_.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
      return tls_error("expected the key of the certificate, PEM, without a password", key);
    if (SSL_CTX_check_private_key(context_.get()) != 1)
      return tls_error(fmt::format("expected the key of {}", certificate), key);
    return Ok{};
  }

  Status show_own() {
    const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
    const Owned<X509> own(X509_new());
    if (!key || !own) return tls_error("cannot create a certificate");
    X509_set_version(own.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(own.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(own.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(own.get()), kYears);
    X509_set_pubkey(own.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(own.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("assay record"), -1, -1, 0);
    X509_set_issuer_name(own.get(), name);
    if (X509_sign(own.get(), key.get(), EVP_sha256()) == 0 ||
        SSL_CTX_use_certificate(context_.get(), own.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1)
      return tls_error("cannot create a certificate");
    return Ok{};
  }

  Status believe(const Trust& trust) {
    trust_ = trust;
    if (!trust.verified) return Ok{};
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    const int read = trust.authorities == "system"
                         ? SSL_CTX_set_default_verify_paths(context_.get())
                         : SSL_CTX_load_verify_file(context_.get(), trust.authorities.c_str());
    if (read != 1) return tls_error("expected certificates of authorities, PEM", trust.authorities);
    return Ok{};
  }

 private:
  Owned<SSL_CTX> context_;
  bool serves_;
  Trust trust_;
};

}  // namespace

Result<std::unique_ptr<Tls>> Tls::server(const std::string& certificate, const std::string& key) {
  if (Status s = load_client(kOpenssl); !s.ok()) return s.error();
  auto tls = std::make_unique<OpenSsl>(TLS_server_method(), true);
  if (Status s = certificate.empty() ? tls->show_own() : tls->show(certificate, key); !s.ok())
    return s.error();
  return std::unique_ptr<Tls>(std::move(tls));
}

Result<std::unique_ptr<Tls>> Tls::client(const Trust& trust) {
  if (Status s = load_client(kOpenssl); !s.ok()) return s.error();
  auto tls = std::make_unique<OpenSsl>(TLS_client_method(), false);
  if (Status s = tls->believe(trust); !s.ok()) return s.error();
  if (!trust.certificate.empty())
    if (Status s = tls->show(trust.certificate, trust.key); !s.ok()) return s.error();
  return std::unique_ptr<Tls>(std::move(tls));
}
#else
Result<std::unique_ptr<Tls>> Tls::server(const std::string&, const std::string&) {
  return usage_error("this assay was built without OpenSSL (Debian: libssl-dev)");
}
Result<std::unique_ptr<Tls>> Tls::client(const Trust&) { return server({}, {}); }
#endif

}  // namespace assay::internal::record
