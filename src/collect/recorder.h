// The history file while a run is going on. It is append-only, in assay JSON Lines, and never lies:
//
//   - it belongs to one run: it is created where no file was, and locked; an existing history is
//     replaced only when the run was asked to, and not before the header is written;
//   - what a transaction is about to commit is handed to the operating system before COMMIT is
//     sent, and its outcome before the session goes on (the runner calls `transaction` for both),
//     so a process killed at any moment leaves a file in which every acknowledged commit is
//     recorded and every write in the database is explained; a pending line without outcome is a
//     transaction of unknown outcome;
//   - when it is synced to the disk can be chosen (Fsync): a machine that stops loses no more than
//     that;
//   - lines are written whole and in order of the calls, so those of a session are in session
//     order.
//
// A path that ends in .gz or .zst is compressed: lines are gathered and written as separate frames,
// twice a second or when there are many. A process killed loses the lines since the last frame
// (none with Fsync::commit, which makes each line a frame). The rest is still the beginning of the
// history: the writer of every value that was read has an earlier line.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "assay/result.h"
#include "collect/lines.h"
#include "collect/sink.h"
#include "formats/compression.h"

namespace assay::internal::collect {

// When the history is synced to the disk: never by this program; once, at the end; twice a second
// and at the end; with each line, before the commit is acknowledged to the workload, to survive a
// loss of power.
enum class Fsync : uint8_t { never, end, second, commit };

std::string_view fsync_name(Fsync fsync);
std::optional<Fsync> find_fsync(std::string_view name);

struct RecorderOptions {
  bool overwrite = false;  // replace an existing history
  Fsync fsync = Fsync::second;
  HistoryFacts facts = {};
};

// May be used by several threads at once. If the recorder is dropped before its header was written,
// it leaves no file that did not exist before.
class Recorder : public Sink {
 public:
  // Creates or takes over the file. An irregular file (a pipe, a device) is written to directly.
  static Result<std::unique_ptr<Recorder>> create(const std::string& path,
                                                  const RecorderOptions& options = {});
  // Creates the file with the first of the names that is free.
  static Result<std::unique_ptr<Recorder>> create_fresh(
      const std::function<std::string()>& next_name, const RecorderOptions& options = {});
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const std::string& path() const { return path_; }
  // The number of bytes of the lines, before compression.
  uint64_t bytes() const { return bytes_; }

  Status header(std::string_view meta) override;
  Status transaction(const TxnRecord& record) override;
  Status event(int64_t at, std::string_view json) override;
  Status order(const OrderRecord& record) override;
  // When this returns ok, everything is in the file, and on the disk if requested.
  Status finish() override;

 private:
  Recorder(int fd, std::string path, const RecorderOptions& options, bool created);
  Status write(std::string_view lines);
  Status write_frame();
  Error fail(Error e);
  void write_regularly();
  void stop_writing();
  bool sync() const;

  int fd_;
  std::string path_;
  Fsync fsync_;
  HistoryFacts facts_;
  bool created_;  // by this recorder, which removes it again if nothing is written
  formats::Compression compression_;
  std::mutex mutex_;  // guards the end of fd_ and what follows
  bool has_header_ = false;
  std::optional<Error> failure_;  // of a write: the file ends in the middle of a line and stays so
  std::string gathered_;          // lines of the next frame, if compressed
  std::atomic<uint64_t> bytes_{0};
  std::atomic<bool> dirty_{false};
  std::atomic<bool> sync_failed_{false};
  std::mutex stop_mutex_;
  std::condition_variable stop_changed_;
  bool stopping_ = false;
  std::thread writer_;  // writes frames and syncs between the calls
};

}  // namespace assay::internal::collect
