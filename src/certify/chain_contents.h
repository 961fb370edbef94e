// What keys hold along a chain. The history comes in pieces and none is kept for long, so keys and
// what they hold are values here. What each key of a piece of the history holds is looked up once.
//
//   s1: { w(x,1) }   s2: { w(x,2) }     x holds 2, or 1 while s1 may come after s2 (chain_rivals.h)
//
// Where several versions of a key may have come last, the first read of it picks one of them. Cost:
// one look-up per operation.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "base/byte_stream.h"
#include "certify/operations.h"
#include "history/held_map.h"

namespace assay::internal::certify {

class ChainContents {
 public:
  struct Version {
    HeldValue value;
    bool removed = false;  // a removal left it; it reads as null

    // Whether the operation could return its result while its key held this version.
    bool bears_out(const History& h, const Access& a) const;
  };
  static Version left_by(const History& h, const Access& write) {
    return {HeldValue(h.version_value(write.version)), write.removes()};
  }
  // What a key has held since it was first written.
  struct Content {
    Version last;
    uint64_t writer = 0;                                     // the line of its writer
    bool looked = false;                                     // whether what `writer` left was read
    std::unique_ptr<std::vector<Version>> rivals = nullptr;  // other versions that may have come
                                                             // last
  };
  // A piece of the history, with the results of one look-up for each of its keys.
  struct Piece {
    struct Key {
      Content* content = nullptr;  // null: the key has not been written yet
      TxnId owner = kNone;         // the transaction whose write of the key is `write`
      OpId write = kNone;
    };
    Piece(std::shared_ptr<const History> h, uint64_t gaps_so_far)
        : history(std::move(h)), keys(history->key_count()), gaps(gaps_so_far) {}

    std::shared_ptr<const History> history;
    std::vector<Key> keys;
    uint64_t gaps;  // number of gaps when `keys` was looked up
  };
  struct Txn {
    std::shared_ptr<Piece> piece;
    TxnId txn = kNone;
    const History& history() const { return *piece->history; }
  };

  // What the key holds; null if it has not been written yet.
  Content* find(Piece& piece, KeyId key);
  // Whether what the key holds explains the operation, which looked at the key.
  bool explains(Piece& piece, const Access& seen);
  // Whether it explains the operation for good, whatever else may turn out.
  bool explains_for_good(Piece& piece, const Access& seen);
  // Installs the transaction's last writes of the keys for which `shows` is true.
  template <class Shows>
  void install(const Txn& t, uint64_t line, Shows shows) {
    for (const Access& a : accesses(t.history(), t.txn))
      if (a.writes() && shows(a.key)) install(*t.piece, line, a);
  }
  // Forgets what keys hold.
  void forget();
  uint64_t gaps() const { return gaps_; }
  void set_gaps(uint64_t gaps) { gaps_ = gaps; }

  void save(StreamWriter& to) const;
  void load(StreamReader& from);

 private:
  void install(Piece& piece, uint64_t line, const Access& write);
  bool unwritten_explains(const History& h, const Access& seen) const;

  HeldMap<Content> contents_;
  uint64_t gaps_ = 0;
};

// What the transactions that are left out wrote, by key: what others saw of it need not be
// explained.
class Excuses {
 public:
  void add(const History& h, TxnId left_out);
  bool excuse(const History& h, const Access& seen) const;

  void save(StreamWriter& to) const;
  void load(StreamReader& from);

 private:
  using Values = std::unordered_set<HeldValue, HeldHash, HeldEqual>;
  std::unordered_map<HeldValue, Values, HeldHash, HeldEqual> values_;
};

}  // namespace assay::internal::certify
