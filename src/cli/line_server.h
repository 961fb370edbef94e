// Receives lines over sockets: an address to connect to, the connections, and the whole lines that
// they have sent.
//
// No connection can keep the others waiting: only poll() waits; each connection is read in turn, a
// bounded amount each time; a connection whose line does not end is closed; and if there are too
// many, one that never sent a line is closed to make room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/result.h"

namespace assay::internal::cli {

class LineServer {
 public:
  // `address`: "unix:PATH" or "HOST:PORT", port 0 for any that is free.
  static Result<LineServer> open(const std::string& address);
  LineServer(LineServer&& other) noexcept;
  LineServer& operator=(LineServer&&) = delete;
  ~LineServer();

  // The address with the actual port.
  const std::string& address() const { return address_; }

  struct Arrival {
    uint64_t connection;  // counted from 1
    std::string lines;    // whole lines
    bool over = false;    // nothing follows
    std::string why;      // the fault that ended it; empty: none
  };
  // Returns the lines received; waits this long for some.
  std::vector<Arrival> wait(int milliseconds);
  // Closes a connection whose lines are not wanted any more.
  void close(uint64_t connection);
  size_t connections() const { return connections_.size(); }

 private:
  struct Connection {
    int fd;
    std::string begun;  // the beginning of a line without its end
    bool spoke;         // a whole line has come
  };

  LineServer(int fd, std::string address, std::string path)
      : fd_(fd), address_(std::move(address)), path_(std::move(path)) {}
  bool all_speak() const;
  void accept_all();
  Arrival read(uint64_t number, Connection& connection);

  int fd_;
  std::string address_;
  std::string path_;  // path of a Unix socket, which is removed at the end
  std::map<uint64_t, Connection> connections_;
  uint64_t accepted_ = 0;
};

}  // namespace assay::internal::cli
