// A relay that delays each piece that it passes on, as a network does: bench/record-relay.
//
//   delay PORT SERVER_PORT MICROSECONDS      both at 127.0.0.1; the delay is that of one way
//
// On one thread: what comes is kept until it is due, and the wait ends with the first that is.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

struct Piece {
  Clock::time_point due;
  int to;
  std::string bytes;  // empty: the end
};

sockaddr_in local(const char* port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

void send_at_once(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto delay = std::chrono::microseconds(std::atoi(argv[3]));
  const int listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0), yes = 1;
  const sockaddr_in here = local(argv[1]), there = local(argv[2]);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      listen(listener, 64) != 0)
    return 1;
  const auto watch = [&](int fd) {
    epoll_event event{EPOLLIN, {.fd = fd}};
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  std::map<int, int> other;
  std::deque<Piece> pieces;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    timespec wait{1, 0};
    if (!pieces.empty()) {
      const auto left = std::max(Clock::duration::zero(), pieces.front().due - Clock::now());
      wait = {0, std::chrono::duration_cast<std::chrono::nanoseconds>(left).count()};
    }
    std::array<epoll_event, 64> events{};
    const int n = epoll_pwait2(poll, events.data(), events.size(), &wait, nullptr);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener) {
        const int client = accept(listener, nullptr, nullptr),
                  server = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) return 1;
        other[client] = server, other[server] = client;
        for (const int side : {client, server}) send_at_once(side), watch(side);
        continue;
      }
      const ssize_t size = read(fd, buffer.data(), buffer.size());
      if (size <= 0) epoll_ctl(poll, EPOLL_CTL_DEL, fd, nullptr);
      pieces.push_back(
          {Clock::now() + delay, other[fd],
           std::string(buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)))});
    }
    for (; !pieces.empty() && pieces.front().due <= Clock::now(); pieces.pop_front()) {
      const Piece& piece = pieces.front();
      if (piece.bytes.empty()) shutdown(piece.to, SHUT_WR);
      for (size_t sent = 0; sent < piece.bytes.size();) {
        const ssize_t size =
            send(piece.to, piece.bytes.data() + sent, piece.bytes.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) break;
        sent += static_cast<size_t>(size);
      }
    }
  }
}
