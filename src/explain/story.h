// What a certificate of a violation says, and on which rules it rests.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/explanation.h"
#include "assay/level.h"
#include "explain/reads_and_writes.h"
#include "explain/refutation.h"

namespace assay::internal {

// The rules on which a story rests, apart from reads and writes; they decide which other levels it
// refutes.
struct Uses {
  bool session = false;
  bool time = false;         // any kind of real time
  bool within_time = false;  // a kind other than "ended before the other began"

  void see(const Edge& e);
  // Assumes that every rule of `level` may have been used.
  void see_all(const LevelInfo& level);
};

struct Story {
  Explanation explanation;
  Uses uses;

  // Whether the story also refutes `level`.
  bool refutes(LevelId level) const;
};

Story story_of(const Excerpt& excerpt, LevelId level, const Certificate& certificate);

// Every transaction of the proof's cycles, and the readers of the versions that it appeals to; if
// `conclusion` is given, only those on which it rests. Ascending.
std::vector<TxnId> mentioned(const History& h, const Proof& proof, const Conclusion* conclusion);

}  // namespace assay::internal
