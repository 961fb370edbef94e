// Scratch space for walking one transaction: per key, what the transaction has done to it so far. A
// small open hash table that stays in the first-level cache; an array over all keys would miss on
// every operation.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

class TxnKeys {
 public:
  struct State {
    KeyId key = kNone;
    VersionId version = kNone;  // the transaction's last write, otherwise its first external read
    OpId op = kNone;            // the operation that `version` comes from
    OpId list_op = kNone;       // the first read of the key as a list
    bool written = false;
    bool read = false;
  };

  // Forgets everything and makes room for this many keys; no more may be added.
  void start(uint32_t keys) {
    size_t slots = 16;
    while (slots < 2 * size_t{keys}) slots *= 2;
    slots_.assign(slots, State{});
  }

  // The state of `key`, a fresh one if it was not asked for before. Stays valid until start().
  State& operator[](KeyId key) {
    const size_t mask = slots_.size() - 1;
    size_t i = (key * 0x9E3779B1u) & mask;
    while (slots_[i].key != kNone && slots_[i].key != key) i = (i + 1) & mask;
    slots_[i].key = key;
    return slots_[i];
  }

 private:
  std::vector<State> slots_;
};

}  // namespace assay::internal
