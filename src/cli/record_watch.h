// `record --watch`: a thread joins the trace while it grows, and watches the result as `watch`
// does.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "assay/result.h"
#include "cli/exit_code.h"
#include "cli/flags.h"
#include "cli/watching.h"
#include "record/join.h"
#include "record/watchable.h"

namespace assay::internal::cli {

// Options for watching the requested level. A level that times alone do not decide is watched among
// this many consecutive transactions.
inline constexpr size_t kRecordHorizon = 1000;
Result<watch::WatchOptions> watch_of_recording(const LevelFlags& levels);

class RecordWatch {
 public:
  RecordWatch(const watch::WatchOptions& options, const WatchOutput& output, std::string trace,
              std::string history);
  ~RecordWatch();

  // Called when the trace is complete: returns the result.
  Result<record::Joined> finish();
  // Returns how watching ended.
  Exit end();

 private:
  Result<record::Joined> follow();
  Status take(const std::shared_ptr<const History>& piece);

  Watching watching_;
  record::Watchable pieces_;
  std::string trace_, history_;
  std::atomic<bool> complete_ = false;
  std::optional<Error> failed_;  // an error of watching; the recording is joined nevertheless
  std::optional<Result<record::Joined>> joined_;
  std::thread thread_;
};

}  // namespace assay::internal::cli
