// The checker: every level of a history in one run, each verdict with its certificate, which the
// independent verifier has accepted.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay {

// Speed-ups: ways to find a verdict sooner. Each has a name and can be left out, without a change
// to any verdict.
enum class SpeedUp : uint8_t {
  replay_by_value,
  replay,
  stated_replay,
  stated_first,
  clock_faults,
  saturation,
  anti_dependency_rule,
  write_dependency_rule,
  begin_rule,
  combined_writes,
  closure,
  early_search,
  lazy_choices,
  local_search,
  update_facts,
  assumed_sessions,
  zones,
  decomposition,
  value_beam,
  narrowing,
  late_rows,
  rows_in_search,
  places,
  carry,
};
inline constexpr size_t kSpeedUpCount = 24;

struct SpeedUpInfo {
  SpeedUp id;
  std::string_view name;  // "early-search", as --without takes it
  std::string_view summary;
};

// In the order of SpeedUp.
std::span<const SpeedUpInfo> all_speed_ups();
std::optional<SpeedUp> find_speed_up(std::string_view name);

// A set of speed-ups; initially all.
class SpeedUps {
 public:
  bool has(SpeedUp s) const { return !left_out_[static_cast<size_t>(s)]; }
  void set(SpeedUp s, bool used) { left_out_[static_cast<size_t>(s)] = !used; }
  void leave_out(SpeedUp s) { set(s, false); }

 private:
  std::bitset<kSpeedUpCount> left_out_;
};

// How the levels from prefix upwards are decided.
//   graph   event graph, replay, search and saturation
//   dbcop   search over prefixes of executions, after dbcop; for few sessions or short histories.
//           It finds orders itself; the proof of a violation comes from the graph engine
enum class EngineId : uint8_t { graph, dbcop };

// A total order of transactions, stated by the database or in a file, to be replayed.
struct ExpectedOrder {
  // commit_ts, start_ts: ordered by these logical times of the history; a transaction that wrote
  // nothing and has no commit_ts is placed at its start_ts. log: ordered by the history's events
  // that give the transactions' positions in the database's log. listed: ordered as in `names`.
  enum class By : uint8_t { commit_ts, start_ts, log, listed };
  By by = By::commit_ts;
  std::vector<std::string> names;   // listed: the names of the transactions, in order
  std::string title = "commit_ts";  // what reports call it
};

// The result of replaying an expected order. A transaction that the order omits and that wrote
// nothing is placed right after the last transaction that it read from.
struct OrderReplay {
  // The first fault. operation: an operation returned something other than the state at its place.
  // overlap: two transactions overlapped and wrote the same key. session: a transaction began
  // before an earlier one of its session had committed. real_time: a transaction began after
  // another one had ended, but the order places its start before the commit of that one.
  enum class Fault : uint8_t { none, operation, overlap, session, real_time };
  LevelId level =
      LevelId::serializable;  // or, with start and commit times, strong_si, session_si or adya_si
  Fault fault = Fault::none;
  TxnId txn = kNone;    // the operation's transaction, or the later of the two
  OpId op = kNone;      // operation only
  KeyId key = kNone;    // operation: the key that it observed; overlap: the key that both wrote
  TxnId other = kNone;  // operation: the writer of the state there, kNone if that is the initial
                        // one; otherwise the earlier of the two transactions
};
struct ExpectedOrderResult {
  std::string title;
  std::vector<OrderReplay> replays;
  std::string obstacle;  // why the order cannot be replayed; if not empty, there are no replays
  // Whether the order explains the history at one level at least.
  bool explains() const;
};

struct CheckOptions {
  // Empty: all default_levels(), and `mixed` if transactions declare levels.
  std::vector<LevelId> levels;
  Budget budget;
  SpeedUps speed_ups;
  EngineId engine = EngineId::graph;
  // Threads for matching reads with writes, for parts of the history that can be decided
  // independently, and for verifying; 0: one per core, where that is worthwhile.
  unsigned threads = 0;
  // An order to replay first. If it explains the history, it is a certificate; if not, that says
  // nothing about any level.
  std::optional<ExpectedOrder> expected_order;
  // Also count constraints as PolySI does, before and after saturation; takes time on hot keys.
  bool count_constraints = false;
  // Called from time to time with a stage ("saturate session-si") and its progress, 0…1.
  std::function<void(std::string_view, double)> progress;
};

struct Verdict {
  LevelId level = LevelId::read_committed;
  Outcome outcome = Outcome::unknown;
  uint32_t certificate = kNone;  // index into CheckResult::certificates; kNone if unknown
  std::string reason;            // if unknown: the cause in words
  UnknownCause cause = UnknownCause::internal;  // if unknown
};

struct StageTime {
  std::string stage;
  double seconds = 0;
  uint64_t peak_memory_bytes = 0;
};

struct CheckResult {
  CheckResult();
  CheckResult(const CheckResult&);
  CheckResult(CheckResult&&) noexcept;
  CheckResult& operator=(const CheckResult&);
  CheckResult& operator=(CheckResult&&) noexcept;
  ~CheckResult();

  std::vector<Verdict> verdicts;  // in the order of LevelId; only the levels asked for
  std::vector<Certificate> certificates;
  std::vector<DuplicateWrite> duplicates;
  std::optional<ExpectedOrderResult> expected_order;  // set if CheckOptions asks for it
  std::vector<StageTime> stages;
  std::vector<std::pair<std::string, uint64_t>> counters;  // for --stats

  const Verdict* find(LevelId level) const;
};

// Returns no unverified verdict: if the verifier refuses a certificate, the verdict is unknown,
// cause internal. Verification respects the memory limit but not the limits of time and effort:
// verdicts reached within them are reported.
CheckResult check(const History& history, const CheckOptions& options);

}  // namespace assay
