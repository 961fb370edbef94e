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
#include "record/stream.h"

namespace assay::internal::record {

class Relay {
 public:
  struct Server {
    std::string host;
    uint16_t port = 0;
  };
  // What encrypts; null where nothing does.
  struct Encryption {
    std::unique_ptr<const Tls> to_clients, to_server;
  };
  // Listens at "HOST:PORT" or "unix:PATH".
  static Result<std::unique_ptr<Relay>> open(const std::string& listen, Server server,
                                             Encryption encryption, Surroundings& surroundings);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const std::string& address() const { return address_; }
  // Runs until `stop`; then all connections end. `tick` is called about every second.
  Status run(const std::atomic<bool>& stop, const std::function<void()>& tick);
  uint64_t connections() const { return accepted_; }

 private:
  struct Link {
    Link(uint64_t number, int client_fd, int server_fd, Surroundings& surroundings)
        : client(client_fd), server(server_fd), talk(number, surroundings) {}
    Stream client, server;
    uint32_t client_events = 0, server_events = 0;  // that are waited for
    Conversation talk;
  };

  Relay(int epoll, int listener, std::string address, Server server, Encryption encryption,
        Surroundings& surroundings)
      : epoll_(epoll),
        listener_(listener),
        address_(std::move(address)),
        server_(std::move(server)),
        encryption_(std::move(encryption)),
        around_(surroundings) {}
  void accept_all();
  bool serve(Link& link, bool of_server, uint32_t events);
  bool receive(Link& link, bool of_server);
  void wait_for(Link& link, uint64_t number);
  void end(uint64_t number);
  void note_answered();

  int epoll_, listener_;
  std::string address_;
  Server server_;
  Encryption encryption_;
  Surroundings& around_;
  std::map<uint64_t, std::unique_ptr<Link>> links_;
  uint64_t accepted_ = 0;
  std::string buffer_;
};

}  // namespace assay::internal::record
