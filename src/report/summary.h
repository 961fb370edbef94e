// What several reports say about a checked history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace assay::internal {

struct Counts {
  uint64_t committed = 0, aborted = 0, unknown = 0;
};
Counts count_outcomes(const History& h);

// The maximal satisfied levels.
std::vector<LevelId> strongest_satisfied(const CheckResult& result);
bool is_requested(const Audit& c, LevelId level);

// What is wrong at a violated level: "lost-update", or "lost-update, known" if a baseline has it; empty if nothing
// explains it.
std::string violation_in_words(const Audit& c, LevelId level);
// That an explanation tells less than was proved, where it does; else empty.
std::string_view what_is_left_out(const Explanation& e);
// How many verdicts are more than unknown, and so were verified.
size_t count_decided(const Audit& c);

// For reading: "-" is standard input.
std::string file_name(const Audit& c);
// "1,234,567"
std::string grouped(uint64_t n);
// "3 sessions", "1 session"
std::string counted(uint64_t n, std::string_view singular, std::string_view plural);
// "a, b, c"
std::string level_names(const std::vector<LevelId>& levels);
// "12 transactions, 40 operations, 3 sessions"
std::string history_line(const History& h);

// What many files came to, each counted once: by the levels asked for, or, where none was, by
// whether any level is satisfied.
class Totals {
 public:
  void add(const Audit& c);
  uint64_t files() const { return satisfied_ + violated_ + unknown_ + unreadable_; }
  // "300 histories: 2 satisfied, 298 violated, 0 unknown, 0 unreadable"
  std::string sentence() const;

 private:
  uint64_t satisfied_ = 0, violated_ = 0, unknown_ = 0, unreadable_ = 0;
};

}  // namespace assay::internal
