// Reads-from: which transactions count, and which write each of their reads returned. The result is
// most of a problem (problem.h).
//
// Reads of a key after the transaction's own write, and repeated reads, are checked here and then
// dropped. Reads that no single write explains (a value written twice, a failed compare-and-set)
// are kept apart as unresolved.
//
// The writers of versions come first (origins.h); then adjacent transactions are matched in slices,
// side by side (read_matcher.h).
//
// Cost: two passes over the operations, one array access a read; this is the floor of every check.
#pragma once

#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/problem.h"

namespace assay::internal {

// Makes all of a problem but its hint. `assumed` is sorted, contains only unresolved operations,
// and names sources that could be right. Stops early if the budget runs out; then the result must
// not be used.
Problem match_reads(const History& history, std::span<const Seen> assumed, Budget& budget,
                    const Matching& how = {});

// The assumptions about the operations from `first` up to `end`, which is not included.
std::span<const Seen> assumed_of(std::span<const Seen> assumed, OpId first, OpId end);
// The write of the last block of a list whose blocks are assumed.
WriteId last_writer(const Problem& problem, std::span<const Seen> blocks);

// Collects every external read of a node in program order, including repeated ones, as read
// committed counts them, in `out`, which is cleared first. Leaves out reads that no write explains.
void external_reads(const Problem& problem, Node n, std::vector<ExternalRead>& out);
// Calls visit(node, read) for the external reads of all nodes.
template <class Visit>
void each_external_read(const Problem& problem, Visit visit) {
  std::vector<ExternalRead> reads;
  for (Node n = 0; n < problem.nodes(); ++n) {
    external_reads(problem, n, reads);
    for (const ExternalRead& read : reads) visit(n, read);
  }
}

}  // namespace assay::internal
