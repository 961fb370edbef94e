#include "collect/sockets.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace assay::internal::collect {
namespace {

constexpr std::string_view kUnix = "unix:";

Error cannot_listen(const std::string& address) {
  return io_error(std::string("cannot listen: ") + strerror(errno), address);
}

int new_socket(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Removes a socket without a listener, which was left by a process that was killed.
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

}  // namespace

Result<int> listen_on(const std::string& address) {
  return address.starts_with(kUnix) ? listen_at_path(address, address.substr(kUnix.size()))
                                    : listen_at_port(address);
}

std::string address_of(int fd, const std::string& wanted) {
  if (wanted.starts_with(kUnix)) return wanted;
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&at), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    return wanted;
  return wanted.substr(0, wanted.rfind(':') + 1) + port.data();
}

int connect_to(const std::string& host, uint16_t port) {
  if (host.starts_with('/')) {  // a folder, as in libpq
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string path = fmt::format("{}/.s.PGSQL.{}", host, port);
    if (path.size() >= sizeof at.sun_path) return -1;
    path.copy(at.sun_path, path.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
    if (fd >= 0) ::close(fd);
    return -1;
  }
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* a = found; a != nullptr && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  return fd;
}

void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace assay::internal::collect
