#include "cli/line_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "collect/sockets.h"

namespace assay::internal::cli {
namespace {

constexpr size_t kMostConnections = 1000;
constexpr size_t kMostLineBytes = size_t{1} << 20;
// The maximum read from one connection before the next one is read.
constexpr size_t kReadBytes = size_t{1} << 18;
constexpr std::string_view kUnix = "unix:";

}  // namespace

Result<LineServer> LineServer::open(const std::string& address) {
  const std::string path =
      address.starts_with(kUnix) ? address.substr(kUnix.size()) : std::string();
  const Result<int> fd = collect::listen_on(address);
  if (!fd.ok()) return fd.error();
  return LineServer(*fd, collect::address_of(*fd, address), path);
}

LineServer::LineServer(LineServer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      address_(std::move(other.address_)),
      path_(std::exchange(other.path_, {})),
      connections_(std::exchange(other.connections_, {})),
      accepted_(other.accepted_) {}

LineServer::~LineServer() {
  for (const auto& [number, connection] : connections_) ::close(connection.fd);
  if (fd_ >= 0) ::close(fd_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

bool LineServer::all_speak() const {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& c) { return c.second.spoke; });
}

void LineServer::close(uint64_t connection) {
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  ::close(at->second.fd);
  connections_.erase(at);
}

// If there are too many, a new connection replaces the one that has been silent for longest, which
// loses nothing; but not one accepted just now, which had no time to speak.
void LineServer::accept_all() {
  const uint64_t before = accepted_;
  while (true) {
    auto silent = connections_.end();
    if (connections_.size() >= kMostConnections) {
      silent = std::find_if(connections_.begin(), connections_.end(),
                            [](const auto& c) { return !c.second.spoke; });
      if (silent == connections_.end() || silent->first > before) return;
    }
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (silent != connections_.end()) close(silent->first);
    connections_.emplace(++accepted_, Connection{fd, {}, false});
  }
}

LineServer::Arrival LineServer::read(uint64_t number, Connection& connection) {
  Arrival arrival{number, std::move(connection.begun), false, {}};
  connection.begun.clear();
  const size_t before = arrival.lines.size();
  arrival.lines.resize(before + kReadBytes);
  const ssize_t n = ::read(connection.fd, arrival.lines.data() + before, kReadBytes);
  const bool failed = n < 0 && errno != EINTR && errno != EAGAIN;
  if (failed) arrival.why = strerror(errno);
  arrival.over = n == 0 || failed;
  arrival.lines.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  const size_t end = arrival.lines.rfind('\n') + 1;
  connection.spoke = connection.spoke || end > 0;
  connection.begun = arrival.lines.substr(end);
  arrival.lines.resize(end);
  if (arrival.over && !connection.begun.empty() && !failed)
    arrival.why = "its last line is incomplete";
  if (connection.begun.size() > kMostLineBytes) {
    arrival.over = true;
    arrival.why = "it sent a line longer than 1 MiB";
  }
  return arrival;
}

std::vector<LineServer::Arrival> LineServer::wait(int milliseconds) {
  std::vector<pollfd> all;
  std::vector<uint64_t> numbers;
  for (const auto& [number, connection] : connections_) {
    all.push_back({connection.fd, POLLIN, 0});
    numbers.push_back(number);
  }
  // If there are too many connections, and all of them speak, a new connection waits to be
  // accepted.
  if (connections_.size() < kMostConnections || !all_speak()) all.push_back({fd_, POLLIN, 0});
  std::vector<Arrival> arrivals;
  if (::poll(all.data(), all.size(), milliseconds) <= 0) return arrivals;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (all[i].revents == 0) continue;
    Arrival arrival = read(numbers[i], connections_.at(numbers[i]));
    if (arrival.over) close(numbers[i]);
    if (arrival.over || !arrival.lines.empty()) arrivals.push_back(std::move(arrival));
  }
  accept_all();
  return arrivals;
}

}  // namespace assay::internal::cli
