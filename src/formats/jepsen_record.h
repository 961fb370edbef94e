// One operation of a Jepsen history: a map with :type, :process, :f and :value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/edn.h"
#include "formats/owned_op.h"

namespace assay::internal::formats {

enum class JepsenType : uint8_t { invoke, ok, fail, info };

// One line of a history.
struct JepsenRecord {
  JepsenType type = JepsenType::invoke;
  std::string_view f;            // may be empty
  const Datum* value = nullptr;  // may be missing
  const Datum* key = nullptr;    // may be missing
  std::optional<Value> process;  // nullopt: not given
  std::optional<int64_t> time;   // nanoseconds
  uint64_t line = 0;
};

// The type named "invoke", "ok", "fail" or "info".
std::optional<JepsenType> jepsen_type(std::string_view name);

// Reads the records of a history in EDN or JSON.
class JepsenRecords : public EdnRecords {
 public:
  using EdnRecords::EdnRecords;
  // Reads the next record, its value into `tree`; false at the end.
  Result<bool> next(DatumTree& tree, JepsenRecord& to);
};

}  // namespace assay::internal::formats
