// The writes of unknown outcome that may take effect later than at the place they were given.
//
//   s1: { w(x,1) }?            settled here, or without effect
//   s2:        { w(x,2) }      certainly later than all that is settled, but not than this
//   s3:                { r(x,null) }
//
// A violation is proved from the members alone (window.h). If one of them certainly wrote a key,
// all earlier writes of the key are overwritten and explain no later read, except a write that has
// no end. Such a write counts until --settle is over. Values are kept as hashes: if two agree, more
// is unknown, and nothing is wrong.
//
// Memory: the writes of unknown outcome that are not settled, and of those concurrent with kept
// transactions.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "base/byte_stream.h"
#include "history/accesses.h"
#include "watch/member.h"

namespace assay::internal::watch {

class LateWriters {
 public:
  // Adds a transaction whose writes may take effect until this moment.
  void add(const Member& m, int64_t until);
  // Removes a transaction that had no effect.
  void remove(uint64_t number);
  // Forgets what only observations of transactions that began before could need; these are no
  // longer asked about.
  void forget_before(int64_t begin);
  bool empty() const { return writes_.empty(); }
  // Saves everything; to be loaded into an empty object.
  void save(StreamWriter& to) const;
  void load(StreamReader& from);
  // Whether one of these writes explains the observation; those of the transactions in `except` do
  // not count.
  bool may_explain(const History& h, const Observation& seen,
                   const std::unordered_set<uint64_t>& except) const;

 private:
  struct Write {
    uint64_t number;  // number of its transaction
    uint64_t value;
    bool removes;
  };
  struct End {
    int64_t at;
    uint64_t number;
    std::vector<uint64_t> keys;
  };

  void remove(const End& end);

  std::unordered_map<uint64_t, std::vector<Write>> writes_;  // by key
  std::deque<End> ends_;                                     // in the order in which they were
                                                             // added
};

}  // namespace assay::internal::watch
