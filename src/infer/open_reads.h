// Reads that more than one writer explains, with their possible sources.
//
//   s1: { w(x,1) }   s2: { w(x,1) w(y,2) }   s3: { r(x,1) r(y,null) }
//   The read of x saw what s1 or what s2 left of x.
//
// An operation sees a *state* of a key: what some transaction left there, or the initial state.
// Plain reads fit the states with their value; a compare-and-set or an insert, whether or not it
// took effect, and each key that a range covers, present or absent, fit some states, too. At read
// atomic and above, all that a transaction sees of a key before it writes the key is one state, so
// the operations of a transaction on a key are taken together; read committed takes each by itself.
//
// Cost: the operations of the transaction, the keys that its ranges cover, and for each open key
// the possible sources: the writers of a value, the transactions that left the key absent, or all
// writers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "base/sort_by.h"
#include "infer/open_aggregates.h"
#include "infer/open_lists.h"
#include "infer/possible_sources.h"
#include "infer/problem.h"
#include "infer/skipped_rows.h"
#include "infer/touched_keys.h"

namespace assay::internal {

struct OpenRead {
  OpId op = kNone;  // the first of `ops`
  KeyId key = kNone;
  TxnId reader = kNone;
  std::vector<OpId> ops;  // the unresolved operations that see this state
  bool alone = false;     // nothing else that the reader saw of the key rules out a source
  // The transactions that may have left the state, ascending; kNone, the initial state, comes last.
  std::span<const TxnId> sources;
};

// Stores the sources of reads: they are many, never change, and copies of the reads share them.
class SourcePool {
 public:
  std::span<const TxnId> store(std::span<const TxnId> sources);

 private:
  static constexpr size_t kBlock = 1 << 16;
  std::vector<std::vector<TxnId>> blocks_;  // no block grows beyond its capacity
};

class OpenReads {
 public:
  // `one_state`: all operations of a transaction see one state of a key. `rows`, ascending: only
  // these of the skipped rows (skipped_rows.h); null: all of them. `aggregates`, ascending: the
  // state that each of these saw of its keys is open.
  OpenReads(const History& history, bool one_state, const std::vector<SkippedRow>* rows = nullptr,
            std::span<const OpId> aggregates = {});

  // Adds the unresolved operations of the problem. If the budget runs out, as happens where
  // thousands of writers fit thousands of reads, some are omitted, and obstacle() says so.
  void add(const Problem& problem, Budget& budget);
  // Adds all observations of the transactions of unknown outcome that are a possible source of an
  // added read and do not count in the problem, and so on for the reads added thus. Also adds every
  // list that one of these transactions may have appended to. To be called last.
  void add_possible(const Problem& problem, Budget& budget);
  // Adds skipped rows, ascending, each as a separate read. False, with nothing added, if none of
  // them is new, if one has no possible source or may have one that does not count in the problem,
  // or if it is already open by another operation of its reader: all that a reader saw of a key is
  // one choice.
  bool add_rows(std::span<const SkippedRow> skipped, const Problem& problem);
  // Whether there is a read of this key by this reader.
  bool is_open(TxnId reader, KeyId key) const;
  const OpenAggregates& aggregates() const { return aggregates_; }
  // The lists whose elements have several possible writers.
  const OpenLists& lists() const { return lists_; }
  // The transactions that add_possible() added, ascending.
  const std::vector<TxnId>& possible() const { return possible_; }
  bool one_state() const { return one_state_; }
  const std::deque<OpenRead>& all() const { return reads_; }
  // Reduces the sources of an open read to these, ascending.
  void restrict_to(uint32_t read, std::span<const TxnId> sources) {
    reads_[read].sources = pool_->store(sources);
  }
  // The reads of a reader, as indices into all().
  const std::vector<uint32_t>& of(TxnId reader) const;
  // Not empty if there are unresolved operations that no choice of writers resolves.
  const std::string& obstacle() const { return obstacle_; }
  // For an open read without sources: one of its operations, which saw what an aborted or an
  // overwritten write had left. No anomaly if such a write does not explain the read either.
  BadRead dirty_read(const OpenRead& read) const;

 private:
  // What a transaction saw of a key before it wrote it.
  struct Group {
    OpenRead read;
    std::vector<Observation> external;
  };

  void index_history();
  std::vector<Observation> seen_by(OpId i) const;
  void note_reads_of_aggregates(TxnId t);
  void add_all_of(TxnId t);
  void add_possible_txn(TxnId t, const Problem& problem);
  bool add_lists_of(const Problem& problem);
  void add_txn(TxnId t, std::span<const OpId> unresolved);
  void add_op(OpId i, bool open, std::unordered_map<KeyId, KeyState>& own,
              std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order);
  void add_seen(const Observation& seen, bool open, const std::unordered_map<KeyId, KeyState>& own,
                std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order);
  void find_sources(Group& group);
  bool wants(KeyId key) const {
    return only_ == nullptr || std::binary_search(only_->begin(), only_->end(), key);
  }
  std::vector<SkippedRow> missing(std::span<const SkippedRow> rows) const;
  void drop_from(size_t first);

  const History& h_;
  bool one_state_;
  const std::vector<SkippedRow>* rows_;
  OpenAggregates aggregates_;
  std::optional<TouchedKeys> keys_;         // set once anything is open
  std::optional<PossibleSources> sources_;  // filled together with keys_
  OpenLists lists_;
  bool certain_ = true;  // whether the transaction that is being added takes effect
  bool mixed_ = false;   // whether some key is used as a list and as a register
  // The keys to look at in the transaction that is being added; null: all.
  const std::vector<KeyId>* only_ = nullptr;
  std::vector<uint8_t> seen_txns_;
  std::deque<OpenRead> reads_;  // never moved: there may be millions
  std::shared_ptr<SourcePool> pool_ = std::make_shared<SourcePool>();
  std::unordered_map<TxnId, std::vector<uint32_t>> by_reader_;
  std::vector<TxnId> possible_;
  std::string obstacle_;
  uint64_t listed_ = 0;  // bytes since the budget was last asked
};

// The sources of a read: first the transactions before the reader in an order, then those after it,
// the nearest first in each group. `place` is the place of a transaction; the initial state comes
// before all.
template <class PlaceOf>
std::vector<TxnId> nearest_first(const OpenRead& read, uint32_t reader, PlaceOf place) {
  std::vector<Numbered> ranked;
  for (const TxnId t : read.sources) {
    const uint32_t at = t == kNone ? 0 : place(t) + 1;
    const bool later = at > reader + 1;
    ranked.emplace_back(pack(later, later ? at - reader : reader + 1 - at), t);
  }
  sort_numbered(ranked);
  std::vector<TxnId> sources;
  for (const auto& [rank, t] : ranked) sources.push_back(t);
  return sources;
}

// Whether every open read meets, at its place in the order, a state that it may have seen.
bool order_explains(const History& history, const OpenReads& open, const Order& order);

// Returns what each open read of a key that is not a list saw, if each transaction sees what those
// before its reads left.
std::vector<Seen> seen_along(const History& history, const OpenReads& open, const Order& order);

// The transactions of an order, in the order in which their writes are installed.
std::vector<TxnId> writers_in_order(const Order& order);

}  // namespace assay::internal
