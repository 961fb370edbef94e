// A statement as it is sent to a database with the values of its parameters, and the record of it
// and its answer.
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
  // `version` names the versions of rows that the statement writes, and nothing else. Appends the
  // operations to record to `steps`, also those of a statement that failed and may have happened.
  // Selected rows go to `reply.cells`.
  virtual CallResult perform(DriverSession& session, const std::string& version,
                             std::vector<Step>& steps, Reply& reply) const = 0;
  // The text of the SQL, including its values, as `perform` sends it.
  virtual std::string sql(const std::string& version) const = 0;
  // "update" or "share" if it locks the rows that it reads; otherwise empty.
  virtual std::string_view locks() const { return {}; }
  // The statement in words, with as much detail as a person needs to find it again.
  virtual std::string in_words() const = 0;
};

}  // namespace assay::internal::collect
