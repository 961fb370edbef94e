#include "collect/drivers/sqlite_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace assay::internal::collect {

// A file that was opened here stays open until the process ends: closing it would take SQLite's own
// locks on it from the process.
struct SqliteLock::Held {
  int fd = -1;
  int users = 0;
};

namespace {

std::mutex mutex;  // guards all that follows

std::pair<dev_t, ino_t> number_of(const struct stat& info) { return {info.st_dev, info.st_ino}; }

}  // namespace

Result<std::unique_ptr<SqliteLock>> SqliteLock::take(const std::string& path) {
  static std::map<std::pair<dev_t, ino_t>, Held> all;
  const std::lock_guard guard(mutex);
  struct stat info {};
  const bool known = ::stat(path.c_str(), &info) == 0 && all.contains(number_of(info));
  int fd = -1;
  if (!known) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ::fstat(fd, &info) != 0) return std::unique_ptr<SqliteLock>();
  }
  Held& held = all[number_of(info)];
  if (!known) held.fd = fd;
  if (held.users == 0 && ::flock(held.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    Error e = usage_error(
        "another run is using this database; expected a separate database, or that run to have "
        "ended");
    e.file = path;
    return e;
  }
  ++held.users;
  return std::unique_ptr<SqliteLock>(new SqliteLock(held));
}

SqliteLock::~SqliteLock() {
  const std::lock_guard guard(mutex);
  if (--held_.users == 0) ::flock(held_.fd, LOCK_UN);
}

}  // namespace assay::internal::collect
