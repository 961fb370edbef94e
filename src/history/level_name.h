// How people write the names of levels.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// As names and aliases in the table of levels are written: "Repeatable Read" and "REPEATABLE_READ" are "repeatable-read".
std::string plain_level_name(std::string_view written);

}  // namespace assay::internal
