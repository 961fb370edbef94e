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
  std::optional<Value> process;  // none: not given
  std::optional<int64_t> time;   // nanoseconds
  uint64_t line = 0;
};

// Takes apart the record that `tree` holds; `records` knows its position.
Status read_jepsen_record(const EdnRecords& records, const DatumTree& tree, JepsenRecord& to);

}  // namespace assay::internal::formats
