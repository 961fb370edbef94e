// The lines of one connected recorder as pieces of a history, and the sessions that it records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "history/held_value.h"

namespace assay::internal::cli {

using SessionNames = std::unordered_set<HeldValue, HeldHash, HeldEqual>;

class RecorderLines {
 public:
  explicit RecorderLines(uint64_t connection);

  // Takes whole lines that arrived. All of them have to be read before more are given.
  void give(std::string lines);
  // Reads the next of them, at most `lines`; null if there are none.
  Result<std::shared_ptr<const History>> next(size_t lines);
  Status give_up_before(int64_t begin) { return chunks_.give_up_before(begin); }
  // Called when no lines follow: returns the lines that were held back.
  Result<std::shared_ptr<const History>> rest();

  // Whether it has sent a readable line; until then it is a stranger, whose loss has no
  // consequence.
  bool is_recorder() const { return recorder_; }
  // The sessions that it has announced and not ended.
  const SessionNames& open_sessions() const { return open_; }
  // Notes what the piece says about sessions.
  Status note_sessions(const History& piece);

 private:
  class Given;

  Result<std::shared_ptr<const History>> piece(size_t lines);

  Given* given_;  // of the input
  formats::Input input_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_;
  SessionNames open_;
  bool recorder_ = false;
};

}  // namespace assay::internal::cli
