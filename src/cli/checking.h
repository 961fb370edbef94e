// From flags to an audit, and from audits to output; shared by `check`, `run` and `demo`.
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
  std::string definition;  // file that defines a level; empty: none
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
  bool aborted_reads = false;       // the reads of uncommitted transactions count
  bool allow_empty = false;         // satisfied remains so if nothing was observed
  bool require_contention = false;  // satisfied becomes unknown if nothing was at stake
};

// Reads the file that defines a level, if one is named.
Status take_definition(CheckFlags& flags);
// Returns an audit of `path` under these flags.
Audit check_file(const std::string& path, const CheckFlags& flags);
// Returns an audit of one history in several files.
Audit check_together(const std::vector<std::string>& paths, const CheckFlags& flags);
Audit check_history(History history, const std::string& name, const CheckFlags& flags);

// Returns 0, 1, 2 or the code of the audit's error.
Exit exit_code(const Audit& checked);

// Checks each file, prints the result of each as soon as it is known and of all at the end, writes
// the reports, and returns the worst exit code. A directory that is not a history stands for the
// histories in it; `together`: all files are one history.
Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags,
                 bool together = false);

// Does what check_files does with a history that is checked already.
Exit deliver(Audit& checked, const CheckFlags& flags);
// Fails if a report cannot be written, which should be known before an hour of checking rather than
// after it.
Status outputs_writable(const OutputFlags& output, std::span<const std::string> inputs = {});

}  // namespace assay::internal::cli
