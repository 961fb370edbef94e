// Moves the bytes of all connections between clients and the server, on one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "assay/result.h"
#include "record/conversation.h"

namespace assay::internal::record {

class Relay {
 public:
  struct Server {
    std::string host;
    uint16_t port = 0;
  };
  // Listens at "HOST:PORT" or "unix:PATH".
  static Result<std::unique_ptr<Relay>> open(const std::string& listen, Server server,
                                             Surroundings& surroundings);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const std::string& address() const { return address_; }
  // Until told to stop; then all connections end. `tick` is called about every second.
  Status run(const std::atomic<bool>& stop, const std::function<void()>& tick);
  uint64_t connections() const { return accepted_; }

 private:
  struct Link {
    Link(uint64_t number, Surroundings& surroundings) : talk(number, surroundings) {}
    int client = -1, server = -1;
    uint32_t client_events = 0, server_events = 0;  // that are waited for
    size_t to_client = 0, to_server = 0;            // of what is to be sent: how much was
    bool client_over = false, server_over = false;
    Conversation talk;
  };

  Relay(int epoll, int listener, std::string address, Server server, Surroundings& surroundings)
      : epoll_(epoll),
        listener_(listener),
        address_(std::move(address)),
        server_(std::move(server)),
        around_(surroundings) {}
  void accept_all();
  bool serve(Link& link, bool of_server, uint32_t events);
  bool receive(Link& link, bool of_server);
  void wait_for(Link& link, uint64_t number);
  void end(uint64_t number);

  int epoll_, listener_;
  std::string address_;
  Server server_;
  Surroundings& around_;
  std::map<uint64_t, std::unique_ptr<Link>> links_;
  uint64_t accepted_ = 0;
  std::string buffer_;
};

}  // namespace assay::internal::record
