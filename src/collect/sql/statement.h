// A statement as it goes to a database with the values of its parameters, and what of it and its
// answer is recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/driver.h"
#include "collect/step.h"

namespace assay::internal::collect {

class SqlStatement {
 public:
  virtual ~SqlStatement() = default;
  // `version` names the versions of rows that it writes, and nothing else. Appends the operations
  // to record to `steps`, also those of a statement that failed and may have happened. Selected
  // rows go to `reply.cells`.
  virtual CallResult perform(DriverSession& session, const std::string& version,
                             std::vector<Step>& steps, Reply& reply) const = 0;
  // The text of SQL, with its values in it, as `perform` sends it.
  virtual std::string sql(const std::string& version) const = 0;
  // "update" or "share": it locks the rows it reads; else empty.
  virtual std::string_view locks() const { return {}; }
  // As far as a person needs it to find the statement again.
  virtual std::string in_words() const = 0;
};

}  // namespace assay::internal::collect
