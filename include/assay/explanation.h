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
  // The arrow does not hold: it would if two writers that an arrow of the cycle orders came the
  // other way round, which the proof excludes, as that would close a cycle.
  bool refuted = false;
  // The arrows of the cycle that rest on this one, or that this one is the refuted alternative to,
  // by their indices in Explanation::arrows.
  std::vector<uint32_t> supports = {};

  bool operator==(const Arrow&) const = default;
};

// Part of a contradiction that no single cycle shows: a supposition, and its consequence.
struct Case {
  std::string supposed;  // a clause: "T1 comes before T2"; empty for the first, the whole
  std::string then;      // the clause that it contradicts; empty if the case is divided
  std::vector<uint32_t>
      branches;  // its two cases, as indices into Explanation::cases; fewer if the rest is omitted
  bool operator==(const Case&) const = default;
};

struct Explanation {
  Anomaly anomaly = Anomaly::none;
  // The level for which the violation was found: the weakest that it refutes among those asked for.
  LevelId level = LevelId::read_committed;
  // Every violated level that the explanation refutes, including `level`.
  std::vector<LevelId> levels;
  // The weakest levels that `transactions` violate, including levels that were not asked for; where
  // the transactions prove nothing by themselves, the weakest of `levels`.
  std::vector<LevelId> weakest;
  // The smallest set found that shows the violation, in the order of the file.
  std::vector<TxnId> transactions;
  // The operations that show the violation, in the order of the file.
  std::vector<OpId> operations;
  // A history of nothing but these transactions violates the level too. Otherwise the proof of the
  // violation is too large to show, and these are its last transactions.
  bool self_proving = false;
  // Whether, moreover, none of these transactions can be left out.
  bool minimal = false;
  // The members of `levels` whose violation rests on the version orders or sources of reads that
  // the history states; without these statements no violation was shown. For the others, the
  // clients' observations suffice.
  std::vector<LevelId> need_statements;
  // The cycle, each arrow starting where the one before ends, then the arrows that the cycle
  // depends on. Empty if two operations suffice.
  std::vector<Arrow> arrows;
  std::vector<std::string> sentences;
  // For a violation in which every way to order some writers, or to choose what reads returned,
  // leads to a contradiction: the tree of cases, its root first. Otherwise empty.
  std::vector<Case> cases = {};
  uint32_t case_count = 0;  // number of cases that are not divided, shown or not
  // A cause outside the database worth ruling out first; may be empty.
  std::string hint;
};

}  // namespace assay
