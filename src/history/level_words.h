// The words with which a file defines a level (formats/level_definition.cc), and how to write a row
// in them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "assay/level.h"

namespace assay::internal {

inline constexpr std::pair<std::string_view, EventModel> kModelWords[] = {
    {"weak", EventModel::weak},
    {"adya", EventModel::adya},
    {"split", EventModel::split},
    {"single", EventModel::single}};
inline constexpr std::pair<std::string_view, RealTime> kTimeWords[] = {
    {"into-commits", RealTime::into_commits},
    {"all-but-begins", RealTime::all_but_begins},
    {"transactions", RealTime::transactions}};
inline constexpr std::pair<std::string_view, ForbiddenCycle> kCycleWords[] = {
    {"wr", {"wr"}},
    {"w+a", {.any = "w", .once = "a", .one_key = true}},
    {"wr+ap", {"wr", "ap"}},
    {"wrap+a", {"wrap", "a"}},
    {"wrap", {"wrap"}}};

// The name of a cycle; empty if it has none.
std::string_view cycle_word(const ForbiddenCycle& cycle);
// Writes a row as a definition that is read as the same row.
std::string level_definition(const LevelInfo& row);

}  // namespace assay::internal
