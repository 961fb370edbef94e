// How people write the names of levels.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// As names and aliases in the table of levels are written: "Repeatable Read" and "REPEATABLE_READ" are "repeatable-read".
std::string plain_level_name(std::string_view written);

// What a reader of a format expects where a transaction states its level.
inline constexpr std::string_view kWantLevel =
    "a level, such as \"read-committed\" or \"serializable\" (assay levels)";

}  // namespace assay::internal
