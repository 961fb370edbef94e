// Which of two versions of a key came first, as far as the history states this or an update shows
// it. See stated_versions.cc.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "infer/problem.h"

namespace assay::internal {

// The statements of one problem. They are identified by their indices: first those of
// Problem::stated, then updates.
class StatedVersions {
 public:
  explicit StatedVersions(const Problem& problem) : problem_(problem), all_(problem.stated) {}
  StatedVersions(const StatedVersions&) = delete;  // all_ may refer to with_updates_
  StatedVersions& operator=(const StatedVersions&) = delete;

  // To be called first.
  void index();
  // Adds statements whose source is the read of the update. False if the budget ran out.
  bool add(std::span<const StatedOrder> updates, Budget& budget);

  std::span<const StatedOrder> all() const { return all_; }
  const StatedOrder& operator[](uint32_t index) const { return all_[index]; }
  bool is_update(uint32_t index) const { return index >= problem_.stated.size(); }
  // The statements in which a write comes first, sorted by the node of the later one; and those in
  // which it comes second.
  std::span<const uint32_t> after(WriteId w) const { return of(by_before_, followed_[w]); }
  std::span<const uint32_t> before(WriteId w) const { return of(by_after_, follows_[w]); }
  // A statement that the write came before that of `after` to its key; kNone if there is none.
  uint32_t between(WriteId before, Node after) const;

 private:
  using Range = std::pair<uint32_t, uint32_t>;  // a range of indices

  std::vector<Range> ranges(const std::vector<uint32_t>& sorted, Node StatedOrder::*node) const;
  static std::span<const uint32_t> of(const std::vector<uint32_t>& sorted, const Range& range) {
    return std::span(sorted).subspan(range.first, range.second - range.first);
  }

  const Problem& problem_;
  std::span<const StatedOrder> all_;  // Problem::stated, or with_updates_
  std::vector<StatedOrder> with_updates_;
  std::vector<uint32_t> by_before_;        // sorted by key, before, after
  std::vector<uint32_t> by_after_;         // sorted by key, after
  std::vector<Range> followed_, follows_;  // indexed by write: ranges of these
};

}  // namespace assay::internal
