// A prefix of an execution and what may come next. See frontier.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "infer/problem.h"

namespace assay::internal {

class Frontier {
 public:
  // `level` must not be weak.
  Frontier(const Problem& problem, const LevelInfo& level);

  // Transactions that follow one another: a session, or one transaction where sessions do not count.
  uint32_t chains() const { return static_cast<uint32_t>(chains_.rows()); }
  // How many events of each chain have happened. Two prefixes with the same numbers have the same future.
  std::span<const uint32_t> positions() const { return position_; }
  bool complete() const { return trail_.size() == events_; }

  // The next event of a chain, as Order::events names it.
  bool finished(uint32_t chain) const { return position_[chain] == end_[chain]; }
  Node next_node(uint32_t chain) const { return chains_[chain][position_[chain] / per_node_]; }
  bool next_writes(uint32_t chain) const { return !split_ || position_[chain] % 2 == 1; }

  // True if the next event of the chain can happen now.
  bool may_happen(uint32_t chain) const;
  // Given that: true if it can happen now in every completion of this prefix, so that no other choice
  // need be tried.
  bool is_free(uint32_t chain) const;

  void happen(uint32_t chain);
  size_t length() const { return trail_.size(); }
  // Takes events back until `length` are left.
  void rewind(size_t length);

  // What happened, in order, as Order::events.
  std::vector<uint32_t> events() const;

 private:
  struct Step {
    uint32_t chain;
    uint32_t overwritten;  // where its overwritten_ begin
  };

  void index_chains();
  void index_stated_orders();
  void index_times();
  bool has_written(Node n) const;
  bool reads_current(Node n) const;
  bool may_overwrite(Node n) const;
  bool keys_are_unlocked(Node n) const;
  bool is_sole_writer(Node n) const;
  bool time_has_come(Node n, bool reads, bool writes) const;
  uint32_t& unread(KeyId key, WriteId version);

  const Problem& problem_;
  const LevelInfo& level_;
  const bool split_;
  const uint32_t per_node_;  // events
  size_t events_ = 0;

  Rows<Node> chains_;
  std::vector<uint32_t> end_;            // per chain: events
  std::vector<uint32_t> chain_, place_;  // per node
  std::vector<Node> session_before_;     // per node of unknown outcome: what its session did before
  Rows<Node> stated_before_;  // per node: those whose writes are stated to precede its own

  std::vector<uint32_t> position_;  // per chain
  std::vector<WriteId> current_;    // per key: the version it holds; kNone: the initial value
  std::vector<uint32_t> unread_versions_;  // per write: readers to come
  std::vector<uint32_t> unread_initial_;   // per key
  std::vector<uint32_t> writers_to_come_;  // per key
  std::vector<Node> lock_;  // per key: the transaction that has begun and will write it
  std::vector<Step> trail_;
  std::vector<WriteId> overwritten_;

  // Real time: when an event may start at the earliest and when it was over, and per chain and place the
  // least time at which one of the events from there on was over.
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  // Between sessions an event overlaps for this much longer, because of clock drift.
  int64_t most_overlap_ = 0;
  std::vector<SessionId> session_;  // per node
  std::vector<int64_t> read_start_, write_start_;
  std::vector<int64_t> least_begin_, least_commit_;  // per place in chains_.items
};

}  // namespace assay::internal
