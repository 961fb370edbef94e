// How people spell the names of levels, and the numbers of levels in hashes of histories.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/level.h"

namespace assay::internal {

// Spells a name as the table of levels spells names and aliases: "Repeatable Read" and
// "REPEATABLE_READ" become "repeatable-read".
std::string plain_level_name(std::string_view written);

// Says that no such level exists: "unknown level 'frob'"; for a level that is defined elsewhere,
// also which levels here are next to it.
std::string no_level(std::string_view written);
// Whether this names a level that is defined elsewhere, such as Adya's or Elle's, and not here.
bool is_neighbour(std::string_view written);

// The number by which a declared level enters hashes. A level that was added later has a separate
// number, so the numbers of the others stay the same.
uint64_t hashed_as(LevelId level);

// What a reader of a format expects in the place of a transaction's level.
inline constexpr std::string_view kWantLevel =
    "a level, such as \"read-committed\" or \"serializable\" (assay levels)";

}  // namespace assay::internal
