// One side of a connection: its socket, which becomes one of TLS when both agree on it, and the
// bytes still to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "record/tls.h"

namespace assay::internal::record {

class Stream {
 public:
  // Closes the socket in the end.
  explicit Stream(int fd) : fd_(fd), transport_(plain_transport(fd)) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // As a server, from the next byte on.
  void encrypt(const Tls& tls) { transport_ = tls.transport(fd_); }
  // Begins TLS as a client of PostgreSQL. A server that refuses gets nothing else.
  void ask_to_encrypt(const Tls& tls);

  // What has come; none where nothing has.
  size_t read(char* to, size_t most);
  // Sends what the other side takes, and forgets that.
  void write(std::string& bytes);
  bool over() const { return over_; }

  int fd() const { return fd_; }
  // The events of epoll to wait for, and whether one of those means that something can be read.
  uint32_t events(bool reads, bool writes) const;
  bool can_read(uint32_t events) const;

 private:
  void hear_answer();

  int fd_;
  std::unique_ptr<Transport> transport_;
  const Tls* asked_ = nullptr;  // and the server has not answered yet
  bool over_ = false;
  uint32_t read_waits_ = 0, write_waits_ = 0;  // for what, where not as usual
  size_t sent_ = 0;                            // of the bytes being sent
};

}  // namespace assay::internal::record
