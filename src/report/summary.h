// What several reports say about a checked history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace assay::internal {

struct Counts {
  uint64_t committed = 0, aborted = 0, unknown = 0;
};
Counts count_outcomes(const History& h);

// Returns the maximal satisfied levels.
std::vector<LevelId> strongest_satisfied(const CheckResult& result);
bool is_requested(const Audit& c, LevelId level);

// Returns the anomaly at a violated level: "lost-update", or "lost-update, known" if a baseline has
// it; empty if nothing explains it.
std::string violation_in_words(const Audit& c, LevelId level);
// Levels that are unknown for the same reason are named together, at the first of them: returns "a,
// b, c" or "every level" for that one and an empty text for the others.
std::string levels_unknown_alike(const CheckResult& result, const Verdict& v);
// Returns the meaning of a violation, in sentences: its other names, its effect on an application,
// the weakest level that it breaks and the strongest that holds.
std::vector<std::string> meaning(const Audit& c, const Explanation& e);
// "P4, G-single (Adya, Berenson); lost update (SQL users)"; empty if it has no other name.
std::string other_names(const AnomalyInfo& a);
// Returns a satisfied level of serializability that does not imply a violated level of snapshots
// with a clock: neither is weaker than the other, and a database that locks gives the one and not
// the other.
std::optional<LevelId> held_beside(const Audit& c, LevelId violated);
// Returns the hint of an explanation if it is worth asking for; else empty.
std::string_view rule_out_first(const Audit& c, const Explanation& e);
// Returns a note if an explanation shows less than was proved; else empty.
std::string_view what_is_left_out(const Explanation& e);
// Whether the sentences say, for each edge of the cycle, why its transaction comes before the next.
bool sentences_give_cycle(const Audit& c, const Explanation& e);

// Counts the verdicts that are not unknown, and so were verified.
size_t count_decided(const Audit& c);

// The name for readers: "-" is standard input.
std::string file_name(const Audit& c);
// "1,234,567"
std::string grouped(uint64_t n);
// "3 sessions", "1 session"
std::string counted(uint64_t n, std::string_view singular, std::string_view plural);
// "a, b, c"
std::string level_names(std::span<const LevelId> levels);
// The database of a run, as its recorder notes it in the meta of the history. Its members are empty
// if it was not noted.
struct RecordedOn {
  std::string database;   // "PostgreSQL 15.7"
  std::string isolation;  // "read committed"
  // The next members belong to a schedule that was played.
  std::string permutation;  // its steps, in their order
  std::string outcome;      // "w2 waited, c2: 40001"
};
RecordedOn recorded_on(const History& h);
// "PostgreSQL 15.7 at read committed"
std::string in_words(const RecordedOn& run);
// " on PostgreSQL 15.7 at read committed"; empty if it was not noted
std::string on_database(const Audit& c);
// "12 transactions, 40 operations, 3 sessions, on PostgreSQL 15.7 at read committed"
std::string history_line(const History& h);

// The results of many files, each counted once: by the levels asked for, or, if none was, by
// whether any level is satisfied.
class Totals {
 public:
  void add(const Audit& c);
  uint64_t files() const { return satisfied_ + violated_ + unknown_ + unreadable_; }
  // "300 histories at session-si: 2 satisfied, 298 violated, 0 unknown, 0 unreadable"; if several
  // levels were decided, also "The weakest level that each violates: causal 12, prefix 286."
  std::string sentence() const;

 private:
  std::vector<LevelId> requested_;       // of each file
  std::map<LevelId, uint64_t> weakest_;  // violated; if neither of two implies the other, both
  uint64_t satisfied_ = 0, violated_ = 0, unknown_ = 0, unreadable_ = 0;
};

}  // namespace assay::internal
