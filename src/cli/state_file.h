// The state of a watch in a file: the last saved state, and below it a line for each transaction
// that was left out since then because the alarm about it has been reported already. Each of them
// is either wholly there or not, whenever the process is killed: the state is renamed into place,
// and a last line without its end does not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/result.h"
#include "base/hash.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

// How far a file was read or written, and a digest of all bytes up to there, which distinguishes it
// from another file.
struct FilePlace {
  uint64_t offset = 0;
  uint64_t line = 0;
  std::string digest;
};

// The part of a file that was read or written, from its beginning. Each byte is read once for its
// digest.
class FilePart {
 public:
  explicit FilePart(std::string path) : path_(std::move(path)) {}
  // Returns the part that ends there, which must not be before the end of the last one.
  Result<FilePlace> up_to(uint64_t offset, uint64_t line);
  // Fails if the file is not the one that the place is in, or is shorter. Must be called before any
  // up_to().
  Status check(const FilePlace& place);

 private:
  Result<bool> read_up_to(uint64_t offset);  // false if the file is shorter

  std::string path_;
  Digest digest_;
  uint64_t end_ = 0;
};

class StateFile {
 public:
  struct State {
    FilePlace history, chain;
    std::string saved;  // watch/saved_watch.h
    std::vector<watch::Omission> left_out;
  };

  explicit StateFile(std::string path) : path_(std::move(path)) {}
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile();

  const std::string& path() const { return path_; }
  // nullopt if there is no such file.
  Result<std::optional<State>> read() const;
  // `left_out` in the state is not written.
  Status write(const State& state);
  // Adds one more line; after a write().
  Status add(const watch::Omission& one);

 private:
  std::string path_;
  int fd_ = -1;  // of the file that write() wrote
};

}  // namespace assay::internal::cli
