// Aggregates, as the engines decide them: count(*), sum, min and max of rows that nobody listed.
//
//   A: w(x,1)   B: w(y,2)   C: agg(sum value, value > 0,[3])       orders in which A and B come before C explain it
//
// An aggregate constrains the version set as a whole, and no choice between few alternatives says as much (adding up to a sum
// is subset sum). So the engines leave it out, and an order that they find is replayed: it explains the aggregate or it does
// not. If not, the rows of a state for which the aggregate is right, near its place in the order, or of any such version set
// where there are few, are taken for what it was computed of; and the history is decided anew as if these had been returned.
// Whatever is found is an order; where none is found, that is no violation.
//
// What is certain without an order is a violation: an aggregate that no versions of the keys give. Where a transaction sees
// one state, its reads say which version of some keys it was.
//
// Cost: replaying is linear in the operations, and for each aggregate in the keys that may satisfy its condition.
#pragma once

#include <map>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

// An aggregate of a committed transaction that no version set gives, as a mismatch; Anomaly::none if there is none.
// `one_state`: but for what the transaction read besides.
BadRead impossible_aggregate(const History& history, bool one_state);

// The open aggregates that an order does not explain, ascending.
std::vector<OpId> unexplained_aggregates(const History& history, const Order& order);

// Whether the order explains every operation, aggregates aside. Not of lists and stated sources: then that is not known, and
// it is false.
bool replays(const History& history, const Order& order);

// The versions that an aggregate was computed of, of all that satisfy its condition.
using VersionSet = std::vector<VersionId>;
// Those that give what it returned: of states along the order, nearest to its place first; then any others, if they are
// few. At most `most`.
std::vector<VersionSet> version_sets(const History& history, const Order& order, OpId aggregate,
                                     size_t most, Budget& budget);

// The history with these rows returned in place of some aggregates, and without the other open ones. Transactions have the
// same numbers.
Result<History> with_version_sets(const History& history, const std::map<OpId, VersionSet>& rows);

}  // namespace assay::internal
