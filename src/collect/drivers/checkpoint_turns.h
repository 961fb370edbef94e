// When the write-ahead log of a SQLite database is emptied. It begins anew only at a moment when no
// connection reads from it, and sessions that read without a pause leave none, so it would grow
// until the disk is full. So once it is long, new transactions wait until the current ones have
// ended, and one of them empties it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace assay::internal::collect {

class CheckpointTurns {
 public:
  static constexpr uint64_t kPages = 4096;  // of 4 KiB, when the log is emptied

  // A transaction begins. Where it is its turn, `empty` is called while no other goes on; it says
  // how many pages stay. One that goes on for longer than `patience` is not waited for.
  void begin(std::chrono::milliseconds patience, const std::function<uint64_t()>& empty);
  void end();
  // After a commit the log has this many pages.
  void committed(uint64_t pages);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t going_on_ = 0;
  uint64_t pages_ = 0;
  uint64_t limit_ = kPages;
  bool closed_ = false;  // to transactions that would begin
};

}  // namespace assay::internal::collect
