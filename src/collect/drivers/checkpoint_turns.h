// When the write-ahead log of a SQLite database is emptied. It starts again only at a moment when
// no connection reads from it, and sessions that read without a pause leave no such moment, so it
// would grow until the disk is full. So once it is long, new transactions wait until the current
// ones have ended, and one of the waiting ones empties it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace assay::internal::collect {

class CheckpointTurns {
 public:
  static constexpr uint64_t kPages = 4096;  // pages of 4 KiB at which the log is emptied

  // Begins a transaction. If it is the one to empty the log, `empty` is called while no other is
  // open; it returns how many pages are left. A transaction that stays open for longer than
  // `patience` is not waited for.
  void begin(std::chrono::milliseconds patience, const std::function<uint64_t()>& empty);
  void end();
  // Notes that the log has this many pages after a commit.
  void committed(uint64_t pages);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t going_on_ = 0;
  uint64_t pages_ = 0;
  uint64_t limit_ = kPages;
  bool closed_ = false;  // to transactions that want to begin
};

}  // namespace assay::internal::collect
