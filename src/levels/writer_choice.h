// Which of several possible writers each read saw, decided together with the level. See writer_choice.cc.
#pragma once

#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "infer/open_reads.h"
#include "infer/reads_from.h"
#include "levels/stages.h"

namespace assay {

struct ChosenVerdict {
  Outcome outcome = Outcome::unknown;
  std::string reason;       // of an unknown
  Order order;              // satisfied
  std::vector<Case> cases;  // violated; a single proof given nothing needs no cases
};

// `level` is weak or one of Adya's, or a read of a transaction that counts has no source.
ChosenVerdict decide_choosing_writers(const History& history, const LevelInfo& level,
                                      Stages& stages, Budget& budget);

// Whether every open read meets, at its place in the order, a state that it may have seen.
bool order_explains(const History& history, const OpenReads& open, const Order& order);

}  // namespace assay
