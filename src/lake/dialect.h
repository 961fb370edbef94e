// How engines of SQL differ, as far as the queries of this room are concerned. Adding one is a line
// of the table in dialect.cc.
#pragma once

#include <span>
#include <string_view>

namespace assay::internal::lake {

// How a dialect expresses the last non-null value before a row.
enum class LastKnown : uint8_t {
  inside,   // last_value(x IGNORE NULLS) OVER w
  outside,  // last_value(x) IGNORE NULLS OVER w
  missing,  // from the first row of a group, which takes one more sort
};

struct Dialect {
  std::string_view name;
  LastKnown last_known;
  std::string_view integer;  // types of columns
  std::string_view boolean;
  std::string_view text;
};

std::span<const Dialect> all_dialects();
// Returns null if there is no such dialect.
const Dialect* find_dialect(std::string_view name);

}  // namespace assay::internal::lake
