// The run that a SQLite database is taken by. Two runs make and drop the same tables, and each
// would read what the other wrote.
#pragma once

#include <memory>
#include <string>

#include "assay/result.h"

namespace assay::internal::collect {

// Held until it is destroyed, or the process ends however; within one process by any number. A
// usage error if another process holds it. Null where the file cannot be opened, of which SQLite
// knows more to say.
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
