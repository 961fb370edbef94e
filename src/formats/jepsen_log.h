// Jepsen's logs: the console's, jepsen.log and history.txt. Every byte: docs/formats/jepsen-log.md.
#pragma once

#include "formats/edn.h"
#include "formats/jepsen_record.h"
#include "formats/registry.h"

namespace assay::internal::formats {

// Whether one of the first lines is an operation.
bool is_jepsen_log(std::string_view head);

// Reads the operations in a log.
class JepsenLogRecords {
 public:
  explicit JepsenLogRecords(Input& input) : input_(input) {}
  // Reads the next operation, its value into `tree`; false at the end.
  Result<bool> next(DatumTree& tree, JepsenRecord& to);
  // The text of its value.
  std::string_view text() const { return text_; }
  // An error at an offset of that text.
  Error error(size_t offset, std::string message) const {
    return input_.error(std::move(message), column_ + offset);
  }
  bool any() const { return any_; }              // whether there were lines that are operations
  uint64_t skipped() const { return skipped_; }  // number of lines that are not operations

 private:
  Result<bool> take_apart(std::string_view line, size_t at, DatumTree& tree, JepsenRecord& to);

  Input& input_;
  std::string_view text_;
  uint64_t column_ = 0;
  bool any_ = false;
  uint64_t skipped_ = 0;
};

}  // namespace assay::internal::formats
