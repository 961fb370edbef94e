// Values of PostgreSQL that consist of others, as texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::record {

// Of a row: (16385,731,"a ""b"" c",) has four cells, the last of which is NULL. Nothing if that is
// no row.
std::optional<std::vector<std::optional<std::string>>> cells_of_row(std::string_view text);
// Of an array of one dimension: {"(1,2)",x}. Nothing if that is none.
std::optional<std::vector<std::string>> elements_of_array(std::string_view text);

}  // namespace assay::internal::record
