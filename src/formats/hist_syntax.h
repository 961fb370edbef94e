// What the reader and the writer of `.hist` must agree on.
#pragma once

#include <string_view>

#include "assay/history.h"

namespace assay::internal::formats {

// Characters of a bare word. Everything else needs quotes.
constexpr bool is_hist_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

struct HistOp {
  std::string_view word;
  OpKind kind;
};

// `r` with a list is read_list.
inline constexpr HistOp kHistOps[] = {
    {"r", OpKind::read},      {"w", OpKind::write}, {"d", OpKind::remove},   {"a", OpKind::append},
    {"range", OpKind::range}, {"cas", OpKind::cas}, {"ins", OpKind::insert},
};

// p(CONDITION,[ROWS],passed[ROWS],matched[KEYS],found): a range with a condition.
inline constexpr std::string_view kHistPredicate = "p", kHistPassed = "passed",
                                  kHistMatched = "matched", kHistFound = "found";
// agg(sum COLUMN, CONDITION,[VALUE]): an aggregate over such a range.
inline constexpr std::string_view kHistAggregate = "agg";

}  // namespace assay::internal::formats
