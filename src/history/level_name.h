// How people write the names of levels, and how hashes of histories have levels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/level.h"

namespace assay::internal {

// As names and aliases in the table of levels are written: "Repeatable Read" and "REPEATABLE_READ"
// are "repeatable-read".
std::string plain_level_name(std::string_view written);

// Why there is no such level: "no level 'frob'", and of a level that others define which of ours
// are next to it.
std::string no_level(std::string_view written);
// Whether others define such a level.
bool is_neighbour(std::string_view written);

// Of a level that a transaction declares. One that was added later has a number of its own, so that
// those of others stay.
uint64_t hashed_as(LevelId level);

// What a reader of a format expects where a transaction states its level.
inline constexpr std::string_view kWantLevel =
    "a level, such as \"read-committed\" or \"serializable\" (assay levels)";

}  // namespace assay::internal
