// A schedule of SQL on a database that is not spoken to in SQL, or that does not tell which rows a
// statement changed: its one table is kept as keys and their values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/driver.h"
#include "collect/schedule/file.h"

namespace assay::internal::collect::schedule {

struct KeyTable {
  std::string name, key, value;  // its columns
};

// What a statement comes to.
struct KeyStatement {
  enum class What : uint8_t { nothing, begin, commit, abort, operations };
  What what = What::nothing;
  std::vector<Request> requests = {};
};

// The table that the file makes. Bad input, with its line, where the file has another statement
// than `driver` can do by keys.
Result<KeyTable> key_table(const File& file, const Driver& driver);

// The connection as one that is spoken to, and that tells what it read and wrote by notices.
std::unique_ptr<DriverSession> speaking(std::unique_ptr<DriverSession> session, KeyTable table,
                                        const Driver& driver);

}  // namespace assay::internal::collect::schedule
