// `run --watch`: a thread watches the history that the run writes, file after file, as `watch
// --follow` does.
//
// A file is read only when it is on disk, so the transactions of an alarm are there. A file is
// removed when the watcher holds nothing of it any more: when every piece of the history that was
// read from it is gone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/result.h"
#include "cli/exit_code.h"
#include "cli/watching.h"
#include "collect/parts_recorder.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

class RunWatch : public collect::PartListener {
 public:
  // The last `keep_files` of the full files are kept; without `keep_files` all are.
  RunWatch(const watch::WatchOptions& options, const WatchOutput& output,
           std::optional<uint64_t> keep_files);
  ~RunWatch() override;

  void opened(const std::string& path) override;
  void closed(const std::string& path) override;

  // Called when no file follows. Watches the existing ones to their end; returns how that ended.
  Exit finish();

 private:
  struct File {
    explicit File(std::string p) : path(std::move(p)) {}
    std::string path;
    std::atomic<bool> closed{false};
    // The next members belong to the thread that watches.
    std::vector<std::weak_ptr<const History>> pieces;  // pieces that were read from it
    int64_t from = Interval::kOpen, until = Interval::kUnknown;
    bool of_alarm = false;  // an alarm is about transactions in it
  };

  void follow();
  Status follow_files();
  std::shared_ptr<File> next_file();
  void note_piece(const std::shared_ptr<const History>& piece);
  void note_alarm(const Audit& violation);
  void remove_files();

  Watching watching_;
  std::optional<uint64_t> keep_files_;
  bool fail_fast_;
  Budget reading_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<File>> coming_;  // files not read yet
  std::vector<std::shared_ptr<File>> open_;
  bool over_ = false;  // no file follows
  bool any_ = false;
  // The next members belong to the thread that watches.
  std::deque<std::shared_ptr<File>> read_;  // files read and still there; the last is being read
  uint64_t noted_ = 0;                      // pieces
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace assay::internal::cli
