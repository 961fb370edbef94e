#include "collect/faults/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "collect/sockets.h"

namespace assay::internal::collect {
namespace {

constexpr size_t kPiece = 64 << 10;
constexpr int kTick = 5;  // milliseconds between looks at held-back data

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::start(std::string host, uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, any, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, any, &size) != 0) {
    if (fd >= 0) close(fd);
    return io_error(std::string("cannot listen on loopback: ") + std::strerror(errno));
  }
  return std::unique_ptr<Proxy>(new Proxy(fd, ntohs(address.sin_port), std::move(host), port));
}

Proxy::Proxy(int listener, uint16_t port, std::string host, uint16_t target)
    : listener_(listener), port_(port), host_(std::move(host)), target_(target), thread_([this] {
        serve();
      }) {}

Proxy::~Proxy() {
  stop_ = true;
  thread_.join();
  close(listener_);
  for (const Connection& c : connections_) {
    close(c.up.from);
    close(c.up.to);
  }
}

void Proxy::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = connect_to(host_, target_);
  if (server < 0) {  // the same as a refusal by the server
    close(client);
    return;
  }
  send_at_once(client);
  send_at_once(server);
  Connection& c = connections_.emplace_back();
  c.up = {client, server, {}, {}, false};
  c.down = {server, client, {}, {}, false};
}

// Takes what has arrived, and sends on what has waited long enough.
void Proxy::move(Flow& flow, bool readable, Connection& connection) {
  if (readable && !flow.ended && flow.bytes.size() < kPiece) {
    char buffer[kPiece];
    const ssize_t n = recv(flow.from, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n == 0) flow.ended = true;
    if (n < 0 && errno != EAGAIN && errno != EINTR) connection.broken = true;
    if (n > 0) {
      if (flow.bytes.empty())
        flow.ready = Clock::now() + std::chrono::milliseconds(delay_ms_.load());
      flow.bytes.append(buffer, static_cast<size_t>(n));
    }
  }
  if (!flow.bytes.empty() && Clock::now() >= flow.ready) {
    const ssize_t n =
        send(flow.to, flow.bytes.data(), flow.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) connection.broken = true;
    if (n > 0) flow.bytes.erase(0, static_cast<size_t>(n));
  }
  if (flow.ended && flow.bytes.empty()) connection.broken = true;
}

void Proxy::serve() {
  std::vector<pollfd> polled;
  while (!stop_) {
    polled.assign(1, {listener_, POLLIN, 0});
    bool held = false;
    for (const Connection& c : connections_)
      for (const Flow* flow : {&c.up, &c.down}) {
        const bool wanted = !silent_ && !flow->ended && flow->bytes.size() < kPiece;
        polled.push_back({flow->from, static_cast<short>(wanted ? POLLIN : 0), 0});
        held = held || !flow->bytes.empty();
      }
    // An end that was cut off reports this without being asked, again and again.
    if (silent_)
      for (size_t i = 1; i < polled.size(); ++i) polled[i].fd = -1;
    poll(polled.data(), polled.size(), held || silent_ ? kTick : 50);
    size_t at = 1;
    for (auto it = connections_.begin(); it != connections_.end();) {
      const bool up = polled[at].revents != 0, down = polled[at + 1].revents != 0;
      at += 2;
      if (!silent_) {
        move(it->up, up, *it);
        move(it->down, down, *it);
      }
      if (it->broken) {
        close(it->up.from);
        close(it->up.to);
        it = connections_.erase(it);
      } else {
        ++it;
      }
    }
    if ((polled[0].revents & POLLIN) != 0 && !silent_) accept_one();
  }
}

}  // namespace assay::internal::collect
