// Why a level is violated, for people: the name of the anomaly, the few transactions that show it,
// and the explanation in plain sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/anomaly.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay {

// One dependency between two transactions.
struct Arrow {
  EdgeKind kind = EdgeKind::session;
  TxnId from = kNone;
  TxnId to = kNone;
  KeyId key = kNone;
  bool in_cycle = true;  // false: shown only because an arrow of the cycle depends on it
  std::string because;   // a clause: "T2 read x = 1, which T1 wrote"
  // It does not hold: it would if two writers that an arrow of the cycle orders came the other way
  // round, and the proof excludes that, because it would close a cycle.
  bool refuted = false;
  // The arrows of the cycle that rest on it, or that it is the refuted alternative to: their places
  // among the arrows.
  std::vector<uint32_t> supports = {};

  bool operator==(const Arrow&) const = default;
};

// Part of a contradiction that no single cycle shows: a supposition, and its consequence.
struct Case {
  std::string supposed;  // a clause: "T1 comes before T2"; empty for the first, which is the whole
  std::string then;      // the clause that it contradicts; empty where the case is divided
  std::vector<uint32_t>
      branches;  // its two cases, as places in Explanation::cases; fewer where the rest is omitted
  bool operator==(const Case&) const = default;
};

struct Explanation {
  Anomaly anomaly = Anomaly::none;
  // The level it was found for, the weakest that it refutes among those asked for.
  LevelId level = LevelId::read_committed;
  // Every violated level that it refutes, `level` included.
  std::vector<LevelId> levels;
  // The weakest levels that `transactions` violate, including levels that were not asked for; where
  // the transactions prove nothing by themselves, the weakest of `levels`.
  std::vector<LevelId> weakest;
  // The smallest set found that shows the violation, in the order of the file.
  std::vector<TxnId> transactions;
  // The operations that show it, in the order of the file.
  std::vector<OpId> operations;
  // A history of nothing but these transactions violates the level too. Otherwise the proof of the
  // violation is too large to show, and these are its last transactions.
  bool self_proving = false;
  // And none of them can be left out.
  bool minimal = false;
  // Those of `levels` that the transactions violate only by the version orders or sources of reads
  // that the history states; without these statements no violation was shown. For the others, the
  // clients' observations suffice.
  std::vector<LevelId> need_statements;
  // The cycle, each arrow starting where the one before ends, then the arrows it depends on. Empty
  // when two operations suffice.
  std::vector<Arrow> arrows;
  std::vector<std::string> sentences;
  // For a violation in which each way to order some writers, or to choose what reads returned, has
  // a contradiction: the tree of the cases, its root first. Empty otherwise.
  std::vector<Case> cases = {};
  uint32_t case_count = 0;  // how many are not divided, shown or not
  // A cause outside the database worth ruling out first; may be empty.
  std::string hint;
};

}  // namespace assay
