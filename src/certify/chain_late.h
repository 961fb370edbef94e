// Transactions of unknown outcome that have a place in a chain, in case they took effect there.
// Each stays late until a read of a key that it wrote decides, or all its writes are overwritten.
//
//   order: s1: { w(x,1) }   late: s2: { w(x,2) }?   next: s3: { r(x,1) }     s3 looked at x: s2
//                                                     did not take effect there
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/byte_stream.h"
#include "certify/chain_contents.h"

namespace assay::internal::certify {

class LateTxns {
 public:
  using Txn = ChainContents::Txn;

  bool contains(uint64_t line) const { return txns_.contains(line); }
  void add(uint64_t line, const Txn& t);
  // Removes a transaction from the waiting ones, if it waits.
  void release(uint64_t line);
  // A read of the key shows that the late transactions that write the key did not take effect.
  void look_at(const ValueView& key);
  // A write of the key that does not read it shows nothing, but hides earlier late writes of the
  // key: those up to line `before`; 0: all.
  void overwrite(const ValueView& key, uint64_t before);
  // The keys whose writes by this transaction have not been overwritten.
  std::vector<KeyId> shown_keys(uint64_t line) const;
  void clear();

  void save(StreamWriter& to) const;
  // `find` returns the transaction of a line, null if none is held.
  template <class Find>
  void load(StreamReader& from, Find find) {
    for (size_t n = from.count(); n > 0; --n) {
      const uint64_t line = from.number();
      if (const Txn* const t = find(line))
        txns_.emplace(line, *t);
      else
        from.fail();
    }
    load_keys(from);
  }

 private:
  void load_keys(StreamReader& from);

  std::unordered_map<uint64_t, Txn> txns_;
  // Indexed by key: the lines whose writes of it show, sorted by place.
  std::unordered_map<HeldValue, std::vector<uint64_t>, HeldHash, HeldEqual> keys_;
};

}  // namespace assay::internal::certify
