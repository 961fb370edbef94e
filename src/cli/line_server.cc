#include "cli/line_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

namespace assay::internal::cli {
namespace {

constexpr size_t kMostConnections = 1000;
constexpr size_t kMostLineBytes = size_t{1} << 20;
// Of one connection before the next one is read.
constexpr size_t kReadBytes = size_t{1} << 18;
constexpr std::string_view kUnix = "unix:";

Error cannot_listen(const std::string& address) {
  return io_error(std::string("cannot listen: ") + strerror(errno), address);
}

int new_socket(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// A socket that nobody listens to any more is left by a process that was killed.
void remove_unused(const sockaddr_un& at) {
  std::error_code ec;
  if (!std::filesystem::is_socket(std::filesystem::symlink_status(at.sun_path, ec))) return;
  const int fd = new_socket(AF_UNIX);
  if (fd < 0) return;
  const bool refused = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 &&
                       errno == ECONNREFUSED;
  ::close(fd);
  if (refused) ::unlink(at.sun_path);
}

Result<int> listen_at_path(const std::string& address, const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof at.sun_path)
    return usage_error(fmt::format("--listen: expected unix:PATH with a path of 1 to {} bytes",
                                   sizeof at.sun_path - 1));
  path.copy(at.sun_path, path.size());
  remove_unused(at);
  const int fd = new_socket(AF_UNIX);
  if (fd < 0) return cannot_listen(address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
      ::listen(fd, SOMAXCONN) == 0)
    return fd;
  const Error error = cannot_listen(address);
  ::close(fd);
  return error;
}

struct FreeAddresses {
  void operator()(addrinfo* all) const { ::freeaddrinfo(all); }
};

Result<int> listen_at_port(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
    return usage_error("--listen: expected HOST:PORT or unix:PATH");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &wanted, &found);
  if (failed != 0)
    return io_error(std::string("cannot listen: ") + ::gai_strerror(failed), address);
  const std::unique_ptr<addrinfo, FreeAddresses> all(found);
  const int fd = new_socket(all->ai_family);
  if (fd < 0) return cannot_listen(address);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, all->ai_addr, all->ai_addrlen) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const Error error = cannot_listen(address);
  ::close(fd);
  return error;
}

std::string address_of(int fd, const std::string& wanted) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&at), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    return wanted;
  return wanted.substr(0, wanted.rfind(':') + 1) + port.data();
}

}  // namespace

Result<LineServer> LineServer::open(const std::string& address) {
  const bool local = address.starts_with(kUnix);
  const std::string path = local ? address.substr(kUnix.size()) : std::string();
  const Result<int> fd = local ? listen_at_path(address, path) : listen_at_port(address);
  if (!fd.ok()) return fd.error();
  return LineServer(*fd, local ? address : address_of(*fd, address), path);
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

// Whoever comes when there are too many takes the place of the one that has been silent for longest, which loses nothing; of those
// that came in the meantime none, as they had no time to speak.
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
    arrival.why = "its last line has no end";
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
  // Where there are too many, and all of them speak, whoever comes waits to be accepted.
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
