// Replaying transactions of unknown outcome that may have been seen (Problem::possible).
//
//   s1: A? { w(x,1) }   s2: B { w(x,1) }   s3: C { w(x,2) }   s4: D { r(x,1) }       order B C A D
//   D saw A or B. When A's turn comes it is open whether it took effect; when D reads, x holds C's
//   2, and D needs a 1. Had A taken effect, D would read its 1, and no transaction has read x
//   since: so it did.
//
// A transaction whose turn comes is *dormant*: it has a place in the order and has installed
// nothing. A reader that needs its write wakes it, if the keys that it wrote have not been read
// since, before other transactions wrote them, and if its own reads fitted the state at its turn.
// Only the last dormant writer of each key is remembered: a guess like all of a replay, which
// refutes nothing. Cost: what those transactions wrote, and a number per key for each read and
// write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infer/problem.h"

namespace assay::internal {

// Moments count the events that have happened.
class UnknownOutcomes {
 public:
  // `problem` must be whole, and each of its transactions one event.
  explicit UnknownOutcomes(const Problem& problem);

  bool is_possible(Node n) const { return index_[n] != kNone; }
  // Passes the turn of `n`, which is possible. `could`: its reads fit.
  void pass(Node n, uint32_t moment, bool could);
  void note_read(KeyId key, uint32_t moment) { read_[key] = moment; }
  void note_install(KeyId key, uint32_t moment);

  // The last possible node that passed and wrote `key`, if nothing that has happened since speaks
  // against its effect; otherwise kNone.
  Node dormant(KeyId key) const;
  std::span<const KeyId> keys_of(Node n) const { return passed_[index_[n]].keys; }
  // Whether what `n` wrote to `key` would be there now.
  bool would_show(Node n, KeyId key) const { return installed_[key] < passed_[index_[n]].moment; }
  void wake(Node n);
  // The transaction that was woken and wrote the current state; kNone if another one did.
  Node woken(KeyId key) const { return woken_[key]; }
  // All that were woken, ascending.
  std::vector<Node> effective() const;

 private:
  bool unread(Node n, KeyId key) const;

  struct Passed {
    uint32_t moment = 0;
    bool could = false, effective = false;
    std::vector<KeyId> keys;  // the keys that it wrote
  };

  const Problem& problem_;
  std::vector<uint32_t> index_;        // indexed by node: index into passed_; kNone: it takes
                                       // effect for certain
  std::vector<Passed> passed_;         // indexed by possible node
  std::vector<Node> dormant_, woken_;  // indexed by key
  // Indexed by key: the transaction whose write was not read before the next write.
  std::vector<Node> covered_;
  std::vector<uint32_t> read_, installed_;  // indexed by key: the moment of the last read and the
                                            // last write
};

}  // namespace assay::internal
