// What the lines {"key":…,"order":[…]} of a history name, and whether they can all be right.
//
//   order x: 1 2      s1: { w(x,1) }?   s2: { w(x,2) }     s1 took effect, and before s2
//   order x: 1 9                                           a contradiction: nobody wrote 9
//
// An entry of a value alone names a transaction if exactly one that may have taken effect writes its value to the key,
// finally or on the way. It says nothing if several do, if it is the initial value in first place, or if it is null and
// somebody deletes the key. One that states its transaction names that one, if it may have taken effect and installs the
// value there. Anything else is a contradiction; so are lines of a key that put two versions in opposite orders,
// perhaps by way of others, and then no line of the key says anything. A transaction that was acknowledged
// before the time up to which the history calls its orders complete must be in them with all that it left behind.
#pragma once

#include <string>
#include <vector>

#include "assay/history.h"

namespace assay::internal::certify {

class StatedOrders {
 public:
  explicit StatedOrders(const History& history);

  // Of a line, per entry: the transaction it names, or kNone.
  const std::vector<TxnId>& named(size_t line) const { return named_[line]; }
  size_t lines() const { return named_.size(); }
  // Empty if there is none.
  const std::string& contradiction() const { return contradiction_; }

 private:
  struct Writer {
    TxnId txn = kNone;
    uint32_t transactions = 0;  // that may have taken effect, counted up to two
    uint32_t writes = 0;        // by `txn`
  };
  void find_writers(const History& history);
  TxnId entry(const History& history, KeyId key, size_t place, VersionId version);
  TxnId stated_entry(const History& history, TxnId txn, VersionId version);
  uint32_t count_writes(const History& history, TxnId t, VersionId version) const;
  void drop_opposites(const History& history);
  void look_for_lost_commits(const History& history);
  bool opposite(const History& history, const std::vector<size_t>& lines) const;

  std::vector<Writer> writers_;  // per version
  std::vector<bool> emptied_;    // per key
  std::vector<std::vector<TxnId>> named_;
  std::string contradiction_;
};

}  // namespace assay::internal::certify
