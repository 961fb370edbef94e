// What a watch leaves behind while it goes on: its chain of certificates, and the state from which
// another process goes on.
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
  // `history` is a file or "-"; either of the others may be empty. `options` must outlive this.
  KeptWatch(std::string history, std::string state, std::string certificate,
            const watch::WatchOptions& options);

  // Reads the state, if there is one, and opens the chain. First.
  Status open();
  // Whether another process saved a state. It was of a pipe if nothing of it can be read again.
  bool goes_on() const { return before_.has_value(); }
  bool of_pipe() const { return history_ == "-"; }
  // Where reading goes on.
  const FilePlace& place() const { return before_->history; }

  // Into a watcher and a reader that are new.
  Status load(watch::Watcher& watcher, formats::JsonlChunks& chunks);
  // Between two pieces. `at_once`: even if it was saved a moment ago.
  struct Running {
    watch::Watcher& watcher;
    formats::JsonlChunks* chunks;  // these two may be null, of a pipe
    const formats::Input* input;
  };
  Status save(const Running& running, bool at_once);
  // Something was decided: the saved state is out of date.
  void changed() { changed_ = true; }
  Status left_out(const watch::Omission& one);

  void read(const std::shared_ptr<const History>& piece);
  void sealed(const certify::Segment& segment);
  // What the verifier refused, if it did.
  Status chain_state() const { return chain_ ? chain_->state() : Status(Ok{}); }
  // All was decided, and no lines follow.
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
  std::optional<FilePart> chain_part_;  // of that file
  std::unique_ptr<watch::VerifiedChain> chain_;
  bool changed_ = true;
  Steady::time_point saved_ = Steady::now();
  Steady::duration took_{};  // to save
};

}  // namespace assay::internal::cli
