// The strong levels, from prefix to strict serializability, decided by one engine. See strong.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "graph/digraph.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "infer/skipped_rows.h"
#include "infer/stages.h"
#include "levels/weak.h"

namespace assay::internal {

// Turns an order of vertices of an event graph into that of a certificate: helper vertices are left
// out, and so are the nodes that may take effect, except those in `effective` (ascending).
Order to_order(const Problem& problem, bool split, std::span<const Vertex> vertices,
               std::span<const Node> effective = {});

// Accepts only by replay: satisfied or unknown, in linear time.
Judgement accept_by_replay(const Problem& problem, const LevelInfo& level,
                           const CheckOptions& options, Stages& stages, Budget& budget);

// Whether nearly all orders of versions are stated: then deciding is hardly more than accepting.
bool is_nearly_stated(const Problem& problem);

// Appends the faults that readers at weak levels find in an order of transactions, which contains
// session order and reads-from; nothing if the order is right. False if the budget ran out.
using FindWeakFaults = std::function<bool(const std::vector<Node>& order,
                                          std::vector<WeakFault>& faults, Budget& budget)>;
// Decides completely, within the budget. `contradicted`: finds skipped rows while an order is
// searched; null: they are among the open reads, or examined later. `find_weak_faults`: used if
// levels are mixed (mixed.cc); otherwise null.
Judgement decide_strong(const Problem& problem, const LevelInfo& level, const CheckOptions& options,
                        Stages& stages, Budget& budget,
                        const FindContradicted* contradicted = nullptr,
                        const FindWeakFaults* find_weak_faults = nullptr);

}  // namespace assay::internal
