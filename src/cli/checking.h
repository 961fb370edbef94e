// From flags to an audit, and from audits to output. The same for `check`, `run` and `demo`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/flags.h"
#include "report/report.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

struct SliceFlags {
  bool on = false;
  watch::WatchOptions options;
};

struct CheckFlags {
  LevelFlags levels;
  std::string definition;  // the file of a level; empty: none
  std::shared_ptr<const LevelInfo> defined_level;
  BudgetFlags budget;
  SpeedUps speed_ups;
  EngineId engine = EngineId::graph;
  unsigned threads = 0;
  OutputFlags output;
  ReadFlags reading;
  int64_t clock_drift = 0;  // nanoseconds
  std::optional<ExpectedOrder> expected_order;
  SliceFlags slices;
  bool aborted_reads = false;       // what transactions saw that did not commit counts
  bool allow_empty = false;         // satisfied stays satisfied where nothing was observed
  bool require_contention = false;  // and is unknown where nothing was at stake
};

// Reads the file of a level, if one is named.
Status take_definition(CheckFlags& flags);
// An audit of `path` under these flags.
Audit check_file(const std::string& path, const CheckFlags& flags);
// The same of one history in several files.
Audit check_together(const std::vector<std::string>& paths, const CheckFlags& flags);
Audit check_history(History history, const std::string& name, const CheckFlags& flags);

// 0, 1, 2 or the code of its error.
Exit exit_code(const Audit& checked);

// Checks each file, prints the result of each as it comes and of all at the end, writes the
// reports, and returns the worst exit code. A directory that is no history means the histories in
// it; `together` takes all for one history.
Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags,
                 bool together = false);

// What check_files does with one that is checked already.
Exit deliver(Audit& checked, const CheckFlags& flags);
// A report that cannot be written is an error before an hour of checking rather than after.
Status outputs_writable(const OutputFlags& output, std::span<const std::string> inputs = {});

}  // namespace assay::internal::cli
