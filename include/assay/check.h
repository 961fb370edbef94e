// The checker: every level of a history in one run, each verdict with its certificate, which the independent verifier has
// accepted.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay {

// Every speed-up has a switch; verdicts are the same without it.
struct Switches {
  bool replay = true;      // accept by replaying an order proposed from client times
  bool saturation = true;  // derive forced version orders before searching
  bool anti_dependency_rule =
      true;  // in saturation, as in PolySI: who would overwrite what was read
  bool write_dependency_rule = true;  // in saturation, as in PolySI: who reaches another writer
  bool begin_rule = true;  // in saturation, as in Viper: also from begins, not from commits only
  bool combined_writes = true;   // in saturation, as in Cobra: who overwrites what it read
  bool early_search = true;      // search what goes wrong in the first order before saturating
  bool local_search = true;      // search in the order of time, and undo only what is near
  bool update_facts = true;      // who overwrites what it read comes right behind, before searching
  bool assumed_sessions = true;  // without session order: first try with some of it all the same
  bool zones = true;             // linearize keys by their chains of values before searching
  bool decomposition = true;     // decide parts of the history that do not touch each other apart
  bool narrowing =
      true;           // rule out sources of reads by what is known, before searching for an order
  bool carry = true;  // let certificates of one level serve its neighbours in the lattice
};

// How the levels from prefix upwards are decided.
//   graph   event graph, saturation, replay and search for what is left
//   dbcop   search over prefixes of executions, after dbcop; for few sessions or short histories.
//           It finds orders by itself; for a violation it asks the graph for a proof
enum class EngineId : uint8_t { graph, dbcop };

struct CheckOptions {
  std::vector<LevelId> levels;  // empty: all
  Budget budget;
  Switches switches;
  EngineId engine = EngineId::graph;
  // For parts of the history that are decided at the same time; 0: as many as there are cores
  // where it is worth it.
  unsigned threads = 0;
  // Also count constraints as PolySI does, before and after saturation; takes time on hot keys.
  bool count_constraints = false;
  // Called now and then with a stage ("saturate session-si") and how much of it is done, 0…1.
  std::function<void(std::string_view, double)> progress;
};

struct Verdict {
  LevelId level = LevelId::read_committed;
  Outcome outcome = Outcome::unknown;
  uint32_t certificate = kNone;  // index into CheckResult::certificates; kNone if unknown
  std::string reason;            // of an unknown: the cause in words
  UnknownCause cause = UnknownCause::internal;  // of an unknown
};

struct StageTime {
  std::string stage;
  double seconds = 0;
  uint64_t peak_memory_bytes = 0;
};

struct CheckResult {
  std::vector<Verdict> verdicts;  // in the order of LevelId; only the levels asked for
  std::vector<Certificate> certificates;
  std::vector<DuplicateWrite> duplicates;
  std::vector<StageTime> stages;
  std::vector<std::pair<std::string, uint64_t>> counters;  // for --stats

  const Verdict* find(LevelId level) const;
};

// No verdict leaves it unverified: one whose certificate the verifier refuses is unknown, cause internal. Verifying keeps to
// the memory limit; it is not bounded by time or effort, so that what was decided in time counts.
CheckResult check(const History& history, const CheckOptions& options);

}  // namespace assay
