// Sockets that do not block, plain and by TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal::record {

// How the bytes of one connection go through its socket.
class Transport {
 public:
  struct Done {
    size_t bytes = 0;
    bool over = false;  // nothing more will go through
    uint32_t waits_for =
        0;  // the event of epoll that has to come first, where nothing went through
  };
  virtual ~Transport() = default;
  virtual Done read(char* to, size_t most) = 0;
  virtual Done write(std::string_view bytes) = 0;
};
std::unique_ptr<Transport> plain_transport(int fd);

// One side of TLS, for any number of connections.
class Tls {
 public:
  virtual ~Tls() = default;
  // The handshake is part of the first reads and writes.
  virtual std::unique_ptr<Transport> transport(int fd) const = 0;

  // A server, with the certificate and the key of these files (PEM), or with a self-signed one that
  // is made now.
  static Result<std::unique_ptr<Tls>> server(const std::string& certificate,
                                             const std::string& key);

  struct Trust {
    std::string host = {};
    bool verified = false;                   // the certificate, by one of the authorities
    bool named = false;                      // and it names the host
    std::string authorities = {};            // a file; "system": those of the system
    std::string certificate = {}, key = {};  // files of our own, or none
  };
  static Result<std::unique_ptr<Tls>> client(const Trust& trust);
};

}  // namespace assay::internal::record
