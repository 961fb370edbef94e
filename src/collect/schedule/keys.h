// A schedule of SQL for a database that does not use SQL, or does not tell which rows a statement
// changed: its one table is stored as keys and values.
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
  std::string name, key, value;  // the names of the table and of its columns
};

// The call for which a statement stands.
struct KeyStatement {
  enum class What : uint8_t { nothing, begin, commit, abort, operations };
  What what = What::nothing;
  std::vector<Request> requests = {};
};

// The table that the file creates. Bad input, with its line, if the file has a statement that
// `driver` cannot execute by keys.
Result<KeyTable> key_table(const File& file, const Driver& driver);

// Makes the connection accept statements, and report in notices what it read and wrote.
std::unique_ptr<DriverSession> speaking(std::unique_ptr<DriverSession> session, KeyTable table,
                                        const Driver& driver);

}  // namespace assay::internal::collect::schedule
