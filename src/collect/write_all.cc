#include "collect/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace assay::internal::collect {

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(std::string("cannot write the history: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return Ok{};
}

}  // namespace assay::internal::collect
