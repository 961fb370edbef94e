// Linearizability is defined for operations, each on one key: for a history whose transactions have
// one operation each, which is not a range read. Only transactions that take effect must have one.
//
//   s1: { w(x,1) }   s2: { r(x,1) }   s3: { w(x,2) w(y,2) }?     defined: nothing was read that s3
//                                                                may have written
//   s1: { w(x,1) }   s2: { r(x,2) }   s3: { w(x,2) w(y,2) }?     not defined: s3 took effect
//
// Transactions that were read count even if reads were not matched to the end. Cost: linear in the
// history.

#include "levels/single_operations.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "history/accesses.h"

namespace assay::internal {
namespace {

// Calls `visit` with every version that the transaction returned, and its stated source;
// `visit_absent` with every key that it found absent although it was there initially.
template <class Visit, class VisitAbsent>
void each_returned(const History& history, TxnId t, const Visit& visit,
                   const VisitAbsent& visit_absent) {
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const Observation seen = observation_of(history, i);
    const bool null =
        seen.accepts == Accepts::equals && history.version_value(seen.version).is_null();
    if ((null || seen.accepts == Accepts::absent) && !history.initial(seen.key).is_null())
      visit_absent(seen.key);
    if (seen.accepts == Accepts::equals) visit(seen.version, history.stated_source(i));
    if (seen.accepts == Accepts::list)
      for (const VersionId v : elements_of(history, i)) visit(v, kNone);
    if (seen.accepts == Accepts::rows) each_row(history, i, [&](VersionId v) { visit(v, kNone); });
  }
}

}  // namespace

std::optional<Unknown> no_single_operation(const History& history, const std::vector<TxnId>& txns) {
  for (const TxnId t : txns) {
    const uint32_t ops = history.end_op(t) - history.first_op(t);
    if (ops == 1 && !is_range(history.op(history.first_op(t)))) continue;
    return Unknown{UnknownCause::not_applicable,
                   "transaction " + history.name(t) +
                       (ops == 1 ? std::string(" is a range read")
                                 : " has " + std::to_string(ops) + " operations") +
                       "; linearizability is defined for one operation on one key"};
  }
  return std::nullopt;
}

void add_unknown_that_were_read(const History& history, std::vector<TxnId>& counting) {
  std::unordered_map<VersionId, std::vector<TxnId>> writers;  // those of unknown outcome
  std::unordered_map<KeyId, std::vector<TxnId>> removers;     // by key
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (history.status(t) != TxnStatus::unknown) continue;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (const Operation op = history.op(i); installs_version(op)) {
        writers[op.version].push_back(t);
        if (install_of(history, i).removes) removers[op.key].push_back(t);
      }
  }
  if (writers.empty()) return;
  std::unordered_set<TxnId> added;
  const auto add = [&](VersionId returned, TxnId stated) {
    const auto found = writers.find(returned);
    if (found == writers.end()) return;
    for (const TxnId t : found->second)
      if ((stated == kNone || stated == t) && added.insert(t).second) counting.push_back(t);
  };
  const auto add_removers = [&](KeyId absent) {
    if (const auto found = removers.find(absent); found != removers.end())
      for (const TxnId t : found->second)
        if (added.insert(t).second) counting.push_back(t);
  };
  for (TxnId t = 0; t < history.txn_count(); ++t)
    if (history.status(t) == TxnStatus::committed) each_returned(history, t, add, add_removers);
  for (size_t i = 0; i < counting.size(); ++i)  // the vector grows
    if (history.status(counting[i]) == TxnStatus::unknown)
      each_returned(history, counting[i], add, add_removers);
}

}  // namespace assay::internal
