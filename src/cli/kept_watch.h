// What a watch saves during its work: its chain of certificates, and the state from which another
// process can continue.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "assay/result.h"
#include "cli/growing_chain.h"
#include "cli/state_file.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "watch/saved_watch.h"
#include "watch/verified_chain.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

class KeptWatch {
 public:
  // `history` is a file or "-"; the other two may be empty. `options` must outlive this.
  KeptWatch(std::string history, std::string state, std::string certificate,
            const watch::WatchOptions& options);

  // Reads the state, if there is one, and opens the chain. Must be called first.
  Status open();
  // goes_on(): another process saved a state. of_pipe(): the history is a pipe, of which nothing
  // can be read again.
  bool goes_on() const { return before_.has_value(); }
  bool of_pipe() const { return history_ == "-"; }
  // The place from which reading continues.
  const FilePlace& place() const { return before_->history; }

  // Loads the state into a new watcher and a new reader.
  Status load(watch::Watcher& watcher, formats::JsonlChunks& chunks);
  // Saves the state between two pieces. `at_once`: even if it was saved a moment ago.
  struct Running {
    watch::Watcher& watcher;
    formats::JsonlChunks* chunks;  // these two may be null: for a pipe
    const formats::Input* input;
  };
  Status save(const Running& running, bool at_once);
  // Notes that something was decided: the saved state is out of date.
  void changed() { changed_ = true; }
  Status left_out(const watch::Omission& one);

  void read(const std::shared_ptr<const History>& piece);
  void sealed(const certify::Segment& segment);
  // Returns what the verifier refused, if it did.
  Status chain_state() const { return chain_ ? chain_->state() : Status(Ok{}); }
  // Called when all was decided, and no lines follow.
  Status end(watch::Watcher& watcher);

 private:
  using Steady = std::chrono::steady_clock;
  watch::WatchParts parts(watch::Watcher& watcher, formats::JsonlChunks* chunks) const;
  Status write_state(const Running& running);

  std::string history_;
  FilePart history_part_;
  const watch::WatchOptions& options_;
  std::optional<StateFile> state_;
  std::optional<StateFile::State> before_;
  std::optional<GrowingChain> file_;
  std::optional<FilePart> chain_part_;  // the part of file_
  std::unique_ptr<watch::VerifiedChain> chain_;
  bool changed_ = true;
  Steady::time_point saved_ = Steady::now();
  Steady::duration took_{};  // time for saving
};

}  // namespace assay::internal::cli
