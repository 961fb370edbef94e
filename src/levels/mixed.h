// Every transaction at the level that it declares. See mixed.cc.
#pragma once

#include <optional>

#include "assay/certificate.h"
#include "levels/strong.h"

namespace assay::internal {

// Why the transactions that count cannot be held to what they declare; nothing if they can.
std::optional<Unknown> cannot_be_mixed(const History& history);

// A transaction whose declared level lets it see one state of a key, and which saw two; Anomaly::none if there is none.
BadRead declared_non_repeatable_read(const Problem& problem);

// Decides completely, within the budget. No read may be open, and no read a bad one.
Judgement decide_mixed(const Problem& problem, const CheckOptions& options, Stages& stages,
                       Budget& budget);

}  // namespace assay::internal
