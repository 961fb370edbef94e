#include "cli/growing_chain.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay::internal::cli {

GrowingChain::~GrowingChain() {
  if (fd_ >= 0) ::close(fd_);
}

Error GrowingChain::failure() const { return io_error(std::strerror(errno), path_); }

Status GrowingChain::open(uint64_t size) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return failure();
  size_ = size;
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return failure();
  if (::lseek(fd_, static_cast<off_t>(size), SEEK_SET) < 0) return failure();
  return Ok{};
}

Status GrowingChain::write(const std::string& line) {
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure();
    rest.remove_prefix(static_cast<size_t>(n));
  }
  size_ += line.size();
  return Ok{};
}

}  // namespace assay::internal::cli
