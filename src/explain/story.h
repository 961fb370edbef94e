// What a certificate of a violation says, and which rules it rests on.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/explanation.h"
#include "assay/level.h"
#include "explain/reads_and_writes.h"
#include "explain/refutation.h"

namespace assay::internal {

// The rules that a story rests on, beyond reads and writes; decides which other levels it refutes.
struct Uses {
  bool session = false;
  bool time = false;         // of any kind
  bool within_time = false;  // of a kind other than "ended before the other began"

  void see(const Edge& e);
  // Anything that `level` has may have been used.
  void see_all(const LevelInfo& level);
};

struct Story {
  Explanation explanation;
  Uses uses;

  // Whether the story refutes `level` too.
  bool refutes(LevelId level) const;
};

Story story_of(const Excerpt& excerpt, LevelId level, const Certificate& certificate);

// Every transaction of the cycles of the proof, and the readers of the versions it appeals to; if
// `conclusion` is given, only those that it rests on. Ascending.
std::vector<TxnId> mentioned(const History& h, const Proof& proof, const Conclusion* conclusion);

}  // namespace assay::internal
