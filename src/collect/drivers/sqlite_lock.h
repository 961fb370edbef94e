// A lock that reserves a SQLite database for one run. Two runs create and drop the same tables, and
// each would read what the other wrote.
#pragma once

#include <memory>
#include <string>

#include "assay/result.h"

namespace assay::internal::collect {

// Held until it is destroyed, or the process ends in any way; within one process any number may
// hold it. A usage error if another process holds it. Null if the file cannot be opened, about
// which SQLite can say more.
class SqliteLock {
 public:
  static Result<std::unique_ptr<SqliteLock>> take(const std::string& path);
  ~SqliteLock();
  SqliteLock(const SqliteLock&) = delete;
  SqliteLock& operator=(const SqliteLock&) = delete;

 private:
  struct Held;
  explicit SqliteLock(Held& held) : held_(held) {}
  Held& held_;
};

}  // namespace assay::internal::collect
