// The history file while a run is going on. It is append-only, in assay JSON Lines, and never lies:
//
//   - what a transaction is about to commit is handed to the operating system before COMMIT is sent, and
//     its outcome before the session goes on (the runner calls `transaction` for both), so a process
//     killed at any moment leaves a file in which every acknowledged commit stands and every write in
//     the database is explained; a pending line without outcome is a transaction of unknown outcome;
//   - the file is synced to the disk at least once a second, so a machine that stops loses no more;
//   - lines are written whole and in order of the calls, so those of a session are in session order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "assay/result.h"
#include "collect/sink.h"

namespace assay::collect {

// May be used by several threads at once.
class Recorder : public Sink {
 public:
  // Creates the file or empties it.
  static Result<std::unique_ptr<Recorder>> create(const std::string& path);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Status header(std::string_view meta) override;
  Status transaction(const TxnRecord& record) override;
  Status event(int64_t at, std::string_view json) override;
  // Everything is on the disk when it returns ok.
  Status finish() override;

 private:
  Recorder(int fd, std::string path);
  Status write(std::string_view lines);
  void sync_regularly();
  void stop_syncing();

  int fd_;
  std::string path_;
  std::mutex mutex_;     // of fd_'s end and broken_
  bool broken_ = false;  // a write failed: the file ends in the middle of a line and stays so
  std::atomic<bool> dirty_{false};
  std::atomic<bool> sync_failed_{false};
  std::mutex stop_mutex_;
  std::condition_variable stop_changed_;
  bool stopping_ = false;
  std::thread syncer_;
};

}  // namespace assay::collect
