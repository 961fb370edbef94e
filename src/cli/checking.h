// From a file to a report: read, check, verify, explain. The same for `check`, `run` and `demo`.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/flags.h"
#include "report/report.h"

namespace assay::cli {

struct CheckFlags {
  LevelFlags levels;
  BudgetFlags budget;
  SwitchFlags switches;
  EngineId engine = EngineId::graph;
  unsigned threads = 0;
  OutputFlags output;
  ReadFlags reading;
  int64_t clock_drift = 0;   // nanoseconds
  bool allow_empty = false;  // satisfied stays satisfied where nothing was observed
};

// Reads `path`, decides the levels, lets the independent verifier re-check every certificate and
// explains what is violated. A verdict whose certificate is refused becomes unknown.
Checked check_file(const std::string& path, const CheckFlags& flags);
// The same of one history in several files.
Checked check_together(const std::vector<std::string>& paths, const CheckFlags& flags);
Checked check_history(History history, const std::string& name, const CheckFlags& flags);

// 0, 1, 2 or the code of its error.
Exit exit_code(const Checked& checked);

// Checks each file, prints the result of each as it comes and of all at the end, writes the
// reports, and returns the worst exit code. A directory that is no history stands for the histories
// in it; `together` takes all for one history.
Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags,
                 bool together = false);

// What check_files does with one that is checked already.
Exit deliver(Checked& checked, const CheckFlags& flags);
// Better to hear that a report cannot be written before an hour of checking than after.
Status outputs_writable(const OutputFlags& output);

// Turns verdicts whose certificate does not hold for the history into unknown ones.
void verify_verdicts(CheckResult& result, const History& history, Budget memory = {});

}  // namespace assay::cli
