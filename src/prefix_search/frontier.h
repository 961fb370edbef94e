// A prefix of an execution and the events that may come next. See frontier.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "infer/problem.h"
#include "prefix_search/forced_orders.h"

namespace assay::internal {

class Frontier {
 public:
  // `level` must not be weak.
  Frontier(const Problem& problem, const LevelInfo& level);

  // A chain is transactions that follow one another: a session, or one transaction if session order
  // does not count.
  uint32_t chains() const { return static_cast<uint32_t>(chains_.nodes.rows()); }
  // How many events of each chain have happened. Two prefixes with the same numbers have the same
  // future.
  std::span<const uint32_t> positions() const { return position_; }
  bool complete() const { return trail_.size() == events_; }

  // The next event of a chain, as Order::events names it.
  bool finished(uint32_t chain) const { return position_[chain] == end_[chain]; }
  Node next_node(uint32_t chain) const {
    return chains_.nodes[chain][position_[chain] / per_node_];
  }
  bool next_writes(uint32_t chain) const { return !split_ || position_[chain] % 2 == 1; }

  // True if the next event of the chain can happen now.
  bool may_happen(uint32_t chain) const;
  // Requires may_happen(). True if the event can happen now in every completion of this prefix, so
  // no other choice need be tried.
  bool is_free(uint32_t chain) const;

  void happen(uint32_t chain);
  size_t length() const { return trail_.size(); }
  // Takes back the last events until `length` are left.
  void rewind(size_t length);

  // A writer that happened, and a writer that would have had to happen before it.
  struct TooEarly {
    Node happened, waiting;
  };
  // True only if no completion of this prefix satisfies every read, because some of the next events
  // of the chains wait for each other. `why` then holds what makes the events of one such circle
  // wait.
  bool is_stuck(std::vector<TooEarly>& why);

  // Returns the events that happened, in order, as Order::events names them.
  std::vector<uint32_t> events() const;

 private:
  struct Step {
    uint32_t chain;
    uint32_t overwritten;  // where its part of overwritten_ begins
  };

  void index_chains();
  void index_write_orders();
  void index_times();
  bool has_written(Node n) const;
  uint32_t horizon(uint32_t chain) const;
  bool comes_about(Node n, bool written) const;
  // The node that the next event of a chain certainly waits for and that does not come about.
  struct Wait {
    Node node = kNone;  // kNone: nothing
    // the writer of the version it would overwrite, if `node` has to read that version first
    Node overwrites = kNone;
  };
  Wait wait_of(uint32_t chain) const;
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

  Chains chains_;  // nodes of unknown outcome also come after the earlier ones of their session
  std::vector<uint32_t> end_;  // per chain: its number of events
  Rows<Node> written_before_;  // per node: nodes whose writes are known to precede its own

  std::vector<uint32_t> position_;  // per chain
  std::vector<WriteId> current_;    // per key: the version it holds; kNone: the initial value
  std::vector<uint32_t> unread_versions_;  // per write: readers to come
  std::vector<uint32_t> unread_initial_;   // per key
  std::vector<uint32_t> writers_to_come_;  // per key
  std::vector<Node> lock_;  // per key: the transaction that has begun and will write it
  std::vector<Step> trail_;
  std::vector<WriteId> overwritten_;
  std::vector<uint32_t> reached_;  // scratch of is_stuck: per chain, the number of events that come
                                   // about

  // For real time: the earliest time at which an event may start and the time at which it was over;
  // and, per chain and place, the least time at which one of the events from that place on was
  // over.
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  // Events of different sessions may overlap for this much longer, because of clock drift.
  int64_t most_overlap_ = 0;
  std::vector<SessionId> session_;  // per node
  std::vector<int64_t> read_start_, write_start_;
  std::vector<int64_t> least_begin_, least_commit_;  // per place in chains_.items
};

}  // namespace assay::internal
