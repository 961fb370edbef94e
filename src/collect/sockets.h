// Sockets to listen on, and to connect by.
#pragma once

#include <cstdint>
#include <string>

#include "assay/result.h"

namespace assay::internal::collect {

// "unix:PATH" or "HOST:PORT", port 0 for any that is free. A socket that does not block.
Result<int> listen_on(const std::string& address);
// With the port that it has.
std::string address_of(int fd, const std::string& wanted);

// -1 if that fails.
int connect_to(const std::string& host, uint16_t port);
// Data is sent at once, without waiting for more.
void send_at_once(int fd);

}  // namespace assay::internal::collect
