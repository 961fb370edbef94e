// A TCP proxy on loopback between the sessions of a run and one endpoint, which can hold back what
// goes through it. One thread moves the bytes of all connections.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "assay/result.h"

namespace assay::internal::collect {

class Proxy {
 public:
  // Listens on a new port; connects to the endpoint anew for each connection.
  static Result<std::unique_ptr<Proxy>> start(std::string host, uint16_t port);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  uint16_t port() const { return port_; }
  // Silent: nothing goes through in either direction, but connections stay open.
  void set_silent(bool silent) { silent_ = silent; }
  // How long each piece is delayed.
  void set_delay(std::chrono::milliseconds delay) { delay_ms_ = delay.count(); }

 private:
  using Clock = std::chrono::steady_clock;
  // Bytes on their way in one direction.
  struct Flow {
    int from = -1, to = -1;
    std::string bytes;
    Clock::time_point ready{};
    bool ended = false;
  };
  struct Connection {
    Flow up, down;
    bool broken = false;
  };

  Proxy(int listener, uint16_t port, std::string host, uint16_t target);
  void serve();
  void accept_one();
  void move(Flow& flow, bool readable, Connection& connection);

  int listener_;
  uint16_t port_;
  std::string host_;
  uint16_t target_;
  std::atomic<bool> silent_{false};
  std::atomic<int64_t> delay_ms_{0};
  std::atomic<bool> stop_{false};
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace assay::internal::collect
