// Sockets for listening and connecting.
#pragma once

#include <cstdint>
#include <string>

#include "assay/result.h"

namespace assay::internal::collect {

// Listens on "unix:PATH" or "HOST:PORT"; port 0 means any free one. The socket does not block.
Result<int> listen_on(const std::string& address);
// The address with its actual port.
std::string address_of(int fd, const std::string& wanted);

// Connects; -1 if that fails.
int connect_to(const std::string& host, uint16_t port);
// Makes data be sent at once, without waiting for more.
void send_at_once(int fd);

}  // namespace assay::internal::collect
