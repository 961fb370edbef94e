// The sessions of a history as a search by values sees them: the reads and writes of each
// transaction, without the sources.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "infer/problem.h"

namespace assay::internal {

// Keys and values are numbered densely; a value belongs to one key.
struct KeyValue {
  uint32_t key = 0;
  uint32_t value = 0;

  bool operator==(const KeyValue&) const = default;
};

class ValueChains {
 public:
  struct Txn {
    Node node = kNone;
    bool optional = false;  // it may have taken no effect
    uint32_t reads = 0;     // the first index into reads_; `writes`: into writes_
    uint32_t writes = 0;
  };

  // nullopt if a transaction has operations other than reads and writes of single values, or reads
  // or writes more than kMostAccesses keys, or if the budget has no room.
  static constexpr uint32_t kMostAccesses = 256;
  static std::optional<ValueChains> of(const Problem& problem, Budget& budget);

  uint32_t chains() const { return static_cast<uint32_t>(begin_.size() - 1); }
  uint32_t length(uint32_t chain) const { return begin_[chain + 1] - begin_[chain]; }
  uint32_t txns() const { return begin_.back(); }
  uint32_t keys() const { return static_cast<uint32_t>(initial_.size()); }
  uint32_t values() const { return values_; }
  // Per key, the value that it holds at first.
  std::span<const uint32_t> initial() const { return initial_; }

  const Txn& txn(uint32_t chain, uint32_t place) const { return txns_[begin_[chain] + place]; }
  // External reads, each key once, and the last write of each key; both in program order.
  std::span<const KeyValue> reads(uint32_t chain, uint32_t place, uint32_t count = 1) const {
    return part(reads_, &Txn::reads, begin_[chain] + place, count);
  }
  std::span<const KeyValue> writes(uint32_t chain, uint32_t place) const {
    return part(writes_, &Txn::writes, begin_[chain] + place, 1);
  }
  // Per read, as in reads(): the place of the last earlier transaction of the same session that
  // writes the key; kNone if there is none.
  std::span<const uint32_t> own_writers(uint32_t chain, uint32_t place) const {
    return part(own_writers_, &Txn::reads, begin_[chain] + place, 1);
  }
  // Returns the first place from `from` on at which the chain writes the value; kNone if there is
  // none.
  uint32_t next_write(uint32_t chain, uint32_t value, uint32_t from) const;
  // Whether the chain reads, or writes, the value at `from` or later.
  bool reads_later(uint32_t chain, uint32_t value, uint32_t from) const {
    return end_of_reads_[row(chain, value)] > from;
  }
  bool writes_later(uint32_t chain, uint32_t value, uint32_t from) const {
    const std::span<const uint32_t> places = written_at_[row(chain, value)];
    return !places.empty() && places.back() >= from;
  }

 private:
  class Reader;

  template <class T>
  std::span<const T> part(const std::vector<T>& all, uint32_t Txn::*begin, uint32_t at,
                          uint32_t count) const {
    return std::span(all).subspan(txns_[at].*begin, txns_[at + count].*begin - txns_[at].*begin);
  }
  size_t row(uint32_t chain, uint32_t value) const { return size_t{chain} * values_ + value; }
  void index();

  std::vector<uint32_t> begin_{0};  // per chain and one more, into txns_
  std::vector<Txn> txns_;           // and one more at the end
  std::vector<KeyValue> reads_, writes_;
  std::vector<uint32_t> own_writers_;
  std::vector<uint32_t> initial_;
  uint32_t values_ = 0;
  Rows<uint32_t> written_at_;           // per chain and value: places, ascending
  std::vector<uint32_t> end_of_reads_;  // per chain and value: after the last place that reads it
};

}  // namespace assay::internal
