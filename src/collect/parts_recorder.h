// A history in consecutive files, h.0001.jsonl, h.0002.jsonl, …, for a run without end.
//
// Each has the header of the run, and each transaction is whole in one of them: the line with an
// outcome goes to the file of the line that said it was pending. So a file may still be written to
// while the next one is begun, until every session is past it; the lines of a session are still in
// its order, file after file.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "collect/recorder.h"

namespace assay::internal::collect {

// A listener to the files of a history. Called by the threads that write.
class PartListener {
 public:
  virtual ~PartListener() = default;
  // The file exists, with its header.
  virtual void opened(const std::string& path) = 0;
  // Called when nothing more will be added to the file.
  virtual void closed(const std::string& path) = 0;
};

// The path of a part: "run.jsonl" and 2 give "run.0002.jsonl".
std::string part_path(const std::string& path, uint64_t part);

class PartsRecorder : public Sink {
 public:
  // Creates the first file. The next one is begun when a file has this many bytes; 0: never, and
  // the file has the name of the history.
  static Result<std::unique_ptr<PartsRecorder>> create(const std::string& path,
                                                       const RecorderOptions& options,
                                                       uint64_t bytes, PartListener* listener);
  ~PartsRecorder() override;

  // The path of the first file.
  const std::string& path() const { return first_path_; }

  Status header(std::string_view meta) override;
  Status transaction(const TxnRecord& record) override;
  Status event(int64_t at, std::string_view json) override;
  Status order(const OrderRecord& record) override;
  Status finish() override;

 private:
  struct Part {
    std::unique_ptr<Recorder> recorder;
    size_t users = 0;  // number of lines being written, and of pending transactions
  };
  PartsRecorder(std::string path, const RecorderOptions& options, uint64_t bytes,
                PartListener* listener, std::unique_ptr<Recorder> first);
  std::string header_of(uint64_t part) const;
  std::shared_ptr<Part> take_current();
  std::shared_ptr<Part> take_for(uint32_t session);
  Status release(const std::shared_ptr<Part>& part, size_t users);
  Status rotate();
  Status close(Part& part);

  std::string path_;  // path of the history
  std::string first_path_;
  RecorderOptions options_;
  uint64_t bytes_;
  PartListener* listener_;
  std::mutex mutex_;  // guards what follows
  std::string meta_;
  uint64_t number_ = 1;                      // number of the last part
  std::deque<std::shared_ptr<Part>> parts_;  // the open parts; new lines go to the last one
  std::unordered_map<uint32_t, std::shared_ptr<Part>> pending_;  // by session
};

}  // namespace assay::internal::collect
