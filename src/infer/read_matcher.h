// Matches the reads of adjacent transactions with writes, given the counting transactions and their
// writes.
//
//   s1: T0 { w(x,1) }   s2: T1 { r(x,1) w(x,2) r(x,2) }    T1 reads x from T0's write; that it sees
//                                                          its own is checked
//   s3: T2 { r(x,1) r(x,9) }                               x from T0's write again; nobody wrote 9:
//                                                          a thin-air read
//
// One part of a history can be matched without the results of the others: several matchers may work
// side by side, and their results, concatenated in the order of the history, are the results of a
// single one. Cost: one or two array accesses a read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/dirty_states.h"
#include "infer/origins.h"
#include "infer/problem.h"
#include "infer/read_lists.h"
#include "infer/txn_keys.h"

namespace assay::internal {

// Whether `found` is to be reported instead of `before`: the first bad read is, but a read of a
// value that was never written only if there is no other, as its writer may just not have been
// recorded.
inline bool teaches_more(const BadRead& found, const BadRead& before) {
  if (found.anomaly == Anomaly::none) return false;
  return before.anomaly == Anomaly::none ||
         (before.anomaly == Anomaly::thin_air_read && found.anomaly != Anomaly::thin_air_read);
}

// What matching some nodes adds to the problem, each member as there (problem.h).
struct MatchedReads {
  std::vector<ExternalRead> reads;
  std::vector<uint32_t> ends;  // per node: the number of reads up to its last
  std::vector<Node> repeating;
  std::vector<KeyId> seen_openly;
  std::vector<OpId> unresolved;
  bool has_lists = false;
  BadRead bad_read;
  BadRead non_repeatable;
  OpId unexplained = kNone;
  KeyId unexplained_key = kNone;
};

class ReadMatcher {
 public:
  // Uses the counting transactions of `problem`, their writes and the assumed sources; these and
  // `origins` must not change meanwhile. `dirty`: the states that explain dirty reads; null for
  // clean reads.
  ReadMatcher(const History& history, const Problem& problem, const Origins& origins,
              const DirtyStates* dirty);

  // Matches a node's reads, and appends them to the results of the nodes before it.
  void match(Node n, MatchedReads& out);

 private:
  void fetch_ahead(OpId op) const;
  void match_clean(Node n, OpId op);
  void match_dirty(Node n, OpId op);
  void note_dirty_reads(OpId op);
  void match_read(Node n, OpId op, KeyId key, VersionId version);
  bool follow_assumptions(Node n, OpId op);
  void match_absent(Node n, OpId op, KeyId key);
  void match_list(Node n, OpId op, KeyId key);
  void external_list(Node n, OpId op, KeyId key, WriteId write);
  void check_repeated_list(OpId op, OpId earlier);
  void match_dirty_list(Node n, OpId op, KeyId key);
  void check_own(OpId op, const TxnKeys::State& own, VersionId version);
  bool explained_by_own(const TxnKeys::State& own, VersionId version) const;
  OpId other_writer(VersionId version, TxnId reader) const;
  void external_read(Node n, OpId op, KeyId key, VersionId version);
  void note_repeating(Node n);
  void bad(const BadRead& found);

  const History& h_;
  const Problem& problem_;
  const Origins& origins_;
  const DirtyStates* dirty_;
  ReadLists lists_;
  TxnKeys keys_;                 // scratch
  MatchedReads* out_ = nullptr;  // results of the current call
};

}  // namespace assay::internal
